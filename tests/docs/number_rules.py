"""What a measured number looks like in English prose, as patterns over text on one line with single spaces."""

import re
from typing import NamedTuple

from tests.docs.passages import CODE


def words(*lists: str) -> str:
    """Any of the words, `_` standing for a space; longer ones first, so that `seconds` is not cut to `second`."""
    listed = sorted(" ".join(lists).split(), key=len, reverse=True)
    return "(?:" + "|".join(word.replace("_", " ") for word in listed) + ")"


TENTHS = "third quarter fifth sixth seventh eighth ninth tenth twentieth hundredth thousandth millionth"
DIGITS = r"(?<!\w)(?<!\w\.)(?:(?:\d{1,3}(?:[,'_]\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?!\d)"
CARDINAL = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen",
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundreds? thousands? millions? billions? dozens?",
)
# "the third time" counts; "a third of the time" measures.
FRACTION = (
    rf"(?:\b(?:half|halves|(?:an?|one)[ -]{words(TENTHS)}|{words(TENTHS)}s|{CARDINAL}[ -]{words(TENTHS)}s)\b"
    r"|(?<!\w)\d+ ?[/\u2044] ?\d+\b|(?<![\w.])\d*\.\d+(?![\d.]))"
)
NUMBER = rf"(?:{FRACTION}|{DIGITS}|\b(?:{CARDINAL}|couple(?: of)?)\b)"
HEDGE = (
    "(?:(?:"
    + words(
        "about around nearly almost roughly over under only just some up_to at_least at_most more_than less_than well a an the",
        "approximately exactly",
    )
    + r"\b|[~≈<>]) ?)*"
)

BYTES = rf"(?:[KMGTP]i?(?:B|bits?|bytes?)|B|bits?|bytes?|{words('kilo mega giga tera peta kibi mebi gibi tebi')}(?:bytes?|bits?))"
FLOPS = r"(?:[KMGTP]?FLOPs?|(?:mega|giga|tera|peta)?flops?)"
THINGS = words("elements? rows? tokens? launches calls? additions operations ops images samples")
EACH = (
    rf"(?: ?/ ?{words('s sec second ms µs us ns cycle clock clk')}\b"
    r"| (?:per|an?|each|every) (?:(?:milli|micro|nano)?second|cycle|clock)\b| ?[·.]? ?s-1\b)"
)
# "It reads two rows a second time."
NOT_ORDINAL = rf"(?! {words('time pass kernel program read load launch argument dimension row block half one')}\b)"
RATE = rf"(?:(?:{BYTES}|{FLOPS}|{THINGS}){EACH}{NOT_ORDINAL}|\b[KMGT]i?Bps\b|\b[GTP]FLOP[Ss]\b|\b(?:giga|tera|peta)flops\b)"
SHORT_TIME = r"(?:ms|msecs?|µs|µsecs?|(?:milli|micro|nano|pico)s(?:ec(?:ond)?s?)?)\b"
PERCENT = r"(?:%|percent\b|pct\b|per ?cent\b|percentage points?\b|‰)"
POWER = r"(?:[KMG]Hz\b|(?:kilo|mega|giga)?hertz\b|(?-i:W\b)|(?:milli|kilo)?watts?\b|joules?\b|°C)"
COUNTERS = words("registers? regs? spills? cycles? instructions? bank_conflicts? cache_hits cache_misses sectors")
SPILLED = words("spilled spills? local_memory stack shared_memory")
COUNTED = rf"(?:{COUNTERS}|{BYTES} (?:{words('are were is was get got of register')} )*{SPILLED})\b"
STRONG_QUANTITY = words(
    "occupancy occupancies hit[_-]rates? hit_ratios? miss_rates? speed[_-]?ups? slow[_-]?downs? utili[sz]ation",
)
WEAK_QUANTITY = words("registers? spills? bandwidths? throughputs? latency latencies run[_-]?times? clock ratio advantage gain")
SPEED = (
    words(
        "speed bandwidth throughput latency time run[_-]?time duration occupancy peak roof(?:line)? ceiling performance",
        "speed-?up hit_rate hardware(?:'s)?_limit copy(?!'s) registers spills cycles instructions",
    )
    + r"\b(?!-)"
)
OWNERS = words(
    "the its their his your our that this of a an peak measured achieved achievable attainable theoretical nominal",
    "memory total device DRAM HBM run compile wall-clock execution kernel",
)
OWNER = rf"(?:(?:{OWNERS}|[\w.]+(?:'s|s')) )"
FAST = words("fast slow quick quickly slowly efficient efficiently cheap expensive") + r"\b"
FASTER = words("faster slower quicker cheaper speedier costlier") + r"\b"
COMPARISONS = words(
    "the as that of its over than more less better higher lower speed speedup improvement gain",
    "longer shorter fewer smaller larger",
)
COMPARED = rf"{COMPARISONS}\b"
VERBS = "take takes took taken taking run runs ran needs? needed lasts? lasted waits? costs? spends? spent compiles?"
TAKES = rf"\b{words(VERBS)}\b[^.;:]{{0,40}}?"
TWICE = words("twice thrice doubles? doubled doubling halves? halve halved halving triples? tripled tripling quadruple[sd]?")
BENIGN_NOUNS = words(
    "bits? bytes? lanes? elements? columns? rows? programs? threads? warps? blocks? tiles? tensors? kernels? loads? stores?",
    "GPUs? floats? values? numbers? lines? chapters? sections? steps? launch(?:es)? inputs? outputs? cases? runs? ways? of_them",
)
BENIGN = rf"(?! ?-?{BENIGN_NOUNS}\b)"
LINKS = words(
    "of is are was were be at to from reach reaches reached stays? hits rises rose falls fell drops dropped grows grew",
    "goes went climbs climbed up down about around only nearly roughly approximately just some over under above below than",
    "exceeds exceeded per each thread kernel block SM L1 L2 cache in a an the its it we see measured exactly now",
    "almost near close use usage pressure count",
)
LINK = rf"(?:(?:{LINKS}\b|[:=(~≈–<>-]) ?)"
SETTING = rf"{words('limit time-?out waits? sleeps? budget deadline interval every reads?_in reading')}\b[^.;]{{0,40}}$"
PREPOSITIONS = words("in of to from and or per into for with the its on by at as is are a")
ADJECTIVE = rf"(?:(?!(?:{PREPOSITIONS}|bits?|bytes?)\b)\w[\w-]* )?"
GAP = r" ?[-–+]? ?(?:or so )?(?:(?:of )?an? )?"
# `4×4`, `2x + 1`, `2 × n` and `2 × BLOCK` are arithmetic.
NO_OPERAND = rf"(?! ?[\d({CODE}])(?! ?[-+/^=] ?[\d{CODE}])(?! ?[-+/^=] ?(?-i:[b-zB-Z])\b)(?! (?-i:[A-Z_]{{2,}}|[b-z])\b)"
ENDS = r"(?= ?$|[.,;:!?)])"


class Rule(NamedTuple):
    why: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None  # looked for in what stands before the number


def rules(why: str, *patterns: str, unless: str | None = None) -> list[Rule]:
    before = re.compile(unless, re.IGNORECASE) if unless else None
    return [Rule(why, re.compile(pattern, re.IGNORECASE), before) for pattern in patterns]


RULES = [
    *rules("a rate", rf"{NUMBER}{GAP}{ADJECTIVE}{RATE}"),
    *rules(
        "a duration",
        rf"{NUMBER}{GAP}(?:whole |full )?{SHORT_TIME}",
        rf"{DIGITS} ?-?(?:us|ns)\b|\b\d+ ?m(?:in)? \d+ ?s\b",
        rf"\b{words('within under half about nearly almost barely than')} an? {SHORT_TIME}",
        rf"(?:\b{words('in takes took after under about within')} |~)\d+(?-i:s)\b(?! and)",
        rf"\b{words('within under half nearly almost barely than')} a second\b(?! (?!on |for |to |and )[a-z])",
    ),
    *rules(
        "a duration",
        rf"{NUMBER}{GAP}(?:seconds?|secs?)\b{NOT_ORDINAL}",
        rf"{DIGITS} (?-i:s)\b|(?<!\w)\d+\.\d+(?-i:s)\b",
        rf"{TAKES}{NUMBER}{GAP}(?:minutes?|mins?|hours?|days)\b(?! to read)",
        unless=SETTING,
    ),
    *rules("a percentage", rf"{NUMBER}{GAP}{PERCENT}(?! ?\d+ ?(?:=|is\b|leaves|gives|[.,;)]|$))(?! ?{CODE})"),
    *rules("a clock or power", rf"{NUMBER}{GAP}{POWER}"),
    *rules("a count by compiler or profiler", rf"{NUMBER} ?-? ?(?:of (?:the|its|those|these) )?{ADJECTIVE}{COUNTED}"),
    *rules("bytes spilled", rf"\bspill(?:s|ed|ing)? {HEDGE}(?:to )?{NUMBER}"),
    *rules("a factor", rf"{DIGITS}[x×](?!\w){NO_OPERAND}", unless=r"(?:\w\(|\b[a-z] ?= ?|\bderivative\b.{0,30})$"),
    *rules("a factor", r"(?:^|(?<=[\w(:] )|(?<=[(:]))×\d", unless=r"(?:\b(?-i:[A-Z_]{2,})|\b[a-z]|\d) $"),
    *rules(
        "a factor",
        rf"{DIGITS} [x×] (?:{FASTER}|{COMPARED})",
        rf"{DIGITS} ×{ENDS}|(?<![\w.])\d*\.\d+ x{ENDS}",
        rf"[x×] ?\d[\d.]* {FASTER}",
        rf"{NUMBER}[ -]times[ -](?:{HEDGE}(?:as|more|less) {FAST}|{FASTER}|(?:higher|lower|better|worse)\b)",
        r"(?<![\w.])\d*\.\d+[ -]times\b",
        rf"{NUMBER} times (?:(?:as much|as many|more|less|fewer|the number of) )?{OWNER}{{0,4}}{SPEED}",
        rf"{TAKES}\b(?:{TWICE}|{FRACTION}|{NUMBER} times) (?:as (?:long|much time)|longer|shorter)\b",
        rf"\bcosts? {HEDGE}(?:{TWICE}|{FRACTION}|{NUMBER} times) (?:as much|more)\b",
        rf"(?:\b{TWICE}|{FRACTION}) (?:again )?as (?:{FAST}|(?:much|many) {OWNER}{{0,2}}{SPEED})",
        rf"\b{TWICE} {OWNER}{{0,4}}{SPEED}",
        rf"\b{FASTER} by {HEDGE}{NUMBER}",
        rf"(?:{DIGITS}|\b{CARDINAL})[ -]?fold\b",
        r"\borders? of (?:\w+ )?magnitude\b",
    ),
    *rules(
        "a factor",
        rf"\bfactors? (?:of|between) {HEDGE}{NUMBER}",
        unless=r"\b(?:unroll\w*|pad\w*|split\w*|til\w+|round\w*|scal\w+)\b[^.;]{0,25}$",
    ),
    *rules(
        "a fraction",
        rf"(?:{FRACTION}|{DIGITS}) {OWNER}{{1,5}}{SPEED}",
        rf"{FRACTION} (?:again )?(?:{FASTER}|(?:less|more) time\b|(?:off|out of) {OWNER}{{0,3}}{SPEED})",
        rf"\b{SPEED} (?:\w+ )?(?:by|to|in) {HEDGE}{FRACTION}",
    ),
    *rules(
        "a measured quantity",
        rf"\b{STRONG_QUANTITY}\W{{1,3}}{LINK}*{NUMBER}",
        rf"{NUMBER} {ADJECTIVE}{words('occupancy hit[_-]rate speed[_-]?up')}\b",
        rf"\b{WEAK_QUANTITY} ?{LINK}+(?!(?:19|20)\d\d\b){NUMBER}(?!\.?\d){BENIGN}",
        rf"\b(?:shared|local) memory ?{LINK}+{NUMBER} ?{BYTES}\b",
        rf"(?:{RATE}|\b{SHORT_TIME}) ?[)\]]? ?(?:[:=≈]|\b(?:is|are|was|of)\b) ?{HEDGE}{NUMBER}",
    ),
]

# A table's column or row that holds measured numbers.
MEASURED_HEAD = re.compile(
    rf"{RATE}|\b{SHORT_TIME}|\b{words('us ns seconds secs')}\b|[(\[,] ?(?-i:s) ?(?:[)\]]|$)|{PERCENT}|\b{POWER}"
    rf"|[(\[] ?× ?[)\]]|^ ?× ?$|(?<!\w)\(x\)|{COUNTED}|{STRONG_QUANTITY}"
    rf"|\b{words('bandwidth throughput latency run[_-]?time')}s?\b"
    rf"|(?<![\w-])time\b(?! (?:limit|zone))|\b{words('faster slower speed')}\b|\bof (?:the )?{words('peak roof copy')}\b",
    re.IGNORECASE,
)
NO_DATE_OR_VERSION = r"(?!\d{4}-\d\d-\d\d)(?!\d+\.\d+\.\d)"
CELL_NUMBER = re.compile(
    rf"^\W*?{HEDGE}[-+(×]*{NO_DATE_OR_VERSION}{NUMBER}{BENIGN}|^{HEDGE}(?:{TWICE}|{FRACTION})$",
    re.IGNORECASE,
)
STATED_UNIT = re.compile(rf"\b(?:in|of) (?:{RATE}|{SHORT_TIME}|(?:us|ns|seconds)\b|{PERCENT})", re.IGNORECASE)
DECIMAL = re.compile(r"[~≈]?\d[\d,]*\.\d+")
