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

# Nearly every page needs no more than the first set; the second is fetched by the pages that do (`unicode-range`).
COMMON = (
    "20-7E,A0,B0-B3,B5,B7,B9,D7,F7,2010-2015,2018-201A,201C-201E,2020-2022,2026,2032-2033,2070,2074-207B,2190-2193,2212,221E,2248,"
    "2264,2265"
)
HEADINGS = "20-7E,A0,B2-B3,B5,B7,D7,2013-2014,2018-2019,201C-201D,2026,2192,2212,2264-2265"
RARE = (
    "A1-AF,B4,B6,B8,BA-D6,D8-F6,F8-FF,106-107,10C-10D,11E-11F,131,141-144,152-153,15E-161,17D-17E,2009,200A,202F,2030,2039-203A,2044,"
    "207C-207F,2080-2089,20AC,2113,2122,2194,21D2,393,394,398,3A3,3A6,3A9,3B1-3B9,3BB-3BC,3BE,3C0,3C1,3C3,3C4,3C6-3C9,2202,2206,2208,"
    "220F,2211,2215,2219,221A,2260,22C5,2500,2502,250C,2510,2514,2518,251C,2524,252C,2534,253C,2588,258F,25A0,25A1,2713,2717"
)
FEATURES = ["kern", "liga", "ccmp", "calt", "tnum", "lnum", "case"]


class Face(NamedTuple):
    file: str
    source: str
    family: str
    axes: dict[str, float]
    characters: str


def faces() -> list[Face]:
    serif = "source-serif/VAR/SourceSerif4Variable-Roman.ttf"
    italic = "source-serif/VAR/SourceSerif4Variable-Italic.ttf"
    sans = "source-sans/VF/SourceSans3VF-Upright.ttf"
    mono = "source-code-pro/VF/SourceCodeVF-Upright.ttf"
    return [
        Face("serif", serif, "Blockwise Serif", {"wght": 400, "opsz": 18}, COMMON),
        Face("serif-rare", serif, "Blockwise Serif", {"wght": 400, "opsz": 18}, RARE),
        Face("serif-bold", serif, "Blockwise Serif", {"wght": 650, "opsz": 18}, COMMON),
        Face("serif-italic", italic, "Blockwise Serif", {"wght": 400, "opsz": 18}, COMMON),
        Face("display", serif, "Blockwise Display", {"wght": 560, "opsz": 38}, HEADINGS),
        Face("sans", sans, "Blockwise Sans", {"wght": 400}, COMMON),
        Face("sans-rare", sans, "Blockwise Sans", {"wght": 400}, RARE),
        Face("sans-bold", sans, "Blockwise Sans", {"wght": 640}, COMMON),
        Face("mono", mono, "Blockwise Mono", {"wght": 400}, COMMON),
        Face("mono-rare", mono, "Blockwise Mono", {"wght": 400}, RARE),
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
    for each in faces():
        print(f"{each.file}.woff2: {build(each, Path(sys.argv[1]))} bytes")
