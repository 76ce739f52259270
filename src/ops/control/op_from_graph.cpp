#include "ops/control/op_from_graph.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "bitale/core/config.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/calculus.hpp"
#include "graph/evaluate.hpp"
#include "graph/hash.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/complex/complex.hpp"
#include "ops/control/inner_graph_queries.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

// A derivative of the graph as an op of its own, whose inputs are the graph's inputs and the connected cotangents (or
// tangents), and the masks of those that have a support (graph/support.hpp).
struct OpFromGraph::Derivative {
  OpRef op;                  // null if no answer needs computing
  std::vector<int> outputs;  // per answer, the number of the op's output, or -1
  std::vector<int> masks;    // per answer, the number of the output that is the mask of its support, or -1
  Variables others;          // per answer without an output: disconnected, or undefined
};

struct OpFromGraph::Found {
  std::mutex mutex;
  std::map<std::pair<bool, std::vector<int>>, std::unique_ptr<const Derivative>> derivatives;
  std::unique_ptr<const InnerLengths> lengths;
  std::map<std::vector<std::int64_t>, std::vector<Type>> types;  // of outputs, by static lengths of inputs
  std::optional<std::vector<std::vector<bool>>> connected;
  std::optional<bool> may_fold;
};

namespace {

class OverrideByFunction final : public DerivativeOverride {
 public:
  explicit OverrideByFunction(DerivativeFunction function) : function_(std::move(function)) {}
  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    return function_(inputs, outputs, given);
  }
  bool equals(const Opaque& other) const override { return this == &other; }
  std::size_t hash() const override { return std::hash<const void*>{}(this); }
  std::string text() const override { return "function"; }

 private:
  const DerivativeFunction function_;
};

// A leaf for a batch of values of `like`.
Variable batch_leaf(const Variable& like, const Variable& batched) { return Variable(batched.type(), like.name()); }

// The override of a batched op: the override of the original op, vectorized. `is_batch` tells which inputs are batches;
// `node` is a node of the original op, whose types and names the leaves of the unbatched derivative have.
class BatchedOverride final : public DerivativeOverride {
 public:
  BatchedOverride(DerivativeOverrideRef original, Apply node, std::vector<bool> is_batch, bool is_pullback)
      : original_(std::move(original)),
        node_(std::move(node)),
        is_batch_(std::move(is_batch)),
        is_pullback_(is_pullback) {}

  Variables derive(const Variables& inputs, const Variables& outputs, const Variables& given) const override {
    // The derivative is taken on leaves of the original op's types, and then vectorized as a whole.
    Variables own_inputs, own_outputs, own_given;
    Replacements batches;
    const auto leaf = [&](const Variable& like, const Variable& batch, Variables& to) {
      to.emplace_back(like.type(), like.name());
      batches.emplace_back(to.back(), batch);
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) leaf(node_.inputs()[i], inputs[i], own_inputs);
    for (std::size_t k = 0; k < outputs.size(); ++k) leaf(node_.output(int(k)), outputs[k], own_outputs);
    for (std::size_t k = 0; k < given.size(); ++k) {
      const Variable like = is_pullback_ ? node_.output(int(k)) : node_.inputs()[k];
      leaf(Variable(tensor_type(given[k].dtype(), like.static_shape())), given[k], own_given);
    }
    Variables answers = original_->derive(own_inputs, own_outputs, own_given), plain;
    for (auto& each : answers)
      if (each.defined() && !each.is_disconnected() && !each.is_null()) plain.push_back(each);
    plain = calculus().vectorize(plain, batches);
    const int batch = outputs[0].ndim() - node_.output().ndim();  // dimensions gained
    std::size_t at = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i].defined() || answers[i].is_disconnected() || answers[i].is_null()) continue;
      const int core_ndim = answers[i].ndim();
      answers[i] = plain[at++];
      const bool has_batches = answers[i].ndim() > core_ndim;
      if (!is_pullback_ || is_batch_[i]) {
        if (!has_batches)
          answers[i] = answers[i] + zeros_like(is_pullback_ ? inputs[i] : outputs[i], answers[i].dtype());
        continue;
      }
      // An input that all batch elements share gets the sum over the batch.
      if (has_batches) {
        std::vector<int> axes;
        for (int axis = 0; axis < batch; ++axis) axes.push_back(axis);
        answers[i] = sum(answers[i], axes);
      } else {
        for (int axis = 0; axis < batch; ++axis)
          answers[i] = answers[i] * cast(shape_i(outputs[0], axis), answers[i].dtype());
      }
    }
    return answers;
  }
  bool equals(const Opaque& other) const override {
    auto* same = dynamic_cast<const BatchedOverride*>(&other);
    return same && is_pullback_ == same->is_pullback_ && is_batch_ == same->is_batch_ &&
           (original_ == same->original_ || original_->equals(*same->original_)) && node_.op().equals(same->node_.op());
  }
  std::size_t hash() const override { return hash_mix(original_->hash(), is_pullback_ ? 1 : 2); }
  std::string text() const override { return cat("batched ", original_->text()); }

 private:
  const DerivativeOverrideRef original_;
  const Apply node_;  // of the original op
  const std::vector<bool> is_batch_;
  const bool is_pullback_;
};

bool has_tensor_type(const Variable& v) { return as_tensor(v.type()) != nullptr; }

bool is_plain(const Variable& v) { return !v.is_disconnected() && !v.is_null(); }

}  // namespace

DerivativeOverrideRef derivative_override(DerivativeFunction function) {
  if (!function) throw ValueError("derivative_override: expected a function");
  return make_ref<OverrideByFunction>(std::move(function));
}

OpFromGraph::OpFromGraph(InnerGraphRef graph, OpFromGraphOptions options)
    : graph_(std::move(graph)), options_(std::move(options)), found_(std::make_unique<Found>()) {
  if (!graph_) throw ValueError("OpFromGraph: expected a graph");
}
OpFromGraph::~OpFromGraph() = default;

Attributes OpFromGraph::attributes() const {
  Attributes out{{"graph", to_attribute(graph_)}, {"inline", options_.is_inline}};
  if (!options_.name.empty()) out.push_back({"name", options_.name});
  if (options_.pullback) out.push_back({"pullback", OpaqueAttribute{options_.pullback}});
  if (options_.pushforward) out.push_back({"pushforward", OpaqueAttribute{options_.pushforward}});
  for (auto& [name, value] : options_.properties) out.push_back({name, value});
  return out;
}

std::string OpFromGraph::label() const {
  if (!options_.properties.empty()) {
    std::vector<std::string> parts;
    for (auto& [name, value] : options_.properties) parts.push_back(cat(name, "=", attribute_text(value)));
    return cat(options_.name.empty() ? "OpFromGraph" : options_.name, "{", join(parts, ", "), "}");
  }
  return cat(options_.name.empty() ? "OpFromGraph" : options_.name, "{inline=", options_.is_inline ? "True" : "False",
             "}");
}
std::string OpFromGraph::pprint_text(std::span<const std::string> inputs) const {
  return cat(options_.name.empty() ? "OpFromGraph" : options_.name, "(",
             join(std::vector<std::string>(inputs.begin(), inputs.end()), ", "), ")");
}
std::string OpFromGraph::called() const {
  return options_.name.empty() ? "OpFromGraph" : cat("OpFromGraph `", options_.name, "`");
}

std::optional<Variables> OpFromGraph::expansion(const Apply& node) const {
  if (!options_.is_inline) return std::nullopt;
  return graph_->applied_to(node.inputs());
}

// A graph is split into parts after derivatives were taken, so the overrides are no longer needed.
PartsOfOutputs OpFromGraph::complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const {
  OpFromGraphOptions options;
  options.is_inline = options_.is_inline;
  options.name = options_.name;
  const auto op = make_ref<OpFromGraph>(graph_of_parts(*graph_), options);
  return joined_parts(node.outputs(), op->make_node(row_of_parts(node.inputs(), inputs)).outputs());
}

OpRef OpFromGraph::with_inner_graph(InnerGraphRef graph) const {
  return make_ref<OpFromGraph>(std::move(graph), options_);
}

Apply OpFromGraph::make_node(std::span<const Variable> inputs) const {
  const Variables& like = graph_->inputs();
  if (inputs.size() != like.size())
    throw TypeError(
        cat(called(), ": expected ", count_text(std::int64_t(like.size()), "input"), ", got ", inputs.size()));
  Variables own;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    own.push_back(filtered(inputs[i], like[i].type(), cat(called(), ": input ", i)));
  return Apply(OpRef(this), own, types_for(own));
}

// Static lengths of the inputs are propagated to the outputs, as when the graph is inlined.
std::vector<Type> OpFromGraph::types_for(const Variables& inputs) const {
  bool is_more_precise = false;
  std::vector<std::int64_t> key;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    is_more_precise |= !inputs[i].type()->equals(*graph_->inputs()[i].type());
    if (has_tensor_type(inputs[i]))
      key.insert(key.end(), inputs[i].static_shape().begin(), inputs[i].static_shape().end());
  }
  const auto types_of = [](const Variables& outputs) {
    std::vector<Type> types;
    for (auto& output : outputs) types.push_back(output.type());
    return types;
  };
  if (!is_more_precise) return types_of(graph_->outputs());
  {
    std::lock_guard lock(found_->mutex);
    if (auto known = found_->types.find(key); known != found_->types.end()) return known->second;
  }
  const TestValuesOff none_are_known;
  Variables leaves;
  for (auto& input : inputs) leaves.emplace_back(input.type());
  std::vector<Type> types = types_of(graph_->applied_to(leaves));
  std::lock_guard lock(found_->mutex);
  return found_->types.try_emplace(std::move(key), std::move(types)).first->second;
}

// The lengths are inferred once through the graph's ops, for leaves that stand for the inputs' lengths. If they would
// need the length of a computed value, which would then be computed twice, there is no answer.
std::vector<Shape> OpFromGraph::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  const InnerLengths* lengths = nullptr;
  {
    std::lock_guard lock(found_->mutex);
    lengths = found_->lengths.get();
  }
  if (!lengths) {
    auto fresh = std::make_unique<const InnerLengths>(inner_lengths(*graph_));
    std::lock_guard lock(found_->mutex);
    if (!found_->lengths) found_->lengths = std::move(fresh);
    lengths = found_->lengths.get();
  }
  return applied_lengths(*graph_, *lengths, node.inputs(), inputs);
}

void OpFromGraph::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  std::vector<Array> results = evaluate(graph_->outputs(), graph_->inputs(), in);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto shares = [&](const Array& other) { return results[k].shares_memory_with(other); };
    bool is_view = graph_->outputs()[k].is_constant() || std::any_of(in.begin(), in.end(), shares) ||
                   std::any_of(results.begin(), results.begin() + std::ptrdiff_t(k), shares);
    if (!is_view && results[k].nbytes() > 0) {
      // It may be a view of a constant, or of part of a larger temporary.
      const Apply owner = graph_->outputs()[k].owner();
      is_view = owner.defined() && !owner.op().view_of(owner, graph_->outputs()[k].index()).empty();
    }
    out[k] = is_view ? results[k].copy() : std::move(results[k]);
    if (!is_view) results[k] = out[k];
  }
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

const OpFromGraph::Derivative& OpFromGraph::derivative(bool is_pullback, std::span<const Variable> given,
                                                       std::span<const Support> supports) const {
  std::pair<bool, std::vector<int>> key{is_pullback, {}};
  for (auto& each : given) key.second.push_back(each.is_disconnected() ? -1 : int(each.dtype()));
  for (auto& each : supports) key.second.push_back(each.is_masked());
  {
    std::lock_guard lock(found_->mutex);
    if (auto known = found_->derivatives.find(key); known != found_->derivatives.end()) return *known->second;
  }
  const TestValuesOff none_are_known;
  const Variables &inputs = graph_->inputs(), &outputs = graph_->outputs();
  Variables leaves = inputs, seeds, masks;
  SupportScope scope;
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k].is_disconnected()) {
      seeds.push_back(disconnected());
      continue;
    }
    const Variable& like = is_pullback ? outputs[k] : inputs[k];
    seeds.emplace_back(tensor_type(given[k].dtype(), like.static_shape()));
    leaves.push_back(seeds.back());
    if (!supports[k].is_masked()) continue;
    masks.emplace_back(tensor_type(DType::Bool, like.static_shape()));
    scope.state(seeds.back(), {Support::Kind::masked, masks.back()});
  }
  leaves.insert(leaves.end(), masks.begin(), masks.end());
  Variables answers =
      is_pullback ? calculus().pullback(outputs, inputs, seeds) : calculus().pushforward(outputs, inputs, seeds);
  auto fresh = std::make_unique<Derivative>();
  Variables computed;
  for (std::size_t k = 0; k < answers.size(); ++k) {
    fresh->outputs.push_back(is_plain(answers[k]) ? int(computed.size()) : -1);
    fresh->others.push_back(is_plain(answers[k]) ? Variable() : answers[k]);
    fresh->masks.push_back(-1);
    if (!is_plain(answers[k])) continue;
    const Variable& like = is_pullback ? inputs[k] : outputs[k];
    const Support support = masks.empty() ? Support() : support_of(answers[k]);
    computed.push_back(with_static_shape_of(like, answers[k]));
    if (!support.is_masked()) continue;
    fresh->masks.back() = int(computed.size());
    computed.push_back(full_mask(support, like));
  }
  if (!computed.empty()) {
    OpFromGraphOptions options;
    options.is_inline = options_.is_inline;
    if (!options_.name.empty()) options.name = cat(is_pullback ? "pullback of " : "pushforward of ", options_.name);
    fresh->op = make_ref<OpFromGraph>(make_ref<InnerGraph>(leaves, computed, called()), options);
  }
  std::lock_guard lock(found_->mutex);
  return *found_->derivatives.try_emplace(std::move(key), std::move(fresh)).first->second;
}

Variables OpFromGraph::derived(bool is_pullback, const Apply& node, std::span<const Variable> given) const {
  std::vector<Support> supports;
  for (auto& each : given) supports.push_back(each.is_disconnected() ? Support() : support_of(each));
  const Derivative& found = derivative(is_pullback, given, supports);
  Variables inputs = node.inputs(), answers = found.others;
  if (!found.op) return answers;
  for (auto& each : given)
    if (!each.is_disconnected()) inputs.push_back(each);
  for (std::size_t k = 0; k < given.size(); ++k)
    if (supports[k].is_masked())
      inputs.push_back(full_mask(supports[k], is_pullback ? node.output(int(k)) : node.input(int(k))));
  const Apply applied = found.op->make_node(inputs);
  for (std::size_t k = 0; k < answers.size(); ++k)
    if (found.outputs[k] >= 0) {
      answers[k] = applied.output(found.outputs[k]);
      if (found.masks[k] >= 0)
        answers[k] = restricted(answers[k], {Support::Kind::masked, applied.output(found.masks[k])});
    }
  return answers;
}

Variables OpFromGraph::overridden(bool is_pullback, const Apply& node, std::span<const Variable> given) const {
  const std::string_view what = is_pullback ? "pullback" : "pushforward";
  const Variables &from = node.inputs(), to = node.outputs();
  const Variables &of_given = is_pullback ? to : from, &of_answers = is_pullback ? from : to;
  Variables connected(given.begin(), given.end());
  for (std::size_t k = 0; k < connected.size(); ++k)
    if (connected[k].is_disconnected())
      connected[k] =
          zeros_like(of_given[k], is_continuous(of_given[k].dtype()) ? of_given[k].dtype() : config::float_x());
  const DerivativeOverride& own = is_pullback ? *options_.pullback : *options_.pushforward;
  Variables answers = own.derive(from, to, connected);
  if (answers.size() != of_answers.size())
    throw ValueError(cat(called(), ": its ", what, " override gave ",
                         count_text(std::int64_t(answers.size()), "result"), ", expected ", of_answers.size(),
                         ", one per ", is_pullback ? "input" : "output"));
  for (std::size_t k = 0; k < answers.size(); ++k) {
    Variable& answer = answers[k];
    if (!answer.defined()) answer = disconnected();
    if (!is_plain(answer)) continue;
    const Variable& like = of_answers[k];
    if (!has_tensor_type(answer) || answer.ndim() != like.ndim() || !is_continuous(answer.dtype()))
      throw TypeError(cat(called(), ": result ", k, " of its ", what, " override has the type ", answer.type()->str(),
                          ", expected floats with ", like.ndim(), " dimensions, as the derivative of `", like.str(),
                          "` of type ", like.type()->str()));
    // An integer has no derivative, whatever an override gives.
    if (is_discrete(like.dtype()))
      answer = disconnected();
    else
      answer = as_gradient(answer, like);
  }
  return answers;
}

Variables OpFromGraph::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  return options_.pullback ? overridden(true, node, cotangents) : derived(true, node, cotangents);
}
Variables OpFromGraph::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  return options_.pushforward ? overridden(false, node, tangents) : derived(false, node, tangents);
}

// An override may let every output depend on every input: for example a step function with a derivative.
std::vector<std::vector<bool>> OpFromGraph::connection_pattern(const Apply&) const {
  std::lock_guard lock(found_->mutex);
  if (found_->connected) return *found_->connected;
  std::vector<std::vector<bool>> out = inner_connections(*graph_);
  if (options_.pullback || options_.pushforward) {
    const auto has_derivatives = [](const Variable& v) { return has_tensor_type(v) && is_continuous(v.dtype()); };
    for (std::size_t i = 0; i < out.size(); ++i)
      for (std::size_t k = 0; k < graph_->outputs().size(); ++k)
        out[i][k] = has_derivatives(graph_->inputs()[i]) && has_derivatives(graph_->outputs()[k]);
  }
  found_->connected = out;
  return out;
}

Apply OpFromGraph::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const TestValuesOff none_are_known;
  Variables leaves;
  Replacements batches;
  std::vector<bool> is_batch;
  bool any_override = options_.pullback || options_.pushforward;
  Variables inputs(batched.begin(), batched.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    is_batch.push_back(Batch{node, batched}.ndim(int(i)) > 0);
    leaves.push_back(is_batch.back() ? batch_leaf(graph_->inputs()[i], inputs[i])
                                     : Variable(graph_->inputs()[i].type(), graph_->inputs()[i].name()));
    batches.emplace_back(graph_->inputs()[i], leaves.back());
  }
  Variables outputs = calculus().vectorize(graph_->outputs(), batches);
  // Outputs that depend on no batch are repeated: each output must have all batch dimensions.
  const int gained = Batch{node, batched}.ndim();
  Shape lengths;
  for (std::size_t i = 0; i < leaves.size() && lengths.empty(); ++i)
    if (leaves[i].ndim() - node.inputs()[i].ndim() == gained && gained > 0)
      for (int axis = 0; axis < gained; ++axis) lengths.push_back(length_of(leaves[i], axis));
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k].ndim() == graph_->outputs()[k].ndim() && gained > 0) {
      Shape shape = lengths;
      for (auto& length : lengths_of(outputs[k])) shape.push_back(length);
      outputs[k] = alloc(outputs[k], shape);
    }
  OpFromGraphOptions options = options_;
  if (any_override) {
    if (options_.pullback) options.pullback = make_ref<BatchedOverride>(options_.pullback, node, is_batch, true);
    if (options_.pushforward)
      options.pushforward = make_ref<BatchedOverride>(options_.pushforward, node, is_batch, false);
  }
  return make_ref<OpFromGraph>(make_ref<InnerGraph>(leaves, outputs, called()), options)->make_node(inputs);
}

// Overrides are called with all outputs.
FewerOutputs OpFromGraph::without_unread(const Apply& node, const std::vector<bool>& read) const {
  FewerOutputs out{node, {}};
  const bool are_kept = options_.pullback || options_.pushforward;
  Variables kept;
  for (std::size_t k = 0; k < read.size(); ++k) {
    out.outputs.push_back(read[k] || are_kept ? int(kept.size()) : -1);
    if (read[k] || are_kept) kept.push_back(graph_->outputs()[k]);
  }
  if (kept.size() < read.size())
    out.node = with_inner_graph(make_ref<InnerGraph>(graph_->inputs(), kept, called()))->make_node(node.inputs());
  return out;
}

bool OpFromGraph::may_fold(const Apply&) const {
  std::lock_guard lock(found_->mutex);
  if (!found_->may_fold) {
    const auto order = toposort(graph_->outputs());
    found_->may_fold = std::all_of(order.begin(), order.end(), [](auto& each) { return each.op().may_fold(each); });
  }
  return *found_->may_fold;
}

// ---- for users ------------------------------------------------------------------------------------------------------

OpRef op_from_graph(const Variables& inputs, const Variables& outputs, const OpFromGraphOptions& options) {
  const std::string who = options.name.empty() ? "OpFromGraph" : cat("OpFromGraph `", options.name, "`");
  return make_ref<OpFromGraph>(make_ref<InnerGraph>(inputs, outputs, who), options);
}

Variables apply_op(const OpRef& op, const Operands& inputs) {
  LocationScope here(inputs.where);
  if (!op) throw ValueError("apply_op: expected an op");
  return op->make_node(inputs.variables).outputs();
}

namespace {

OpRef make_op_from_graph(const Attributes& attributes) {
  OpFromGraphOptions options;
  options.is_inline = required_attribute<bool>(attributes, "inline");
  options.name = optional_attribute<std::string>(attributes, "name").value_or("");
  options.pullback = optional_attribute<DerivativeOverrideRef>(attributes, "pullback").value_or(nullptr);
  options.pushforward = optional_attribute<DerivativeOverrideRef>(attributes, "pushforward").value_or(nullptr);
  constexpr std::string_view own[] = {"graph", "inline", "name", "pullback", "pushforward"};
  for (auto& [name, value] : attributes)
    if (std::find(std::begin(own), std::end(own), name) == std::end(own)) options.properties.emplace_back(name, value);
  return make_ref<OpFromGraph>(required_attribute<InnerGraphRef>(attributes, "graph"), options);
}

std::vector<Sample> op_from_graph_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto x = sample_input(DType::Float64, {any}), y = sample_input(DType::Float64, {any});
  const auto m = sample_input(DType::Float64, {any, any}), f = sample_input(DType::Float32, {3});
  const auto n = sample_input(DType::Int64, {any});
  for (const bool is_inline : {true, false}) {
    OpFromGraphOptions options;
    options.is_inline = is_inline;
    const Variable e = exp(x) * y;
    out.push_back({apply_op(op_from_graph({x, y}, {e + 1.0, sum(e)}, options), {x, y})[0].owner(),
                   {sample_values(DType::Float64, {3}), sample_values(DType::Float64, {3}, 1)}});
    out.push_back({apply_op(op_from_graph({m, x}, {dot(m, x), transpose(m)}, options), {m, x})[0].owner(),
                   {sample_values(DType::Float64, {2, 3}), sample_values(DType::Float64, {3}, 1)}});
    out.push_back(
        {apply_op(op_from_graph({f}, {sqr(f), f}, options), {f})[0].owner(), {sample_values(DType::Float32, {3})}});
    out.push_back({apply_op(op_from_graph({n, x}, {n + 1, x * 2.0}, options), {n, x})[0].owner(),
                   {sample_values(DType::Int64, {3}), sample_values(DType::Float64, {4})}});
    OpFromGraphOptions own = options;
    own.name = "own_pullback";
    static const auto same = derivative_override(
        [](const Variables& in, const Variables&, const Variables& given) { return Variables{given[0] * cos(in[0])}; });
    own.pullback = same;
    out.push_back({apply_op(op_from_graph({x}, {sin(x)}, own), {x})[0].owner(), {sample_values(DType::Float64, {3})}});
    const OpRef inner = op_from_graph({x}, {tanh(x)}, options);
    out.push_back({apply_op(op_from_graph({y}, {apply_op(inner, {y})[0] * y}, options), {y})[0].owner(),
                   {sample_values(DType::Float64, {3})}});
  }
  return out;
}

BITALE_REGISTER_OP_MADE_BY(OpFromGraph, make_op_from_graph, "An op that is defined by a graph of other ops.",
                           op_from_graph_samples);

}  // namespace
}  // namespace bitale
