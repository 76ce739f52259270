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
    RegisterScalarOp(cast_record<bool>("cast_bool", "Cast{bool}")),
    RegisterScalarOp(cast_record<std::int8_t>("cast_int8", "Cast{int8}")),
    RegisterScalarOp(cast_record<std::int16_t>("cast_int16", "Cast{int16}")),
    RegisterScalarOp(cast_record<std::int32_t>("cast_int32", "Cast{int32}")),
    RegisterScalarOp(cast_record<std::int64_t>("cast_int64", "Cast{int64}")),
    RegisterScalarOp(cast_record<std::uint8_t>("cast_uint8", "Cast{uint8}")),
    RegisterScalarOp(cast_record<std::uint16_t>("cast_uint16", "Cast{uint16}")),
    RegisterScalarOp(cast_record<std::uint32_t>("cast_uint32", "Cast{uint32}")),
    RegisterScalarOp(cast_record<std::uint64_t>("cast_uint64", "Cast{uint64}")),
    RegisterScalarOp(cast_record<Half>("cast_float16", "Cast{float16}")),
    RegisterScalarOp(cast_record<float>("cast_float32", "Cast{float32}")),
    RegisterScalarOp(cast_record<double>("cast_float64", "Cast{float64}")),
};

}  // namespace

}  // namespace bitale::records
