"""RMSNorm in CUDA C++, forward and backward, as text: `python norm_source.py > norm.cu`."""
import sys

NORM_CUDA = r"""
#include <cstdint>
#include <cuda_bf16.h>

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int PIECES = 2;  // of 8 numbers each, in the registers of a thread: rows of 4096 numbers at most

__device__ float block_sum(float value) {
  __shared__ float parts[WARPS];
  for (int step = 16; step; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  __syncthreads();  // nobody reads the sums of the row before any more
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = parts[threadIdx.x % WARPS];
  for (int step = WARPS / 2; step; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

// This thread's part of a row, as float32: piece p has the columns 8 (p * THREADS + thread) and on.
__device__ void read(float (&to)[PIECES][8], const uint4* row, int pieces) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    const int i = p * THREADS + threadIdx.x;
    uint4 bits = {};
    if (i < pieces) bits = row[i];
    for (int k = 0; k < 4; ++k) {
      const float2 pair = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&bits)[k]);
      to[p][2 * k] = pair.x, to[p][2 * k + 1] = pair.y;
    }
  }
}

__device__ void write(uint4* row, const float (&from)[PIECES][8], int pieces) {
#pragma unroll
  for (int p = 0; p < PIECES; ++p) {
    const int i = p * THREADS + threadIdx.x;
    uint4 bits;
    for (int k = 0; k < 4; ++k)
      reinterpret_cast<__nv_bfloat162*>(&bits)[k] = __floats2bfloat162_rn(from[p][2 * k], from[p][2 * k + 1]);
    if (i < pieces) row[i] = bits;
  }
}

__global__ void __launch_bounds__(THREADS) norm(const uint4* x, const uint4* weight, uint4* y, float* rstd, int pieces) {
  // This block has one row.
  float xs[PIECES][8], weights[PIECES][8], squares = 0;
  read(xs, x + int64_t(blockIdx.x) * pieces, pieces);
  read(weights, weight, pieces);
  for (int p = 0; p < PIECES; ++p)
    for (int k = 0; k < 8; ++k) squares += xs[p][k] * xs[p][k];
  const float scale = rsqrtf(block_sum(squares) / (8 * pieces) + 1e-6f);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
  for (int p = 0; p < PIECES; ++p)
    for (int k = 0; k < 8; ++k) xs[p][k] *= scale * weights[p][k];
  write(y + int64_t(blockIdx.x) * pieces, xs, pieces);
}

__global__ void __launch_bounds__(THREADS) norm_backward(const uint4* x, const uint4* weight, const uint4* dy, const float* rstd,
                                                         uint4* dx, float* parts, int64_t rows, int pieces) {
  // This block has every gridDim-th row, and one row of the weight gradient's parts.
  float xs[PIECES][8], weights[PIECES][8], dys[PIECES][8], part[PIECES][8] = {};
  read(weights, weight, pieces);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    read(xs, x + row * pieces, pieces);
    read(dys, dy + row * pieces, pieces);
    const float scale = rstd[row];
    float dot = 0;
    for (int p = 0; p < PIECES; ++p)
      for (int k = 0; k < 8; ++k) {
        xs[p][k] *= scale;  // normalized
        part[p][k] += dys[p][k] * xs[p][k];
        dys[p][k] *= weights[p][k];
        dot += dys[p][k] * xs[p][k];
      }
    dot = block_sum(dot) / (8 * pieces);
    for (int p = 0; p < PIECES; ++p)
      for (int k = 0; k < 8; ++k) dys[p][k] = (dys[p][k] - xs[p][k] * dot) * scale;
    write(dx + row * pieces, dys, pieces);
  }
  for (int p = 0; p < PIECES; ++p) {
    const int i = p * THREADS + threadIdx.x;
    float4* to = reinterpret_cast<float4*>(parts + (int64_t(blockIdx.x) * pieces + i) * 8);
    if (i < pieces) to[0] = make_float4(part[p][0], part[p][1], part[p][2], part[p][3]);
    if (i < pieces) to[1] = make_float4(part[p][4], part[p][5], part[p][6], part[p][7]);
  }
}

extern "C" int launch(const uint4* x, const uint4* weight, uint4* y, float* rstd, int64_t rows, int64_t columns,
                      cudaStream_t stream) {
  if (columns % 8 || columns > PIECES * THREADS * 8) return cudaErrorInvalidValue;
  norm<<<rows, THREADS, 0, stream>>>(x, weight, y, rstd, int(columns / 8));
  return cudaGetLastError();
}

extern "C" int launch_backward(const uint4* x, const uint4* weight, const uint4* dy, const float* rstd, uint4* dx, float* parts,
                               int64_t programs, int64_t rows, int64_t columns, cudaStream_t stream) {
  if (columns % 8 || columns > PIECES * THREADS * 8) return cudaErrorInvalidValue;
  norm_backward<<<programs, THREADS, 0, stream>>>(x, weight, dy, rstd, dx, parts, rows, int(columns / 8));
  return cudaGetLastError();
}
"""

if __name__ == "__main__":
    sys.stdout.write(NORM_CUDA)
