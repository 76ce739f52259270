#include "support/registry_graphs.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/evaluate.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "support/graph_comparison.hpp"

namespace bitale::test {

namespace {

using Values = std::unordered_map<const VariableNode*, Array>;

// Ops that print, or stop for the user.
bool has_side_effects(std::string_view name) { return name == "Print" || name == "PdbBreakpoint"; }

// Ops with the pattern of a factor among their inputs: integers that fit one another and nothing else, and lengths that
// the pattern has.
bool has_pattern(const Op& op) { return op.name().starts_with("SparseLu"); }

// Loops whose number of steps is the value of another node may have billions.
void require_few_steps(const Op& op, const std::vector<Array>& inputs) {
  constexpr std::int64_t max_steps = 10'000;
  if (!dynamic_cast<const HasInnerGraph*>(&op)) return;
  for (auto& value : inputs)
    if (value.ndim() == 0 && value.dtype() == DType::Int64 && *value.data_as<std::int64_t>() > max_steps)
      throw ValueError("more steps than a test has time for");
}

struct Samples {
  std::vector<Sample> elementwise, others;
};

const Samples& all_samples() {
  static const Samples samples = [] {
    Samples out;
    for (auto& entry : op_registry()) {
      if (has_side_effects(entry.name)) continue;
      for (auto& sample : entry.samples())
        (sample.node.op().elementwise() ? out.elementwise : out.others).push_back(std::move(sample));
    }
    return out;
  }();
  return samples;
}

class Generator {
 public:
  // What new inputs have instead of the lengths and elements of the sample.
  struct Inputs {
    std::int64_t every_length = 0;     // except lengths of 1; 0 if they are drawn
    std::optional<int> every_element;  // of numbers
  };

  Generator(std::uint64_t seed, PairCounts* pairs) : Generator(seed, pairs, Inputs{}) {}
  Generator(std::uint64_t seed, PairCounts* pairs, Inputs given) : random_(seed), pairs_(pairs), given_(given) {}

  Case run(int nodes) {
    for (int tries = 0, made = 0; made < nodes && tries < 20 * nodes; ++tries) made += grow();
    // Outputs are the results that nothing reads, and occasionally others.
    std::set<const VariableNode*> read;
    for (auto& variable : pool_)
      if (variable.has_owner())
        for (auto& input : variable.owner().inputs()) read.insert(input.node());
    for (auto& variable : pool_)
      if (variable.has_owner() && (!read.count(variable.node()) || below(8) == 0)) out_.outputs.push_back(variable);
    if (below(3) == 0) add_gradients();
    return std::move(out_);
  }

  // The consumer at its sample, with the producer's result as its leaf number `leaf`; nothing if it does not match.
  std::optional<Case> run_pair(const Sample& producer, const Sample& consumer, std::size_t leaf) {
    if (!grow(producer)) return std::nullopt;
    const Variables results = pool_;
    for (auto& result : results) {
      if (!result.has_owner() || !as_tensor(result.type())) continue;
      if (!can_be(result.dtype(), consumer.values[leaf].dtype())) continue;
      forced_ = result;
      forced_leaf_ = leaf;
      if (!grow(consumer)) continue;
      out_.outputs = pool_.back().owner().outputs();
      return std::move(out_);
    }
    return std::nullopt;
  }

  // The conversion of a float to an integer is unspecified beyond the range of the integer.
  static bool can_be(DType from, DType to) {
    return from == to || (!is_float(from) && !is_complex(from) && !is_complex(to)) ||
           (!is_complex(from) && is_float(to));
  }

 private:
  int below(std::size_t n) { return int(random_() % n); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[std::size_t(below(from.size()))];
  }

  // A sample that can consume existing variables rather than new inputs.
  const Sample& suitable_sample() {
    constexpr int max_tries = 30;
    for (int tries = 0;; ++tries) {
      const Samples& samples = all_samples();
      const Sample& sample = pick(below(5) < 2 ? samples.elementwise : samples.others);
      if (pool_.empty() || tries == max_tries) return sample;
      const Variable& candidate = pool_[pool_.size() - 1 - std::size_t(below(std::min<std::size_t>(pool_.size(), 5)))];
      for (auto& value : sample.values)
        if (value.dtype() == candidate.storage().dtype && value.ndim() == candidate.storage().ndim()) return sample;
    }
  }

  // Adds a node; false if its op refused the operands.
  bool grow() { return grow(suitable_sample()); }
  bool grow(const Sample& sample) {
    const Variables leaves = graph_inputs(sample.node.inputs());
    VariableMap now;
    const std::size_t inputs_before = out_.inputs.size(), pool_before = pool_.size();
    try {
      Lengths lengths{{1, 1}};
      const bool keeps_integers = has_pattern(sample.node.op());
      if (keeps_integers)
        for (auto& value : sample.values)
          for (auto length : value.shape()) lengths.try_emplace(length, length);
      if (forced_.defined()) {
        if (!as_tensor(leaves[forced_leaf_].type())) return false;
        const Array& value = sample.values[forced_leaf_];
        if (!matches(values_.at(forced_.node()).shape(), value.shape(), lengths)) return false;
        now.emplace(leaves[forced_leaf_],
                    forced_.dtype() == value.dtype() ? forced_ : converted(forced_, value.dtype()));
      }
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (now.count(leaves[i])) continue;
        const Array& value = sample.values[i];
        const bool is_kept = keeps_integers && is_integer(value.dtype());
        now.emplace(leaves[i], is_kept ? add_input(Variable(leaves[i].type(), new_name()), value)
                                       : operand(leaves[i], value, lengths));
      }
      for (auto& node : toposort(sample.node.inputs())) add(rebuilt(node, now), node, now);
      const Apply node = rebuilt(sample.node, now);
      add(node, sample.node, now);
      for (auto& output : node.outputs()) pool_.push_back(output);
      return true;
    } catch (const Error&) {
      while (out_.inputs.size() > inputs_before) out_.inputs.pop_back(), out_.values.pop_back();
      pool_.resize(pool_before);
      return false;
    }
  }

  static Apply rebuilt(const Apply& node, const VariableMap& now) {
    Variables inputs;
    for (auto& input : node.inputs()) {
      const auto found = now.find(input);
      inputs.push_back(found == now.end() ? input : found->second);
    }
    return node.with_inputs(inputs);
  }

  void add(const Apply& node, const Apply& original, VariableMap& now) {
    std::vector<Array> in, out(node.output_count());
    for (auto& input : node.inputs()) in.push_back(value_of(input));
    require_few_steps(node.op(), in);
    evaluate_node(node, in, out);
    for (std::size_t k = 0; k < node.output_count(); ++k) {
      now.insert_or_assign(original.output(int(k)), node.output(int(k)));
      values_[node.output(int(k)).node()] = out[k];
      kept_.push_back(node.output(int(k)));
    }
    if (!pairs_) return;
    for (auto& input : node.inputs())
      if (auto* producer = input.owner_op()) ++(*pairs_)[{op_label(*producer), op_label(node.op())}];
  }

  // make_node may insert nodes before that of the op, such as a broadcast of an operand.
  Array value_of(const Variable& variable) {
    if (variable.is_constant()) return *variable.constant();
    if (const auto found = values_.find(variable.node()); found != values_.end()) return found->second;
    const Array value = evaluate_one(variable);
    values_[variable.node()] = value;
    kept_.push_back(variable);
    return value;
  }

  // The gradients of the sum of the differentiable outputs, with respect to all float inputs.
  void add_gradients() {
    Variables costs, wrt;
    for (auto& output : out_.outputs)
      if (is_float(output.storage().dtype)) costs.push_back(sum(cast(output, DType::Float64)));
    for (auto& input : out_.inputs)
      if (is_float(input.storage().dtype)) wrt.push_back(input);
    if (costs.empty() || wrt.empty()) return;
    Variable cost = costs[0];
    for (std::size_t i = 1; i < costs.size(); ++i) cost = cost + costs[i];
    GradOptions options;
    options.disconnected_inputs = OnDisconnected::Ignore;
    try {
      const Variables gradients = grad(cost, wrt, options);
      // A gradient that can't be evaluated as built has no reference.
      Case whole = out_;
      whole.outputs.insert(whole.outputs.end(), gradients.begin(), gradients.end());
      reference(whole);
      out_ = std::move(whole);
    } catch (const Error&) {
      // Ops without a derivative, or with an undefined one.
    }
  }

  // Maps the lengths of a sample's arrays to others: equal ones to equal ones, 1 to 1.
  using Lengths = std::map<std::int64_t, std::int64_t>;

  static bool matches(const Dims& shape, const Dims& pattern, Lengths& lengths) {
    if (shape.size() != pattern.size()) return false;
    Lengths now = lengths;
    for (std::size_t k = 0; k < shape.size(); ++k)
      if (now.try_emplace(pattern[k], shape[k]).first->second != shape[k]) return false;
    lengths = std::move(now);
    return true;
  }

  // An operand of the dtype and shape of the sample's value: mostly an existing variable, rarely a new input.
  Variable operand(const Variable& leaf, const Array& value, Lengths& lengths) {
    if (below(12)) {
      for (int tries = 0; tries < 20 && !pool_.empty(); ++tries) {
        const bool is_recent = below(2) != 0;
        const std::size_t from = is_recent && pool_.size() > 6 ? pool_.size() - 6 : 0;
        const Variable& variable = pool_[from + std::size_t(below(pool_.size() - from))];
        const Array& other = values_.at(variable.node());
        if (!as_tensor(leaf.type()) || !as_tensor(variable.type())) {
          if (!leaf.type()->equals(*variable.type())) continue;
          return variable;
        }
        const bool converts = other.dtype() != value.dtype();
        if (!can_be(other.dtype(), value.dtype())) continue;
        if (converts && tries < 10) continue;
        if (!matches(other.shape(), value.shape(), lengths)) continue;
        return converts ? converted(variable, value.dtype()) : variable;
      }
    }
    return new_input(leaf, value, lengths);
  }

  Variable converted(const Variable& from, DType dtype) {
    const Variable out = cast(from, dtype);
    values_[out.node()] = evaluate_one(out);
    kept_.push_back(out);
    return out;
  }

  // An input with the value of the sample, or with its elements repeated in another shape.
  Variable new_input(const Variable& leaf, const Array& value, Lengths& lengths) {
    if (!as_tensor(leaf.type())) return add_input(Variable(leaf.type(), new_name()), value);
    Dims shape;
    for (auto length : value.shape()) {
      constexpr std::int64_t others[] = {0, 2, 3, 7, 33};
      const bool keeps = out_.inputs.size() > 0 || below(2);
      const std::int64_t drawn = keeps ? length : others[below(5)];
      shape.push_back(lengths.try_emplace(length, given_.every_length ? given_.every_length : drawn).first->second);
    }
    Array own = value;
    if (shape != value.shape()) {
      const std::int64_t size = value.size();
      const Array flat = value.reshape({-1}), every = Array::empty(value.dtype(), Dims{product(shape)});
      for (std::int64_t i = 0; size && i < every.size(); ++i)
        every.slice(0, i, 1, 1).assign(flat.slice(0, i % size, 1, 1));
      if (!size) every.assign(Array::zeros(value.dtype(), every.shape()));
      own = every.reshape(shape);
    }
    if (given_.every_element && !forced_.defined()) own = Array::full(value.dtype(), shape, *given_.every_element);
    const std::string name = new_name();
    const bool fits = shape == value.shape();
    const bool is_static = below(3) == 0;
    return add_input(fits && !is_static
                         ? Variable(leaf.type(), name)
                         : tensor(name, value.dtype(), is_static ? shape : Dims(shape.size(), unknown_length)),
                     own);
  }

  std::string new_name() const { return cat(std::string(1, char('a' + out_.inputs.size() % 26)), out_.inputs.size()); }

  Variable add_input(const Variable& input, const Array& own) {
    out_.inputs.push_back(input);
    out_.values.push_back(own);
    values_[input.node()] = own;
    pool_.push_back(input);
    return input;
  }

  Array evaluate_one(const Variable& variable) {
    const Apply node = variable.owner();
    std::vector<Array> in, out(node.output_count());
    for (auto& input : node.inputs()) in.push_back(value_of(input));
    evaluate_node(node, in, out);
    return out[std::size_t(variable.index())];
  }

  std::mt19937_64 random_;
  PairCounts* pairs_;
  Inputs given_;
  Variable forced_;  // the operand of the next node for its leaf `forced_leaf_`; null: any
  std::size_t forced_leaf_ = 0;
  Variables pool_, kept_;
  Values values_;
  Case out_;
};

}  // namespace

std::string op_label(const Op& op) {
  return op.elementwise() ? std::string(op.elementwise()->name) : std::string(op.name());
}

std::vector<std::string> generated_op_names() {
  std::set<std::string> names;
  for (auto* samples : {&all_samples().elementwise, &all_samples().others})
    for (auto& sample : *samples) names.insert(op_label(sample.node.op()));
  return {names.begin(), names.end()};
}

namespace {

// A sample, and the leaves of its values.
struct NamedSample {
  Sample sample;
  Variables leaves;
};

using SamplesByName = std::map<std::string, std::vector<NamedSample>>;

// The sample's elementwise op, applied to operands that all have the shape of its result.
Sample without_broadcasting(const Sample& sample, const Variables& leaves) {
  const Dims shape = test::reference({leaves, sample.node.outputs(), sample.values}).results[0].shape();
  Sample out = sample;
  Variables operands;
  out.values.clear();
  const std::vector<Array> values = test::reference({leaves, sample.node.inputs(), sample.values}).results;
  for (std::size_t k = 0; k < values.size(); ++k) {
    operands.push_back(tensor(cat("x", k), values[k].dtype(), Dims(shape.size(), unknown_length)));
    out.values.push_back(values[k].broadcast_to(shape).copy());
  }
  out.node = sample.node.with_inputs(operands);
  return out;
}

const SamplesByName& samples_by_name() {
  static const SamplesByName by_name = [] {
    SamplesByName out;
    const auto add = [&](const Sample& sample) {
      out[op_label(sample.node.op())].push_back({sample, graph_inputs(sample.node.inputs())});
    };
    for (auto& sample : all_samples().others) add(sample);
    for (auto& sample : all_samples().elementwise) {
      add(sample);
      if (sample.node.inputs().size() > 1) add(without_broadcasting(sample, graph_inputs(sample.node.inputs())));
    }
    return out;
  }();
  return by_name;
}

// Whether some result of the producer has the rank and the dtype of the consumer's leaf, or a dtype that is converted
// to it. Only draws read states of generators.
bool may_read(const Sample& producer, const NamedSample& consumer, std::size_t leaf, bool converts) {
  if (has_pattern(consumer.sample.node.op())) return false;
  const Array& value = consumer.sample.values[leaf];
  const auto fits = [&](const Variable& result) {
    return as_tensor(result.type()) && result.ndim() == value.ndim() &&
           (result.dtype() == value.dtype() || (converts && Generator::can_be(result.dtype(), value.dtype())));
  };
  const auto results = producer.node.outputs();
  return as_tensor(consumer.leaves[leaf].type()) && std::any_of(results.begin(), results.end(), fits);
}

}  // namespace

PairGraph pair_graph(const std::string& producer, const std::string& consumer) {
  // The inputs of the producer, in the order of the tries: those of the sample, then of other lengths; all lengths
  // equal, for square matrices; all elements equal and of one sign, for parameters of draws. With conversions, which do
  // not count as a pair, only the first ones.
  constexpr std::optional<int> own;
  constexpr Generator::Inputs inputs[] = {{0, own}, {0, own}, {1, own}, {2, own}, {3, own}, {4, own}, {0, 1},
                                          {1, 1},   {2, 1},   {0, 2},   {2, 2},   {0, -1},  {2, -1},  {2, 0}};
  constexpr std::size_t tries_of_conversions = 2;
  PairGraph out;
  for (const bool converts : {false, true})
    for (std::size_t k = 0; k < (converts ? tries_of_conversions : std::size(inputs)); ++k)
      for (auto& from : samples_by_name().at(producer))
        for (auto& to : samples_by_name().at(consumer))
          for (std::size_t leaf = 0; leaf < to.leaves.size(); ++leaf) {
            if (!may_read(from.sample, to, leaf, converts)) continue;
            out.is_legal |= !converts;
            out.graph = Generator(k + 1, nullptr, inputs[k]).run_pair(from.sample, to.sample, leaf);
            if (out.graph) return out;
          }
  return out;
}

Case registry_graph(std::uint64_t seed, int nodes, PairCounts* pairs) { return Generator(seed, pairs).run(nodes); }

}  // namespace bitale::test
