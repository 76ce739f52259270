// Groups of positions whose numbers are known while the expression is built: sums are sums over segments of reordered
// positions, and other reductions run over gathered ones.
#include <algorithm>
#include <limits>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/segments.hpp"
#include "bitale/xtensor/windows.hpp"

namespace bitale::xtensor {

namespace {

// A quotient by numbers of positions, in the dtype of floats.
XVariable divided(const XVariable& sums, const XVariable& counts) {
  return xtensor::true_div(sums, is_discrete(sums.dtype()) ? counts : xtensor::cast(counts, sums.dtype()));
}

}  // namespace

Groups::Groups(XVariable x, std::string along, std::vector<std::int64_t> group_of, Dim dim)
    : x_(std::move(x)), axis_(x_.axis(along, "groupby")), group_of_(std::move(group_of)), dim_(std::move(dim)) {
  const std::int64_t known = x_.static_length(axis_), given = std::int64_t(group_of_.size());
  if (known != unknown_length && known != given)
    throw ShapeError(cat("groupby: dimension \"", along, "\" has length ", known, ", but there are labels for ", given,
                         " positions"));
  if (known == unknown_length) {
    std::vector<std::optional<Operand>> lengths(std::size_t(x_.ndim()));
    lengths[std::size_t(axis_)] = Operand(given);
    x_ = x_.with_values(specify_shape(x_.values(), lengths));
  }
  if (!dim_.length()) throw ValueError("groupby: expected a dimension of known length for the groups");
  if (dim_.name() != along && x_.find(dim_.name()) >= 0)
    throw ValueError(cat("groupby: ", x_.values().str(), " has a dimension \"", dim_.name(), "\" already"));
  members_.resize(std::size_t(*dim_.length()));
  for (std::int64_t i = 0; i < given; ++i) {
    const std::int64_t group = group_of_[std::size_t(i)];
    if (group < 0) continue;
    if (group >= group_count())
      throw ValueError(cat("groupby: position ", i, " is in group ", group, ", but there are ", group_count()));
    members_[std::size_t(group)].push_back(i);
  }
}

XVariable Groups::sum() const {
  std::vector<std::int64_t> order, bounds{0};
  for (const auto& members : members_) {
    order.insert(order.end(), members.begin(), members.end());
    bounds.push_back(std::int64_t(order.size()));
  }
  // The grouped axis comes first, as segment_sum has it.
  std::vector<int> to_front{axis_}, back;
  for (int k = 0; k < x_.ndim(); ++k)
    if (k != axis_) to_front.push_back(k);
  for (int k = 1; k <= axis_; ++k) back.push_back(k);
  back.push_back(0);
  for (int k = axis_ + 1; k < x_.ndim(); ++k) back.push_back(k);
  // Small integers are added as int64, as in other sums.
  const DType dtype =
      is_discrete(x_.dtype()) ? (kind(x_.dtype()) == DTypeKind::UInt ? DType::UInt64 : DType::Int64) : x_.dtype();
  Variable values = bitale::cast(x_.values(), dtype);
  const auto ordered = [](const Variable& v, const std::vector<int>& axes) {
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (axes[k] != int(k)) return dimshuffle(v, axes);
    return v;
  };
  values = take(ordered(values, to_front), constant(Array(order)), 0);
  DimList dims = x_.dims();
  dims[std::size_t(axis_)] = dim_;
  return XVariable(ordered(segment_sum(values, constant(Array(bounds))), back), std::move(dims));
}

XVariable Groups::count() const {
  std::vector<std::int64_t> counts;
  for (const auto& members : members_) counts.push_back(std::int64_t(members.size()));
  return XVariable(constant(Array(counts)), {dim_});
}

XVariable Groups::mean() const { return divided(sum(), count()); }

XVariable Groups::var(int ddof) const {
  const XVariable centred = xtensor::sub(x_, spread(mean()));
  const Groups squares(xtensor::sqr(centred), x_.dims()[std::size_t(axis_)].name(), group_of_, dim_);
  const XVariable freedom = xtensor::sub(count(), ddof), variance = divided(squares.sum(), freedom);
  const XVariable nan(bitale::cast(constant(Array(std::numeric_limits<double>::quiet_NaN())), variance.dtype()), {});
  return xtensor::where(xtensor::gt(freedom, 0), variance, nan);
}

XVariable Groups::std_(int ddof) const { return xtensor::sqrt(var(ddof)); }

XVariable Groups::gathered(std::string_view who, std::string* window) const {
  std::size_t longest = 0;
  for (const auto& members : members_) {
    if (members.empty()) throw ValueError(cat("groupby: ", who, ": a group has no positions"));
    longest = std::max(longest, members.size());
  }
  // Shorter groups repeat their last position; what is reduced is not changed by that.
  std::vector<std::int64_t> positions;
  for (const auto& members : members_)
    for (std::size_t k = 0; k < longest; ++k) positions.push_back(members[std::min(k, members.size() - 1)]);
  *window = "_members";
  while (x_.find(*window) >= 0 || dim_.name() == *window) *window += "_";
  const Array table = Array(positions).reshape(Dims{group_count(), std::int64_t(longest)});
  return isel(x_, {{x_.dims()[std::size_t(axis_)].name(), XVariable(constant(table), {dim_, Dim(*window)})}});
}

#define X(name)                                     \
  XVariable Groups::name() const {                  \
    std::string window;                             \
    const XVariable all = gathered(#name, &window); \
    return xtensor::name(all, window);              \
  }
// clang-format off
X(max) X(min) X(all) X(any)
// clang-format on
#undef X

    XVariable Groups::prod() const {
  std::string window;
  const XVariable every = gathered("prod", &window);
  const int longest = int(every.static_length(every.find(window)));
  Array present = Array::zeros(DType::Bool, Dims{group_count(), longest});
  for (std::size_t g = 0; g < members_.size(); ++g)
    std::fill_n(present.data_as<bool>() + g * std::size_t(longest), members_[g].size(), true);
  const XVariable is_member(constant(present), {dim_, Dim(window)});
  const XVariable members = xtensor::where(is_member, every, xtensor::ones_like(every));
  return xtensor::prod(xtensor::transpose(members, every.names()), window);
}

XVariable Groups::first() const {
  std::vector<std::int64_t> positions;
  for (const auto& members : members_) {
    if (members.empty()) throw ValueError("groupby: first: a group has no positions");
    positions.push_back(members.front());
  }
  return isel(x_, {{x_.dims()[std::size_t(axis_)].name(), XVariable(constant(Array(positions)), {dim_})}});
}

XVariable Groups::last() const {
  std::vector<std::int64_t> positions;
  for (const auto& members : members_) {
    if (members.empty()) throw ValueError("groupby: last: a group has no positions");
    positions.push_back(members.back());
  }
  return isel(x_, {{x_.dims()[std::size_t(axis_)].name(), XVariable(constant(Array(positions)), {dim_})}});
}

XVariable Groups::spread(const XOperand& of_groups) const {
  if (std::ranges::any_of(group_of_, [](std::int64_t group) { return group < 0; }))
    throw ValueError("groupby: some positions are in no group, so values of groups are not values of positions");
  const Dim& along = x_.dims()[std::size_t(axis_)];
  return isel(of_groups, {{dim_.name(), XVariable(constant(Array(group_of_)), {along})}});
}

}  // namespace bitale::xtensor
