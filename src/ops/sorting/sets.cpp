// Sets of elements, as formulas over sorting and binary search.
#include "bitale/ops/sets.hpp"

#include "bitale/ops/ops.hpp"
#include "bitale/ops/search.hpp"
#include "bitale/ops/sorting.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

// So many elements are compared one by one with each element, in one loop.
constexpr std::int64_t compared_one_by_one = 16;

Variable chosen(const Variable& x, const Variable& mask) { return subtensor(x, {IndexItem(mask)}); }

// Bools as integers, which can be sorted with others.
Variable as_ordered(const Operand& x, DType dtype) { return cast(x, dtype == DType::Bool ? DType::Int8 : dtype); }

}  // namespace

Variable isin(const Operand& element, const Operand& test_elements, const IsinOptions& options) {
  const LocationScope here(element.where);
  const DType dtype = promote(element.dtype(), test_elements.dtype());
  const Variable x = as_ordered(element, dtype), among = flatten(as_ordered(test_elements, dtype));
  const std::int64_t count = among.static_shape()[0];
  Variable found;
  if (is_complex(dtype) || (count != unknown_length && count <= compared_one_by_one)) {
    found = any(eq(expand_dims(x, -1), among), {-1});
  } else {
    const Variable sorted = sort(among);
    found = gt(searchsorted(sorted, x, SearchSide::Right), searchsorted(sorted, x, SearchSide::Left));
    if (is_float(dtype)) found = and_(found, bitale::invert(isnan(x)));
  }
  return options.invert ? bitale::invert(found) : found;
}

Variable union1d(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  return unique(concatenate({flatten(a), flatten(b)})).values;
}

Variable setdiff1d(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  const Variable own = unique(a).values;
  return chosen(own, isin(own, b, {.invert = true}));
}

Variable setxor1d(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  return sort(concatenate({setdiff1d(a, b), setdiff1d(b, a)}));
}

CommonElements intersect1d(const Operand& a, const Operand& b) {
  const LocationScope here(a.where);
  const UniqueValues first = unique(a), second = unique(b);
  const Variable in_second = isin(first.values, second.values), in_first = isin(second.values, first.values);
  return {cast(chosen(first.values, in_second), promote(a.dtype(), b.dtype())), chosen(first.index, in_second),
          chosen(second.index, in_first)};
}

}  // namespace bitale
