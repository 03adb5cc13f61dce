"""A layer norm in C++: the same compiled kernels, launched without Python, with a gradient that needs none either."""
# needs: cuda
import re
import sys
import tempfile
import time

import torch

NORM_CPP = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <dlfcn.h>

// --8<-- [start:launch]
struct Kernel { CUfunction function; unsigned warps, shared_bytes; };
Kernel kernels[4];

void take_kernel(int64_t which, int64_t function, int64_t warps, int64_t shared_bytes) {
  kernels[which] = {reinterpret_cast<CUfunction>(function), unsigned(warps), unsigned(shared_bytes)};
}

template <typename... Arguments>
void launch(int which, unsigned grid_x, unsigned grid_y, Arguments... arguments) {
  static auto cu_launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuLaunchKernel"));
  void* scratch = nullptr;  // two more arguments of every kernel of Triton's: memory that these do not ask for
  void* parameters[] = {&arguments..., &scratch, &scratch};
  auto [function, warps, shared_bytes] = kernels[which];
  CUstream stream = c10::cuda::getCurrentCUDAStream().stream();
  auto status = cu_launch(function, grid_x, grid_y, 1, 32 * warps, 1, 1, shared_bytes, stream, parameters, nullptr);
  TORCH_CHECK(status == CUDA_SUCCESS, "the launch ends with CUDA's error ", int(status));
}
// --8<-- [end:launch]

// --8<-- [start:forward]
void check(const at::Tensor& tensor, at::IntArrayRef sizes) {  // what the kernels were compiled for
  bool fits = tensor.is_cuda() && tensor.scalar_type() == at::kBFloat16 && tensor.sizes() == sizes;
  fits = fits && tensor.is_contiguous() && !tensor.is_neg() && reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0;
  TORCH_CHECK(fits, "expected a contiguous bfloat16 tensor on the GPU, of shape ", sizes, " and aligned to 16 bytes");
}

at::Tensor norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  check(x, {64, 256}), check(weight, {256}), check(bias, {256});
  auto y = at::empty_like(x);
  launch(0, 16, 1, x.data_ptr(), weight.data_ptr(), bias.data_ptr(), y.data_ptr(), 32, 32, 64, 32, float(eps));
  return y;
}
// --8<-- [end:forward]

// --8<-- [start:gradient]
struct Norm : torch::autograd::Function<Norm> {
  static at::Tensor forward(
      torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
    check(x, {64, 256}), check(weight, {256}), check(bias, {256});
    auto y = at::empty_like(x), rstd = at::empty({64}, x.options().dtype(at::kFloat)), mean = at::empty_like(rstd);
    launch(1, 16, 1, x.data_ptr(), weight.data_ptr(), bias.data_ptr(), y.data_ptr(), mean.data_ptr(), rstd.data_ptr(),
           32, 32, 64, 32, float(eps));
    ctx->save_for_backward({x, weight, mean, rstd});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list dys) {
    auto saved = ctx->get_saved_variables();
    auto &x = saved[0], &weight = saved[1], &mean = saved[2], &rstd = saved[3];
    auto dy = dys[0];
    check(dy, {64, 256});
    auto dx = at::empty_like(x), dweight = at::empty_like(weight), dbias = at::empty_like(weight);
    auto weights = at::empty({8 * 256}, mean.options()), biases = at::empty_like(weights);  // partial sums
    launch(2, 8, 1, x.data_ptr(), weight.data_ptr(), dy.data_ptr(), mean.data_ptr(), rstd.data_ptr(), dx.data_ptr(),
           weights.data_ptr(), biases.data_ptr(), 32, 32, 32, 64, 32);
    launch(3, 8, 2, weights.data_ptr(), biases.data_ptr(), dweight.data_ptr(), dbias.data_ptr(), 8, 256);
    return {dx, dweight, dbias, at::Tensor()};
  }
};

at::Tensor norm_with_gradient(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps) {
  return Norm::apply(x, weight, bias, eps);
}
// --8<-- [end:gradient]
"""

# The arguments of each kernel as it was compiled, which is the order in which C++ passes them.
TAKEN = (
    ["*bf16"] * 4 + ["i32"] * 4 + ["fp32"],
    ["*bf16"] * 4 + ["*fp32"] * 2 + ["i32"] * 4 + ["fp32"],
    ["*bf16"] * 3 + ["*fp32"] * 2 + ["*bf16"] + ["*fp32"] * 2 + ["i32"] * 5,
    ["*fp32"] * 2 + ["*bf16"] * 2 + ["i32"] * 2,
)


# --8<-- [start:build]
def built():
    """The extension, and None; or None, and in words why this machine cannot build it."""
    from torch.utils.cpp_extension import include_paths, load_inline

    try:
        made = load_inline(
            name="host_norm",
            cpp_sources=NORM_CPP,
            functions=["take_kernel", "norm", "norm_with_gradient"],
            extra_cflags=["-O2"],
            extra_include_paths=include_paths("cuda"),
            extra_ldflags=["-lc10_cuda"],
            build_directory=tempfile.mkdtemp(),
        )
        return made, None
    except Exception as problem:
        lines = [line for line in str(problem).splitlines() if "error" in line.lower()] or [str(problem)]
        return None, f"{type(problem).__name__}: " + re.sub(r"\S*/", "", lines[0])[:300]


def hand_over(extension, compiled_kernels):
    """Give the extension Triton's compiled kernels: their handles, warps and shared memory."""
    for which, (compiled, expected) in enumerate(zip(compiled_kernels, TAKEN, strict=True)):
        taken = [kind for kind in compiled.src.signature.values() if kind != "constexpr"]
        assert taken == expected, (which, taken)
        asked = compiled.metadata
        assert (asked.num_ctas, asked.global_scratch_size, asked.profile_scratch_size) == (1, 0, 0)
        extension.take_kernel(which, compiled.function, asked.num_warps, asked.shared)
# --8<-- [end:build]


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("needs: cuda (an NVIDIA GPU that PyTorch can use)")
        sys.exit(2)
    began = time.perf_counter()
    extension, reason = built()
    print(f"not built: {reason}" if reason else f"built in {time.perf_counter() - began:.0f} s")
