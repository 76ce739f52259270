#include "ops/analysis/known_number.hpp"

#include "bitale/core/array.hpp"
#include "bitale/graph/op.hpp"

namespace bitale {

namespace {

// Longer constants are considered data, not a repeated number.
constexpr std::int64_t max_equal_elements = 4096;

template <class T>
std::optional<double> common_value(const Array& values) {
  const Array flat = values.contiguous();
  const T* data = flat.data_as<T>();
  for (std::int64_t i = 1; i < flat.size(); ++i)
    if (!(data[i] == data[0])) return std::nullopt;
  const double value = double(data[0]);
  // A 64-bit integer that a double may not represent exactly (beyond 2^53) is no number for rules.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    if (value > 9007199254740992.0 || value < -9007199254740992.0) return std::nullopt;
  return value;
}

std::optional<double> common_value(const Array& values) {
  if (values.size() == 0 || values.size() > max_equal_elements || is_complex(values.dtype())) return std::nullopt;
  return visit_dtype(values.dtype(), [&]<class T>() { return common_value<T>(values); });
}

}  // namespace

std::optional<double> known_number(const Variable& variable) {
  // A view shows elements of its input, so equal elements stay equal. Checks are views, too, but must be kept.
  if (!variable.defined()) refuse_null_handle("Variable");
  const VariableNode* at = variable.node();
  while (at->owner) {
    const Apply owner = Apply::of(at->owner);
    if (!owner.op().may_fold(owner)) return std::nullopt;
    const std::vector<int> viewed = owner.op().view_of(owner, int(at->index));
    if (viewed.size() != 1) return std::nullopt;
    at = owner.inputs()[std::size_t(viewed[0])].node();
  }
  const Array* value = at->leaf ? at->leaf->constant() : nullptr;
  return value ? common_value(*value) : std::nullopt;
}

}  // namespace bitale
