"""In the place of the folder `labs`, where only the library is installed: an import prefers the folder, if there is one."""

from kernels.common.distributions import NOT_INSTALLED

raise ModuleNotFoundError(NOT_INSTALLED.format("kernels.labs"), name="kernels.labs")
