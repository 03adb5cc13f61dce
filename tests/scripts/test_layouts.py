"""Our reader of layouts against Triton's own answer, a layout of each kind, and against what the PTX ISA says of fragments."""

from itertools import product

import pytest
from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language import (
    BlockedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    NVMMASharedLayout,
    SliceLayout,
    SwizzledSharedLayout,
)

from scripts import layouts
from scripts.layouts.banks import of_addresses
from scripts.layouts.bits import elements, reached

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>"
TALL = "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>"
MMA_2 = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 4], instrShape = [16, 8]}>"
MMA_3 = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 64, 16]}>"
LANES = "[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]"
LINEAR = f"#ttg.linear<{{register = [[0, 1], [8, 0]], lane = {LANES}, warp = [[0, 0], [16, 0]], block = []}}>"
OF = {
    BLOCKED: BlockedLayout([1, 8], [4, 8], [8, 1], [1, 0]),
    TALL: BlockedLayout([2, 1], [16, 2], [1, 4], [0, 1]),
    MMA_2: NVMMADistributedLayout([2, 0], [2, 4], [16, 8]),
    MMA_3: NVMMADistributedLayout([3, 0], [4, 2], [16, 64, 16]),
}
REGISTERS = {text: (layout, shapes) for (text, layout), shapes in zip(OF.items(), [
    [(128, 64), (16, 8), (256, 128)], [(64, 64), (8, 128)], [(128, 128), (32, 32), (16, 8)], [(128, 128), (64, 256), (64, 64)],
], strict=True)}  # fmt: skip
REGISTERS |= {
    f"#ttg.slice<{{dim = {dim}, parent = {text}}}>": (SliceLayout(dim, OF[text]), [(128,), (32,)])
    for dim, text in product((0, 1), OF)
}
REGISTERS |= {
    f"#ttg.dot_op<{{opIdx = {side}, parent = {MMA_2}, kWidth = {width}}}>": (
        DotOperandLayout(side, OF[MMA_2], width),
        [(64, 128)],
    )
    for side, width in product((0, 1), (1, 2, 4))
}
REGISTERS[f"#ttg.dot_op<{{opIdx = 0, parent = {MMA_3}, kWidth = 2}}>"] = (DotOperandLayout(0, OF[MMA_3], 2), [(128, 64)])
SHARED = {
    f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = {order}}}>": (
        SwizzledSharedLayout(vec, per, most, order), shape, bits)
    for vec, per, most, order, shape, bits in [
        (8, 1, 8, [1, 0], (128, 64), 16), (8, 2, 4, [1, 0], (64, 32), 16),
        (4, 1, 8, [0, 1], (32, 64), 32), (1, 1, 1, [1, 0], (64, 64), 32),
    ]
}  # fmt: skip
SHARED |= {
    f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {str(turned).lower()}, elementBitWidth = {bits}}}>": (
        NVMMASharedLayout(width, bits, 2, turned), (128, 128), bits)
    for width, turned, bits in product((32, 64, 128), (False, True), (8, 16, 32))
}  # fmt: skip
SHARED["#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>"] = (
    NVMMASharedLayout(0, 16),
    (64, 32),
    16,
)


@pytest.fixture(scope="module")
def triton():
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    builder.context = context  # what the builder makes lives as long as it does
    return builder


@pytest.mark.parametrize("text", REGISTERS)
def test_registers_hold_what_triton_says(triton, text):
    theirs, shapes = REGISTERS[text]
    ours = layouts.layout_of(text)
    for shape in shapes:
        answer = triton.to_linear_layout(theirs._to_ir(triton), list(shape))
        expected = {"register": answer.reg_bases, "lane": answer.lane_bases, "warp": answer.warp_bases}
        assert ours.bases(shape) == {name: [tuple(step) for step in steps] for name, steps in expected.items()}, shape


@pytest.mark.parametrize("text", SHARED)
def test_shared_memory_keeps_elements_where_triton_says(triton, text):
    theirs, shape, _ = SHARED[text]
    steps = [tuple(step) for step in triton.to_linear_layout(theirs._to_ir(triton), list(shape)).offset_bases]
    expected = {reached(steps, offset, len(shape)): offset for offset in range(shape[0] * shape[1])}
    assert layouts.layout_of(text).offsets(shape) == [expected[element] for element in elements(shape)]


@pytest.mark.parametrize("text", SHARED)
def test_bank_conflicts_are_those_that_triton_counts(triton, text):
    theirs, shape, bits = SHARED[text]
    for given in (BLOCKED, TALL, MMA_2):
        counted = layouts.passes(layouts.layout_of(given), layouts.layout_of(text), shape, bits)
        expected = triton.get_shared_bank_conflicts(OF[given]._to_ir(triton), theirs._to_ir(triton), list(shape), bits)
        assert counted.taken == counted.needed * (1 + expected), (given, counted)


def test_a_linear_layout_says_itself_what_it_is(triton):
    steps = layouts.layout_of(LINEAR).bases((32, 8))
    theirs = DistributedLinearLayout(*([list(step) for step in steps[name]] for name in steps), [], [32, 8])
    assert triton.to_linear_layout(theirs._to_ir(triton), [32, 8]).warp_bases == [[0, 0], [16, 0]] == [*map(list, steps["warp"])]
    wider = layouts.layout_of(LINEAR).bases((64, 8))
    assert wider["register"] == [*steps["register"], (32, 0)]


def test_gaps_follow_every_so_many_elements():
    padded = layouts.layout_of("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [4, 32]}>")
    assert [padded.offset((4, 32), element) for element in ((0, 31), (1, 31), (2, 0), (3, 31))] == [31, 63, 72, 135]


def test_fragments_are_those_of_the_ptx_isa():
    """Of mma.m16n8k16: c0 and c1 in row lane / 4, c2 and c3 eight rows below; of a, k runs over pairs; of b, down its column."""
    places = layouts.layout_of(MMA_2).places((32, 32))
    left = layouts.layout_of(f"#ttg.dot_op<{{opIdx = 0, parent = {MMA_2}, kWidth = 2}}>").places((32, 16))
    right = layouts.layout_of(f"#ttg.dot_op<{{opIdx = 1, parent = {MMA_2}, kWidth = 2}}>").places((16, 32))
    for lane in range(32):
        group, within = divmod(lane, 4)
        for i in range(4):
            assert places[layouts.Owner(i, lane, 0)] == (group + 8 * (i >= 2), 2 * within + (i & 1))
        for i in range(8):
            assert left[layouts.Owner(i, lane, 0)] == (group + 8 * (i // 2 % 2), 2 * within + (i & 1) + 8 * (i >= 4))
        for i in range(4):
            assert right[layouts.Owner(i, lane, 0)] == (2 * within + (i & 1) + 8 * (i >= 2), group)


def test_accesses_of_the_compiler_s_text_are_read_with_their_layouts():
    text = f"""#blocked = {BLOCKED}
#shared = #ttg.nvmma_shared<{{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}}>
    %1 = tt.load %0 : tensor<64x!tt.ptr<f32>, #ttg.slice<{{dim = 1, parent = #blocked}}>> loc(#loc)
    %3 = ttg.async_copy_global_to_local %2, %9 mask %4 : tensor<128x64x!tt.ptr<bf16>, #blocked> -> <128x64xbf16, #shared, #smem>
    %5 = ttg.local_load %9 : !ttg.memdesc<128x64xbf16, #shared, #smem, mutable> -> tensor<128x64xbf16, #blocked>
"""
    named = layouts.parse(text)
    first, second, third = layouts.accesses(text)
    assert first[:4] == (3, "tt.load", (64,), "f32") and first.registers.parent == named["#blocked"] and first.shared is None
    assert second[1:] == ("ttg.async_copy_global_to_local", (128, 64), "bf16", named["#blocked"], named["#shared"])
    assert third[1:] == ("ttg.local_load", (128, 64), "bf16", named["#blocked"], named["#shared"])


def test_owners_name_the_first_of_several_copies():
    owners = layouts.layout_of(BLOCKED).owners((16, 8))
    assert owners[0] == layouts.Owner(0, 0, 0) and owners[8] == layouts.Owner(0, 8, 0) and owners[-1] == layouts.Owner(7, 24, 3)


def test_words_of_one_bank_are_served_in_turn():
    assert of_addresses(range(0, 128, 4), 4) == 1
    assert of_addresses(range(0, 256, 8), 4) == 2
    assert of_addresses([0] * 32, 4) == 1
    assert of_addresses(range(0, 512, 16), 16) == 4


@pytest.mark.parametrize(
    "text",
    ["#unknown", "#ttg.amd_mfma<{version = 3}>", f"#ttg.dot_op<{{opIdx = 1, parent = {MMA_3}, kWidth = 2}}>", "#ttg.blocked<{"],
)
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(layouts.LayoutError):
        layouts.layout_of(text).bases((64, 64))


def test_addresses_follow_the_compiled_arithmetic():
    text = """  tt.func public @far_kernel(%x_ptr: !tt.ptr<f32>, %stride: i32) {
    %c64_i32 = arith.constant 64 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c64_i32 : i32
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %3 = tt.splat %1 : i32 -> tensor<64xi32, #blocked>
    %4 = arith.addi %3, %2 : tensor<64xi32, #blocked>
    %5 = tt.splat %stride : i32 -> tensor<64xi32, #blocked>
    %6 = arith.muli %4, %5 : tensor<64xi32, #blocked>
    %7 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>
    %8 = tt.addptr %7, %6 : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
    %9 = tt.load %8 : tensor<64x!tt.ptr<f32>, #blocked>
"""
    assert layouts.addresses(text, "tt.load", {"stride": 3}, program=2) == [3 * (128 + lane) for lane in range(64)]
    with pytest.raises(layouts.LayoutError):
        layouts.addresses(text.replace("arith.muli %4", "arith.xori %4"), "tt.load", {"stride": 3})
