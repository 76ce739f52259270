#include "bitale/xtensor/indexing.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/xtensor/align.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale::xtensor {

namespace {

// The positions that a slice selects of a dimension whose length is known, if its ends are known as well.
std::optional<std::vector<std::int64_t>> positions_of(const Slice& slice, std::int64_t length) {
  const auto known = [](const std::optional<Operand>& part, std::optional<std::int64_t>& value) {
    if (!part) return true;
    value = known_integer(part->variable);
    return value.has_value();
  };
  std::optional<std::int64_t> start, stop, step;
  if (!known(slice.start, start) || !known(slice.stop, stop) || !known(slice.step, step) || step == 0) return {};
  const std::int64_t by = step.value_or(1), low = by < 0 ? -1 : 0, high = by < 0 ? length - 1 : length;
  const auto clamped = [&](std::optional<std::int64_t> value, std::int64_t otherwise) {
    if (!value) return otherwise;
    return std::clamp(*value < 0 ? *value + length : *value, low, high);
  };
  const std::int64_t first = clamped(start, by < 0 ? high : low), last = clamped(stop, by < 0 ? low : high);
  std::vector<std::int64_t> out;
  for (std::int64_t i = first; by < 0 ? i > last : i < last; i += by) out.push_back(i);
  return out;
}

// The labels at constant positions; null for others, and positions out of range, which the indexing itself refuses.
CoordinatesRef labels_at(const Dim& dim, const Variable& index) {
  const Array* constant = index.is_constant() ? index.constant() : nullptr;
  if (!dim.coordinates() || !constant || constant->ndim() != 1) return {};
  const Array positions = constant->astype(DType::Int64).contiguous();
  const std::int64_t count = dim.coordinates()->count();
  std::vector<std::int64_t> out(std::size_t(positions.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at = positions.data_as<std::int64_t>()[i];
    if (at < -count || at >= count) return {};
    out[i] = at < 0 ? at + count : at;
  }
  return dim.coordinates()->at(out);
}

// A mask as the positions where it is true.
XVariable positions_of_mask(const XVariable& mask, const Dim& dim) {
  if (mask.ndim() != 1)
    throw IndexError(cat("isel: dimension \"", dim.name(), "\": expected a mask of one dimension, got ", mask.str()));
  if (mask.dims()[0].name() != dim.name())
    throw IndexError(cat("isel: a mask of dimension \"", mask.dims()[0].name(), "\" can't index \"", dim.name(), '"'));
  Variable positions;
  if (const Array* constant = mask.values().constant()) {
    std::vector<std::int64_t> found;
    const Array values = constant->contiguous();
    for (std::int64_t i = 0; i < values.size(); ++i)
      if (values.data_as<bool>()[i]) found.push_back(i);
    positions = bitale::constant(Array(found));
  } else {
    positions = nonzero(mask.values())[0];
  }
  return XVariable(positions, {mask.dims()[0].with({})});
}

// x with the lengths that masks of its dimensions have. IndexError where they are known to be others.
XVariable with_lengths_of_masks(const XVariable& x, const std::vector<std::pair<std::string, Index>>& indices) {
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  bool adds = false;
  for (const auto& [name, index] : indices) {
    const int axis = x.find(name);
    const auto* mask = std::get_if<XVariable>(&index);
    if (axis < 0 || !mask || mask->dtype() != DType::Bool || mask->names() != std::vector{name}) continue;
    const std::int64_t mine = x.static_length(axis), theirs = mask->static_length(0);
    if (mine != unknown_length && theirs != unknown_length && mine != theirs)
      throw IndexError(cat("isel: dimension \"", name, "\" has length ", mine, ", but its mask ", theirs));
    if (mine == theirs && mine != unknown_length) continue;
    lengths[std::size_t(axis)] = mask->length(mask->dims()[0].name());
    adds = true;
  }
  return adds ? x.with_values(specify_shape(x.values(), lengths)) : x;
}

// A slice as positions, for a dimension that an array has as well.
XVariable positions_of_slice(const XVariable& x, int axis, const Slice& slice) {
  const Variable all = arange(length_of(x.values(), axis));
  return XVariable(subtensor(all, {IndexItem(slice)}), {x.dims()[std::size_t(axis)].with({})});
}

// x with the lengths that others have along dimensions of the same names. Subtensors repeat a length that is found to
// be 1 in a call, so it is compared here unless both are known, which align compares.
XVariable with_lengths_of(const XVariable& x, std::span<const XVariable> others) {
  std::vector<std::optional<Operand>> lengths(std::size_t(x.ndim()));
  bool adds = false;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const std::string& name = x.dims()[std::size_t(axis)].name();
    const auto other = std::ranges::find_if(others, [&](const XVariable& y) { return y.find(name) >= 0; });
    if (other == others.end()) continue;
    const bool is_known = x.static_length(axis) != unknown_length;
    if (is_known && other->static_length(other->find(name)) != unknown_length) continue;
    const Variable length = other->length(name);
    if (is_same_length(length_of(x.values(), axis), length)) continue;
    lengths[std::size_t(axis)] = Operand(length);
    adds = true;
  }
  return adds ? x.with_values(specify_shape(x.values(), lengths)) : x;
}

struct Request {
  std::optional<Index> index;  // none: all positions
  bool is_array() const {
    const auto* labelled = index ? std::get_if<XVariable>(&*index) : nullptr;
    return labelled && labelled->ndim() > 0;
  }
};

std::vector<Request> requests_of(const XVariable& x, const std::vector<std::pair<std::string, Index>>& indices,
                                 MissingDims missing) {
  std::vector<Request> out(std::size_t(x.ndim()));
  for (const auto& [name, index] : indices) {
    if (missing == MissingDims::Ignore && x.find(name) < 0) continue;
    const int axis = x.axis(name, "isel");
    Request& mine = out[std::size_t(axis)];
    if (mine.index) throw ValueError(cat("isel: dimension \"", name, "\" is given twice"));
    mine.index = index;
    const auto* labelled = std::get_if<XVariable>(&index);
    if (!labelled) continue;
    if (labelled->dtype() == DType::Bool)
      mine.index = positions_of_mask(*labelled, x.dims()[std::size_t(axis)]);
    else if (!is_integer(labelled->dtype()))
      throw IndexError(
          cat("isel: dimension \"", name, "\": expected integers, a mask or a slice, got ", labelled->str()));
  }
  return out;
}

// The dimension that is left of one that is sliced.
Dim sliced(const Dim& dim, const std::optional<Index>& index) {
  if (!index) return dim;
  const Slice& slice = std::get<Slice>(*index);
  if (!slice.start && !slice.stop && !slice.step) return dim;
  const auto positions = dim.coordinates() ? positions_of(slice, dim.coordinates()->count()) : std::nullopt;
  return dim.with(positions ? dim.coordinates()->at(*positions) : nullptr);
}

}  // namespace

Index index_along(const Dim& dim, const Operand& vector) {
  if (vector.ndim() == 0) return XVariable(vector, {});
  if (vector.ndim() != 1)
    throw IndexError(cat("isel: dimension \"", dim.name(), "\": an array without names must be a vector, got ",
                         vector.variable.str(), " with ", vector.ndim(), " dimensions"));
  return XVariable(vector, {dim.with({})});
}

XVariable isel(const XOperand& given, const std::vector<std::pair<std::string, Index>>& indices, MissingDims missing) {
  const LocationScope here(given.where);
  const XVariable x = with_lengths_of_masks(given.variable, indices);
  std::vector<Request> requests = requests_of(x, indices, missing);

  // A dimension that arrays have is theirs: where x has it as well, its positions meet the arrays' own.
  std::vector<std::string> of_arrays;
  for (const Request& each : requests)
    if (each.is_array())
      for (const auto& name : std::get<XVariable>(*each.index).names()) of_arrays.push_back(name);
  for (int axis = 0; axis < x.ndim(); ++axis) {
    Request& each = requests[std::size_t(axis)];
    const bool is_range = !each.index || std::holds_alternative<Slice>(*each.index);
    if (is_range && std::ranges::find(of_arrays, x.dims()[std::size_t(axis)].name()) != of_arrays.end())
      each.index = positions_of_slice(x, axis, each.index ? std::get<Slice>(*each.index) : Slice{});
  }

  std::vector<int> arrays, others;
  XVariables positions;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const Request& each = requests[std::size_t(axis)];
    (each.is_array() ? arrays : others).push_back(axis);
    if (!each.is_array()) continue;
    const XVariable& index = std::get<XVariable>(*each.index);
    // Along its own dimension an array takes the labels of its positions.
    const Dim& dim = x.dims()[std::size_t(axis)];
    const bool is_own = index.ndim() == 1 && index.dims()[0].name() == dim.name();
    positions.push_back(is_own && !index.dims()[0].coordinates()
                            ? XVariable(index.values(), {dim.with(labels_at(dim, index.values()))})
                            : index);
  }
  for (std::size_t i = 1; i < positions.size(); ++i)
    positions[i] = with_lengths_of(positions[i], std::span(positions).first(i));
  Aligned aligned;
  if (!positions.empty()) aligned = align("isel", positions);

  Selection selection{x, arrays, {}, aligned.dims, {}};
  selection.order.insert(selection.order.end(), others.begin(), others.end());
  for (const Variable& each : aligned.values) selection.items.emplace_back(each);
  for (const int axis : others) {
    const auto& index = requests[std::size_t(axis)].index;
    const Dim& dim = x.dims()[std::size_t(axis)];
    if (index && std::holds_alternative<XVariable>(*index)) {
      selection.items.emplace_back(std::get<XVariable>(*index).values());
      continue;
    }
    selection.items.emplace_back(index ? std::get<Slice>(*index) : Slice{});
    selection.selected.push_back(sliced(dim, index));
  }

  // xarray's order: that of x's dimensions, where an index array stands for its own dimensions.
  std::vector<std::string> order;
  const auto append = [&](const std::string& name) {
    if (std::ranges::find(order, name) == order.end()) order.push_back(name);
  };
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const Request& each = requests[std::size_t(axis)];
    if (each.is_array())
      for (const auto& name : std::get<XVariable>(*each.index).names()) append(name);
    else if (!each.index || std::holds_alternative<Slice>(*each.index))
      append(x.dims()[std::size_t(axis)].name());
  }
  for (const auto& name : order)
    selection.result_order.push_back(
        int(std::ranges::find(selection.selected, name, &Dim::name) - selection.selected.begin()));

  const auto permuted = [](const Variable& values, const std::vector<int>& axes) {
    for (std::size_t k = 0; k < axes.size(); ++k)
      if (axes[k] != int(k)) return dimshuffle(values, axes);
    return values;
  };
  const Variable found = subtensor(permuted(x.values(), selection.order), selection.items);
  DimList dims;
  for (const int axis : selection.result_order) dims.push_back(selection.selected[std::size_t(axis)]);
  return XVariable(permuted(found, selection.result_order), std::move(dims))
      .selected_by(std::make_shared<const Selection>(std::move(selection)));
}

namespace {

// The slice of a number of positions.
using SliceOf = Slice (*)(const Operand& count, const Variable& length);

XVariable parts(const char* who, const XOperand& given, const std::optional<Counts>& counts, std::int64_t least,
                SliceOf slice_of) {
  const LocationScope here(given.where);
  const XVariable& x = given.variable;
  Counts all;
  if (!counts)
    for (const auto& name : x.names()) all.emplace_back(name, Operand(std::int64_t(5)));
  std::vector<std::pair<std::string, Index>> indices;
  for (const auto& [name, count] : counts ? *counts : all) {
    const int axis = x.axis(name, who);
    const auto known = known_integer(count.variable);
    if (count.ndim() != 0 || !is_integer(count.variable.dtype()) || (known && *known < least))
      throw ValueError(cat(who, ": dimension \"", name, "\": expected an integer of at least ", least, ", got ",
                           known ? cat(*known) : count.variable.str()));
    indices.emplace_back(name, slice_of(count, length_of(x.values(), axis)));
  }
  return isel(x, indices);
}

}  // namespace

XVariable head(const XOperand& x, const std::optional<Counts>& counts) {
  return parts("head", x, counts, 0, [](const Operand& count, const Variable&) { return Slice{.stop = count}; });
}

XVariable tail(const XOperand& x, const std::optional<Counts>& counts) {
  return parts("tail", x, counts, 0, [](const Operand& count, const Variable& length) {
    const auto known = known_integer(count.variable);
    if (known && *known > 0) return Slice{.start = Operand(-*known)};
    if (known) return Slice{.stop = Operand(std::int64_t(0))};
    return Slice{.start = Operand(bitale::maximum(bitale::sub(length, count), 0))};
  });
}

XVariable thin(const XOperand& x, const Counts& steps) {
  return parts("thin", x, steps, 1, [](const Operand& step, const Variable&) { return Slice{.step = step}; });
}

namespace {

using Update = Variable (*)(const Operand&, const IndexItems&, const Operand&);

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[std::size_t(order[k])] = int(k);
  return out;
}

XVariable updated(const char* who, const XVariable& selected, const XOperand& value, Update update) {
  const LocationScope here(value.where);
  if (!selected.selection())
    throw TypeError(
        cat(who, ": expected an indexed tensor, such as x[index] or x.isel(dim=index), got ", selected.str()));
  const Selection& selection = *selected.selection();
  for (const Dim& dim : value.variable.dims())
    if (selected.find(dim.name()) < 0)
      throw ValueError(cat(who, ": the value has the dimension \"", dim.name(),
                           "\", which the elements that it replaces ", "don't have; theirs are ",
                           names_text(selected.names()), suggestion(dim.name(), selected.names())));
  const XVariable both[] = {selected, with_lengths_of(value.variable, std::span(&selected, 1))};
  const Aligned aligned = align(who, both);  // in the order of `selected`
  const Variable values = dimshuffle(aligned.values[1], inverse(selection.result_order));
  const Variable base = dimshuffle(selection.base.values(), selection.order);
  return selection.base.with_values(dimshuffle(update(base, selection.items, values), inverse(selection.order)));
}

}  // namespace

XVariable set(const XVariable& selected, const XOperand& value) {
  return updated("set", selected, value, set_subtensor);
}
XVariable inc(const XVariable& selected, const XOperand& value) {
  return updated("inc", selected, value, inc_subtensor);
}

}  // namespace bitale::xtensor
