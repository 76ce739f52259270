#include "ops/range.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/graph/op.hpp"
#include "core/limits.hpp"
#include "ops/advanced_subtensor.hpp"
#include "ops/alloc.hpp"
#include "ops/elemwise.hpp"
#include "ops/join.hpp"
#include "ops/make_vector.hpp"
#include "ops/reduce.hpp"
#include "ops/shape.hpp"

namespace bitale {

namespace {

constexpr int deepest = 10, most_nodes = 200;
constexpr std::int64_t most_elements = 4096;
constexpr double most_exact = 9007199254740992;  // integers up to here are doubles

using Ranges = std::span<const Range>;

struct End {
  double value;
  bool open;
};
End low_of(const Range& r) { return {r.low, r.low_open}; }
End high_of(const Range& r) { return {r.high, r.high_open}; }
// nan: nothing is known of this end.
Range between(End low, End high) {
  Range out;
  if (!std::isnan(low.value)) out.low = low.value, out.low_open = low.open;
  if (!std::isnan(high.value)) out.high = high.value, out.high_open = high.open;
  return out;
}
Range at_least(double low, bool open = false) { return {.low = low, .low_open = open}; }
Range closed(double low, double high) { return {.low = low, .high = high}; }

End smaller(End a, End b) { return a.value < b.value ? a : b.value < a.value ? b : End{a.value, a.open && b.open}; }
End larger(End a, End b) { return a.value > b.value ? a : b.value > a.value ? b : End{a.value, a.open && b.open}; }
Range join_of(const Range& a, const Range& b) {
  return between(smaller(low_of(a), low_of(b)), larger(high_of(a), high_of(b)));
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

Range negated(const Range& a) { return between({-a.high, a.high_open}, {-a.low, a.low_open}); }
Range sum_of(const Range& a, const Range& b) {
  return between({a.low + b.low, a.low_open || b.low_open}, {a.high + b.high, a.high_open || b.high_open});
}
// Zero times what grows without bound is zero; a zero that is reached makes the product reach it.
End product_of(End a, End b) {
  if (a.value == 0 || b.value == 0) {
    const bool reached = (a.value == 0 && !a.open) || (b.value == 0 && !b.open);
    return {0, !reached};
  }
  return {a.value * b.value, a.open || b.open};
}
Range product_of(const Range& a, const Range& b) {
  End low{inf, false}, high{-inf, false};
  for (End x : {low_of(a), high_of(a)})
    for (End y : {low_of(b), high_of(b)}) {
      const End each = product_of(x, y);
      low = smaller(low, each);
      high = larger(high, each);
    }
  return between(low, high);
}
// Only of what keeps its sign.
Range inverse_of(const Range& a) {
  if (a.low >= 0)
    return between({1 / a.high, a.high_open || a.high == inf}, {a.low == 0 ? inf : 1 / a.low, a.low_open});
  if (a.high <= 0) return negated(inverse_of(negated(a)));
  return {};
}
Range size_of(const Range& a) {
  if (a.low >= 0) return a;
  if (a.high <= 0) return negated(a);
  return between({0, false}, larger({-a.low, a.low_open}, high_of(a)));
}
Range power_of(const Range& base, const Range& exponent) {
  if (base.is_positive()) return at_least(0, true);
  const bool even = exponent.low == exponent.high && std::fmod(exponent.low, 2) == 0;
  return base.low >= 0 || even ? at_least(0) : Range{};
}

// ---- conditions -----------------------------------------------------------------------------------------------------

Range truth(bool always, bool never) { return always ? closed(1, 1) : never ? closed(0, 0) : closed(0, 1); }
bool below(const Range& a, const Range& b) {
  return a.high < b.low || (a.high == b.low && std::isfinite(a.high) && (a.high_open || b.low_open));
}
bool not_above(const Range& a, const Range& b) { return a.high <= b.low; }
bool same_number(const Range& a, const Range& b) { return a.low == a.high && b.is_always(a.low); }

// ---- elementwise ----------------------------------------------------------------------------------------------------

struct Row {
  std::string_view name;
  Range (*range)(Ranges);
};
constexpr Row rows[] = {
    {"add", [](Ranges a) { return sum_of(a[0], a[1]); }},
    {"sub", [](Ranges a) { return sum_of(a[0], negated(a[1])); }},
    {"mul", [](Ranges a) { return product_of(a[0], a[1]); }},
    {"true_div", [](Ranges a) { return product_of(a[0], inverse_of(a[1])); }},
    {"reciprocal", [](Ranges a) { return inverse_of(a[0]); }},
    {"neg", [](Ranges a) { return negated(a[0]); }},
    {"abs", [](Ranges a) { return size_of(a[0]); }},
    {"sqr", [](Ranges a) { return product_of(size_of(a[0]), size_of(a[0])); }},
    {"sqrt", [](Ranges a) { return a[0].is_positive() ? at_least(0, true) : at_least(0); }},
    {"pow", [](Ranges a) { return power_of(a[0], a[1]); }},
    {"cosh", [](Ranges) { return at_least(1); }},
    {"arccosh", [](Ranges) { return at_least(0); }},
    {"sin", [](Ranges) { return closed(-1, 1); }},
    {"cos", [](Ranges) { return closed(-1, 1); }},
    {"sign", [](Ranges a) { return a[0].is_positive() ? closed(1, 1) : closed(a[0].low >= 0 ? 0 : -1, 1); }},
    {"second", [](Ranges a) { return a[1]; }},
    {"maximum",
     [](Ranges a) { return between(larger(low_of(a[0]), low_of(a[1])), larger(high_of(a[0]), high_of(a[1]))); }},
    {"minimum",
     [](Ranges a) { return between(smaller(low_of(a[0]), low_of(a[1])), smaller(high_of(a[0]), high_of(a[1]))); }},
    {"clip",
     [](Ranges a) {
       return between(smaller(larger(low_of(a[0]), low_of(a[1])), low_of(a[2])),
                      smaller(larger(high_of(a[0]), high_of(a[1])), high_of(a[2])));
     }},
    {"switch", [](Ranges a) { return a[0].is_always(0) ? a[2]
                                     : a[0].low > 0    ? a[1]
                                                       : join_of(a[1], a[2]); }},
    {"lt", [](Ranges a) { return truth(below(a[0], a[1]), not_above(a[1], a[0])); }},
    {"gt", [](Ranges a) { return truth(below(a[1], a[0]), not_above(a[0], a[1])); }},
    {"le", [](Ranges a) { return truth(not_above(a[0], a[1]), below(a[1], a[0])); }},
    {"ge", [](Ranges a) { return truth(not_above(a[1], a[0]), below(a[0], a[1])); }},
    {"eq", [](Ranges a) { return truth(same_number(a[0], a[1]), below(a[0], a[1]) || below(a[1], a[0])); }},
    {"neq", [](Ranges a) { return truth(below(a[0], a[1]) || below(a[1], a[0]), same_number(a[0], a[1])); }},
};
// Of two conditions; bits of other integers are not looked at.
constexpr Row bool_rows[] = {
    {"and", [](Ranges a) { return closed(std::min(a[0].low, a[1].low), std::min(a[0].high, a[1].high)); }},
    {"or", [](Ranges a) { return closed(std::max(a[0].low, a[1].low), std::max(a[0].high, a[1].high)); }},
    {"invert", [](Ranges a) { return closed(1 - a[0].high, 1 - a[0].low); }},
};

double value_at(const ScalarOp& op, double x) {
  const ScalarLoop run = op.loops.run[std::size_t(DType::Float64)];
  if (!run || op.loops.out[std::size_t(DType::Float64)] != DType::Float64) return std::nan("");
  const char* in[] = {reinterpret_cast<const char*>(&x)};
  const std::int64_t stride = sizeof(double);
  double out = 0;
  run(1, in, &stride, reinterpret_cast<char*>(&out), stride);
  return out;
}

// A limit at infinity is not reached, but steps reach what lies beside an open bound.
End end_of(const ScalarOp& op, End at) {
  const double value = value_at(op, at.value);
  const bool limit = std::isinf(at.value) && std::isfinite(value);
  return {value, limit || (at.open && !op.has(discrete_output))};
}

Range monotone_range(const ScalarOp& op, const Range& a) {
  if (op.has(increasing)) return between(end_of(op, low_of(a)), end_of(op, high_of(a)));
  if (op.has(decreasing)) return between(end_of(op, high_of(a)), end_of(op, low_of(a)));
  return {};
}

Range elementwise_range(const ScalarOp& op, Ranges inputs, DType dtype) {
  if (op.name.starts_with("cast_")) return inputs[0];
  if (dtype == DType::Bool)
    for (auto& row : bool_rows)
      if (row.name == op.name) return row.range(inputs);
  for (auto& row : rows)
    if (row.name == op.name) return row.range(inputs);
  return inputs.size() == 1 ? monotone_range(op, inputs[0]) : Range{};
}

// ---- other ops ------------------------------------------------------------------------------------------------------

Range dtype_range(DType dtype) {
  if (dtype == DType::Bool) return closed(0, 1);
  const double bits = double(8 * itemsize(dtype));
  if (kind(dtype) == DTypeKind::UInt) return closed(0, std::exp2(bits) - 1);
  if (kind(dtype) == DTypeKind::Int) return closed(-std::exp2(bits - 1), std::exp2(bits - 1) - 1);
  return {};
}

// What leaves an integer's dtype wraps; what rounds in a double is not told apart.
Range within_dtype(const Range& r, DType dtype) {
  const Range all = dtype_range(dtype);
  if (!is_discrete(dtype)) return r;
  const bool fits = r.low >= std::max(all.low, -most_exact) && r.high <= std::min(all.high, most_exact);
  return fits ? closed(std::floor(r.low), std::ceil(r.high)) : all;
}

Range constant_range(const Array& value) {
  if (value.size() == 0 || value.size() > most_elements || kind(value.dtype()) == DTypeKind::Complex) return {};
  const Array flat = value.astype(DType::Float64).contiguous();
  const double* data = flat.data_as<double>();
  if (std::any_of(data, data + flat.size(), [](double v) { return std::isnan(v); })) return {};
  const auto [low, high] = std::minmax_element(data, data + flat.size());
  return closed(*low, *high);
}

// A sum over nothing is 0, a product over nothing 1.
Range reduced_range(const CAReduce& op, const Range& a) {
  const std::string_view kind = op.kind.name;
  if (kind == "max" || kind == "min") return a;
  if (kind == "sum") return a.low >= 0 ? at_least(0) : a.high <= 0 ? closed(-inf, 0) : Range{};
  if (kind == "prod") return a.is_positive() ? at_least(0, true) : a.low >= 0 ? at_least(0) : Range{};
  return {};
}

bool is_tensor(const Variable& v) { return as_tensor(v.type()) != nullptr; }

class Search {
 public:
  Range of(const Variable& v, int depth) {
    if (v.is_constant()) return is_tensor(v) ? constant_range(*v.constant()) : Range{};
    if (!is_tensor(v)) return {};
    if (!v.has_owner() || depth == 0 || --left_ < 0) return dtype_range(v.dtype());
    return within_dtype(of_node(v, depth - 1), v.dtype());
  }

 private:
  Range of_node(const Variable& v, int depth) {
    const Apply node = v.owner();
    if (const ScalarOp* op = scalar_op_of(v)) {
      std::vector<Range> inputs;
      for (auto& input : node.inputs()) inputs.push_back(of(input, depth));
      return elementwise_range(*op, inputs, v.dtype());
    }
    const Op* op = v.owner_op();
    if (const auto viewed = op->view_of(node, int(v.index())); viewed.size() == 1)
      return of(node.input(viewed[0]), depth);
    if (dynamic_cast<const Alloc*>(op) || dynamic_cast<const AdvancedSubtensor*>(op)) return of(node.input(0), depth);
    if (dynamic_cast<const ShapeI*>(op) || dynamic_cast<const ShapeOp*>(op)) return closed(0, most_exact);
    if (auto* reduce = dynamic_cast<const CAReduce*>(op)) return reduced_range(*reduce, of(node.input(0), depth));
    if (dynamic_cast<const Join*>(op) || dynamic_cast<const MakeVector*>(op)) return of_all(node.inputs(), depth);
    return dtype_range(v.dtype());
  }
  Range of_all(const Variables& parts, int depth) {
    if (parts.empty()) return {};
    Range out = of(parts[0], depth);
    for (auto& part : parts) out = join_of(out, of(part, depth));
    return out;
  }

  int left_ = most_nodes;
};

}  // namespace

Range range_of(const Variable& variable) { return Search().of(variable, deepest); }

}  // namespace bitale
