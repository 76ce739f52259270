// Groups of positions whose numbers are known while the expression is built: sums are sums over segments of reordered
// positions, and other reductions run over the rows of a table of positions.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

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

using Lists = std::vector<std::vector<std::int64_t>>;

std::size_t longest(const Lists& rows) {
  return rows.empty() ? 0 : std::ranges::max(rows, {}, &Lists::value_type::size).size();
}

// Lists as rows of one table, in which shorter ones repeat their last element, and which elements are theirs; none
// where all are.
std::pair<Array, std::optional<Array>> table(const Lists& rows) {
  const std::size_t width = longest(rows);
  const Dims shape{std::int64_t(rows.size()), std::int64_t(width)};
  std::vector<std::int64_t> elements;
  elements.reserve(rows.size() * width);
  Array is_member = Array::zeros(DType::Bool, shape);
  bool is_full = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < width; ++k) elements.push_back(rows[i][std::min(k, rows[i].size() - 1)]);
    std::fill_n(is_member.mutable_data_as<bool>() + i * width, rows[i].size(), true);
    is_full = is_full && rows[i].size() == width;
  }
  return {Array(elements).reshape(shape), is_full ? std::nullopt : std::optional(is_member)};
}

// How long the parts are in which rows are reduced first; none where a table of the rows is not much larger than they
// are.
std::optional<std::size_t> width_of_parts(const Lists& rows) {
  constexpr std::size_t shortest = 8, most = 4;  // a table of at most so many times the elements
  std::size_t total = 0;
  for (const auto& row : rows) total += row.size();
  if (longest(rows) <= shortest || rows.size() * longest(rows) <= most * total) return {};
  return std::max(shortest, 2 * total / rows.size());
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
  // Positions in no group have no mean, and are left out.
  if (std::ranges::any_of(group_of_, [](std::int64_t group) { return group < 0; })) {
    std::vector<std::int64_t> kept, groups;
    for (std::size_t i = 0; i < group_of_.size(); ++i) {
      if (group_of_[i] < 0) continue;
      kept.push_back(std::int64_t(i));
      groups.push_back(group_of_[i]);
    }
    const Dim& along = x_.dims()[std::size_t(axis_)];
    return Groups(isel(x_, {{along.name(), index_along(along, constant(Array(kept)))}}), along.name(),
                  std::move(groups), dim_)
        .var(ddof);
  }
  const XVariable centred = xtensor::sub(x_, spread(mean()));
  const Groups squares(xtensor::sqr(centred), x_.dims()[std::size_t(axis_)].name(), group_of_, dim_);
  const XVariable freedom = xtensor::sub(count(), ddof), variance = divided(squares.sum(), freedom);
  const XVariable nan(bitale::cast(constant(Array(std::numeric_limits<double>::quiet_NaN())), variance.dtype()), {});
  return xtensor::transpose(xtensor::where(xtensor::gt(freedom, 0), variance, nan), variance.names());
}

XVariable Groups::std_(int ddof) const { return xtensor::sqrt(var(ddof)); }

XVariable Groups::reduced(const char* who, Reduction reduction, std::optional<double> neutral) const {
  for (const auto& members : members_)
    if (members.empty()) throw ValueError(cat("groupby: ", who, ": a group has no positions"));
  std::string window = "_members", part = "_parts";
  while (x_.find(window) >= 0 || dim_.name() == window) window += '_';
  while (x_.find(part) >= 0 || dim_.name() == part) part += '_';
  const auto over_rows = [&](const XVariable& x, const std::string& along, const Lists& rows, const Dim& dim) {
    const auto [positions, is_member] = table(rows);
    const DimList dims{dim, Dim(window)};
    XVariable every = isel(x, {{along, XVariable(constant(positions), dims)}});
    if (neutral && is_member) {
      const XVariable padding(bitale::cast(constant(Array(*neutral)), every.dtype()), {});
      const XVariable members = xtensor::where(XVariable(constant(*is_member), dims), every, padding);
      every = xtensor::transpose(members, every.names());
    }
    return reduction(every, window);
  };
  // Rows are as long as the longest one. Where that is much longer than the others, it is reduced in parts first.
  XVariable x = x_;
  std::string along = x_.dims()[std::size_t(axis_)].name();
  Lists rows = members_;
  while (const auto width = width_of_parts(rows)) {
    Lists parts, of_rows;
    for (const auto& row : rows) {
      auto& mine = of_rows.emplace_back();
      for (std::size_t begin = 0; begin < row.size(); begin += *width) {
        mine.push_back(std::int64_t(parts.size()));
        parts.emplace_back(row.begin() + std::ptrdiff_t(begin),
                           row.begin() + std::ptrdiff_t(std::min(begin + *width, row.size())));
      }
    }
    x = over_rows(x, along, parts, Dim(part));
    along = part;
    rows = std::move(of_rows);
  }
  return over_rows(x, along, rows, dim_);
}

// The neutral elements take part in no derivative. Integers and truth values have none, and their groups repeat a
// position instead.
XVariable Groups::max() const {
  const bool is_padded = !is_discrete(x_.dtype());
  return reduced("max", xtensor::max,
                 is_padded ? std::optional(-std::numeric_limits<double>::infinity()) : std::nullopt);
}
XVariable Groups::min() const {
  const bool is_padded = !is_discrete(x_.dtype());
  return reduced("min", xtensor::min,
                 is_padded ? std::optional(std::numeric_limits<double>::infinity()) : std::nullopt);
}
XVariable Groups::all() const { return reduced("all", xtensor::all, {}); }
XVariable Groups::any() const { return reduced("any", xtensor::any, {}); }
XVariable Groups::prod() const { return reduced("prod", xtensor::prod, 1.0); }

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

Groups groupby(const XOperand& given, const std::string& along, const CoordinatesRef& labels, const std::string& name) {
  const LocationScope here(given.where);
  const XVariable& x = given.variable;
  const Dim& dim = x.dims()[std::size_t(x.axis(along, "groupby"))];
  if (!labels && !dim.coordinates())
    throw ValueError(
        cat("groupby: \"", along, "\" has no coordinates to group by; give labels, or coordinates by assign_coords"));
  Coordinates::Distinct found = (labels ? labels : dim.coordinates())->distinct();
  return Groups(x, along, std::move(found.of), Dim(name.empty() ? along : name, {}, std::move(found.labels)));
}

const Array& constant_labels(const XVariable& labels) {
  if (labels.ndim() != 1) throw ValueError(cat("groupby: expected labels along one dimension, got ", labels.str()));
  const Array* constant = labels.values().constant();
  if (!constant)
    throw NotImplementedError(
        cat("groupby: the groups are made while the expression is built, so labels can't be computed: ", labels.str()));
  return *constant;
}

Groups groupby(const XOperand& x, const XVariable& labels, const std::string& name) {
  const LocationScope here(x.where);
  const Array& given = constant_labels(labels);
  std::vector<Label> all;
  all.reserve(std::size_t(given.size()));
  const bool is_whole = is_discrete(given.dtype());
  const Array values = given.astype(is_whole ? DType::Int64 : DType::Float64).contiguous();
  for (std::int64_t i = 0; i < values.size(); ++i)
    all.push_back(is_whole ? Label(values.data_as<std::int64_t>()[i]) : Label(values.data_as<double>()[i]));
  const std::string& along = labels.dims()[0].name();
  return groupby(x, along, coordinates(std::move(all)),
                 !name.empty()            ? name
                 : !labels.name().empty() ? labels.name()
                                          : along);
}

}  // namespace bitale::xtensor
