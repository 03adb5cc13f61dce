"""In the place of the folder `tools`, where only the library is installed: an import prefers the folder, if there is one."""

from kernels.common.distributions import NOT_INSTALLED

raise ModuleNotFoundError(NOT_INSTALLED.format("kernels.tools"), name="kernels.tools")
