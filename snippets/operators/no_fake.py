"""An operator without a fake: it runs, and no graph can hold it."""

# --8<-- [start:no_fake]
import re

import torch


@torch.library.custom_op("forgotten::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


print(double(torch.ones(2)))
#> tensor([2., 2.])
try:
    torch.compile(double, backend="eager", fullgraph=True)(torch.ones(2))
except Exception as error:
    print(re.search(r"There was no fake impl\w*", str(error)).group())
    #> There was no fake impl
# --8<-- [end:no_fake]
