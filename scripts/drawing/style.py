"""What every chart shares: the page's colors, how each implementation is drawn, and a canvas in CSS pixels for two widths."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D

LEGEND_ROW = 20
GROUND = "on-ground"
# The page's light palette. Each value stands for one property, so the limit differs from the ink by a shade no one sees.
COLORS = {
    "ink": "#211c17",
    "muted": "#665d51",
    "rule": "#ddd5c6",
    "paper": "#fbf8f2",
    "panel": "#f4efe5",
    "memory": "#1b4f9f",
    "ours": "#b0351d",
    "peer-1": "#24527c",
    "peer-2": "#5c4500",
    "peer-3": "#14796b",
    "peer-4": "#7c52a6",
    "limit": "#211c18",
}
RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "blockwise",
    "font.family": "DejaVu Sans",
    "text.color": COLORS["ink"],
    "lines.scale_dashes": False,
    "lines.solid_capstyle": "round",
    "axes.facecolor": "none",
    "figure.facecolor": "none",
}


class Variant(NamedTuple):
    name: str
    width: int
    text: float

    @property
    def wide(self) -> bool:
        return self.name == "wide"


WIDE = Variant("wide", 720, 13)
NARROW = Variant("narrow", 360, 12)


class Series(NamedTuple):
    label: str
    color: str
    marker: str
    dashes: tuple[float, ...] = ()
    width: float = 1.3
    hollow: bool = False

    def line(self) -> dict[str, Any]:
        """How matplotlib draws it; the dash and the mark alone tell two implementations apart."""
        color = COLORS[self.color]
        size = {"o": 6.5, "s": 5.5, "^": 6.5, "D": 5.2, "v": 6.5}[self.marker]
        return {
            "color": color,
            "linewidth": self.width,
            "linestyle": (0, self.dashes) if self.dashes else "-",
            "marker": self.marker,
            "markersize": size,
            "markerfacecolor": COLORS["paper"] if self.hollow else color,
            "markeredgecolor": color,
            "markeredgewidth": 1.3 if self.hollow else 0,
        }


SERIES = {
    "blockwise": Series("Blockwise", "ours", "o", width=2.4),
    "row": Series("One-row kernel", "ours", "o", dashes=(2, 2.5), hollow=True),
    "eager": Series("PyTorch eager", "peer-1", "s", dashes=(6, 2.5)),
    "compile": Series("torch.compile", "peer-2", "^", dashes=(1.2, 1.8)),
    "liger": Series("Liger-Kernel", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    "compile_max": Series("torch.compile (max-autotune)", "peer-4", "v", dashes=(3.5, 1.5)),
    "flash_triton": Series("flash-attn's Triton kernels", "peer-2", "o", dashes=(4, 2)),
    "eager_hf": Series("Unfused PyTorch", "peer-4", "s", dashes=(2, 2)),
    "unfused": Series("Unfused PyTorch", "peer-4", "v"),
    "atomic": Series("Atomics alone", "ours", "D", dashes=(2, 2.5), hollow=True),
    "lanes_64": Series("BLOCK of 64", "peer-1", "s", dashes=(6, 2.5)),
    "lanes_256": Series("BLOCK of 256", "peer-2", "^", dashes=(1.2, 1.8)),
    "lanes_1024": Series("BLOCK of 1,024", "ours", "o", width=2.4),
    "lanes_4096": Series("BLOCK of 4,096", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    "programs": Series("programs", "ours", "o", width=0),
    "reread": Series("Reading", "ours", "o", width=2.4),
    "recopy": Series("Copying, half read and half written", "peer-1", "s", dashes=(6, 2.5)),
    "useful": Series("Bytes used", "ours", "o", width=2.4),
    "moved": Series("Bytes moved", "memory", "s", dashes=(6, 2.5)),
    "from_memory": Series("a byte moved to or from HBM, counted", "ours", "o", width=0),
    "asked": Series("a byte that the programs load and store", "ours", "o", width=0, hollow=True),
    "taken": Series("Time", "peer-2", "^", dashes=(6, 2.5)),
    "masked": Series("Mask everywhere", "ours", "o", width=2.4),
    "split": Series("Mask in the last program", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    "flash_triton_ip": Series("flash-attn, in place", "peer-1", "v", dashes=(2, 4)),
    "flash": Series("PyTorch's flash attention", "peer-1", "s", dashes=(6, 2.5)),
    "flex": Series("FlexAttention, compiled", "peer-2", "^", dashes=(1.2, 1.8)),
    "cudnn": Series("cuDNN", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    "tutorial": Series("Triton tutorial's method", "peer-4", "v", dashes=(3.5, 1.5)),
    "maskless": Series("No mask", "peer-4", "v", dashes=(3.5, 1.5)),
    "one_each": Series("One draw an element", "ours", "o", dashes=(2, 2.5), hollow=True),
    "last": Series("One launch, the last program finishes", "ours", "s", dashes=(6, 2.5), hollow=True),
    "two_launches": Series("Two launches", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
    "lock": Series("A lock", "peer-4", "v", dashes=(3.5, 1.5)),
    "relaxed": Series("Integers, relaxed", "ours", "o", width=2.4),
    "ordered": Series("Integers, acquire and release", "peer-1", "s", dashes=(6, 2.5)),
    "floats": Series("Floats, relaxed", "peer-2", "^", dashes=(1.2, 1.8)),
    "scattered": Series("Integers, neighbors far apart", "peer-3", "D", dashes=(9, 2, 1.5, 2)),
}


class Canvas:
    """A figure measured in CSS pixels from its top left corner."""

    def __init__(self, variant: Variant, height: float):
        self.variant, self.height = variant, height
        self.marks: list[Any] = []
        self.figure = Figure(figsize=(variant.width / 72, height / 72), dpi=72)
        self.pixels = Affine2D().scale(1, -1).translate(0, height) + Affine2D().scale(1 / 72) + self.figure.dpi_scale_trans

    def axes(self, left: float, top: float, right: float, bottom: float) -> Axes:
        width, height = self.variant.width, self.height
        axes = self.figure.add_axes((left / width, 1 - bottom / height, (right - left) / width, (bottom - top) / height))
        axes.spines[:].set_visible(False)
        axes.tick_params(bottom=False, left=False, pad=6, labelsize=self.variant.text, labelcolor=COLORS["muted"])
        axes.minorticks_off()
        return axes

    def ratio_axes(self, box: tuple[float, float, float, float], low: float, high: float) -> Axes:
        """Axes for ratios, logarithmic across. Numbers need some thirty pixels each: with fewer, every other power has one."""
        axes = self.axes(*box)
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
        axes.set_xlim(low, high)
        every = 1 if box[2] - box[0] >= 30 * math.log2(high / low) else 2
        powers = [2.0**power for power in range(-4, 8) if power % every == 0 and low <= 2.0**power <= high]
        axes.set_xticks(powers, [f"{power:g}" for power in powers])
        return axes

    def text(self, x: float, y: float, words: str, color: str = "ink", **options: Any) -> None:
        """Words whose baseline begins at (x, y), unless `ha` says otherwise, on ground of their own."""
        options |= {"color": COLORS[color], "fontsize": self.variant.text, "gid": GROUND}
        self.figure.text(x, y, words, transform=self.pixels, **options)

    def line(self, xs: Sequence[float], ys: Sequence[float], **options: Any) -> None:
        self.figure.add_artist(Line2D(xs, ys, transform=self.pixels, **options))

    def box(self, x: float, y: float, width: float, height: float, **options: Any) -> None:
        self.figure.add_artist(Rectangle((x, y), width, height, transform=self.pixels, **options))

    def key(self, x: float, y: float, series: Series, label: str) -> None:
        """A sample of how a series is drawn with its name, on the baseline y."""
        middle = y - 0.35 * self.variant.text
        sample, style = sample_width(series), series.line()
        if series.width:
            self.line([x, x + sample], [middle, middle], **{**style, "marker": ""})
        self.line([x + sample / 2], [middle], **{**style, "linestyle": ""})
        self.text(x + sample + 6, y, label)

    def legend(self, x: float, y: float, items: Sequence[tuple[Series, str]]) -> None:
        for row in legend_rows(items, self.variant, x):
            for left, series, label in row:
                self.key(left, y, series, label)
            y += LEGEND_ROW


def on_canvas(canvas: Canvas, axes: Axes, x: float, y: float) -> tuple[float, float]:
    across, up = axes.transData.transform((x, y))
    return float(across), canvas.height - float(up)


def sample_width(series: Series) -> float:
    return 26 if series.width else 10


def legend_rows(items: Sequence[tuple[Series, str]], variant: Variant, x: float) -> list[list[tuple[float, Series, str]]]:
    """The items of a legend, each with its left edge, broken into rows that fit."""
    rows: list[list[tuple[float, Series, str]]] = [[]]
    left, half = x, (variant.width - x) / 2
    for series, label in items:
        width = sample_width(series) + 6 + text_width(label, variant.text)
        if rows[-1] and left + width > variant.width:
            rows.append([])
            left = x
        rows[-1].append((left, series, label))
        left += width + 18 if variant.wide else half * math.ceil(width / half)
    return rows


def text_width(words: str, size: float) -> float:
    """About how wide a line of text is; the page chooses the face, so nothing can know it exactly."""
    return 0.57 * size * len(words)


def spread(wanted: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Places as near as can be to the wanted ones, in the same order, at least a gap apart, between top and bottom."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    edge = top - gap
    for i in order:
        edge = places[i] = max(wanted[i], edge + gap)
    edge = bottom + gap
    for i in reversed(order):
        edge = places[i] = min(places[i], edge - gap)
    return places


def page_style() -> Any:
    """A context in which matplotlib draws alike on every machine, whatever its own settings there."""
    settings: dict[Any, Any] = dict(matplotlib.rcParamsDefault)
    settings.pop("backend", None)
    return matplotlib.rc_context(settings | RC)
