"""Carry records over a change that moves and renames code and changes nothing else. No bake, and no number touched.

    python scripts/migrate.py COMMIT NAMES.tsv            check, and write the records anew
    python scripts/migrate.py COMMIT NAMES.tsv --check    only check that records differ from the commit's in names and digests

Moving a file, or a function to a sibling, needs none of this: a digest does not know where code lies. A new name does, because
names are what digests are made of. The commit's tree is read from git and renamed by the list (scripts/migrations/); then each of
its records must have been fresh there, and the digest of the renamed tree must be the digest of this checkout. If one differs,
the migration names it and writes nothing. In what records hold, names that a record carries (of a kernel's arguments, of mutants,
of a recording's variables) are renamed likewise; numbers and printed output stay byte for byte.
"""

import argparse
import ast
import fnmatch
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from scripts import ROOT
from scripts.provenance import records, sources
from scripts.provenance.digest import digest
from scripts.provenance.follow import PROJECT, Code, CodeError, parts_of

# Run in the commit's tree: its records, and which of them are not of its own code.
TOLD = """
import json, sys
try:
    from scripts.provenance import records, sources
    is_fresh = sources.is_fresh
except ImportError:
    from scripts import records
    is_fresh = records.is_fresh
machines = sorted(path.name for path in records.BAKED.iterdir() if path.is_dir())
found = [(path, record) for machine in machines for path, record in records.all_records(machine)]
told = {"records": [str(path.relative_to(records.BAKED)) for path, _ in found]}
print(json.dumps(told | {"stale": [str(path.relative_to(records.BAKED)) for path, record in found if not is_fresh(record)]}))
"""


class Renaming(NamedTuple):
    """Where files went, and which names are new in which files."""

    moves: dict[str, str]
    names: list[tuple[str, str, list[str]]]

    def of_file(self, path: str) -> dict[str, str]:
        """The new names in a file, by its old path."""
        return {old: new for old, new, files in self.names if any(fnmatch.fnmatch(path, pattern) for pattern in files)}

    @property
    def modules(self) -> dict[str, str]:
        return {dotted(old): dotted(new) for old, new in self.moves.items()}


def dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_renaming(path: Path) -> Renaming:
    found = Renaming({}, [])
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match line.split("\t"):
            case ["move", old, new]:
                found.moves[old] = new
            case ["name", old, new, files]:
                found.names.append((old, new, files.split(",")))
            case _ if line and not line.startswith("#"):
                raise CodeError(f"{path}:{number}: expected `move OLD NEW` or `name OLD NEW FILES`, got {line!r}")
    return found


def renamed(text: str, names: dict[str, str], modules: dict[str, str]) -> str:
    """A file's text with its new names: where Python reads a name, where a text is one, and where a text names a module."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token, is_module in reversed(list(zip(tokens, in_module_names(tokens), strict=True))):
        said = token.string
        new = names.get(said) if token.type == tokenize.NAME and not is_module else None
        if token.type == tokenize.STRING and said[0] in "\"'" and said[:3] not in ('"""', "'''"):
            new = names.get(said[1:-1]) or place_of(said[1:-1], modules)
            new = said[0] + new + said[0] if new else None
        if new:
            first, last = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
            text = text[:first] + new + text[last:]
    return text


def in_module_names(tokens: list[tokenize.TokenInfo]) -> list[bool]:
    """For each token whether it belongs to the module's name in `from module import name`, which only says where code lies."""
    found, inside = [], False
    for number, token in enumerate(tokens):
        starts = not number or tokens[number - 1].type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
        inside = token.string == "from" if starts else inside and token.string != "import"
        found.append(inside)
    return found


def place_of(text: str, modules: dict[str, str]) -> str | None:
    """The new name of a module or a file that a text names, or of something in a module, where its last part is another."""
    file, colon, name = text.partition(":")
    if file.endswith(".py") and dotted(file) in modules:
        return f"{modules[dotted(file)].replace('.', '/')}.py{colon}{name}"
    module, _, name = text.rpartition(".")
    if text in modules:
        return modules[text] if modules[text].rpartition(".")[2] != name else None
    return f"{modules[module]}.{name}" if module in modules else None


def lay_out(commit: str, folder: Path, renaming: Renaming) -> Path:
    """The commit's tree, and beside it the same tree with the new names; return that one."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True)
    if packed.returncode != 0:
        raise CodeError(f"git has no tree {commit}: {packed.stderr.decode().strip()}")
    for side in ("before", "renamed"):
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tar:
            tar.extractall(folder / side, filter="data")
    tree = folder / "renamed"
    for path in sorted(path for room in (*PROJECT, "docs/labs") for path in (tree / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        new = renamed(text, renaming.of_file(path.relative_to(tree).as_posix()), renaming.modules)
        if new != text:
            path.write_text(new, encoding="utf-8")
    return tree


def fresh_records(tree: Path) -> list[str]:
    """The places of a tree's records, all of which must be of its own code, as its own scripts say."""
    done = subprocess.run([sys.executable, "-c", TOLD], cwd=tree, capture_output=True, text=True)
    if done.returncode != 0:
        raise CodeError(f"the commit's own scripts cannot tell which of its records are fresh\n{done.stderr.strip()[-1000:]}")
    told = json.loads(done.stdout)
    if stale := told["stale"]:
        raise CodeError(f"{stale[0]} is older than its code already in that commit, and {len(stale) - 1} more")
    return told["records"]


class Before:
    """Where things stood in the commit's tree, renamed."""

    def __init__(self, tree: Path, renaming: Renaming):
        self.code, self.renaming = Code(tree), renaming
        self.origin = {new: old for old, new in renaming.moves.items()}
        self.definitions: dict[str, list[str]] | None = None

    def entries(self, now: list[str]) -> list[str]:
        """The entries of a record, in the old places."""
        return [self.entry(*entry.partition(":")) for entry in now]

    def entry(self, path: str, colon: str, name: str) -> str:
        old = self.origin.get(path, path)
        if not (self.code.root / old).exists() or name and name not in parts_of(self.code.tree(self.code.root / old)):
            old = self.defining(name) if name else old
        return f"{old}{colon}{name}"

    def defining(self, name: str) -> str:
        """The one file that defines a function which has gone to a sibling."""
        if self.definitions is None:
            self.definitions = {}
            for path in sorted(path for room in PROJECT for path in (self.code.root / room).rglob("*.py")):
                for node in self.code.tree(path).body:
                    if isinstance(node, ast.FunctionDef | ast.ClassDef):
                        where = path.relative_to(self.code.root).as_posix()
                        self.definitions.setdefault(node.name, []).append(where)
        files = self.definitions.get(name, [])
        if len(files) != 1:
            raise CodeError(f"{name} is defined in {len(files)} files of the commit, so it cannot be told which one it was")
        return files[0]

    def names(self, entries: list[str]) -> dict[str, str]:
        """The new names in the files that a record comes from."""
        found: dict[str, str] = {}
        for entry in entries:
            found |= self.renaming.of_file(entry.partition(":")[0])
        return found


def with_names(value: Any, names: dict[str, str]) -> Any:
    """What a record holds, with the new names; only texts, and never those of `output`."""
    if isinstance(value, dict):
        return {
            names.get(key, key): each if key in ("output", "measurements", "environment") else with_names(each, names)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [with_names(each, names) for each in value]
    if isinstance(value, str) and names:
        return re.sub(rf"\b(?:{'|'.join(names)})\b", lambda word: names[word[0]], value)
    return value


def migrated(tree: Path, places: list[str], renaming: Renaming) -> dict[Path, dict[str, Any]]:
    """Every record of the commit as it reads in this checkout; an error names the first that the change did more than rename."""
    before, now, found = Before(tree, renaming), Code(), {}
    for place in places:
        record = json.loads((tree / "docs/baked" / place).read_text(encoding="utf-8"))
        kind, name = record["kind"], record["name"]
        entries = sources.entries(kind, name, now)
        old = before.entries(entries)
        fresh = digest(entries, now)
        if digest(old, before.code) != fresh:
            raise CodeError(f"{place}: more than names differs between the commit's code and this checkout's")
        contents = {key: value for key, value in record.items() if key not in ("hash", "code")}
        contents = contents if kind in ("program", "lab") else with_names(contents, before.names(old))
        head = {"schema": record["schema"], "kind": kind, "name": name, "hash": fresh}
        found[records.BAKED / place] = head | contents
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", metavar="COMMIT", help="whose records are carried over")
    parser.add_argument("names", metavar="NAMES.tsv", type=Path, help="what the change moved and renamed")
    parser.add_argument("--check", action="store_true", help="write nothing: compare the records here with the commit's")
    arguments = parser.parse_args()
    try:
        renaming = read_renaming(arguments.names)
        with tempfile.TemporaryDirectory() as folder:
            tree = lay_out(arguments.commit, Path(folder), renaming)
            found = migrated(tree, fresh_records(Path(folder) / "before"), renaming)
        other = [path for path, record in found.items() if not path.exists() or records.read(path) != record]
        if arguments.check:
            differ = f"{len(other)} differ here in more than names and digests"
            print(f"{len(found)} records of {arguments.commit}: {differ}", *other, sep="\n  ")
            return int(bool(other))
        for path in other:
            records.write(path, found[path])
        print(f"{len(found)} records of {arguments.commit} carried over, {len(other)} of them written anew")
    except (CodeError, records.RecordError) as error:
        print(f"nothing was written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
