"""What else is installed: whether another distribution has put its files into this package's folder.

Two distributions have the import name `kernels`. Installed into one environment they share a folder, the later one replaces
files of the earlier, and a function is missing somewhere, much later. So whoever imports the library is told at once.
"""

from importlib.metadata import distributions
from pathlib import Path

NOT_INSTALLED = (
    "{} is not in the wheel of blockwise-kernels. It is in blockwise_kernels_tools, of the same version, which lies beside that "
    "wheel: give pip the addresses of both."
)
MIXED = (
    "blockwise-kernels and {name} {version}, another project, are installed in one environment, where both put their files into "
    "{folder}. Neither can be trusted there. Take both out, with `pip uninstall blockwise-kernels {name}`, and install "
    "each again in an environment of its own."
)


def refuse_mixed_folder(folder: Path) -> None:
    """Raise ImportError if a distribution called as this package is has been installed beside the package's folder."""
    for other in distributions(name=folder.name, path=[str(folder.parent)]):
        raise ImportError(MIXED.format(name=other.name, version=other.version, folder=folder), name=folder.name)


refuse_mixed_folder(Path(__file__).parent.parent)
