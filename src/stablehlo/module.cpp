#include "stablehlo/module.hpp"

#include <optional>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "stablehlo/builder.hpp"

namespace bitale::stablehlo {

namespace {

// Arrays up to this size are computed while the module is written, where everything they depend on is known.
constexpr std::int64_t largest_known = 4096;

// What is known of a variable: its tensor in the module, or its value. A value becomes a tensor when it is read.
struct Known {
  std::optional<TensorValue> tensor;
  std::optional<Array> array;
};
using Values = std::unordered_map<const VariableNode*, Known>;

class Writer {
 public:
  explicit Writer(const ModuleOptions& options) : builder(options.platform), with_checks_(options.with_checks) {
    for (std::string_view known : {"", "cpu", "gpu", "cuda", "rocm", "tpu"})
      if (options.platform == known) return;
    throw ValueError(
        cat("StableHLO: expected platform \"cpu\", \"gpu\", \"cuda\", \"rocm\" or \"tpu\", or none, got \"",
            options.platform, "\""));
  }

  Builder builder;
  struct Check {
    TensorValue condition;
    Apply node;
    std::string message;
  };
  std::vector<Check> checks;  // of the region that is being written
  std::vector<Module::RangeCheck> range_checks;
  std::unordered_map<const VariableNode*, std::size_t> on_host;  // inputs -> their numbers

  Known& known(const Variable& v, Values& values);
  TensorValue tensor(const Variable& v, Values& values);
  void write(std::span<const Apply> nodes, Values& values);
  void write_node(const Apply& node, Values& values);
  // Writes the node's outputs, given as graphs over its inputs.
  void write_formula(const Apply& node, const Variables& outputs, Values& values);
  void require(const TensorValue& condition, const Apply& node, std::string message) {
    if (with_checks_ && condition.name != builder.number(1, DType::Bool).name)
      checks.push_back({condition, node, std::move(message)});
  }
  bool host_checks_range(const Variable& v, std::int64_t least, std::int64_t end, const Apply& node,
                         const std::string& message);
  // Whether all checks from number `from` on hold.
  TensorValue conjunction(std::size_t from);
  // The same, and removes these checks: a check in a region is a result of that region.
  TensorValue all_hold(std::size_t from);
  bool with_checks() const { return with_checks_; }

 private:
  bool compute_now(const Apply& node, Values& values);

  const bool with_checks_;
};

class NodeLowering final : public TensorLowering {
 public:
  NodeLowering(Writer& writer, const Apply& node, Values& values) : writer_(writer), node_(node), values_(values) {}

  TensorBuilder& builder() override { return writer_.builder; }
  TensorValue in(int input) override { return writer_.tensor(node_.input(input), values_); }
  Dims lengths_in(int input) override {
    const Known& known = writer_.known(node_.input(input), values_);
    return known.array ? known.array->shape() : known.tensor->lengths;
  }
  const Array* known(int input) override {
    const Known& known = writer_.known(node_.input(input), values_);
    return known.array ? &*known.array : nullptr;
  }
  void out(int output, TensorValue value) override {
    const TensorType& type = node_.output(output).storage();
    if (value.dtype != type.dtype || value.ndim() != type.ndim())
      throw InternalError(
          cat(node_.op().label(), ": output ", output, " was lowered to ", tensor_text(value.dtype, value.lengths)));
    values_[node_.output(output).node()].tensor = std::move(value);
  }
  void out_known(int output, Array value) override { values_[node_.output(output).node()].array = std::move(value); }
  bool host_checks_range(int input, std::int64_t least, std::int64_t end, const std::string& message) override {
    return writer_.host_checks_range(node_.input(input), least, end, node_, message);
  }
  void require(const TensorValue& condition, std::string message) override {
    writer_.require(condition, node_, std::move(message));
  }
  void loop(const InnerLoop& loop) override;
  void choose(int condition, const Side& then, const Side& otherwise) override;
  void express(const Variables& outputs) override { writer_.write_formula(node_, outputs, values_); }
  void refuse(std::string_view why) override {
    throw NotImplementedError(cat(node_.op().label(), " can't be expressed in StableHLO: ", why));
  }

 private:
  Writer& writer_;
  const Apply node_;
  Values& values_;
};

Known& Writer::known(const Variable& v, Values& values) {
  Known& known = values[v.node()];
  if (known.array || known.tensor) return known;
  const Array* constant = v.constant();
  if (!constant) throw InternalError(cat("stablehlo: ", v.str(), " is read before it is made"));
  known.array = *constant;
  return known;
}

TensorValue Writer::tensor(const Variable& v, Values& values) {
  Known& found = known(v, values);
  if (!found.tensor) found.tensor = builder.constant(*found.array);
  return *found.tensor;
}

void Writer::write(std::span<const Apply> nodes, Values& values) {
  for (auto& node : nodes) with_node_context(node, [&] { write_node(node, values); });
}

void Writer::write_node(const Apply& node, Values& values) {
  if (compute_now(node, values)) return;
  NodeLowering to(*this, node, values);
  if (auto* emits = dynamic_cast<const EmitsTensors*>(&node.op())) return emits->emit_tensors(to, node);
  const auto* formula = dynamic_cast<const Expansion*>(&node.op());
  auto made = formula ? formula->expansion(node) : std::nullopt;
  if (!made)
    if (const InnerGraph* inner = inner_graph_of(node.op())) made = inner->applied_to(node.inputs());
  if (!made) to.refuse("the op has no form there");
  write_formula(node, *made, values);
}

void Writer::write_formula(const Apply& node, const Variables& outputs, Values& values) {
  write(toposort(outputs, VariableSet(node.inputs().begin(), node.inputs().end())), values);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Known made = known(outputs[k], values);
    values[node.output(int(k)).node()] = made;
  }
}

// Evaluates a node by the reference implementation, if its inputs are small known arrays.
bool Writer::compute_now(const Apply& node, Values& values) {
  if (!node.op().may_fold(node)) return false;
  std::vector<Array> in, out(node.output_count());
  for (auto& input : node.inputs()) {
    const Known& found = known(input, values);
    if (!found.array || found.array->size() > largest_known) return false;
    in.push_back(*found.array);
  }
  evaluate_node(node, in, out);
  for (std::size_t k = 0; k < out.size(); ++k) values[node.output(int(k)).node()].array = std::move(out[k]);
  return true;
}

// Inner graphs have inputs of their own, so that only nodes that are always executed read those of the graph.
bool Writer::host_checks_range(const Variable& v, std::int64_t least, std::int64_t end, const Apply& node,
                               const std::string& message) {
  Variable read = v;
  while (read.has_owner() && dynamic_cast<const DimShuffle*>(read.owner_op())) read = read.owner().input(0);
  const auto input = on_host.find(read.node());
  if (!with_checks_ || input == on_host.end()) return false;
  range_checks.push_back({input->second, least, end, {node, message}});
  return true;
}

TensorValue Writer::conjunction(std::size_t from) {
  TensorValue all = builder.number(1, DType::Bool);
  for (std::size_t k = from; k < checks.size(); ++k)
    all = builder.map(DType::Bool, {all, checks[k].condition}, [](std::span<const Expr> in) { return in[0] & in[1]; });
  return all;
}

TensorValue Writer::all_hold(std::size_t from) {
  const TensorValue all = conjunction(from);
  checks.erase(checks.begin() + std::ptrdiff_t(from), checks.end());
  return all;
}

// Besides the states, the loop carries whether every check has held.
void NodeLowering::loop(const InnerLoop& loop) {
  Builder& builder = writer_.builder;
  const std::int64_t count = need_integer(0, "the number of steps");
  const std::size_t sequences = std::size_t(loop.sequences), states = std::size_t(loop.states);
  const std::size_t traces = loop.outputs.size() - states - std::size_t(loop.has_until);
  TensorValues initial;
  if (writer_.with_checks()) initial.push_back(builder.number(1, DType::Bool));
  const std::size_t first_state = initial.size();
  for (std::size_t k = 0; k < states; ++k) initial.push_back(in(int(1 + sequences + k)));
  bool may_fail = false;
  TensorValues made =
      builder.repeat(count, initial, loop.has_until, [&](const TensorValue& number, const TensorValues& carried) {
        const std::size_t checks_before = writer_.checks.size();
        Values inner;
        for (std::size_t k = 0; k < loop.inputs.size(); ++k) {
          Known& known = inner[loop.inputs[k].node()];
          if (k >= sequences && k < sequences + states) {
            known.tensor = carried[first_state + k - sequences];
          } else if (k >= sequences) {
            known = writer_.known(node_.input(int(1 + k)), values_);
          } else {
            const TensorValue all = in(int(1 + k));
            Dims row = all.lengths, lengths = all.lengths;
            row[0] = 1;
            lengths.erase(0);
            TensorValues start(std::size_t(all.ndim()), builder.number(0, DType::Int64));
            start[0] = number;
            known.tensor = all.lengths[0] == 0 ? builder.full(0, all.dtype, lengths)
                                               : builder.reshape(builder.part(all, start, row), lengths);
          }
        }
        writer_.write(toposort(loop.outputs, VariableSet(loop.inputs.begin(), loop.inputs.end())), inner);
        TensorValues out;
        for (auto& output : loop.outputs) out.push_back(writer_.tensor(output, inner));
        for (std::size_t k = 0; k < states; ++k)
          if (out[k].lengths != carried[first_state + k].lengths)
            refuse(cat("state ", k, " changes its lengths from step to step"));
        if (writer_.with_checks()) {
          may_fail = writer_.checks.size() > checks_before;
          writer_.require(carried[0], node_, "");
          out.insert(out.begin(), writer_.all_hold(checks_before));
        }
        return out;
      });
  if (may_fail) writer_.require(made[0], node_, cat(loop.called, ": a step fails"));
  for (std::size_t k = 0; k < states + traces; ++k) out(int(k), made[first_state + k]);
  if (loop.has_until) out(int(states + traces), made.back());
}

void NodeLowering::choose(int condition, const Side& then, const Side& otherwise) {
  Builder& builder = writer_.builder;
  bool may_fail = false;
  const auto branch = [&](const Side& side) {
    const std::size_t checks_before = writer_.checks.size();
    Values inner;
    for (std::size_t k = 0; k < side.inputs.size(); ++k)
      inner[side.inputs[k].node()] = writer_.known(node_.input(int(side.from[k])), values_);
    writer_.write(toposort(side.outputs, VariableSet(side.inputs.begin(), side.inputs.end())), inner);
    TensorValues out;
    for (auto& output : side.outputs) out.push_back(writer_.tensor(output, inner));
    may_fail |= writer_.checks.size() > checks_before;
    if (writer_.with_checks()) out.push_back(writer_.all_hold(checks_before));
    return out;
  };
  const TensorValue truth = builder.convert(in(condition), DType::Bool);
  TensorValues made = builder.either(
      truth, [&] { return branch(then); }, [&] { return branch(otherwise); });
  if (writer_.with_checks()) {
    if (may_fail) writer_.require(made.back(), node_, "a branch fails");
    made.pop_back();
  }
  for (std::size_t k = 0; k < made.size(); ++k) out(int(k), made[k]);
}

}  // namespace

Module write_module(const FunctionGraph& graph, std::span<const Dims> input_lengths, const ModuleOptions& options) {
  Writer writer(options);
  Values values;
  for (std::size_t k = 0; k < graph.inputs().size(); ++k) {
    const Variable& input = graph.inputs()[k];
    values[input.node()].tensor = writer.builder.argument(input.storage().dtype, input_lengths[k]);
  }
  for (std::size_t k : options.on_host) writer.on_host[graph.inputs()[k].node()] = k;
  writer.write(graph.toposort(), values);
  Module module;
  TensorValues results;
  for (auto& output : graph.outputs()) {
    results.push_back(writer.tensor(output, values));
    module.results.push_back({results.back().dtype, results.back().lengths});
  }
  for (auto& [result, input] : options.updates) {
    const TensorValue before = writer.tensor(graph.inputs()[input], values);
    if (before.dtype == results[result].dtype && before.lengths == results[result].lengths)
      module.in_place.emplace_back(result, input);
  }
  if (!writer.checks.empty()) {
    const TensorValue holds = module.in_place.empty() ? TensorValue() : writer.conjunction(0);
    for (auto& [result, input] : module.in_place)
      results[result] = writer.builder.map(results[result].dtype,
                                           {holds, results[result], writer.tensor(graph.inputs()[input], values)},
                                           [](std::span<const Expr> in) { return select(in[0], in[1], in[2]); });
    TensorValues outcomes;
    for (auto& [condition, node, message] : writer.checks) {
      outcomes.push_back(writer.builder.reshape(condition, {1}));
      module.checks.push_back({node, message});
    }
    results.push_back(writer.builder.concatenate(outcomes, 0));
  }
  module.range_checks = std::move(writer.range_checks);
  module.text = writer.builder.module_text(options.name, results);
  return module;
}

}  // namespace bitale::stablehlo
