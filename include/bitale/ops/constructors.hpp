// Symbolic inputs by dtype and rank, under PyTensor's names: bscalar ... ztensor7, and several at once: vectors({"x",
// "y"}), dmatrices({"A"}). Prefixes: b, w, i and l for int8 to int64, f and d for float32 and float64, c and z for
// complex64 and complex128; none for config.floatX. tensor() constructs any other dtype and shape.
#pragma once

#include <string>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale {

Variable tensor5(std::string name = {}, std::optional<DType> dtype = {});
Variable tensor6(std::string name = {}, std::optional<DType> dtype = {});
Variable tensor7(std::string name = {}, std::optional<DType> dtype = {});

// The results of a constructor, one for each name.
template <class Make>
Variables each_named(const Make& make, const std::vector<std::string>& names) {
  Variables out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(make(name));
  return out;
}

// The dtype of the constructors that begin with a letter.
consteval DType dtype_of_prefix(char letter) {
  int k = 0;
  while (dtype_records[k].prefix != letter) ++k;
  return DType(k);
}

// clang-format off
#define BITALE_RANKS(X, ...)                                                                                         \
  X(scalar, scalars, __VA_ARGS__) X(vector, vectors, __VA_ARGS__) X(matrix, matrices, __VA_ARGS__)                   \
  X(row, rows, __VA_ARGS__) X(col, cols, __VA_ARGS__) X(tensor3, tensor3s, __VA_ARGS__)                              \
  X(tensor4, tensor4s, __VA_ARGS__) X(tensor5, tensor5s, __VA_ARGS__) X(tensor6, tensor6s, __VA_ARGS__)              \
  X(tensor7, tensor7s, __VA_ARGS__)
// Without those that ops.hpp declares: lscalar, dvector, fmatrix and their like.
#define BITALE_OTHER_RANKS(X, ...)                                                                                   \
  X(row, rows, __VA_ARGS__) X(col, cols, __VA_ARGS__) X(tensor3, tensor3s, __VA_ARGS__)                              \
  X(tensor4, tensor4s, __VA_ARGS__) X(tensor5, tensor5s, __VA_ARGS__) X(tensor6, tensor6s, __VA_ARGS__)              \
  X(tensor7, tensor7s, __VA_ARGS__)
// clang-format on

#define BITALE_DECLARE(kind, kinds, prefix) \
  inline Variable prefix##kind(std::string name = {}) { return kind(std::move(name), dtype_of_prefix(*#prefix)); }
BITALE_RANKS(BITALE_DECLARE, b)
BITALE_RANKS(BITALE_DECLARE, w)
BITALE_RANKS(BITALE_DECLARE, i)
BITALE_RANKS(BITALE_DECLARE, c)
BITALE_RANKS(BITALE_DECLARE, z)
BITALE_OTHER_RANKS(BITALE_DECLARE, l)
BITALE_OTHER_RANKS(BITALE_DECLARE, f)
BITALE_OTHER_RANKS(BITALE_DECLARE, d)
#undef BITALE_DECLARE

#define BITALE_DECLARE(kind, kinds, prefix, ...)                                          \
  inline Variables prefix##kinds(const std::vector<std::string>& names) {                 \
    return each_named([](const std::string& name) { return prefix##kind(name); }, names); \
  }
BITALE_RANKS(BITALE_DECLARE, )
BITALE_RANKS(BITALE_DECLARE, i)
BITALE_RANKS(BITALE_DECLARE, l)
BITALE_RANKS(BITALE_DECLARE, f)
BITALE_RANKS(BITALE_DECLARE, d)
#undef BITALE_DECLARE
#undef BITALE_RANKS
#undef BITALE_OTHER_RANKS

}  // namespace bitale
