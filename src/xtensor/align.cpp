#include "bitale/xtensor/align.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale::xtensor {

namespace {

// A declared name and a plain text that is nearly the same: one of them is misspelt. Short names differ by a letter on
// purpose ("x1" and "x2").
void refuse_misspelt(std::string_view who, const DimList& common, const Dim& dim) {
  constexpr std::size_t shortest = 4;
  if (dim.name().size() < shortest) return;
  for (const Dim& other : common) {
    if (other.is_declared() == dim.is_declared() || other.name().size() < shortest) continue;
    const Dim &declared = dim.is_declared() ? dim : other, &written = dim.is_declared() ? other : dim;
    const std::string candidates[] = {declared.name()};
    if (closest(written.name(), candidates).empty()) continue;
    throw ValueError(cat(who, ": dimension \"", written.name(), "\" meets \"", declared.name(),
                         "\", which is declared as Dim(\"", declared.name(), "\"); did you mean \"", declared.name(),
                         "\"? If they are two dimensions, declare Dim(\"", written.name(), "\") as well"));
  }
}

void require_equal_coordinates(std::string_view who, const Dim& a, const Dim& b) {
  const Coordinates &x = *a.coordinates(), &y = *b.coordinates();
  if (&x == &y || x.equals(y)) return;
  std::string where;
  if (x.count() != y.count())
    where = cat(": there are ", x.count(), " and ", y.count());
  else
    for (std::int64_t i = 0; i < x.count() && where.empty(); ++i)
      if (x.label(i) != y.label(i)) where = cat(": position ", i, " is ", x.label(i), " and ", y.label(i));
  throw ValueError(cat(who, ": the coordinates along \"", a.name(), "\" differ", where,
                       "; select those that both have with .sel, in one order"));
}

class Common {
 public:
  explicit Common(std::string_view who) : who_(who) {}

  void add(const XVariable& x, int axis) {
    const Dim& dim = x.dims()[std::size_t(axis)];
    const auto found = std::ranges::find(dims, dim.name(), &Dim::name);
    const std::int64_t length = x.static_length(axis);
    if (found == dims.end()) {
      refuse_misspelt(who_, dims, dim);
      dims.push_back(dim);
      lengths.push_back(length);
      return;
    }
    std::int64_t& known = lengths[std::size_t(found - dims.begin())];
    if (known != unknown_length && length != unknown_length && known != length)
      throw ShapeError(cat(who_, ": dimension \"", dim.name(), "\" has length ", known, " in one operand and ", length,
                           " in ", x.values().str(),
                           dim.coordinates() || found->coordinates() ? "; select the positions that both have" : ""));
    if (known == unknown_length) known = length;
    *found = merged(who_, *found, dim);
  }

  DimList dims;
  Dims lengths;

 private:
  std::string_view who_;
};

// The operand with its axes in the order of the common dimensions and then its own core ones.
Variable arranged(const XVariable& x, const Aligned& common, std::span<const int> core, LeadingAxes leading) {
  std::vector<int> order;
  for (const Dim& dim : common.dims) {
    const int axis = x.find(dim.name());
    if (axis >= 0 || leading == LeadingAxes::Keep || !order.empty()) order.push_back(axis < 0 ? new_axis : axis);
  }
  order.insert(order.end(), core.begin(), core.end());
  bool is_identity = int(order.size()) == x.ndim();
  for (std::size_t k = 0; is_identity && k < order.size(); ++k) is_identity = order[k] == int(k);
  const Variable values = with_common_lengths(x, common);
  return is_identity ? values : dimshuffle(values, order);
}

}  // namespace

Variable with_common_lengths(const XVariable& x, const Aligned& common) {
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  bool adds = false;
  for (std::size_t k = 0; k < common.dims.size(); ++k) {
    const int axis = x.find(common.dims[k].name());
    if (axis < 0 || common.lengths[k] != 1 || x.static_length(axis) != unknown_length) continue;
    lengths[std::size_t(axis)] = Operand(1);
    adds = true;
  }
  return adds ? specify_shape(x.values(), lengths) : x.values();
}

Dim merged(std::string_view who, const Dim& a, const Dim& b) {
  if (a.coordinates() && b.coordinates()) {
    require_equal_coordinates(who, a, b);
    return a.is_declared() ? a : b;
  }
  if (a.coordinates() || b.coordinates()) {
    const Dim &with = a.coordinates() ? a : b, &without = a.coordinates() ? b : a;
    return without.is_declared() && !with.is_declared() ? without.with(with.coordinates()) : with;
  }
  if (a.is_declared() != b.is_declared()) return a.is_declared() ? a : b;
  return a.length() ? a : b;
}

Aligned align(std::string_view who, std::span<const XVariable> operands, std::span<const std::vector<std::string>> core,
              LeadingAxes leading) {
  Common common(who);
  std::vector<std::vector<int>> core_axes(operands.size());
  Aligned out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const XVariable& x = operands[i];
    if (!core.empty()) core_axes[i] = x.axes(core[i], who);
    auto& own = out.core.emplace_back();
    for (const int axis : core_axes[i]) own.push_back(x.dims()[std::size_t(axis)]);
    for (int axis = 0; axis < x.ndim(); ++axis)
      if (std::ranges::find(core_axes[i], axis) == core_axes[i].end()) common.add(x, axis);
  }
  out.dims = std::move(common.dims);
  out.lengths = std::move(common.lengths);
  for (std::size_t i = 0; i < operands.size(); ++i)
    out.values.push_back(arranged(operands[i], out, core_axes[i], leading));
  return out;
}

std::vector<std::string> core_names(std::string_view who, std::vector<std::string> names,
                                    std::initializer_list<int> counts) {
  if (std::ranges::find(counts, int(names.size())) == counts.end()) {
    std::vector<std::string> expected;
    for (const int count : counts) expected.push_back(cat(count));
    throw ValueError(cat(who, ": expected ", join(expected, " or "), " core dimensions, got ", names_text(names)));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::find(names.begin(), names.begin() + std::ptrdiff_t(i), names[i]) != names.begin() + std::ptrdiff_t(i))
      throw ValueError(cat(who, ": expected different core dimensions, got ", names_text(names)));
  return names;
}

XVariables blockwise(std::string_view who, std::span<const XVariable> operands,
                     std::span<const std::vector<std::string>> core, const std::vector<DimList>& results,
                     const BatchedFunction& function) {
  const Aligned aligned = align(who, operands, core);
  DimList known;
  for (const DimList& each : aligned.core) known.insert(known.end(), each.begin(), each.end());
  for (const Dim& dim : aligned.dims)
    if (std::ranges::find(known, dim.name(), &Dim::name) != known.end())
      throw ValueError(cat(who, ": \"", dim.name(), "\" is a core dimension of one operand, and a batch of another; ",
                           "rename one of them"));
  const Variables found = function(aligned.values);
  XVariables out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    DimList dims = aligned.dims;
    for (const Dim& dim : results[i]) {
      const auto own = std::ranges::find(known, dim.name(), &Dim::name);
      dims.push_back(own == known.end() ? dim : *own);
    }
    out.emplace_back(found[i], std::move(dims));
  }
  return out;
}

XVariable elementwise(std::string_view who, std::span<const XVariable> operands, const TensorFunction& function) {
  Aligned aligned = align(who, operands, {}, LeadingAxes::LeaveOut);
  return XVariable(function(aligned.values), std::move(aligned.dims));
}

XVariable elementwise(std::string_view scalar_function, const XOperands& operands) {
  XVariables variables;
  for (const XOperand& each : operands) variables.push_back(each.variable);
  const LocationScope here(operands.empty() ? Location() : operands[0].where);
  return elementwise(scalar_function, variables,
                     [&](const Variables& values) { return apply_elemwise(scalar_function, values); });
}

}  // namespace bitale::xtensor
