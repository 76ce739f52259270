#include "ops/linalg/dot_arrays.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "ops/array_loops.hpp"
#include "runtime/blas.hpp"

namespace bitale {
namespace {

// A matrix in the form that BLAS takes: its rows or its columns are contiguous. Other matrices are copied.
struct BlasMatrix {
  Array array;  // keeps the data alive
  bool transposed = false;
  std::int64_t leading = 0;

  explicit BlasMatrix(const Array& x) : array(x) {
    if (fits(x.strides()[0], x.strides()[1], x.shape(1))) {
      leading = x.strides()[0] / item();
    } else if (fits(x.strides()[1], x.strides()[0], x.shape(0))) {
      transposed = true;
      leading = x.strides()[1] / item();
    } else {
      array = x.copy();
      leading = x.shape(1);
    }
  }

 private:
  std::int64_t item() const { return std::int64_t(itemsize(array.dtype())); }
  bool fits(std::int64_t between_rows, std::int64_t between_elements, std::int64_t row_length) const {
    return between_elements == item() && between_rows % item() == 0 && between_rows >= row_length * item();
  }
};

void product_into(const Array& out, const Array& x, const Array& y) {
  const std::int64_t m = x.shape(0), k = x.shape(1), n = y.shape(1);
  visit_dtype(x.dtype(), [&]<class T>() {
    T* c = out.mutable_data_as<T>();
    if constexpr (is_half<T>) {
      throw InternalError("dot: float16 is computed in float32");
    } else if constexpr (std::is_floating_point_v<T>) {
      const BlasMatrix a(x), b(y);
      const T *ad = a.array.template data_as<T>(), *bd = b.array.template data_as<T>();
      if constexpr (std::is_same_v<T, double>)
        bt_gemm_f64(m, n, k, a.transposed, b.transposed, ad, a.leading, bd, b.leading, c);
      else
        bt_gemm_f32(m, n, k, a.transposed, b.transposed, ad, a.leading, bd, b.leading, c);
    } else {
      const Array a = x.contiguous(), b = y.contiguous();
      const T *ad = a.data_as<T>(), *bd = b.data_as<T>();
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          T total{};
          for (std::int64_t l = 0; l < k; ++l) {
            const T p = ad[i * k + l], q = bd[l * n + j];
            if constexpr (std::is_same_v<T, bool>)
              total = total || (p && q);
            else
              total = sum_of(total, T(std::uint64_t(p) * std::uint64_t(q)));
          }
          c[i * n + j] = total;
        }
    }
  });
}

}  // namespace

Array matrix_product(const Array& x, const Array& y) {
  if (const DType dtype = x.dtype(), computing = computing_dtype(dtype); computing != dtype)
    return matrix_product(x.astype(computing), y.astype(computing)).astype(dtype);
  Array out = Array::empty(x.dtype(), Dims{x.shape(0), y.shape(1)});
  product_into(out, x, y);
  return out;
}

Array batched_matrix_product(const Array& x, const Array& y) {
  if (const DType dtype = x.dtype(), computing = computing_dtype(dtype); computing != dtype)
    return batched_matrix_product(x.astype(computing), y.astype(computing)).astype(dtype);
  const std::int64_t batch = x.shape(0) == 1 ? y.shape(0) : x.shape(0);
  Array out = Array::empty(x.dtype(), Dims{batch, x.shape(1), y.shape(2)});
  for (std::int64_t i = 0; i < batch; ++i)
    product_into(out.take_index(0, i), x.take_index(0, x.shape(0) == 1 ? 0 : i),
                 y.take_index(0, y.shape(0) == 1 ? 0 : i));
  return out;
}

}  // namespace bitale
