// Rules on repeated values (Alloc). Elementwise operations broadcast their operands, so an Alloc among the operands is
// rarely needed; where repetition is needed, it is moved behind the computation.
#include "ops/shapes/alloc.hpp"

#include <algorithm>

#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/subtensor_bounds.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

bool is_alloc(const Variable& v) { return op_as<Alloc>(v) != nullptr; }
Variable value_of(const Variable& alloc) { return alloc.owner().input(0); }
Variables lengths_in(const Variable& alloc) {
  const Apply node = alloc.owner();
  return {node.inputs().begin() + 1, node.inputs().end()};
}

// Whether some dimension is known to have length 1 only from the Alloc's type: the unrepeated value would not broadcast
// along it.
bool adds_static_ones(const Variable& alloc, const Variable& padded_value) {
  for (int axis = 0; axis < alloc.ndim(); ++axis)
    if (is_one(alloc, axis) && !is_one(padded_value, axis)) return true;
  return false;
}

// The value that an Alloc repeats. The Alloc also promises that along axes where the value is not repeated, its length
// is the requested one: this is kept as a check, except where the lengths are known to agree.
Variable checked_value(const Variable& alloc) {
  const Variable value = value_of(alloc);
  const Variables lengths = lengths_in(alloc);
  const std::size_t offset = lengths.size() - std::size_t(value.ndim());
  std::vector<std::optional<Operand>> wanted(std::size_t(value.ndim()));
  bool any = false;
  for (int axis = 0; axis < value.ndim(); ++axis) {
    const Variable& length = lengths[std::size_t(axis) + offset];
    if (is_one(value, axis) || is_same_length(length_of(value, axis), length)) continue;
    wanted[std::size_t(axis)] = Operand(length);
    any = true;
  }
  return any ? specify_shape(value, wanted) : value;
}

// second(x, y) is y if y has all of x's dimensions, otherwise y repeated.
std::optional<Variables> second_to_alloc(FunctionGraph&, const Apply& node) {
  return one(fit(node.input(1), node.output()));
}

std::optional<Variables> useless_alloc(FunctionGraph&, const Apply& node) {
  const int ndim = node.output().ndim();
  if (!same_broadcast(padded(node.input(0), ndim), node.output())) return std::nullopt;
  return one(fit(padded(checked_value(node.output()), ndim), node.output()));
}

std::optional<Variables> alloc_of_alloc(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!is_alloc(inner) || adds_static_ones(inner, padded(value_of(inner), inner.ndim()))) return std::nullopt;
  Variables inputs = node.inputs();
  inputs[0] = value_of(inner);
  return one(fit(node.op()(inputs), node.output()));
}

// Operands that would be broadcast by the other operands anyway are used without their Alloc.
std::optional<Variables> drop_alloc_operands(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  Variables operands = node.inputs();
  bool changed = false;
  for (auto& operand : operands) {
    if (!is_alloc(operand)) continue;
    const Variable repeated = operand;
    operand = padded(value_of(repeated), output.ndim());
    bool covered = !adds_static_ones(repeated, operand);
    for (int axis = 0; axis < output.ndim() && covered; ++axis) {
      if (is_one(output, axis)) continue;
      auto brings = [&](const Variable& v) { return !is_one(v, axis); };
      covered = std::any_of(operands.begin(), operands.end(), brings);
    }
    changed |= covered;
    operand = covered ? padded(checked_value(repeated), output.ndim()) : repeated;
  }
  if (!changed) return std::nullopt;
  return one(fit(node.op()(operands), output));
}

// Updates broadcast the new value themselves where its static length is 1.
std::optional<Variables> update_by_alloc(FunctionGraph&, const Apply& node) {
  const Variable& update = node.input(1);
  if (!is_alloc(update)) return std::nullopt;
  if (!fits(update, lengths_of_updated(node))) return std::nullopt;
  Variables inputs = node.inputs();
  inputs[1] = padded(value_of(update), update.ndim());
  if (adds_static_ones(update, inputs[1])) return std::nullopt;
  return one(fit(node.op()(inputs), node.output()));
}

// f(alloc(a), b), where b is a single number: f is applied before the repetition.
std::optional<Variables> alloc_last(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  Variable repeated;
  Variables operands;
  for (auto& operand : node.inputs()) {
    if (is_single(operand)) {
      operands.push_back(operand);
      continue;
    }
    if (!is_alloc(operand) || repeated.defined()) return std::nullopt;
    repeated = operand;
    operands.push_back(padded(value_of(operand), output.ndim()));
  }
  if (!repeated.defined()) return std::nullopt;
  return one(fit(alloc(node.op()(operands), lengths_in(repeated)), output));
}

// A view of a repeated value becomes the repetition of a view of the value.
std::optional<Variables> dimshuffle_of_alloc(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!is_alloc(inner)) return std::nullopt;
  const Variables before = lengths_in(inner);
  const Variable value = padded(value_of(inner), inner.ndim());
  const auto& order = op_as<DimShuffle>(node.output())->new_order;
  for (int axis = 0; axis < inner.ndim(); ++axis)  // a dimension may have length 1 only because of the Alloc's length
    if (std::find(order.begin(), order.end(), axis) == order.end() && !is_one(value, axis)) return std::nullopt;
  Variables lengths;
  for (int axis : order)
    lengths.push_back(axis == new_axis ? constant(Array(std::int64_t(1))) : before[std::size_t(axis)]);
  return one(fit(alloc(dimshuffle(value, order), lengths), node.output()));
}

// In the uncanonicalize phase, leading dimensions of length 1 that an Alloc adds anyway are not inserted before it.
std::optional<Variables> alloc_of_expanded(FunctionGraph&, const Apply& node) {
  const Variable& value = node.input(0);
  const auto* view = op_as<DimShuffle>(value);
  if (!view) return std::nullopt;
  int inserted = 0;
  while (inserted < value.ndim() && view->new_order[std::size_t(inserted)] == new_axis) ++inserted;
  if (inserted == 0) return std::nullopt;
  Variables inputs = node.inputs();
  inputs[0] = dimshuffle(value.owner().input(0), {view->new_order.begin() + inserted, view->new_order.end()});
  return one(fit(node.op()(inputs), node.output()));
}

// The reshape of a repeated number is the number repeated to the new shape.
std::optional<Variables> reshape_of_alloc(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!is_alloc(inner) || value_of(inner).ndim() != 0) return std::nullopt;
  const Variables lengths = inferred_lengths(node.output());
  if (int(lengths.size()) != node.output().ndim()) return std::nullopt;
  return one(fit(alloc(value_of(inner), lengths), node.output()));
}

Variable length() { return sample_leaf(DType::Int64, {}); }

void declare_alloc(Rules& rules) {
  rules.function("second_to_alloc", Root::scalar({"second"}), second_to_alloc)
      .doc("Rewrites second(x, y) as y broadcast to the common shape.")
      .tags(useless, canonicalize, stabilize, structural, specialize, shape_unsafe, "local_second_to_alloc",
            "local_useless_fill")
      .sample([] { return ones_like(sample_matrix()); })
      .sample([] { return exp(second(sample_vector(), sample_vector())); });
  rules.function("useless_alloc", Root::op({"Alloc"}), useless_alloc)
      .doc("Removes an Alloc that repeats no dimension of its value.")
      .tags(useless, canonicalize, stabilize, structural, specialize, shape_unsafe, "local_useless_alloc")
      .sample([] {
        const Variable x = sample_vector();
        return exp(alloc(x, {shape_i(x, 0)}));
      });
  rules.function("alloc_of_alloc", Root::op({"Alloc"}), alloc_of_alloc)
      .with_input(Root::op({"Alloc"}))
      .doc("Merges two nested Allocs into one.")
      .tags(useless, canonicalize, stabilize, structural, specialize, shape_unsafe, "local_merge_alloc")
      .sample([] {
        const Variable n = length();
        return alloc(alloc(sample_leaf(DType::Float64, {}), {n}), {length(), n});
      });
  rules.function("elemwise_of_alloc", Root::elemwise(), drop_alloc_operands)
      .with_input(Root::op({"Alloc"}))
      .doc("Drops the Alloc of an operand that the other operands of an elementwise operation broadcast anyway.")
      .tags(canonicalize, specialize, shape_unsafe, "local_elemwise_alloc")
      .sample([] {
        const Variable x = sample_vector();
        return x * alloc(sample_leaf(DType::Float64, {}), {shape_i(x, 0)});
      });
  rules.function("alloc_of_elemwise", Root::elemwise(), alloc_last)
      .with_input(Root::op({"Alloc"}))
      .doc("Applies an elementwise operation before broadcasting: f(alloc(x)) becomes alloc(f(x)).")
      .tags(canonicalize, specialize, "local_alloc_unary", "local_second_sink")
      .sample([] { return exp(alloc(sample_leaf(DType::Float64, {}), {length()})); })
      .sample([] {
        return 2 * alloc(sample_vector(), {length(), length()});
      });
  rules.function("update_by_alloc", Root::op({"IncSubtensor", "AdvancedIncSubtensor"}), update_by_alloc)
      .doc("Drops the Alloc of a value that an update writes or adds, since the update broadcasts the value.")
      .tags(useless, canonicalize, stabilize, structural, specialize, shape_unsafe, "local_useless_inc_subtensor_alloc")
      .sample([] {
        const Variable x = sample_vector();
        return inc_subtensor(x, {Slice{1, {}, {}}},
                             alloc(sample_leaf(DType::Float64, {}), {shape_i(subtensor(x, {Slice{1, {}, {}}}), 0)}));
      })
      .sample([] {
        const Variable x = sample_vector(), indices = constant(Array{0L, 2L, 2L});
        return inc_subtensor(x, {IndexItem(indices)}, alloc(sample_leaf(DType::Float64, {}), {constant(Array(3L))}));
      });
  rules.function("dimshuffle_of_alloc", Root::op({"DimShuffle"}), dimshuffle_of_alloc)
      .doc("Rewrites a DimShuffle of an Alloc as an Alloc of a DimShuffle.")
      .tags(canonicalize, specialize, "local_dimshuffle_alloc")
      .sample([] {
        return transpose(alloc(sample_leaf(DType::Float64, {}), {length(), length()}));
      })
      .sample([] {
        return transpose(alloc(sample_vector(), {length(), shape_i(sample_vector(), 0)}));
      });
  rules.function("alloc_of_expanded", Root::op({"Alloc"}), alloc_of_expanded)
      .doc("Drops leading dimensions inserted in the value of an Alloc, since the Alloc adds them.")
      .tags(uncanonicalize, "local_alloc_dimshuffle", "local_dimshuffle_alloc")
      .sample([] {
        return alloc(expand_dims(sample_vector(), 0), {length(), shape_i(sample_vector(), 0)});
      });
  rules.function("reshape_of_alloc", Root::op({"Reshape"}), reshape_of_alloc)
      .doc("Rewrites a reshape of a broadcast scalar as an Alloc of the scalar with the new shape.")
      .tags(canonicalize, specialize, shape_unsafe)
      .sample([] {
        return flatten(alloc(sample_leaf(DType::Float64, {}), {length(), length()}));
      });
}

const RegisterRules register_alloc("alloc", declare_alloc);

}  // namespace

}  // namespace bitale::rewriting
