// Kernels: one compiled function for each operation of a Program and dtype, over spans of elements: the definition of
// what each Code means, and what the interpreters of expressions (program/interpret.hpp) and of whole Programs
// (codegen/interpreted) are made of. They are compiled for several levels of the processor's ABI, of which the highest
// that this processor has is taken; all of them have the same results.
#pragma once

#include <cstdint>

#include "bitale/core/dtype.hpp"
#include "bitale/program/expr.hpp"

namespace bitale::program::kernels {

// out[i] = operation(a[i], b[i], c[i]) for i < n. `out` may be the same memory as an operand whose elements have the
// same size; no memory overlaps otherwise.
using Kernel = void (*)(std::int64_t n, void* out, const void* a, const void* b, const void* c);

// Operands that are one element for all i, as bits.
inline constexpr int uniform_a = 1, uniform_b = 2, uniform_c = 4;

// Kernels with their own use of operands.
enum class Special : std::uint8_t {
  splat,          // out[i] = a[0]
  iota,           // int64: out[i] = a[0] + i
  copy,           // out[i] = a[i]; of bool, whether it is not 0
  gather,         // out[i] = a[b[i]]
  load_strided,   // out[i] = a[i * b[0]]
  scatter,        // out[b[i]] = a[i], in order
  store_strided,  // out[i * b[0]] = a[i]
  lookup,         // out[i] = b[a[i] & c[0]]; a: unsigned, as wide as the elements; c: int64
};

inline constexpr int longest_polynomial = 16;

// slot[k] = combine(slot[k], a[k + p slots]) for each p < passes and k < slots; with b, the product's sum, rounded
// once.
using Reduction = void (*)(std::int64_t passes, std::int64_t slots, void* slot, const void* a, const void* b);
// state[0] = combine(state[0], a[i]), in order; a prefix scan stores each state to out[i].
using Fold = void (*)(std::int64_t n, void* state, const void* a, void* out);
// The first extreme of what has come, and its position.
using ArgReduction = void (*)(std::int64_t n, void* extreme, std::int64_t* at, const void* a, const void* position);
// data[at[i]] = combine(data[at[i]], a[i]), in order.
using Scatter = void (*)(std::int64_t n, void* data, const std::int64_t* at, const void* a);
// The same for sums whose lanes are added by runs of equal indices (program/index_runs.hpp).
using RunsScatter = void (*)(std::int64_t n, void* data, const std::int64_t* at, const void* a, std::int64_t lanes);

// Each returns null where there is no such kernel.
struct Kernels {
  // `in`: the dtype of the first argument, of a select of the second.
  Kernel (*operation)(Code code, DType out, DType in, int uniform);
  Kernel (*special)(Special what, DType dtype);
  // out[i] = fma(... fma(fma(a[i], b[i], c[0]), b[i], c[1]) ..., b[i], c[count - 1])
  Kernel (*polynomial)(DType dtype, int count, bool uniform_a);
  Kernel (*combine)(Combiner combiner, DType dtype);  // out[i] = combine(a[i], b[i])
  Reduction (*reduction)(Combiner combiner, DType dtype, bool of_products);
  Fold (*fold)(Combiner combiner, DType dtype, bool is_prefix);
  ArgReduction (*arg_reduction)(Combiner combiner, DType dtype);
  Scatter (*scatter)(Combiner combiner, DType dtype);
  RunsScatter (*scatter_by_runs)(DType dtype);
};

const Kernels& of_this_processor();

}  // namespace bitale::program::kernels
