// Matrix products for generated code and for `perform`: plain C functions over row-major data. They call a CBLAS
// library that is opened when it is first needed: the one named by the flag blas__library ("none": no library), else
// libopenblas, libcblas or libblas with the cblas_ interface. Without a library, plain blocked loops are used: slower,
// but never an error. The library is told to use one thread, since callers decide about threads. Small products are not
// passed to it (small_products); a tall matrix times a small one is computed as several products, which OpenBLAS's
// kernels for AVX-512 compute without packing; and only half of the product of a matrix with its own transpose is
// computed.
#pragma once

#include <cstdint>
#include <string>

extern "C" {

// C[m, n] = op(A)[m, k] · op(B)[k, n], C contiguous. transA: A is stored as [k, m] and its transpose is used; lda is
// the distance of A's stored rows in elements. k = 0 gives zeros.
void bt_gemm_f64(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t transA, std::int64_t transB,
                 const double* A, std::int64_t lda, const double* B, std::int64_t ldb, double* C);
void bt_gemm_f32(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t transA, std::int64_t transB,
                 const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C);

// The same, and C's elements are added where `add` is not 0: a product in parts.
void bt_gemm_add_f64(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t transA, std::int64_t transB,
                     std::int64_t add, const double* A, std::int64_t lda, const double* B, std::int64_t ldb, double* C);
void bt_gemm_add_f32(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t transA, std::int64_t transB,
                     std::int64_t add, const float* A, std::int64_t lda, const float* B, std::int64_t ldb, float* C);

// y[m] = op(A)[m, k] · x[k]; x and y contiguous.
void bt_gemv_f64(std::int64_t m, std::int64_t k, std::int64_t transA, const double* A, std::int64_t lda,
                 const double* x, double* y);
void bt_gemv_f32(std::int64_t m, std::int64_t k, std::int64_t transA, const float* A, std::int64_t lda, const float* x,
                 float* y);

// `batch` products of contiguous matrices; strides are the distances of consecutive matrices in elements (0: the same
// matrix each time). C's matrices are stored consecutively.
void bt_batched_gemm_f64(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const double* A,
                         std::int64_t strideA, const double* B, std::int64_t strideB, double* C);
void bt_batched_gemm_f32(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, const float* A,
                         std::int64_t strideA, const float* B, std::int64_t strideB, float* C);
}

namespace bitale::runtime {

// The file of the CBLAS library in use, or "" when the plain loops are.
const std::string& blas_library();
// A function of that library by its name, or nullptr: OpenBLAS includes LAPACK, but not every CBLAS does.
void* blas_symbol(const char* name);
// The kernels that an OpenBLAS in use has chosen for this processor ("SkylakeX"), or "".
std::string blas_kernels();
// Throws a ValueError that names what was looked for, if the flag blas__library names something that is not such a
// library. Generated code cannot throw, so whatever compiles a product must check before.
void require_blas();

// The plain loops, independent of any library.
void plain_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const double* A,
                std::int64_t lda, const double* B, std::int64_t ldb, double* C);
void plain_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool transA, bool transB, const float* A,
                std::int64_t lda, const float* B, std::int64_t ldb, float* C);

}  // namespace bitale::runtime
