"""What Triton's errors usually mean, in rows: the message, the line in which it comes up ("" is any), the cause, and where the
error index has more of it, below `errors/` of the site ("" is nowhere). The first row that fits counts."""

MEANINGS = [
    (
        r"(?:name '|NameError\(.)(\w+)'? is not defined",
        "",
        r"`\1` is used before any line sets it: that line is still missing, is spelled otherwise, or stands in an `if` or a loop "
        r"that may not run. Where `\1` is an argument of the kernel, a function within the kernel is the cause: move that out.",
        "python/#not-defined",
    ),
    (
        r"cannot access local variable '(\w+)'",
        "",
        r"`\1` is set only in a branch or loop that did not run. Set it before.",
        "python/#not-defined",
    ),
    (
        r"nested function definitions are not allowed|StopIteration\(\)",
        r"^def\b",
        "a function is defined within the kernel. Move it out, and decorate it with `@triton.jit`, too.",
        "python/#nested-function",
    ),
    (
        "Cannot access global variable",
        "",
        "a kernel sees no variables of the module but constants: `SCALE = tl.constexpr(3)`. What changes is an argument.",
        "python/#global-variable",
    ),
    (
        "unsupported AST node type: (?:Break|Continue)",
        "",
        "a kernel's loops know no `break` and no `continue`. Put the end into the condition of a `while`, and what a round "
        "may skip into an `if`.",
        "python/#break-statement",
    ),
    (
        "simultaneous multiple comparison",
        "",
        "comparisons of blocks do not chain. Write each for itself and in parentheses: `(0 <= offsets) & (offsets < n)`.",
        "python/#chained-comparison",
    ),
    (
        "For loop bounds and step must all be ints",
        "",
        "a bound of the loop is a fraction. Divide with `//` or `tl.cdiv`.",
        "python/#loop-bounds",
    ),
    (
        r"Loop-carried variable (\w+) has initial type",
        "",
        r"`\1` begins with another dtype or shape than the loop gives it. Begin with what it will be: "
        r"`tl.zeros((BLOCK,), tl.float32)`.",
        "types/#loop-type",
    ),
    (
        "arange's range must be a power of 2",
        "",
        "a block's length must be a power of two. Take `triton.next_power_of_2(n)` and mask the rest.",
        "blocks/#arange-power",
    ),
    (
        "arange's arguments must be of type tl.constexpr",
        "",
        "both ends of `tl.arange` must be known when the kernel is compiled: write `tl.arange(0, BLOCK)`, with `BLOCK: "
        "tl.constexpr`, and give it a plain integer at the launch. What depends on the program is added to it: "
        "`tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`.",
        "blocks/#arange-constexpr",
    ),
    (
        r"Shape element \d+ must have type",
        "",
        "a block's sides must be powers of two that are known when the kernel is compiled.",
        "blocks/#shape-constexpr",
    ),
    (
        r"Shape element \d+ must",
        "",
        "a block's sides must be powers of two that are known when the kernel is compiled.",
        "blocks/#shape-power",
    ),
    (
        "exceeds triton maximum tensor numel",
        "",
        "one block may have 2^20 elements at most. Loop over smaller ones.",
        "blocks/#too-many-elements",
    ),
    (
        "Expected pointer argument to have shape",
        "",
        "the value and the mask, stretched to fit each other, have another shape than the pointers. Leave out `keep_dims`, or "
        "give pointers and mask the dimension too: `rows[:, None]`.",
        "memory/#pointer-shape",
    ),
    (
        "Cannot make_shape_compatible|incompatible dimensions",
        r"\btl\.softmax\(",
        "up to Triton 3.8, `tl.softmax` drops the dimension that it reduces. Write the softmax out, with `keep_dims=True` in "
        "`tl.max` and `tl.sum`.",
        "numbers/#softmax-dim",
    ),
    (
        "Cannot make_shape_compatible|could not be broadcast|incompatible dimensions",
        "",
        "two blocks of different shapes meet here. A row block needs `[:, None]`, a column block `[None, :]`.",
        "blocks/#incompatible-shapes",
    ),
    (
        "Mask argument cannot be block type",
        "",
        "the pointer is a single one and the mask is a block. Add the offsets: `ptr + offsets`.",
        "memory/#mask-block",
    ),
    (
        "Value argument cannot be block type",
        "",
        "the pointer is a single one and the value is a block. Add the offsets: `ptr + offsets`. Or make one number of "
        "the block: `tl.sum(x, axis=0)`.",
        "memory/#value-block",
    ),
    (
        "Mask must have boolean|mask has unsupported dtype",
        "",
        "a mask must be true or false in each lane: write a comparison, such as `offsets < n`.",
        "memory/#mask-not-boolean",
    ),
    (
        "other`? cannot be provided without `?mask",
        "",
        "`other` fills the lanes that a mask switches off: give a mask too.",
        "memory/#other-without-mask",
    ),
    (
        "Unsupported ptr type",
        "",
        "a load or store got a number where a pointer belongs. Compare the order of the arguments at the launch with the "
        "kernel's.",
        "memory/#unsupported-pointer",
    ),
    (
        "invalid operands of type pointer",
        "",
        "a pointer moves by whole numbers, so divide with `//`, and takes no other arithmetic: load first. Or the launch gives "
        "a tensor where the kernel wants a number.",
        "memory/#pointer-type",
    ),
    (
        "error encountered during parsing",
        "",
        "the compiler made code that it refuses itself, and says why above the traceback. Mostly a block is the condition of "
        "`a if condition else b` (write `tl.where`), a mask is no comparison, or an atomic adds a block to a single pointer.",
        "types/#ternary-types",
    ),
    (
        "Block pointers have been removed|make_block_ptr is deprecated",
        "",
        "`tl.make_block_ptr` is gone in Triton 3.9. Make a descriptor with `tl.make_tensor_descriptor`, and give the offsets "
        "to its `load`; or use pointers and a mask.",
        "memory/#block-pointers",
    ),
    (
        "must be 16-byte aligned|Last dimension must be contiguous",
        "",
        "a descriptor wants rows that begin at multiples of 16 bytes and whose numbers lie side by side. Copy a view into such "
        "rows; of a transposed matrix describe the `.T`, and transpose the tile.",
        "memory/#descriptor-on-host",
    ),
    (
        "Descriptor block shape must have at least 16 bytes",
        "",
        "a descriptor's block is too short along its last dimension: 16 bytes are 4 numbers of float32, 8 of float16.",
        "memory/#descriptor-bytes",
    ),
    (
        "Tensor descriptor last dim must be 1",
        "",
        "a descriptor's last stride must be 1. Describe the matrix as it lies in memory, and transpose the tile.",
        "memory/#descriptor-last-stride",
    ),
    (
        r"orget to add @triton\.jit",
        "make_tensor_descriptor",
        "a descriptor's last stride must be 1, and known when the kernel is compiled: write `1`. The decorator is not at fault. "
        "Describe a transposed matrix as it lies in memory, and transpose the tile.",
        "memory/#descriptor-last-stride",
    ),
    (
        r"^AssertionError\(\)$",
        r"\btl\.dot\(",
        "the accumulator is not float32. Start with `tl.zeros((M, N), tl.float32)`.",
        "types/#dot-accumulator",
    ),
    (
        r"Expected dtype \[.*\] but got",
        "",
        "this function wants float32. Convert right after the load: `x.to(tl.float32)`.",
        "types/#expected-float",
    ),
    (
        "both operands must be same dtype|Both operands must be same dtype",
        "",
        "`tl.dot` takes two blocks of one dtype. Convert one of them.",
        "types/#dot-dtypes",
    ),
    (
        "Input shapes should have",
        "",
        "`tl.dot` needs at least 16 terms along K, the side that it sums over, and 32 where the numbers have 8 bits. Take a "
        "longer step along K, and mask it; the other two sides may be short.",
        "types/#dot-shapes",
    ),
    (
        r"orget to add @triton\.jit",
        "",
        "the kernel lacks `@triton.jit`.",
        "launch/#forgot-jit",
    ),
    (
        "'function' object is not subscriptable",
        "",
        "the kernel lacks `@triton.jit`.",
        "launch/#not-subscriptable",
    ),
    (
        "object of type 'int' has no len|'int' object is not iterable",
        r"\]\(",
        "the grid must be a tuple, also with one number: `(triton.cdiv(n, BLOCK),)`.",
        "launch/#grid-not-tuple",
    ),
    (
        "'float' object cannot be interpreted as an integer",
        "",
        "the grid has a fraction in it. Use `triton.cdiv(n, BLOCK)`, which rounds up.",
        "launch/#grid-not-tuple",
    ),
    (
        r"missing (?:\d+|a) required (?:positional )?argument",
        "",
        "the launch does not pass all of the kernel's arguments.",
        "launch/#missing-argument",
    ),
    (
        r"Conflicting meta-parameters|run\(\) got multiple values for keyword argument",
        "",
        "the tuner chooses this argument, and the launch gives it, too. Leave it out of the launch.",
        "launch/#conflicting-meta",
    ),
    (
        r"Keyword argument (\w+) was specified but unrecognised",
        "",
        r"the kernel has no argument `\1`, and a launch has no such option: it is spelled otherwise, such as `num_warps`, or "
        "belongs to another kind of GPU.",
        "launch/#unknown-keyword",
    ),
    (
        "num_warps must be a power of 2",
        "",
        "a program has 1, 2, 4, 8 or more warps, a power of two.",
        "launch/#num-warps-power",
    ),
    (
        "failed to specialize argument of type",
        "",
        "a launch takes tensors and numbers, no NumPy array, list or string. Make a tensor of it, or pass one number.",
        "launch/#numpy-argument",
    ),
    (
        r"takes (?:from )?\d+.* positional arguments? but|unexpected keyword argument|multiple values for",
        "",
        "the call and the function's arguments do not match. Compare the two lists.",
        "",
    ),
    (
        r"invalid axis|axis \d+ (?:is )?out of bounds",
        "",
        "the block has fewer dimensions than this axis asks for.",
        "blocks/#invalid-axis",
    ),
    (
        r"cpu tensor\?",
        "",
        "the tensor is on the CPU, and the kernel runs on the GPU. Move it with `.cuda()`.",
        "launch/#cpu-tensor",
    ),
    (
        "out of resource: shared memory",
        "",
        "the tiles do not fit into shared memory. Take smaller ones, or fewer `num_stages`.",
        "launch/#out-of-resource",
    ),
    (
        "is not subscriptable|unsupported tensor index",
        "",
        "a block cannot be indexed with a number. Use a mask and `tl.where`, or load from a pointer.",
        "blocks/#tensor-index",
    ),
    (
        "illegal memory access",
        "",
        "some lane touched memory outside of the tensors, and from then on the GPU refuses this process everything. Start a "
        "new process. `CUDA_LAUNCH_BLOCKING=1` makes the guilty launch raise, and `compute-sanitizer --tool memcheck` names the "
        "line. In the page and in the labs, *Run* names the lane.",
        "memory/#illegal-access",
    ),
    (
        "type fp8e4nv not supported in this architecture",
        "",
        "the GPU has no `float8_e4m3fn`: it needs compute capability 8.9 (RTX 40, H100) or more. Use `tl.float8e5`, or keep the "
        "numbers in bfloat16.",
        "types/#fp8-architecture",
    ),
    (
        "only 0-dimensional arrays can be converted",
        "",
        "Triton 3.6's interpreter and NumPy 2.4 do not get along. Install Triton 3.7.1 or newer, or `numpy<2.4`.",
        "setup/#interpreter-numpy",
    ),
    (
        "Cannot call @triton.jit'd outside",
        "",
        "a kernel is launched with its grid, `kernel[grid](...)`. If it is: triton was imported before TRITON_INTERPRET "
        "was set. Start anew, and set it first.",
        "launch/#no-grid",
    ),
    (
        "0 active drivers",
        "",
        "there is no GPU, and what runs wants one. Set TRITON_INTERPRET=1 before triton is imported, and start anew. If it was "
        "set in time, an autotuner with several configurations wants the GPU's clock: give it another with `do_bench`.",
        "setup/#no-driver",
    ),
]
