"""What the compiler wrote, read: places, passes and occupancy, on texts that are small enough to check by eye."""

import pytest

from scripts.layouts import layout_of
from scripts.layouts.bits import reached
from scripts.reading import passes, places
from scripts.reading.held import held, written
from scripts.reading.made import beside
from scripts.reading.occupancy import occupancy

LIBRARY, KERNEL = "/env/triton/standard.py", "/checkout/kernels/one.py"


def last_line(chain: places.Chain) -> int:
    """The line of the kernel in a chain."""
    return next((line for file, line in chain if file == KERNEL), 0)


TTGIR = f"""#blocked = #ttg.blocked<{{sizePerThread = [4]}}>
#loc = loc("{KERNEL}":18:0)
#loc9 = loc("x_ptr"(#loc))
module {{
  tt.func public @one(%x: !tt.ptr<f32> loc("x_ptr"(#loc))) {{
    %pid = tt.get_program_id x : i32 loc(#loc5)
    %max = arith.maximumf %a, %b : f32 loc(#loc7)
    %both = arith.addi %a, %b : i32 loc(#loc8)
    ^bb0(%p: f32 loc(callsite(#loc3 at #loc4)), %q: f32 loc("{KERNEL}":22:0)):
    %c = arith.constant 1 : i32 loc(#loc1)
  }} loc(#loc)
}} loc(#loc)
#loc1 = loc(unknown)
#loc2 = loc("{KERNEL}":20:24)
#loc3 = loc("{LIBRARY}":170:27)
#loc4 = loc("{KERNEL}":21:7)
#loc5 = loc("pid"(#loc2))
#loc6 = loc(callsite(#loc3 at #loc4))
#loc7 = loc("max"(#loc6))
#loc8 = loc(fused[#loc4, #loc2])
"""


def test_mlir_says_where_it_comes_from_through_names_calls_and_fusions():
    text = places.of_mlir(TTGIR, last_line)
    assert text.at == [0, 0, 18, 20, 21, 21, 22, 0, 18, 18]
    assert not any("loc(" in line or "/" in line for line in text.lines)
    assert text.lines[3] == "    %pid = tt.get_program_id x : i32"


OLDER = f"""
.visible .entry one(
)
{{
\t.loc\t1 18 0                          // one.py:18:0
\tmov.u32 \t%r1, %tid.x;
\t.loc\t2 170 27                        // standard.py:170:27 @[ one.py:21:34 ]
$L__tmp1:
\t@%p1 ld.global.b32 { "{ %r2 }" }, [ %rd1 + 0 ];
$L__BB0_2:                              // %loop
\t.loc\t1 22 4                          // one.py:22:4
\tret;
}}
\t.file\t1 "{KERNEL}"
\t.file\t2 "{LIBRARY}"
\t.section\t.debug_abbrev
"""
NEWER = OLDER.replace(
    "\t.loc\t2 170 27                        // standard.py:170:27 @[ one.py:21:34 ]",
    "\t.loc\t2 170 27, function_name $L__info_string0, inlined_at 2 191 40 // standard.py:170:27\n"
    "\t.loc\t2 191 40, function_name $L__info_string0, inlined_at 1 21 34 // standard.py:191:40\n"
    "\t.loc\t2 170 27, function_name $L__info_string0, inlined_at 2 191 40 // standard.py:170:27",
)


@pytest.mark.parametrize("ptx", [OLDER, NEWER], ids=["comment", "inlined_at"])
def test_ptx_of_both_forms_says_which_line_called(ptx):
    text = places.of_ptx(ptx, last_line)
    found = dict(zip((line.strip() for line in text.lines), text.at, strict=True))
    assert found["mov.u32     %r1, %tid.x;"] == 18 and found["ret;"] == 22
    assert found["@%p1 ld.global.b32 { %r2 }, [ %rd1 + 0 ];"] == 21
    assert found["$L__BB0_2:"] == 0 and not any("tmp1" in line or ".loc" in line or "/" in line for line in text.lines)


@pytest.mark.parametrize("ptx", [OLDER, NEWER], ids=["comment", "inlined_at"])
def test_the_assembler_is_told_the_line_of_the_kernel(ptx):
    given = places.for_assembler(ptx, last_line)
    before = [line for line in given.splitlines() if ".loc" in line]
    assert before[0] == "\t.loc\t1 18 0" and before[-2:] == ["\t.loc\t1 21 0", "\t.loc\t1 22 0"]
    assert KERNEL not in given and ".section" not in given and given.endswith('\t.file\t1 "source"\n')


def test_machine_code_keeps_labels_and_lines_and_loses_addresses():
    text = places.of_sass(
        'one:\n.text.one:\n\t//## File "source", line 18\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n'
        '.L_x_0:\n\t//## File "source", line 21\n        /*0010*/              @!P1 LDG.E R2, desc[UR4][R2.64] ;\n'
        "        /*0020*/                   BRA `(.L_x_0);\n.L_x_1:\n        /*0030*/                   NOP;\n.L_x_2:\n"
    )
    assert text.lines == ["    LDC R1, c[0x0][0x28]", ".L_x_0:", "    @!P1 LDG.E R2, desc[UR4][R2.64]", "    BRA `(.L_x_0)"]
    assert text.at == [18, 0, 21, 21]


def test_amd_s_assembly_is_read_like_ptx():
    text = places.of_amdgcn(
        '\t.text\none:                                    ; @one\n\t.file\t1 "/checkout/kernels" "one.py"\n'
        "\t.loc\t1 20 24                         ; one.py:20:24\n\ts_load_dwordx2 s[0:1], s[4:5], 0x0   ; a word\n"
        ".LBB0_1:                                ; %loop\n\tv_add_f32 v0, v1, v2\n\ts_endpgm\n.Lfunc_end0:\n\ts_nop 0\n",
        last_line,
    )
    assert [line.strip() for line in text.lines[:2]] == ["one:", "s_load_dwordx2 s[0:1], s[4:5], 0x0"]
    assert [line.strip() for line in text.lines[2:]] == [".LBB0_1:", "v_add_f32 v0, v1, v2", "s_endpgm"]
    assert text.at == [0, 20, 0, 20, 20]


def dump(*steps: tuple[str, str]) -> str:
    heads = "// -----// IR Dump Before {0} ({0}) ('builtin.module' operation) //----- //\n{1}\n"
    return "".join(heads.format(name, text) for name, text in steps)


def test_a_pass_is_told_by_what_it_changes_and_not_by_what_it_renames():
    before, renamed = "module {\n  %0 = tt.load %a loc(#loc1)\n}", "module {\n  %x_5 = tt.load %b loc(#loc2)\n}"
    after = "module {\n  %0 = tt.load %a : #blocked\n}"
    last = ("convert-triton-gpu-to-llvm", after)
    found, count = passes.changes(dump(("inline", before), ("cse", renamed), ("coalesce", renamed), last, ("llvm", "module {}")))
    assert count == 3 and [(change.name, change.out, change.into) for change in found] == [("coalesce", 1, 1)]
    assert found[0].lines == ["  module {", "-   %x_5 = tt.load %b", "+   %0 = tt.load %a : #blocked", "  }"]


def test_a_second_compilation_in_the_same_dump_is_left_out():
    once = dump(("inline", "a"), ("cse", "b"), ("convert-triton-gpu-to-llvm", "b"), ("llvm", "c"))
    assert passes.changes(once + once) == passes.changes(once)


def test_long_changes_are_cut_and_say_so():
    many = "\n".join(f"line {number}" for number in range(500))
    found, _ = passes.changes(dump(("coalesce", "module"), ("convert-triton-gpu-to-llvm", many)))
    assert len(found[0].lines) == passes.MOST + 1 and found[0].lines[-1].endswith("lines more") and found[0].into == 500


@pytest.mark.parametrize(
    ("taken", "programs", "limit"),
    [
        (("sm_90", 4, 32, 0), 16, "nothing"),
        (("sm_90", 4, 255, 0), 2, "registers"),
        (("sm_90", 8, 128, 98_304), 2, "registers"),
        (("sm_90", 4, 64, 100_000), 2, "shared memory"),
        (("sm_80", 4, 64, 100_000), 1, "shared memory"),
        (("sm_90", 1, 32, 0), 32, "programs"),
        (("sm_100", 4, 64, 0, 256), 2, "tensor memory"),
    ],
)
def test_occupancy_is_what_the_scarcest_thing_allows(taken, programs, limit):
    found = occupancy(*taken)
    assert (found.programs, found.resident_warps, found.limit) == (programs, programs * taken[1], limit)


BLOCKED = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
SHARED = "#ttg.swizzled_shared<{{vec = 8, perPhase = 1, maxPhase = {}, order = [1, 0]}}>"


def ttgir(phases: int) -> str:
    return f"""#blocked = {BLOCKED}
#shared = {SHARED.format(phases)}
    %1 = ttg.local_load %0 : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    %2 = tt.expand_dims %1 : tensor<64xf16, #ttg.slice<{{dim = 1, parent = #blocked}}>> -> tensor<64x1xf16, #blocked>
"""


def test_layouts_are_found_with_their_largest_tensor_and_cover_it_once():
    found = {layout["name"]: layout for layout in held(ttgir(8))["layouts"]}
    assert found.keys() == {"#blocked", "#shared", "#ttg.slice<{dim = 1, parent = #blocked}>"}
    assert found["#blocked"]["shape"] == "64x64" and written("#shared, #smem>") == "#shared"
    steps = [tuple(map(int, step.split(","))) for step in found["#shared"]["bases"]["offset"].split()]
    places_of_all = {reached(steps, offset, 2) for offset in range(64 * 64)}
    assert len(places_of_all) == 64 * 64
    offsets = layout_of(SHARED.format(8)).offsets((64, 64))
    assert all(offsets[row * 64 + column] == at for at in (1, 8, 64, 77, 4095) for row, column in [reached(steps, at, 2)])
    bits = [step for name in ("register", "lane", "warp") for step in found["#blocked"]["bases"][name].split()]
    assert len(bits) == 12 and len(set(bits)) == 12


def test_accesses_to_shared_memory_are_counted():
    (access,) = held(ttgir(8))["shared"]
    assert access == {"operation": "ttg.local_load", "shape": "64x64", "dtype": "f16", "lane_bytes": 16, "taken": 4, "needed": 4}


def test_what_two_texts_share_is_told_once():
    first = [f"1 line {number}" for number in range(10)]
    assert beside([*first[2:8], "2 another", *first[8:]], first) == ["=2 6", "2 another", *first[8:]]
