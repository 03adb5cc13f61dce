"""Write the CUDA C++ of one configuration of a matrix product, as one would write it by hand for that configuration.

    python cuda_source.py 128 256 64 8 3 > product.cu      BLOCK_M, BLOCK_N, BLOCK_K, warps, stages
    nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC product.cu -o product.so
"""
import sys

SOURCE = r"""
// c = a @ b for row-major bf16 matrices with sums in float32, for one configuration:
// tiles of @m@ x @n@, @k@ terms a step, @warps@ warps, @stages@ stages.
#include <cstdint>
#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

constexpr int BLOCK_M = @m@, BLOCK_N = @n@, BLOCK_K = @k@;  // a block's tile of c, and the terms of one step
constexpr int WARPS = @warps@, WARPS_N = @warps_n@;  // @warps_m@ x @warps_n@ warps, each with @part_m@ x @part_n@ of the tile
constexpr int THREADS = WARPS * 32;
constexpr int STAGES = @stages@;  // slices of a and b that shared memory holds: one in use, @ahead@ on the way
constexpr int GROUP_M = 8;  // rows of tiles that are worked on together, for the L2 cache

// A row in shared memory is 16 bytes longer than its numbers are. Without that, eight rows of a column of
// pieces would start in the same banks, and reading them would take several turns.
constexpr int ROW_A = @row_a@, ROW_B = @row_b@;  // @k@ + 8 and @n@ + 8 numbers
constexpr int SLICE_A = @slice_a@, SLICE_B = @slice_b@;  // @m@ rows of a, @k@ rows of b
constexpr int SHARED_BYTES = @shared@;  // @stages@ slices of both, 2 bytes a number

// Copies 16 bytes to shared memory without waiting. Outside of the matrix it writes zeros and reads nothing.
__device__ inline void copy_16(uint32_t shared, const bf16* global, bool inside) {
  int bytes = inside ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

// Ends a group of copies. Every step ends one, also an empty one, so that counting groups is counting steps.
__device__ inline void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until all groups but the newest @waiting@ have arrived.
__device__ inline void wait_for_group() { asm volatile("cp.async.wait_group @waiting@;" ::: "memory"); }

// Reads four pieces of 8 x 8 numbers into the registers of a warp. Each lane names one row: lanes 0 to 7 those of
// the first piece, 8 to 15 those of the second, and so on. It receives two neighbors of one row of each piece.
__device__ inline void read_pieces(uint32_t (&to)[4], uint32_t shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared) : "memory");
}

// The same, with each piece turned over on the way: b lies in rows, and the tensor core wants its columns.
__device__ inline void read_turned(uint32_t (&to)[4], uint32_t shared) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared) : "memory");
}

// One instruction of the tensor core, by a whole warp: c[16, 8] += a[16, 16] @ b[16, 8].
__device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(THREADS) matmul(const bf16* a, const bf16* b, bf16* c, int64_t M, int64_t N, int64_t K) {
  extern __shared__ __align__(16) bf16 slices[];
  const uint32_t slices_a = static_cast<uint32_t>(__cvta_generic_to_shared(slices));
  const uint32_t slices_b = slices_a + STAGES * SLICE_A * 2;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;

  // Which tile of c is this block's: GROUP_M rows of tiles together, column by column.
  const int n_rows = (M + BLOCK_M - 1) / BLOCK_M, n_columns = (N + BLOCK_N - 1) / BLOCK_N, tile = blockIdx.x;
  const int first = tile / (GROUP_M * n_columns) * GROUP_M, inside = tile % (GROUP_M * n_columns);
  const int height = min(n_rows - first, GROUP_M);
  const int64_t row = int64_t(first + inside % height) * BLOCK_M, column = int64_t(inside / height) * BLOCK_N;

  // What this thread copies of a slice: 8 numbers at a time, @copies_a@ times of a and @copies_b@ times of b.
  const int row_a = thread / @chunks_a@, at_a = thread % @chunks_a@ * 8;  // a row of a slice is @chunks_a@ times 8 numbers
  const int row_b = thread / @chunks_b@, at_b = thread % @chunks_b@ * 8;  // and @chunks_b@ times 8
  const bf16* from_a = a + (row + row_a) * K + at_a;
  const bf16* from_b = b + row_b * N + column + at_b;
  auto load_slice = [&](int stage) {
#pragma unroll
    for (int i = 0; i < @copies_a@; ++i) {  // @rows_a@ rows each time
      const uint32_t to = slices_a + (stage * SLICE_A + (row_a + i * @rows_a@) * ROW_A + at_a) * 2;
      copy_16(to, from_a + i * @rows_a@ * K, row + row_a + i * @rows_a@ < M);
    }
#pragma unroll
    for (int i = 0; i < @copies_b@; ++i) {  // @rows_b@ rows each time
      const uint32_t to = slices_b + (stage * SLICE_B + (row_b + i * @rows_b@) * ROW_B + at_b) * 2;
      copy_16(to, from_b + i * @rows_b@ * N, column + at_b < N);
    }
    from_a += BLOCK_K;
    from_b += BLOCK_K * N;
  };

  // Fill the ring but for one slice.
  const int64_t steps = K / BLOCK_K;
#pragma unroll
  for (int stage = 0; stage < @ahead@; ++stage) {
    if (stage < steps) load_slice(stage);
    end_group();
  }

  // A warp's part of the tile, and where its lanes start to read.
  const int part_row = warp / WARPS_N * @part_m@, part_column = warp % WARPS_N * @part_n@;
  const uint32_t lane_a = slices_a + ((part_row + lane % 16) * ROW_A + lane / 16 * 8) * 2;
  const uint32_t lane_b = slices_b + (lane % 16 * ROW_B + part_column + lane / 16 * 8) * 2;
  float total[@pieces_m@][@pieces_8@][4] = {};  // @part_m@ x @part_n@ sums of a warp: @sums@ registers of each thread

  int reading = 0, writing = @ahead@;
  for (int64_t step = 0; step < steps; ++step) {
    wait_for_group();  // this step's slice is there, as far as this thread copied it
    __syncthreads();   // as far as all did; and nobody reads the slice before any more, which is overwritten now
    if (step + @ahead@ < steps) load_slice(writing);
    end_group();
#pragma unroll
    for (int k = 0; k < @k@; k += 16) {
      uint32_t pieces_a[@pieces_m@][4], pieces_b[@pieces_n@][4];
#pragma unroll
      for (int m = 0; m < @pieces_m@; ++m) read_pieces(pieces_a[m], lane_a + (reading * SLICE_A + m * 16 * ROW_A + k) * 2);
#pragma unroll
      for (int n = 0; n < @pieces_n@; ++n) read_turned(pieces_b[n], lane_b + (reading * SLICE_B + k * ROW_B + n * 16) * 2);
#pragma unroll
      for (int m = 0; m < @pieces_m@; ++m) {
#pragma unroll
        for (int n = 0; n < @pieces_n@; ++n) {
          multiply(total[m][2 * n], pieces_a[m], pieces_b[n][0], pieces_b[n][1]);
          multiply(total[m][2 * n + 1], pieces_a[m], pieces_b[n][2], pieces_b[n][3]);
        }
      }
    }
    reading = reading == @ahead@ ? 0 : reading + 1;
    writing = writing == @ahead@ ? 0 : writing + 1;
  }

  // Round and store. A lane has two neighbors of a row, and two more eight rows below.
#pragma unroll
  for (int m = 0; m < @pieces_m@; ++m) {
#pragma unroll
    for (int n = 0; n < @pieces_8@; ++n) {
      const int64_t i = row + part_row + m * 16 + lane / 4, j = column + part_column + n * 8 + lane % 4 * 2;
      const float(&sums)[4] = total[m][n];
      if (i < M && j < N) *reinterpret_cast<__nv_bfloat162*>(c + i * N + j) = __floats2bfloat162_rn(sums[0], sums[1]);
      if (i + 8 < M && j < N) *reinterpret_cast<__nv_bfloat162*>(c + (i + 8) * N + j) = __floats2bfloat162_rn(sums[2], sums[3]);
    }
  }
}

// The host's part. K must be a multiple of @k@ and N one of 8, and a, b and c must start at multiples of 16 bytes.
extern "C" int launch(const bf16* a, const bf16* b, bf16* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  const uintptr_t places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c);
  if (M < 1 || N < 1 || K % @k@ || N % 8 || places % 16) return cudaErrorInvalidValue;
  // More than 48 KB of shared memory must be asked for.
  static const cudaError_t allowed = cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
  if (allowed != cudaSuccess) return allowed;
  const int64_t tiles = (M + @m@ - 1) / @m@ * ((N + @n@ - 1) / @n@);
  matmul<<<tiles, THREADS, SHARED_BYTES, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}
"""
# BLOCK_M, BLOCK_N, BLOCK_K, warps, stages.
CONFIGURATIONS = [
    (64, 64, 32, 4, 3), (64, 64, 64, 4, 3), (64, 128, 64, 4, 3), (128, 64, 64, 4, 3),
    (128, 128, 32, 4, 4), (128, 128, 64, 4, 3), (128, 128, 64, 8, 2), (128, 128, 64, 8, 3),
    (128, 128, 64, 8, 5), (128, 128, 128, 8, 3), (128, 256, 64, 4, 3), (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (256, 128, 128, 8, 3), (256, 256, 64, 8, 3),
]  # fmt: skip


# --8<-- [start:numbers]
def warp_grid(m, n, warps):
    """How the warps share a tile: so that each gets a part as square as can be, of at least 16 by 16."""
    ways = [(rows, warps // rows) for rows in range(1, warps + 1) if warps % rows == 0]
    ways = [(rows, columns) for rows, columns in ways if m % (16 * rows) == 0 and n % (16 * columns) == 0]
    if not ways:
        raise ValueError(f"a tile of {m} by {n} has no parts of 16 by 16 for {warps} warps")
    return min(ways, key=lambda way: m // way[0] + n // way[1])


def cuda_source(m, n, k, warps, stages):
    """The CUDA C++ for tiles of m by n, k terms a step, so many warps and stages."""
    threads = 32 * warps
    uneven = [m * k // 8 % threads, n * k // 8 % threads, threads % (n // 8), threads % (k // 8)]
    if stages < 2 or k % 16 or any(uneven):
        raise ValueError(f"{m} by {n} by {k} cannot be shared out among {warps} warps in {stages} stages")
    warps_m, warps_n = warp_grid(m, n, warps)
    part_m, part_n = m // warps_m, n // warps_n
    row_a, row_b = k + 8, n + 8
    numbers = {
        "m": m, "n": n, "k": k, "warps": warps, "stages": stages, "threads": threads,
        "ahead": stages - 1, "waiting": stages - 2, "warps_m": warps_m, "warps_n": warps_n,
        "part_m": part_m, "part_n": part_n, "sums": part_m * part_n // 32,
        "pieces_m": part_m // 16, "pieces_n": part_n // 16, "pieces_8": part_n // 8,
        "row_a": row_a, "row_b": row_b, "slice_a": m * row_a, "slice_b": k * row_b,
        "shared": stages * (m * row_a + k * row_b) * 2, "chunks_a": k // 8, "chunks_b": n // 8,
        "rows_a": threads // (k // 8), "rows_b": threads // (n // 8),
        "copies_a": m * k // 8 // threads, "copies_b": n * k // 8 // threads,
    }  # fmt: skip
    text = SOURCE.strip("\n")
    for name, number in numbers.items():
        text = text.replace(f"@{name}@", str(number))
    return text + "\n"
# --8<-- [end:numbers]


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]] or [128, 256, 64, 8, 3]
    sys.stdout.write(cuda_source(*given))
