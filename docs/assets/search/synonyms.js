// What readers type, and what the pages call it. One line a group; a word may be a phrase, and its ending does not count.
// `a, b, c` stand for each other. In `a, b > c, d` who types a or b also finds c and d, and not the other way round.
// A name with a dot stands for itself alone: what `torch.compile` has is not found for `compile`.
// Small words count for nothing: of `what runs where` only `runs` would be looked for, and found everywhere.
// To add one, write a line, and put the query into tests/browser/queries.tsv, which says what it must find.

export const SYNONYMS = `
fp8, float8, 8-bit float, e4m3, e5m2
int8, 8-bit
int64, 64-bit, 32 bits, 2³¹
fp16, bf16, bfloat16, float16, half precision, 16 bits
tf32, fp32, float32
quantize, quantization > quantized numbers, 8-bit
w8a16, w8a8, w4a16, dequantize, dequant, zero point, weight-only, weight only, int4, 4-bit, gptq, awq, marlin, absmax, group scale, per-row scale, gemv > quantized numbers
round, rint, rounding, truncate > round nearest
mixed precision, amp > autocast
overflow > 32 bits, 2³¹
tma, tensor descriptor, make_tensor_descriptor, tensordescriptor
block pointer, make_block_ptr > tensor descriptor
rocm, amd, gfx942, mi300, hip
rocm, amd, intel, xpu, macos, mac, windows, wsl > compatibility, what to install
install, pip, requirements, supported, version > what to install, compatibility
wsl, windows
nvidia, gpu, card, a100, h100, b200, rtx > compatibility, what a generation changes
p100, gtx 1080, pascal, maxwell > no kernel image
v100, t4, volta, turing > what to install, no kernel image
l4, l40s, a10 > card decides
4090, 3090, 4080, geforce, ada, sm_89, sm_86, consumer > add gpu, card decides
changed, release notes, upgrade > changelog, compatibility
colab, notebook, jupyter, kaggle > lab
exercise, practice > lab, puzzle
start, begin, beginner, getting started, hello world, tutorial, learn, introduction, first steps > first kernel, start
example, template, copy > pattern
tl, triton.language > language
triton.jit, tl.arange > first kernel
tl.load, tl.store > mask, first kernel
tl.where > mask, branch
constexpr > settled before the kernel runs
print, device_print, debug, debugger, breakpoint, pdb > interpreter, print, debug
error, bug, wrong > mistake, goes wrong
out of bounds, oob, segfault > mask, illegal memory access
cudaerrorillegaladdress > illegal memory access
outofresources, shared memory exceeded, out of shared memory, shared memory limit > out of resource shared memory
slow, slower, speed up, optimize, performance, bottleneck > profile, how fast, autotune
profile, profiler, ncu, nsight, counter, proton
profile, profiling, profiler, nsight > kernel slow
ncu, nsight compute > report of nsight compute
nsys > nsight systems
cross compile, ahead of time, aot, without a gpu, compile_only > compiled without a gpu
benchmark, timing, stopwatch, measure
do_bench > how this site measures
ptx, sass, assembly, machine code
ttir, ttgir, llvm ir, intermediate representation, compiler output, lens
num_stages, stage, pipelining, software pipeline
num_warps, warp
odd shape, odd size, ragged > waves full, odd length, library products
fused linear cross entropy, linear cross entropy > never write logits
block size, block_size, tile size, block_m > autotune, block
config, tune, tuning, autotune, autotuner
cache, first call, jit > compile, first call
recompile, recompiled, growing sequence, dynamic shape > every new shape, compiles again
multiprocessor, sm
strided, strided access, column access > neighbors in memory, uncoalesced
upcast, cast > precision, tensor cores
spill, register spill, register pressure > register, spill
race condition, data race > atomic, race, run in no order
deadlock, hang, hangs, spin lock > programs wait, locks
deterministic, nondeterministic, reproducible, bitwise, same bits
different results, nondeterministic, not reproducible, results change > same bits, deterministic, run in no order, atomic
attention, flash attention, sdpa, flashattention
score_mod, block_mask, flex_attention > flexattention
sliding window, sliding windows, window > window, flexattention
sliding window, gqa, grouped query, mqa, varlen, cu_seqlens, fused attention, attention function, mistral > kernels.attention
kv cache, decode, decoding > decode step, KeyValueCache
fa2, fa3, flash attention 3 > flash attention
matmul, gemm, mm, tl.dot, matrix multiplication, matrix product
reduction, sum, reduce
cumsum, prefix sum, scan, running sum
gradient, backward, autograd, derivative
norm, layernorm, layer norm, rmsnorm, rms norm
rope, rotary, rotary embedding
relu, gelu, silu, swiglu, geglu, activation
rng, seed, random, dropout
loss, nll > cross-entropy
bank conflict, shared memory, smem, sram
dram, global memory, hbm
occupancy, resident > programs fit
coalescing, coalesced, coalesced access, memory coalescing > neighbors in memory
bandwidth, roofline, memory bound, compute bound, arithmetic intensity
roofline, arithmetic intensity, memory bound > operations for each byte, two rates
tensor core, wgmma, mma
hopper, h100, h200, sm_90
warp specialization, specialized warps, producer consumer
persistent kernel, persistent programs
split-k, splitk, stream-k > few tiles, splitting the last wave
tolerance, allclose, accuracy, numerical error
accurate, accuracy, rounding > precision, tolerance
nan, inf, infinity
custom op, custom operator, triton_op, library operator
torch.compile, torch compile, inductor, dynamo
nn.module, module > layer, autograd in a model
contiguous, stride, strided, transpose
power of 2, power of two, next_power_of_2
broadcast, expand_dims
program_id, pid, grid, launch
thread, threadidx, blockidx, cuda
cite, citation, bibtex
cutlass, cute, cublas, cudnn, gluon > tool
`;
