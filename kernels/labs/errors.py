"""Errors that a reader's code raised, in a teacher's words."""

import re

from kernels.labs.source import failing_line, statement_at

# The message of an error, and what it usually means. The first that matches is said.
MEANINGS = [
    (
        r"(?:name '|NameError\(.)(\w+)'? is not defined",
        r"`\1` is used before any line sets it: that line is still missing, or spelled otherwise.",
    ),
    (
        r"cannot access local variable '(\w+)'",
        r"`\1` is set only in a branch or loop that did not run. Set it before.",
    ),
    (
        r"arange's range must be a power of 2",
        "a block's length must be a power of two. Take `triton.next_power_of_2(n)` and mask the rest.",
    ),
    (
        r"arange's arguments must be of type tl.constexpr",
        "a block's length must be known when the kernel is compiled: write `BLOCK: tl.constexpr`.",
    ),
    (
        r"Shape element \d+ must",
        "a block's sides must be powers of two that are known when the kernel is compiled.",
    ),
    (
        r"exceeds triton maximum tensor numel",
        "one block may have 2^20 elements at most. Loop over smaller ones.",
    ),
    (
        r"Cannot make_shape_compatible|could not be broadcast|incompatible dimensions",
        "two blocks of different shapes meet here. A row block needs `[:, None]`, a column block `[None, :]`.",
    ),
    (
        r"Mask argument cannot be block type|Value argument cannot be block type",
        "the pointer is a single one and the mask or value is a block. Add the offsets: `ptr + offsets`.",
    ),
    (
        r"Mask must have boolean",
        "a mask must be true or false in each lane: write a comparison, such as `offsets < n`.",
    ),
    (
        r"other cannot be provided without mask",
        "`other` fills the lanes that a mask switches off: give a mask too.",
    ),
    (
        r"Unsupported ptr type",
        "a load or store got a number where a pointer belongs. Compare the order of the arguments at the launch with "
        "the kernel's.",
    ),
    (
        r"Expected dtype \[.*\] but got",
        "this function wants float32. Convert right after the load: `x.to(tl.float32)`.",
    ),
    (
        r"both operands must be same dtype|Both operands must be same dtype",
        "`tl.dot` takes two blocks of one dtype. Convert one of them.",
    ),
    (
        r"Input shapes should have",
        "`tl.dot` needs sides of 16 at least. Take larger tiles, and mask them.",
    ),
    (
        r"did you forget to add @triton.jit|Did you forget to add @triton.jit",
        "the kernel lacks `@triton.jit`.",
    ),
    (
        r"'function' object is not subscriptable",
        "the kernel lacks `@triton.jit`.",
    ),
    (
        r"object of type 'int' has no len|'int' object is not iterable",
        "the grid must be a tuple, also with one number: `(triton.cdiv(n, BLOCK),)`.",
    ),
    (
        r"'float' object cannot be interpreted as an integer",
        "the grid has a fraction in it. Use `triton.cdiv(n, BLOCK)`, which rounds up.",
    ),
    (
        r"missing (?:\d+|a) required (?:positional )?argument",
        "the launch does not pass all of the kernel's arguments.",
    ),
    (
        r"takes (?:from )?\d+.* positional arguments? but|unexpected keyword argument|multiple values for",
        "the call and the function's arguments do not match. Compare the two lists.",
    ),
    (
        r"invalid axis|axis \d+ is out of bounds",
        "the block has fewer dimensions than this axis asks for.",
    ),
    (
        r"keepdim",
        "Triton spells it `keep_dims=True`.",
    ),
    (
        r"cpu tensor\?",
        "the tensor is on the CPU, and the kernel runs on the GPU. Move it with `.cuda()`.",
    ),
    (
        r"out of resource: shared memory",
        "the tiles do not fit into shared memory. Take smaller ones, or fewer `num_stages`.",
    ),
    (
        r"is not subscriptable|unsupported tensor index",
        "a block cannot be indexed with a number. Use a mask and `tl.where`, or load from a pointer.",
    ),
    (
        r"illegal memory access",
        "some lane touched memory outside of the tensors, and from then on the GPU refuses this process everything. Start "
        "anew, with TRITON_INTERPRET=1: on a CPU the check names the lane.",
    ),
    (
        r"only 0-dimensional arrays can be converted",
        "Triton 3.6's interpreter and NumPy 2.4 do not get along. Install Triton 3.7.1 or newer, or `numpy<2.4`.",
    ),
    (
        r"Cannot call @triton.jit'd outside",
        "a kernel is launched with its grid, `kernel[grid](...)`. If it is: triton was imported before "
        "TRITON_INTERPRET was set. Start anew, and set it first.",
    ),
    (
        r"0 active drivers",
        "there is no GPU, and the interpreter is off. Set TRITON_INTERPRET=1 before triton is imported, and start anew.",
    ),
]


def chain(error: BaseException) -> list[BaseException]:
    """The error, the one that it was raised from, and so on to the root."""
    return [error, *chain(error.__cause__)] if error.__cause__ is not None else [error]


def refused_line(errors: list[BaseException]) -> str:
    """The innermost line of a kernel that Triton's compiler refused; nothing for any other error."""
    for error in reversed(errors):
        source, number = getattr(error, "src", None), getattr(getattr(error, "node", None), "lineno", 0)
        lines = source.splitlines() if isinstance(source, str) else []
        if 0 < number <= len(lines):
            return lines[number - 1].split("  #")[0].strip()
    return ""


def explain(error: BaseException) -> str:
    """What went wrong, where, and what that usually means."""
    errors = chain(error)
    root = errors[-1]
    # Of the compiler's errors only what it says itself: they hold the kernel's text, too.
    lines = [line.strip() for line in (getattr(root, "error_message", None) or str(root)).splitlines() if line.strip()]
    said = lines[-1] if lines else ""
    place = max((failing_line(e) for e in {root, error}), key=lambda place: bool(place[0]))
    statement = refused_line(errors) or statement_at(failing_line(root)) or statement_at(place)
    where = f"\n  {statement}" if statement else ""
    if isinstance(root, AssertionError) and not said and "dot" in statement:
        cause = "the accumulator is not float32. Start with `tl.zeros((M, N), tl.float32)`."
        return f"Triton refuses this product:{where}\n\nUsually: {cause}"
    text = f"The code stopped at this line:{where}" + (f"\n  {type(root).__name__}: {said}" if said else "")
    for pattern, meaning in MEANINGS:
        match = re.search(pattern, " ".join(lines))
        if match:
            return f"{text}\n\nUsually: {match.expand(meaning)}"
    return text
