"""What Triton's errors usually mean: the message, the line in which it comes up ("" is any), and the cause."""

MEANINGS = [
    (
        r"(?:name '|NameError\(.)(\w+)'? is not defined",
        "",
        r"`\1` is used before any line sets it: that line is still missing, or spelled otherwise.",
    ),
    (
        r"cannot access local variable '(\w+)'",
        "",
        r"`\1` is set only in a branch or loop that did not run. Set it before.",
    ),
    (
        "arange's range must be a power of 2",
        "",
        "a block's length must be a power of two. Take `triton.next_power_of_2(n)` and mask the rest.",
    ),
    (
        "arange's arguments must be of type tl.constexpr",
        "",
        "both ends of `tl.arange` must be known when the kernel is compiled: write `tl.arange(0, BLOCK)`, with `BLOCK: "
        "tl.constexpr`. What depends on the program is added to it: `tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`.",
    ),
    (
        r"Shape element \d+ must",
        "",
        "a block's sides must be powers of two that are known when the kernel is compiled.",
    ),
    (
        "exceeds triton maximum tensor numel",
        "",
        "one block may have 2^20 elements at most. Loop over smaller ones.",
    ),
    (
        "Cannot make_shape_compatible|could not be broadcast|incompatible dimensions",
        "",
        "two blocks of different shapes meet here. A row block needs `[:, None]`, a column block `[None, :]`.",
    ),
    (
        "Mask argument cannot be block type|Value argument cannot be block type",
        "",
        "the pointer is a single one and the mask or value is a block. Add the offsets: `ptr + offsets`.",
    ),
    (
        "Mask must have boolean",
        "",
        "a mask must be true or false in each lane: write a comparison, such as `offsets < n`.",
    ),
    (
        "other cannot be provided without mask",
        "",
        "`other` fills the lanes that a mask switches off: give a mask too.",
    ),
    (
        "Unsupported ptr type",
        "",
        "a load or store got a number where a pointer belongs. Compare the order of the arguments at the launch with the "
        "kernel's.",
    ),
    (
        r"Expected dtype \[.*\] but got",
        "",
        "this function wants float32. Convert right after the load: `x.to(tl.float32)`.",
    ),
    (
        "both operands must be same dtype|Both operands must be same dtype",
        "",
        "`tl.dot` takes two blocks of one dtype. Convert one of them.",
    ),
    (
        "Input shapes should have",
        "",
        "`tl.dot` needs at least 16 terms along K, the side that it sums over, and 32 where the numbers have 8 bits. Take a "
        "longer step along K, and mask it; the other two sides may be short.",
    ),
    (
        "did you forget to add @triton.jit|Did you forget to add @triton.jit",
        "",
        "the kernel lacks `@triton.jit`.",
    ),
    (
        "'function' object is not subscriptable",
        "",
        "the kernel lacks `@triton.jit`.",
    ),
    (
        "object of type 'int' has no len|'int' object is not iterable",
        r"\]\(",
        "the grid must be a tuple, also with one number: `(triton.cdiv(n, BLOCK),)`.",
    ),
    (
        "'float' object cannot be interpreted as an integer",
        "",
        "the grid has a fraction in it. Use `triton.cdiv(n, BLOCK)`, which rounds up.",
    ),
    (
        r"missing (?:\d+|a) required (?:positional )?argument",
        "",
        "the launch does not pass all of the kernel's arguments.",
    ),
    (
        r"takes (?:from )?\d+.* positional arguments? but|unexpected keyword argument|multiple values for",
        "",
        "the call and the function's arguments do not match. Compare the two lists.",
    ),
    (
        r"invalid axis|axis \d+ (?:is )?out of bounds",
        "",
        "the block has fewer dimensions than this axis asks for.",
    ),
    (
        r"cpu tensor\?",
        "",
        "the tensor is on the CPU, and the kernel runs on the GPU. Move it with `.cuda()`.",
    ),
    (
        "out of resource: shared memory",
        "",
        "the tiles do not fit into shared memory. Take smaller ones, or fewer `num_stages`.",
    ),
    (
        "is not subscriptable|unsupported tensor index",
        "",
        "a block cannot be indexed with a number. Use a mask and `tl.where`, or load from a pointer.",
    ),
    (
        "illegal memory access",
        "",
        "some lane touched memory outside of the tensors, and from then on the GPU refuses this process everything. Start"
        " anew, with TRITON_INTERPRET=1: on a CPU the check names the lane.",
    ),
    (
        "only 0-dimensional arrays can be converted",
        "",
        "Triton 3.6's interpreter and NumPy 2.4 do not get along. Install Triton 3.7.1 or newer, or `numpy<2.4`.",
    ),
    (
        "Cannot call @triton.jit'd outside",
        "",
        "a kernel is launched with its grid, `kernel[grid](...)`. If it is: triton was imported before TRITON_INTERPRET "
        "was set. Start anew, and set it first.",
    ),
    (
        "0 active drivers",
        "",
        "there is no GPU, and the interpreter is off. Set TRITON_INTERPRET=1 before triton is imported, and start anew.",
    ),
]
