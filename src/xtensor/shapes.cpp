// Changes of the dimensions of a labelled tensor: their order, names and number.
#include <algorithm>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/xtensor/functions.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::xtensor {

namespace {

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

XVariable in_order(const XVariable& x, const std::vector<int>& order) {
  DimList dims;
  bool is_identity = true;
  for (std::size_t k = 0; k < order.size(); ++k) {
    dims.push_back(x.dims()[std::size_t(order[k])]);
    is_identity = is_identity && order[k] == int(k);
  }
  return is_identity ? x : XVariable(dimshuffle(x.values(), order), std::move(dims));
}

// The named axes, without names that are not there where that is allowed.
std::vector<int> present_axes(const XVariable& x, const std::vector<std::string>& names, Missing missing,
                              std::string_view who) {
  std::vector<std::string> present;
  for (const auto& name : names) {
    if (x.find(name) >= 0 || name == "..." || missing == Missing::Raise) {
      present.push_back(name);
      continue;
    }
    if (missing == Missing::Warn)
      warn(cat(who, ": no dimension is called \"", name, "\"; those of ", x.values().str(), " are ",
               names_text(x.names())));
  }
  const auto rest = std::ranges::find(present, "...");
  if (rest == present.end()) return x.axes(present, who);
  if (std::ranges::count(present, "...") > 1) throw ValueError(cat(who, ": ... is given twice"));
  std::vector<std::string> all;
  for (auto each = present.begin(); each != present.end(); ++each) {
    if (each != rest) {
      all.push_back(*each);
      continue;
    }
    for (const Dim& dim : x.dims())
      if (!contains(present, dim.name())) all.push_back(dim.name());
  }
  return x.axes(all, who);
}

// The length that a new dimension gets: the given one, that of the Dim, or none.
std::optional<Operand> given_length(const Dim& dim, const std::vector<std::optional<Operand>>& lengths, std::size_t k) {
  if (k < lengths.size() && lengths[k]) return lengths[k];
  if (dim.length()) return Operand(*dim.length());
  return {};
}

void refuse_present(const XVariable& x, const Dim& dim, std::string_view who) {
  if (x.find(dim.name()) >= 0)
    throw ValueError(cat(who, ": ", x.values().str(), " has a dimension \"", dim.name(),
                         "\" already; its dimensions are ", names_text(x.names())));
}

}  // namespace

XVariable transpose(const XOperand& x, const std::vector<std::string>& dims, Missing missing) {
  const LocationScope here(x.where);
  const XVariable& v = x.variable;
  if (dims.empty()) {
    std::vector<int> order = v.axes({}, "transpose");
    std::ranges::reverse(order);
    return in_order(v, order);
  }
  const std::vector<int> order = present_axes(v, dims, missing, "transpose");
  if (int(order.size()) != v.ndim())
    throw ValueError(cat("transpose: expected all dimensions of ", v.values().str(), ", ", names_text(v.names()),
                         ", got ", names_text(dims), "; \"...\" stands for those that are not named"));
  return in_order(v, order);
}

XVariable squeeze(const XOperand& x, const Names& dim) {
  const LocationScope here(x.where);
  const XVariable& v = x.variable;
  std::vector<int> axes;
  if (dim) {
    axes = v.axes(dim, "squeeze");
    for (const int axis : axes) {
      const std::int64_t length = v.static_length(axis);
      if (length != 1 && length != unknown_length)
        throw ShapeError(cat("squeeze: dimension \"", v.dims()[std::size_t(axis)].name(), "\" of ", v.values().str(),
                             " has length ", length, ", not 1"));
    }
  } else {
    for (int k = 0; k < v.ndim(); ++k)
      if (v.static_length(k) == 1) axes.push_back(k);
  }
  if (axes.empty()) return v;
  DimList kept;
  std::vector<std::optional<Operand>> ones(std::size_t(v.ndim()));
  bool adds = false;
  for (int k = 0; k < v.ndim(); ++k) {
    if (std::ranges::find(axes, k) == axes.end()) {
      kept.push_back(v.dims()[std::size_t(k)]);
    } else if (v.static_length(k) != 1) {
      ones[std::size_t(k)] = Operand(1);
      adds = true;
    }
  }
  return XVariable(bitale::squeeze(adds ? specify_shape(v.values(), ones) : v.values(), axes), std::move(kept));
}

XVariable expand_dims(const XOperand& x, const DimList& dims, const std::vector<std::optional<Operand>>& lengths) {
  const LocationScope here(x.where);
  const XVariable& v = x.variable;
  DimList all;
  std::vector<int> order;
  Variables shape;
  bool repeats = false;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    refuse_present(v, dims[k], "expand_dims");
    all.push_back(dims[k]);
    order.push_back(new_axis);
    const Operand length = given_length(dims[k], lengths, k).value_or(Operand(1));
    repeats = repeats || known_integer(length.variable) != 1;
    shape.push_back(length.variable);
  }
  for (int k = 0; k < v.ndim(); ++k) {
    all.push_back(v.dims()[std::size_t(k)]);
    order.push_back(k);
    shape.push_back(length_of(v.values(), k));
  }
  const Variable expanded = dimshuffle(v.values(), order);
  return XVariable(repeats ? broadcast_to(expanded, shape) : expanded, std::move(all));
}

XVariable rename(const XOperand& x, const std::vector<std::pair<std::string, Dim>>& names) {
  const LocationScope here(x.where);
  DimList dims = x.variable.dims();
  std::vector<bool> done(dims.size());
  for (const auto& [before, after] : names) {
    const auto axis = std::size_t(x.variable.axis(before, "rename"));
    if (done[axis]) throw ValueError(cat("rename: dimension \"", before, "\" is given twice"));
    done[axis] = true;
    dims[axis] = dims[axis].renamed(after);
  }
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (dims[i].name() == dims[j].name())
        throw ValueError(
            cat("rename: two dimensions of ", x.variable.values().str(), " would be called \"", dims[i].name(), '"'));
  return XVariable(x.variable.values(), std::move(dims));
}

XVariable stack(const XOperand& x, const Dim& dim, const std::vector<std::string>& stacked) {
  const LocationScope here(x.where);
  const XVariable& v = x.variable;
  const std::vector<int> last = v.axes(stacked, "stack");
  if (v.find(dim.name()) >= 0 && !contains(stacked, dim.name())) refuse_present(v, dim, "stack");
  std::vector<int> order;
  DimList dims;
  for (int k = 0; k < v.ndim(); ++k)
    if (std::ranges::find(last, k) == last.end()) {
      order.push_back(k);
      dims.push_back(v.dims()[std::size_t(k)]);
    }
  const int start = int(order.size());
  order.insert(order.end(), last.begin(), last.end());
  dims.push_back(dim);
  return XVariable(join_dims(in_order(v, order).values(), start, int(last.size())), std::move(dims));
}

XVariable unstack(const XOperand& x, const std::string& dim, const DimList& dims,
                  const std::vector<std::optional<Operand>>& lengths) {
  const LocationScope here(x.where);
  const XVariable& v = x.variable;
  const int axis = v.axis(dim, "unstack");
  std::vector<int> order;
  DimList all;
  for (int k = 0; k < v.ndim(); ++k)
    if (k != axis) {
      order.push_back(k);
      all.push_back(v.dims()[std::size_t(k)]);
    }
  order.push_back(axis);
  Variables shape;
  std::string open;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (dims[k].name() != dim) refuse_present(v, dims[k], "unstack");
    const auto length = given_length(dims[k], lengths, k);
    if (!length && !open.empty())
      throw ValueError(cat("unstack: the lengths of \"", open, "\" and \"", dims[k].name(),
                           "\" are not given; one of them follows from the others"));
    if (!length) open = dims[k].name();
    shape.push_back(length ? length->variable : Operand::number(std::int64_t(-1)));
    all.push_back(dims[k]);
  }
  return XVariable(split_dims(in_order(v, order).values(), shape, v.ndim() - 1), std::move(all));
}

XVariable concat(const XOperands& tensors, const Dim& dim) {
  if (tensors.empty()) throw ValueError("concat: expected at least one tensor");
  const LocationScope here(tensors[0].where);
  XVariables with;
  for (const XOperand& each : tensors)
    with.push_back(each.variable.find(dim.name()) >= 0 ? each.variable : expand_dims(each, {Dim(dim.name())}));
  const std::vector<std::vector<std::string>> core(with.size(), {dim.name()});
  const Aligned aligned = align("concat", with, core);
  // All but the joined dimension repeated to the common lengths.
  const int common = int(aligned.dims.size());
  Variables parts;
  for (std::size_t i = 0; i < with.size(); ++i) {
    std::vector<std::optional<Operand>> lengths;
    bool repeats = false;
    Variables shape;
    for (int k = 0; k < common; ++k) {
      const std::string& name = aligned.dims[std::size_t(k)].name();
      const bool is_missing = with[i].find(name) < 0;
      repeats = repeats || is_missing;
      const auto owner = std::ranges::find_if(with, [&](const XVariable& x) { return x.find(name) >= 0; });
      shape.push_back(is_missing ? owner->length(name) : length_of(aligned.values[i], k));
    }
    shape.push_back(length_of(aligned.values[i], common));
    parts.push_back(repeats ? broadcast_to(aligned.values[i], shape) : aligned.values[i]);
  }
  CoordinatesRef joined = aligned.core[0][0].coordinates();
  for (std::size_t i = 1; joined && i < with.size(); ++i) {
    const auto& next = aligned.core[i][0].coordinates();
    joined = next ? joined->followed_by(*next) : nullptr;
  }
  // The joined dimension stays where the first tensor has it.
  const int at = std::max(tensors[0].variable.find(dim.name()), 0);
  std::vector<int> order(std::size_t(common), 0);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + at, common);
  if (at != common)
    for (Variable& each : parts) each = dimshuffle(each, order);
  DimList dims = aligned.dims;
  dims.insert(dims.begin() + at, aligned.core[0][0].with(dim.coordinates() ? dim.coordinates() : joined));
  return XVariable(join(at, parts), std::move(dims));
}

XVariables broadcast(const XOperands& tensors, const std::vector<std::string>& exclude) {
  if (tensors.empty()) return {};
  const LocationScope here(tensors[0].where);
  XVariables given;
  std::vector<std::vector<std::string>> core;
  for (const XOperand& each : tensors) {
    given.push_back(each.variable);
    auto& own = core.emplace_back();
    for (const auto& name : exclude)
      if (each.variable.find(name) >= 0) own.push_back(name);
  }
  const Aligned aligned = align("broadcast", given, core);
  Variables lengths;
  for (const Dim& dim : aligned.dims) {
    const auto owner = std::ranges::find_if(given, [&](const XVariable& x) { return x.find(dim.name()) >= 0; });
    lengths.push_back(owner->length(dim.name()));
  }
  XVariables out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Variable& values = aligned.values[i];
    Variables shape = lengths;
    bool repeats = false;
    for (std::size_t k = 0; k < lengths.size(); ++k) repeats = repeats || given[i].find(aligned.dims[k].name()) < 0;
    for (int k = int(lengths.size()); k < values.ndim(); ++k) shape.push_back(length_of(values, k));
    DimList dims = aligned.dims;
    dims.insert(dims.end(), aligned.core[i].begin(), aligned.core[i].end());
    out.emplace_back(repeats ? broadcast_to(values, shape) : values, std::move(dims));
  }
  return out;
}

XVariable broadcast_like(const XOperand& x, const XOperand& other, const std::vector<std::string>& exclude) {
  // The order is that of `other`, as in xarray.
  std::vector<std::string> kept;
  for (const Dim& dim : other.variable.dims())
    if (!contains(exclude, dim.name())) kept.push_back(dim.name());
  for (const Dim& dim : x.variable.dims())
    if (!contains(kept, dim.name())) kept.push_back(dim.name());
  const XVariable out = broadcast({x, other}, exclude)[0];
  return transpose(XOperand(out), kept);
}

XVariable full_like(const XOperand& x, const XOperand& value, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  if (value.variable.ndim() != 0)
    throw ValueError(cat("full_like: expected a scalar to fill with, got ", value.variable.str()));
  return x.variable.with_values(
      bitale::full_like(x.variable.values(), value.variable.values(), dtype.value_or(x.variable.dtype())));
}
XVariable zeros_like(const XOperand& x, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return x.variable.with_values(bitale::zeros_like(x.variable.values(), dtype));
}
XVariable ones_like(const XOperand& x, std::optional<DType> dtype) {
  const LocationScope here(x.where);
  return x.variable.with_values(bitale::ones_like(x.variable.values(), dtype));
}

XVariable assign_coords(const XOperand& x, const std::vector<std::pair<std::string, CoordinatesRef>>& coordinates) {
  const LocationScope here(x.where);
  DimList dims = x.variable.dims();
  for (const auto& [name, labels] : coordinates) {
    Dim& dim = dims[std::size_t(x.variable.axis(name, "assign_coords"))];
    dim = dim.with(labels);
  }
  return XVariable(x.variable.values(), std::move(dims));
}

}  // namespace bitale::xtensor
