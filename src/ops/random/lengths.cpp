#include "ops/random/lengths.hpp"

#include <algorithm>

#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

bool broadcasts_along(const Variable& x, int axis) { return x.tensor().broadcasts(axis); }
int own_batch_ndim(const DrawParameter& parameter) { return parameter.value.ndim() - parameter.core_ndim; }

// New dimensions of length 1 before axis `first`.
Variable with_new_axes(const Variable& x, int first, int count) {
  if (!count) return x;
  std::vector<int> order;
  for (int axis = 0; axis < first; ++axis) order.push_back(axis);
  order.insert(order.end(), std::size_t(count), new_axis);
  for (int axis = first; axis < x.ndim(); ++axis) order.push_back(axis);
  return dimshuffle(x, order);
}

}  // namespace

Variables given_lengths(std::string_view who, std::span<const Variable> lengths) {
  Variables out;
  for (auto& length : lengths) {
    out.push_back(as_length(length, who));
    if (const auto known = known_integer(out.back()); known && *known < 0)
      throw ValueError(cat(who, ": negative length ", *known, " of dimension ", out.size() - 1));
  }
  return out;
}

Variable in_dtype_of_draw(std::string_view who, std::string_view parameter, const Variable& given, DType dtype) {
  if (dtype == DType::Int64 && !can_cast_safely(given.dtype(), DType::Int64))
    throw TypeError(cat(who, ": the parameter ", parameter, " is a whole number, got `", given.str(), "` of dtype ",
                        dtype_name(given.dtype()), "; cast it to int64"));
  return given.dtype() == dtype ? given : cast(given, dtype);
}

std::vector<std::vector<bool>> connected_parameters(std::size_t first_parameter, std::span<const DType> dtypes) {
  std::vector<std::vector<bool>> out(first_parameter, {false, false});
  for (auto dtype : dtypes) out.push_back({false, dtype == DType::Float64});
  return out;
}

Shape lengths_of_draw(std::string_view who, std::span<const DrawParameter> parameters, const random::Size& size) {
  int ndim = 0;
  for (auto& parameter : parameters) ndim = std::max(ndim, own_batch_ndim(parameter));
  Shape lengths;
  if (size) {
    for (auto& length : size->variables) lengths.push_back(as_length(length, cat(who, ": size")));
    if (ndim > int(lengths.size()))
      throw ValueError(cat(who, ": the parameters have ", ndim, " dimensions, but size says ", lengths.size()));
    return lengths;
  }
  for (int axis = 0; axis < ndim; ++axis) {
    Variable length = int64_constant(1);
    for (auto& parameter : parameters) {
      const int own = axis - (ndim - own_batch_ndim(parameter));
      if (own < 0 || broadcasts_along(parameter.value, own)) continue;
      length = length_of(parameter.value, own);
      if (known_integer(length)) break;
    }
    lengths.push_back(length);
  }
  return lengths;
}

Variable fitted(const DrawParameter& parameter, const Shape& lengths, bool may_broadcast) {
  const Variable& value = parameter.value;
  const int batch = own_batch_ndim(parameter), before = int(lengths.size()) - batch;
  if (batch == 0) return value;
  bool fits = may_broadcast || before == 0;
  for (int axis = 0; axis < batch && fits; ++axis) {
    const Variable& length = lengths[std::size_t(before + axis)];
    if (broadcasts_along(value, axis))
      fits = may_broadcast || known_integer(length) == 1;
    else if (may_broadcast)
      fits = is_same_length(length_of(value, axis), length);
  }
  if (fits) return value;
  Shape whole = lengths;
  for (int axis = batch; axis < value.ndim(); ++axis) whole.push_back(length_of(value, axis));
  return broadcast_to(value, whole);
}

BatchedDraw batched_draw(const Apply& node, std::span<const Variable> batched, std::string_view who, int length_count,
                         std::size_t first_parameter, std::span<const int> core_ndims) {
  if (!batched[0].type()->equals(*node.input(0).type()))
    throw NotImplementedError(cat(who, ": vectorize over generators"));
  BatchedDraw out;
  Shape lengths;
  for (std::size_t i = 1; i < first_parameter; ++i) {
    // A length that is batched by Alloc is one length, repeated.
    const bool is_repeated = batched[i].ndim() && batched[i].has_owner() && batched[i].owner().op().name() == "Alloc" &&
                             batched[i].owner().input(0).ndim() == 0;
    lengths.push_back(is_repeated ? batched[i].owner().input(0) : batched[i]);
    if (lengths.back().ndim()) throw NotImplementedError(cat(who, ": vectorize over the lengths"));
  }
  int batch = 0;
  for (std::size_t k = 0; k < core_ndims.size(); ++k) {
    const Variable& parameter = batched[first_parameter + k];
    const int more = parameter.ndim() - node.input(int(first_parameter + k)).ndim();
    if (more == 0) continue;
    if (batch && more != batch)
      throw NotImplementedError(cat(who, ": inputs with different numbers of batch dimensions"));
    if (!batch)
      for (int axis = 0; axis < more; ++axis) out.lengths.push_back(length_of(parameter, axis));
    batch = more;
  }
  out.lengths.insert(out.lengths.end(), lengths.begin(), lengths.begin() + length_count);
  out.others.assign(lengths.begin() + length_count, lengths.end());
  for (std::size_t k = 0; k < core_ndims.size(); ++k) {
    const Variable &before = node.input(int(first_parameter + k)), &after = batched[first_parameter + k];
    // A parameter with one value per batch element is broadcast over the dimensions of the draw.
    const int missing = after.ndim() > before.ndim() ? length_count - (before.ndim() - core_ndims[k]) : 0;
    out.parameters.push_back({with_new_axes(after, batch, missing), core_ndims[k]});
  }
  return out;
}

}  // namespace bitale
