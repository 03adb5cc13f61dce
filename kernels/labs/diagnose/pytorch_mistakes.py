"""What people who know PyTorch and Python write in a kernel, in rows as in error_explanations.py."""

HABITS = [
    (
        r"'torch\.dtype' object has no attribute",
        r"\btorch\.(?:u?int|b?float|half|long|double|bool)\w*",
        "PyTorch's dtypes are not Triton's. Within a kernel write `tl.int64`, `tl.float32` and so on.",
        "",
    ),
    (
        "must be Tensor, not tensor|!tensor!|Unsupported function referenced",
        "",
        "a function of PyTorch was called on a block. Within a kernel, only what `tl` offers works on blocks: `tl.exp`, "
        "`tl.sigmoid`, `tl.maximum`, `tl.where`, `tl.sum`.",
        "python/#unsupported-function",
    ),
    (
        r"'(?:builtin_function_or_method|torch\.dtype)' object has no attribute",
        r"\btorch\.",
        "a function of PyTorch was called within the kernel. Within a kernel, only what `tl` offers works on blocks: "
        "`tl.zeros`, `tl.arange`, `tl.full`.",
        "",
    ),
    (
        r"'(?:builtin_function_or_method|torch\.dtype)' object has no attribute",
        "",
        "a kernel is launched with its grid, `kernel[grid](...)`.",
        "launch/#no-grid",
    ),
    (
        "'tuple' object has no attribute '?append|'append' is not in list",
        "",
        "a kernel's lists are tuples and do not grow. Join two to a new one in a loop over `tl.static_range`: "
        "`rows = rows + (x,)`. For a sum or a maximum, keep one running block.",
        "python/#list-append",
    ),
    (
        r"'tuple(?:_type)?' object has no attribute|cannot convert .*(?:torch\.Size|core\.tuple)",
        "",
        "the kernel got a tuple where it wants one number: pass `x.stride(0)` or `x.shape[0]`.",
        "",
    ),
    (
        "'NoneType' object has no attribute 'to_tensor'",
        "",
        "within a kernel, only what `tl` offers works on blocks, called as functions: `tl.exp(x)`, not `x.exp()` or "
        "NumPy's `exp(x)`.",
        "",
    ),
    (
        r"unsupported operand type\(s\) for \*\*|no attribute '__pow__'",
        "",
        "`**` does not work on blocks. Multiply: `x * x`.",
        "",
    ),
    (
        "for @: 'tensor'|'MatMult' object",
        "",
        "`@` does not work on blocks. `tl.dot(a, b)` multiplies two tiles.",
        "",
    ),
    (
        "'tensor' object has no attribute '(?:float|half|int|long|double|bfloat16|type)'",
        "",
        "a block is converted with `.to(...)` and a dtype of Triton's: `x.to(tl.float32)`.",
        "",
    ),
    (
        r"'tensor' object has no attribute '(\w+)'",
        "",
        r"a block has no `.\1`: it is no PyTorch tensor. Within a kernel, only what `tl` offers works on blocks: "
        r"`tl.maximum(x, 0.0)`, `tl.sum(x, axis=0)`. Sizes and strides are arguments of the kernel.",
        "",
    ),
    (
        r"module 'triton\.language' has no attribute 'inf(?:inity)?'",
        "",
        'infinity is `float("inf")`, also in a kernel.',
        "",
    ),
    (
        r"module 'triton\.language(?:\.math)?' has no attribute 'tanh'",
        "",
        "Triton has no `tl.tanh`. Write it with the sigmoid: `2 * tl.sigmoid(2 * x) - 1`.",
        "setup/#no-tanh",
    ),
    (
        r"module 'triton\.language' has no attribute 'relu'",
        "",
        "Triton has no `tl.relu`. It is `tl.maximum(x, 0.0)`.",
        "",
    ),
    (
        r"module 'triton\.language' has no attribute '(?:matmul|mm|bmm)'",
        "",
        "Triton calls the product of two tiles `tl.dot`.",
        "",
    ),
    (
        r"module 'triton\.language' has no attribute '(?:pow|square)'",
        "",
        "Triton has no such function. Multiply: `x * x`.",
        "",
    ),
    (
        r"module 'triton\.language' has no attribute 'libdevice'",
        "",
        "`libdevice` has moved: `from triton.language.extra import libdevice`. It needs a GPU; the interpreter has none of it.",
        "setup/#no-libdevice",
    ),
    (
        r"module 'triton\.language' has no attribute '(\w+)'",
        "",
        r"Triton has no `tl.\1`. Among what there is are `tl.exp`, `tl.log`, `tl.sqrt`, `tl.sigmoid`, `tl.maximum`, "
        r"`tl.minimum`, `tl.where`, `tl.sum`, `tl.max`; a mean is a sum divided by n; dtypes are `tl.float32`, "
        r"`tl.float16`, `tl.int32`.",
        "",
    ),
    (
        "unexpected keyword argument 'dim'",
        "",
        "Triton says `axis` where PyTorch says `dim`: `tl.sum(x, axis=0)`.",
        "",
    ),
    (
        "keepdim",
        "",
        "Triton spells it `keep_dims=True`.",
        "blocks/#keepdim",
    ),
    (
        "'int' object is not iterable|min requires at least 2 values",
        r"\b(?:max|min|sum|any|all|sorted)\(",
        "Python's own `max`, `min` and `sum` do not look into a block. Write `tl.max(x, axis=0)`, `tl.sum(x, axis=0)`.",
        "",
    ),
    (
        r"\W(sum|abs|any|all|sorted|pow|round) is not defined|bad operand type for (abs)",
        "",
        "this is Python's own function. Within a kernel, only what `tl` offers works on blocks: `tl.sum(x, axis=0)`, "
        "`tl.abs(x)`.",
        "",
    ),
    (
        "'int' object is not iterable|has no attribute 'func'",
        "^for ",
        "a block has no elements to walk over. A kernel's arithmetic works on all lanes at once.",
        "",
    ),
    (
        "does not support item assignment|__setitem__ is not supported|only (?:0-dimensional|length-1) arrays",
        r"\w\[.*\] [-+*/]?= ",
        "nothing is written with `[...] =` in a kernel. Write to memory with `tl.store(ptr + offsets, value, mask=mask)`;"
        " change some lanes of a block with `tl.where`.",
        "blocks/#set-item",
    ),
    (
        r"'int' object is not iterable|orget to add @triton\.jit|only (?:0-dimensional|length-1) arrays",
        r"\w\[(?!.*\]\()",
        "a pointer or a block is not indexed. Read memory with `tl.load(ptr + offsets, mask=mask)`, and choose lanes of a"
        " block with `tl.where`.",
        "blocks/#tensor-index",
    ),
    (
        r"orget to add @triton\.jit|invalid operands of type pointer|unexpected type fp",
        r"triton\.cdiv",
        "`triton.cdiv` is for the launch. Within a kernel it is `tl.cdiv`, of two numbers such as `n` and `BLOCK`.",
        "",
    ),
    (
        "only (?:0-dimensional|length-1) arrays|argument must be a string",
        r"\b(?:math\.|np\.|int\(|float\()",
        "this function of Python wants one number. Within a kernel, only what `tl` offers works on blocks: `tl.exp(x)`, "
        "`x.to(tl.float32)`.",
        "",
    ),
    (
        "Ternary expression with dynamic",
        "",
        "the two values differ in shape or dtype: give them one. If the condition is a block, choose lane by lane: "
        "`tl.where(condition, a, b)`.",
        "types/#ternary-types",
    ),
    (
        "Boolean value of Tensor",
        "",
        "a condition on a block is true in some lanes and false in others. Choose lane by lane with `tl.where(condition, a, b)`.",
        "python/#ambiguous-boolean",
    ),
    (
        "object of type 'tensor' has no len",
        "",
        "a pointer or a block does not know the tensor's length. Pass it to the kernel, and write `n`.",
        "",
    ),
    (
        r"arange\(\) missing 1 required",
        "",
        "`tl.arange` wants both ends: `tl.arange(0, BLOCK)`.",
        "",
    ),
    (
        "can only concatenate list",
        r"\]\(",
        "the grid must be a tuple, not a list: `(triton.cdiv(n, BLOCK),)`.",
        "launch/#grid-not-tuple",
    ),
    (
        r"'dict' object has no attribute '(\w+)'",
        "",
        r"`meta` is a dict: write `meta['\1']`.",
        "",
    ),
    (
        r"^'(\w+)'$",
        r"meta\[",
        r"the kernel has no compile-time argument of the name `\1`. Compare with its `tl.constexpr` arguments.",
        "",
    ),
    (
        r"only integer tensors of a single element|to torch\.Size|'torch\.Size' and 'int'",
        "",
        "a tensor or its whole shape stands where one number belongs: write `len(x)` or `x.shape[0]`.",
        "",
    ),
]
