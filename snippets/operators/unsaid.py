"""Operators that do not do what they say: opcheck compares the two."""

# --8<-- [start:unsaid]
import re

import torch


@torch.library.custom_op("unsaid::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    x /= 2  # in place, and the line above says that nothing is changed
    return x.clone()


@torch.library.custom_op("unsaid::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    return x.mT.contiguous()


halve.register_fake(torch.empty_like)
turned.register_fake(torch.empty_like)  # the shape of x, and not the turned one

for operator in (halve, turned):
    try:
        torch.library.opcheck(operator, (torch.ones(2, 3),))
    except Exception as error:
        print(re.search(r"test_\w+ failed", str(error)).group())
        #> test_schema failed
        #> test_faketensor failed
# --8<-- [end:unsaid]

# --8<-- [start:solution]
turned.register_fake(lambda x: x.new_empty(x.shape[::-1]))
print(torch.library.opcheck(turned, (torch.ones(2, 3),))["test_faketensor"])
#> SUCCESS
# --8<-- [end:solution]
