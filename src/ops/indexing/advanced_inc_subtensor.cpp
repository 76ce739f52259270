#include "ops/indexing/advanced_inc_subtensor.hpp"

#include <algorithm>
#include <functional>

#include "bitale/ops/ops.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/range.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/array_loops.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/nonzero.hpp"
#include "ops/indexing/update_value.hpp"
#include "ops/sample_values.hpp"
#include "ops/shapes/arange.hpp"

namespace bitale {
namespace {

std::span<const Variable> update_indices(const Apply& node) { return std::span(node.inputs()).subspan(2); }

AdvancedIndex update_layout(const std::vector<int>& axes, const Apply& node) {
  return AdvancedIndex(axes, node.input(0).ndim(), node.input(2).ndim());
}

// A mask of the index positions: true for the position that is the last to write to its element, false for those that
// are overwritten. It has the rank of the region, with length 1 in the dimensions kept whole.
Variable last_writers(const std::vector<int>& axes, const Apply& node) {
  const Variables indices(update_indices(node).begin(), update_indices(node).end());
  std::vector<Shape> lengths;
  for (auto& index : indices) lengths.push_back(lengths_of(index));
  const Shape shape = broadcast_index_lengths(indices, lengths);
  const Variable numbers = reshape(arange(lengths::product(shape)), shape);
  Shape indexed;
  std::vector<int> all;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    indexed.push_back(length_of(node.input(0), axes[k]));
    all.push_back(int(k));
  }
  Variables write{alloc(int64_constant(-1), indexed), numbers}, read;
  write.insert(write.end(), indices.begin(), indices.end());
  read = write;
  read.erase(read.begin() + 1);
  read[0] = (*make_ref<AdvancedIncSubtensor>(all, true))(write);
  const Variable last = eq((*make_ref<AdvancedSubtensor>(all))(read), numbers);
  const AdvancedIndex layout = update_layout(axes, node);
  std::vector<int> order(std::size_t(layout.position()), new_axis);
  for (int k = 0; k < last.ndim(); ++k) order.push_back(k);
  while (int(order.size()) < layout.region_ndim()) order.push_back(new_axis);
  return dimshuffle(last, order);
}

std::vector<bool> repeats_of(const Apply& node) {
  std::vector<bool> out;
  for (auto& index : update_indices(node)) out.push_back(index.tensor().broadcasts(0));
  return out;
}

// Whether the elements are known to increase strictly and not to be negative.
bool counts_up(const Variable& index) {
  if (nonzero_behind(index).defined()) return true;
  const Array* known = index.constant();
  if (!known) return false;
  const Array values = known->astype(DType::Int64).contiguous();
  const std::int64_t* v = values.data_as<std::int64_t>();
  return std::is_sorted(v, v + values.size(), std::less_equal<>()) && (values.size() == 0 || v[0] >= 0);
}

// Whether no two positions can select the same element: there is only one position, or the positions extend along a
// single dimension and some index increases strictly along it.
bool selects_once(const Apply& node) {
  int longest = -1;
  for (auto& index : update_indices(node))
    for (int axis = 0; axis < index.ndim(); ++axis) {
      if (index.static_shape()[std::size_t(axis)] == 1) continue;
      if (longest >= 0 && longest != axis) return false;
      longest = axis;
    }
  if (longest < 0) return true;
  for (auto& index : update_indices(node))
    if (index.static_shape()[std::size_t(longest)] != 1 && counts_up(index)) return true;
  return false;
}

}  // namespace

std::string AdvancedIncSubtensor::pprint_text(std::span<const std::string> inputs) const {
  return cat(set ? "set" : "inc", "_subtensor(", atom_text(inputs[0]), "[",
             advanced_index_text(axes, inputs.subspan(2)), "], ", inputs[1], ")");
}

Apply AdvancedIncSubtensor::make_node(std::span<const Variable> inputs) const {
  if (inputs.size() < 2)
    throw TypeError(cat(label(), ": expected a tensor and a value, got ", inputs.size(), " inputs"));
  // Sums of float16 are computed and returned in float32.
  inputs[0].tensor();
  const Variable x = set ? inputs[0] : cast(inputs[0], computing_dtype(inputs[0].dtype()));
  const Variable y = is_complex(x) ? cast(inputs[1], x.dtype()) : inputs[1];
  Variables own{x, y};
  for (auto& index : checked_index_tensors(axes, x, inputs.subspan(2), label())) own.push_back(index);
  const AdvancedIndex layout(axes, x.ndim(), own[2].ndim());
  const Dims index_shape = broadcast_index_shape(std::span(own).subspan(2), label());
  check_update_value(x, y, layout.region(x.static_shape(), index_shape), label());
  return Apply(OpRef(this), own, {x.type()});
}

OpRef AdvancedIncSubtensor::pure() const { return inplace ? OpRef(new AdvancedIncSubtensor(axes, set)) : OpRef(this); }

// An update of diagonal elements alone keeps triangular matrices triangular and diagonal matrices diagonal.
Structure AdvancedIncSubtensor::structure(const Apply& node, int, InputStructures& inputs) const {
  const Variable& x = node.input(0);
  const int rank = x.ndim();
  if (rank < 2 || axes != std::vector<int>{rank - 2, rank - 1} || !node.input(2).same_as(node.input(3))) return {};
  Structure before = inputs.of(0), out;
  const Variable& index = node.input(2);
  // A negative index is off the diagonal if the matrix is not square.
  const bool is_square = before.is(Fact::Square) || is_same_length(length_of(x, rank - 2), length_of(x, rank - 1));
  if (!is_square && !(range_of(index).low >= 0)) return {};
  const bool was_zero = range_of(x).is_always(0);
  if (was_zero || before.is(Fact::LowerTriangular)) out.add(Fact::LowerTriangular);
  if (was_zero || before.is(Fact::UpperTriangular)) out.add(Fact::UpperTriangular);
  const auto* counted = dynamic_cast<const ARange*>(index.has_owner() ? index.owner_op() : nullptr);
  const bool from_zero =
      counted && known_integer(index.owner().input(0)) == 0 && known_integer(index.owner().input(2)) == 1;
  const bool of_all =
      (from_zero || counts_up(index)) && is_same_length(length_of(index, 0), length_of(x, rank - 1)) && is_square;
  if (of_all && set && range_of(node.input(1)).is_positive()) out.add(Fact::PositiveDiagonal);
  return out;
}

std::vector<int> AdvancedIncSubtensor::destroys(const Apply&, int) const {
  return inplace ? std::vector<int>{0} : std::vector<int>();
}

OpRef AdvancedIncSubtensor::inplace_on_inputs(const Apply&, std::span<const int> allowed) const {
  if (inplace || allowed.empty() || allowed[0] != 0) return {};
  return OpRef(new AdvancedIncSubtensor(axes, set, true));
}

std::vector<Shape> AdvancedIncSubtensor::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  return {inputs[0]};
}

void AdvancedIncSubtensor::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const Array result = inplace && has_distinct_writable_elements(in[0]) ? in[0] : in[0].copy();
  const Array offsets = index_offsets(axes, result, in.subspan(2), update_indices(node), label());
  const AdvancedIndex layout = update_layout(axes, node);
  const Dims shape = layout.region(result.shape(), offsets.shape());
  const Dims along_index(std::size_t(offsets.ndim()), 0), across(std::size_t(result.ndim()), 0);
  const Array value = fitted_value(in[0], in[1], node.input(1), shape, label());
  const char* where = static_cast<const char*>(offsets.data());
  char* to = static_cast<char*>(result.mutable_data());
  const char* from = static_cast<const char*>(value.data());
  visit_dtype(result.dtype(), [&]<class T>() {
    for_each_offset<3>(
        shape,
        {layout.region(result.strides(), along_index), layout.region(across, offsets.strides()), value.strides()},
        [&](auto& at) {
          std::int64_t start;
          std::memcpy(&start, where + at[1], sizeof start);
          T element, addend;
          std::memcpy(&element, to + start + at[0], sizeof(T));
          std::memcpy(&addend, from + at[2], sizeof(T));
          element = set ? addend : sum_of(element, addend);
          std::memcpy(to + start + at[0], &element, sizeof(T));
        });
  });
  out[0] = result;
}

// Updates such as x[arange(n), i] = y: each position of the index has a row of its own, so that an element of the
// result can be computed from its index alone. The gradient of picking one column per row is of this kind.
void AdvancedIncSubtensor::emit_picked(Lowering& to, const Apply& node, std::size_t counting, ElementRule value) const {
  const AdvancedIndex layout = update_layout(axes, node);
  const bool logical = node.input(0).dtype() == DType::Bool;
  to.element(
      0,
      [this, &to, counting, logical, layout, repeats = repeats_of(node), value = std::move(value)](Index at) {
        const Expr position = at[std::size_t(axes[counting])];
        std::vector<Expr> of_x(at.begin(), at.end());
        const auto in_region = layout.region(of_x, std::vector<Expr>{position});
        const Expr x = to.in(0, at), y = value(in_region);
        Expr picked = to.pool().boolean(true);
        for (std::size_t i = 0; i < axes.size(); ++i) {
          if (i == counting) continue;
          const Expr where[] = {repeats[i] ? to.pool().integer(0) : position};
          const Expr length = to.shape_in(0)[std::size_t(axes[i])];
          picked =
              picked & equal(at[std::size_t(axes[i])], to.index_in(2 + int(i), where, length, Lowering::Sign::Any));
        }
        return program::select(picked, set ? y : logical ? x | y : x + y, x);
      },
      4);
}

bool AdvancedIncSubtensor::emit(Lowering& to, const Apply& node) const {
  auto region = advanced_region(to, axes, node, 2);
  Piece piece{region, advanced_source(to, axes, node, 2, label()),
              fitted_rule(to, node.input(0), node.input(1), 1, region, label())};
  if (auto counting = counting_index(to, axes, node, 2)) {
    emit_picked(to, node, *counting, std::move(piece.value));
    return true;
  }
  if (!set) piece.combiner = node.input(0).dtype() == DType::Bool ? program::Combiner::bit_or : program::Combiner::add;
  to.assemble(0, 0, {std::move(piece)});
  return true;
}

void AdvancedIncSubtensor::emit_tensors(TensorLowering& to, const Apply& node) const {
  const auto positions = tensor_positions(to, axes, node, 2, label());
  const TensorValue y = fitted_tensor(to, node.input(0), node.input(1), 1, positions.region, label());
  std::vector<int> to_gathered(positions.from_gathered.size());
  for (std::size_t k = 0; k < to_gathered.size(); ++k) to_gathered[std::size_t(positions.from_gathered[k])] = int(k);
  const auto add = node.input(0).dtype() == DType::Bool ? program::Combiner::bit_or : program::Combiner::add;
  to.out(0, to.builder().scatter(to.in(0), positions.at, to.builder().transpose(y, to_gathered), axes,
                                 set ? std::nullopt : std::optional(add)));
}

// If several values are set at one position, only the last one has an effect.
Variables AdvancedIncSubtensor::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  const Variable& g = cotangents[0];
  if (g.is_disconnected()) return out;
  const Variable zero = constant(Array::zeros(g.dtype(), Dims{}));
  out[0] = set ? (*pure())(with_indices(node, {g, zero})) : g;
  if (is_discrete(node.input(1).dtype())) {
    out[1] = gradient_of_value(node.input(1), g);
    return out;
  }
  Variable selected = (*make_ref<AdvancedSubtensor>(axes))(with_indices(node, {g}));
  if (set && !selects_once(node)) selected = switch_(last_writers(axes, node), selected, 0);
  out[1] = gradient_of_value(node.input(1), selected);
  return out;
}

Variables AdvancedIncSubtensor::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  return pushforward_of_update(*pure(), set, node, tangents);
}

std::optional<Array> AdvancedIncSubtensor::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  static constexpr int moved[] = {0, 1};
  if (set) return moved_dependencies(node, inputs, moved);
  const std::optional<Array> targets = selected_positions(*make_ref<AdvancedSubtensor>(axes), node, inputs);
  return targets ? std::optional(dependencies_of_sum(inputs, *targets)) : std::nullopt;
}

std::vector<int> AdvancedIncSubtensor::support_carriers(const Apply&, int) const { return {0, 1}; }

Support AdvancedIncSubtensor::support(const Apply& node, int, std::span<const Support> inputs) const {
  static constexpr int moved[] = {0, 1};
  if (!set && inputs[0].is_everywhere()) return {};
  return moved_support(node, inputs, moved, true);
}

std::vector<std::vector<bool>> AdvancedIncSubtensor::connection_pattern(const Apply& node) const {
  return connect_first(node, 2);
}

Apply AdvancedIncSubtensor::vectorize_along(const Batch& batch) const {
  const int gained = batch.ndim();
  if (gained == 0) return pure()->make_node(batch.inputs);
  const int x_ndim = batch.node.input(0).ndim(), index_ndim = batch.node.input(2).ndim();
  const int region_ndim = AdvancedIndex(axes, x_ndim, index_ndim).region_ndim();
  const Variable x = with_batch(batch, 0), y = broadcast_in_batch(batch, 1, region_ndim);
  if (batch.axis == BatchAxis::last) {
    if (batch.any_from(2)) return {};
    Variables inputs{x, y};
    inputs.insert(inputs.end(), batch.inputs.begin() + 2, batch.inputs.end());
    return make_ref<AdvancedIncSubtensor>(axes, set)->make_node(inputs);
  }
  const AdvancedBatch index = batched_index(axes, batch, 2);
  // The value has its batch dimensions first; its dimensions are permuted to the order of the batched region.
  const auto order = region_order(axes, index, x_ndim, index_ndim, gained);
  std::vector<int> inverse(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) inverse[std::size_t(order[k])] = int(k);
  Variables inputs{x, dimshuffle(padded_to(y, gained + region_ndim), inverse)};
  inputs.insert(inputs.end(), index.indices.begin(), index.indices.end());
  return make_ref<AdvancedIncSubtensor>(index.axes, set)->make_node(inputs);
}

namespace {

std::vector<Sample> advanced_inc_subtensor_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const Array matrix = sample_values(DType::Float64, {4, 3}), cube = sample_values(DType::Float64, {3, 2, 4});
  auto real = [](const Dims& type) { return sample_input(DType::Float64, type); };
  auto index = [](const Dims& type) { return sample_input(DType::Int64, type); };
  auto values = [](const Dims& shape) { return sample_values(DType::Float64, shape, 2); };
  auto longs = [](std::initializer_list<std::int64_t> list) { return Array(list); };
  auto add = [&](std::vector<int> axes, bool set, Variables inputs, std::vector<Array> arrays) {
    out.push_back({make_ref<AdvancedIncSubtensor>(axes, set)->make_node(inputs), std::move(arrays)});
  };
  for (bool set : {false, true}) {
    add({0}, set, {real({any}), real({any}), index({any})}, {values({5}), values({4}), longs({4, 1, -1, 1})});
    add({0}, set, {real({any, any}), real({any, any}), index({any})}, {matrix, values({3, 3}), longs({0, 3, 0})});
    add({0, 1}, set, {real({any, any}), real({any}), index({any}), index({any})},
        {matrix, values({3}), longs({0, 3, 3}), longs({2, -1, 2})});
    add({0, 2}, set, {real({any, any, any}), real({}), index({any}), index({any})},
        {cube, Array(1.5), longs({2, 0}), longs({1, 3})});
    add({1}, set, {real({any, any}), real({1, any}), index({any})}, {matrix, values({1, 2}), longs({1, 2})});
    add({0}, set, {sample_input(DType::Int32, {any}), sample_input(DType::Int8, {any}), index({any})},
        {sample_values(DType::Int32, {3}), sample_values(DType::Int8, {2}), longs({2, 2})});
  }
  return out;
}

BITALE_REGISTER_OP(AdvancedIncSubtensor, "A copy of a tensor with elements, by integer tensors, increased or replaced.",
                   advanced_inc_subtensor_samples);

}  // namespace
}  // namespace bitale
