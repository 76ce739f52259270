// Conversions, one record per target dtype. A record computes in its target dtype; since inputs of every record are
// converted to its compute dtype, nothing else is left to do.
#include "bitale/core/text.hpp"
#include "bitale/graph/range.hpp"
#include "ops/scalar/exact_rules.hpp"
#include "ops/scalar/record.hpp"

namespace bitale::records {

namespace {

template <DType target>
ScalarTypes to_target(std::span<const DType>) {
  return {target, target};
}

template <class T>
ScalarOp cast_record(const char* name, const char* title) {
  constexpr DType target = dtype_of<T>::value;
  return {
      .name = name,
      .title = title,
      .doc = "x converted as in C; a float that does not fit an integer gives its smallest value.",
      .symbol = dtype_name(target),
      .dtypes = to_target<target>,
      .loops = loops<1>(Types<T>(), [](auto x) { return x; }),
      .expand = [](Args in, DType) { return in[0]; },
      .partials = {[](At a) { return a.g; }},
      .traits = is_float(target) ? cheap | linear | regular : std::uint32_t(cheap),
      .domain = {{-5, 5}},
      .edges = {0.0, -0.0, 0.9, -0.9, 300.0, 1e20, -1e20, inf, -inf, nan},
      .range = [](Ranges a, DType) { return a[0]; },
      .exact = is_float(target) ? +[](Numbers a) -> ExactValue { return a[0]; }
                                : nullptr,
  };
}

const RegisterScalarOp records[] = {
#define X(id, name, suffix, T, ...) RegisterScalarOp(cast_record<T>("cast_" #name, "Cast{" #name "}")),
    BITALE_REAL_DTYPES(X)
#undef X
};

}  // namespace

}  // namespace bitale::records
