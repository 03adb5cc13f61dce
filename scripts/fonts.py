"""Make the site's fonts from Adobe's: narrow the axes, keep the glyphs that pages use, and rename the families.

    npm install --prefix build/fonts source-serif@4.5.1 source-sans@3.52.0 source-code-pro@2.42.0
    python scripts/fonts.py build/fonts/node_modules

The license reserves the name "Source" for unchanged fonts, hence the new names.
"""

import io
import sys
from pathlib import Path
from typing import NamedTuple

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "assets" / "fonts"

ROMAN = "source-serif/VAR/SourceSerif4Variable-Roman.ttf"

ASCII = "20-7E,A0,2010-2015,2018-201E,2026,D7,B2,B3,B5,B7,2192,2212,2264,2265"
TEXT = (
    f"{ASCII},A0-FF,106-107,10C-10D,11E-11F,131,141-144,152-153,15E-161,17D-17E,2009,200A,202F,2020-2022,2030,2032-2033,2039-203A,"
    "2044,20AC,2113,2122,2190-2194,21D2,394,398,3A3,3A9,3B1-3B5,3B8,3BB-3BC,3C0,3C3,3C4,3C6,3C8,3C9,2202,2206,2208,220F,2211,2215,"
    "2219-221A,221E,2248,2260,2070-2079,207F,2080-2089,22C5,2308-230B"
)
CODE = f"{TEXT},2500,2502,250C,2510,2514,2518,251C,2524,252C,2534,253C,2588,258F,25A0,25A1,2713,2717"
FEATURES = ["kern", "mark", "liga", "ccmp", "calt", "tnum", "lnum", "case"]


class Face(NamedTuple):
    file: str
    source: str
    family: str
    axes: dict[str, float | tuple[float, float, float]]
    characters: str


FACES = [
    Face("serif", ROMAN, "Blockwise Serif", {"wght": (400, 400, 700), "opsz": 18}, TEXT),
    Face("serif-italic", "source-serif/VAR/SourceSerif4Variable-Italic.ttf", "Blockwise Serif", {"wght": 400, "opsz": 18}, TEXT),
    Face("display", ROMAN, "Blockwise Display", {"wght": 560, "opsz": 38}, ASCII),
    Face("sans", "source-sans/VF/SourceSans3VF-Upright.ttf", "Blockwise Sans", {"wght": (400, 400, 700)}, TEXT),
    Face("mono", "source-code-pro/VF/SourceCodeVF-Upright.ttf", "Blockwise Mono", {"wght": (400, 400, 600)}, CODE),
]


def rename(font: TTFont, family: str) -> None:
    names = font["name"]
    style = names.getDebugName(2) or "Regular"
    for record in list(names.names):
        if record.nameID not in (0, 1, 2, 3, 4, 6, 13, 14):
            names.removeNames(nameID=record.nameID)
    postscript = f"{family}-{style}".replace(" ", "")
    for name, text in ((1, family), (3, f"1.0;{postscript}"), (4, f"{family} {style}"), (6, postscript)):
        names.setName(text, name, 3, 1, 0x409)


def build(face: Face, sources: Path) -> int:
    font = instancer.instantiateVariableFont(TTFont(sources / face.source), face.axes)
    buffer = io.BytesIO()
    font.save(buffer)
    buffer.seek(0)
    options = subset.Options(flavor="woff2", layout_features=FEATURES, hinting=False, name_IDs=["*"])
    font = subset.load_font(buffer, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=subset.parse_unicodes(face.characters))
    subsetter.subset(font)
    rename(font, face.family)
    path = FOLDER / f"{face.file}.woff2"
    subset.save_font(font, path, options)
    return path.stat().st_size


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in FACES:
        print(f"{each.file}.woff2: {build(each, Path(sys.argv[1]))} bytes")
