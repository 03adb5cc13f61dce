"""The build steps. Each command (bake, charts, prepare, ...) is a file here; what they share has a room of its own."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
