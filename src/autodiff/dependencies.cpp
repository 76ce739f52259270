#include "autodiff/dependencies.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"
#include "graph/pointer_map.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

// The lengths that are known, also where a type does not have them.
Dims lengths_known(const Variable& v) {
  Dims out = v.static_shape();
  for (std::size_t axis = 0; axis < out.size(); ++axis)
    if (out[axis] == unknown_length) out[axis] = static_length(length_of(v, int(axis)));
  return out;
}

// What a walk has found for each variable that it has visited: an array, or that there is none.
class Visited {
 public:
  bool contains(const Variable& v) const { return entries_.find(v.node()); }
  const std::optional<Array>& at(const Variable& v) const { return entries_.find(v.node())->found; }
  void store(const Variable& v, std::optional<Array> found) { entries_.insert(v.node(), {v, std::move(found)}); }

 private:
  struct Entry {
    Variable variable;  // kept alive, since entries are found by its address
    std::optional<Array> found;
  };
  PointerMap<Entry> entries_;
};

// Values that follow from constants and static lengths.
class KnownValues {
 public:
  std::optional<Array> of(const Variable& v) {
    Variables open{v};
    while (!open.empty()) {
      const Variable at = open.back();
      if (known_.contains(at)) {
        open.pop_back();
        continue;
      }
      bool complete = true;
      if (const auto value = simple_value(at)) {
        known_.store(at, *value);
      } else if (!at.has_owner() || !at.owner().op().may_fold(at.owner())) {
        known_.store(at, std::nullopt);
      } else {
        bool unknown = false;
        for (const Variable& input : at.owner().inputs()) {
          const bool is_visited = known_.contains(input);
          unknown |= is_visited && !known_.at(input);
          if (!is_visited && !unknown) {
            open.push_back(input);
            complete = false;
            break;
          }
        }
        if (unknown || complete) known_.store(at, unknown ? std::nullopt : evaluated(at));
      }
    }
    return known_.at(v);
  }

 private:
  static std::optional<Array> simple_value(const Variable& v) {
    if (v.is_constant()) return *v.constant();
    if (!as_tensor(v.type()) || v.ndim() != 0 || !is_integer(v.dtype())) return std::nullopt;
    const auto known = known_integer(v);
    return known ? std::optional(Array(*known).astype(v.dtype())) : std::nullopt;
  }
  // What fails has no value: the call will say so.
  std::optional<Array> evaluated(const Variable& v) {
    const Apply node = v.owner();
    std::vector<Array> in, out(node.output_count());
    for (const Variable& input : node.inputs()) in.push_back(*known_.at(input));
    try {
      copy_destroyed(node, in);
      evaluate_node(node, in, out);
    } catch (const Error&) {
      return std::nullopt;
    }
    return out[std::size_t(v.index())];
  }

  Visited known_;
};

class Walk {
 public:
  explicit Walk(ElementSets& sets) : sets_(sets) {}

  void set_independent(const Variable& v) { visited_.store(v, std::nullopt); }
  // Each element of v depends on itself, and has the number `first` or one of those that follow. Returns how many.
  std::int64_t number_elements(const Variable& v, std::int64_t first) {
    const Array own = Array::zeros(DType::Int64, require_lengths(v));
    for (std::int64_t k = 0; k < own.size(); ++k) own.mutable_data_as<std::int64_t>()[k] = sets_.single(first + k);
    visited_.store(v, own);
    return own.size();
  }

  std::optional<Array> of(const Variable& v) {
    Variables open{v};
    while (!open.empty()) {
      const Variable at = open.back();
      if (visited_.contains(at)) {
        open.pop_back();
        continue;
      }
      if (!at.has_owner() || !as_tensor(at.type()) || is_discrete(at.dtype())) {
        visited_.store(at, std::nullopt);
        continue;
      }
      const Variables needed = sources_of(at);
      const std::size_t before = open.size();
      for (const Variable& each : needed)
        if (!visited_.contains(each)) open.push_back(each);
      if (open.size() > before) continue;
      visited_.store(at, formula_of(at) ? visited_.at(needed[0]) : computed(at));
    }
    return visited_.at(v);
  }

 private:
  static Dims require_lengths(const Variable& v) {
    const Dims lengths = lengths_known(v);
    if (std::ranges::find(lengths, unknown_length) == lengths.end()) return lengths;
    throw NotImplementedError(
        cat("sparsity: `", v.str(), "` of type ", v.type()->str(),
            " has a length that is not known statically, so that the pattern of the derivative "
            "can't be found; give variables static shapes (tensor(..., shape=)), or the sparsity"));
  }

  // The formula of a variable whose op is one, kept for later visits.
  const Variable* formula_of(const Variable& v) {
    const auto* expansion = dynamic_cast<const Expansion*>(&v.owner().op());
    if (!expansion) return nullptr;
    if (const auto* found = formulas_.find(v.node())) return found->second.defined() ? &found->second : nullptr;
    const auto formula = expansion->expansion(v.owner());
    const auto* stored =
        formulas_.insert(v.node(), {v, formula ? (*formula)[std::size_t(v.index())] : Variable()}).first;
    return stored->second.defined() ? &stored->second : nullptr;
  }

  Variables sources_of(const Variable& v) {
    if (const Variable* formula = formula_of(v)) return {*formula};
    const Apply node = v.owner();
    const auto pattern = node.op().connection_pattern(node);
    Variables out;
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      if (pattern[i][std::size_t(v.index())]) out.push_back(node.inputs()[i]);
    return out;
  }

  class Inputs final : public InputDependencies {
   public:
    Inputs(Walk& walk, const Variable& output)
        : walk_(walk),
          node_(output.owner()),
          lengths_(require_lengths(output)),
          pattern_(node_.op().connection_pattern(node_)),
          output_(std::size_t(output.index())) {}
    ElementSets& sets() override { return walk_.sets_; }
    std::optional<Array> of(int input) override {
      if (!pattern_[std::size_t(input)][output_]) return std::nullopt;
      return walk_.visited_.at(node_.input(input));
    }
    std::optional<Array> value(int input) override { return walk_.values_.of(node_.input(input)); }
    Dims input_lengths(int input) override { return lengths_known(node_.input(input)); }
    const Dims& lengths() override { return lengths_; }
    std::optional<InnerDependencies> of_inner_graph(const InnerGraph& graph, std::span<const Dims> lengths,
                                                    std::span<const std::optional<Array>> values) override {
      return dependencies_of_inner(graph, lengths, values);
    }

   private:
    Walk& walk_;
    const Apply node_;
    const Dims lengths_;
    const std::vector<std::vector<bool>> pattern_;
    const std::size_t output_;
  };

  std::optional<Array> computed(const Variable& v) {
    const Variables sources = sources_of(v);
    if (std::ranges::none_of(sources, [&](const Variable& each) { return visited_.at(each).has_value(); }))
      return std::nullopt;
    const Apply node = v.owner();
    Inputs inputs(*this, v);
    if (const auto* stated = dynamic_cast<const StatesDependencies*>(&node.op()))
      if (auto found = with_node_context(node, [&] { return stated->dependencies(node, v.index(), inputs); }))
        return found;
    std::vector<ElementSets::Set> all;
    for (const Variable& each : sources)
      if (const auto& sets = visited_.at(each)) {
        const Array own = sets->contiguous();
        all.insert(all.end(), own.data_as<std::int64_t>(), own.data_as<std::int64_t>() + own.size());
      }
    const ElementSets::Set everything = sets_.united(all);
    const Array out = Array::zeros(DType::Int64, inputs.lengths());
    std::fill_n(out.mutable_data_as<std::int64_t>(), out.size(), everything);
    return out;
  }

  static std::optional<InnerDependencies> dependencies_of_inner(const InnerGraph& graph, std::span<const Dims> lengths,
                                                                std::span<const std::optional<Array>> values);

  ElementSets& sets_;
  KnownValues values_;
  Visited visited_;
  PointerMap<std::pair<Variable, Variable>> formulas_;
};

std::optional<InnerDependencies> Walk::dependencies_of_inner(const InnerGraph& graph, std::span<const Dims> lengths,
                                                             std::span<const std::optional<Array>> values) {
  InnerDependencies out;
  Walk walk(out.sets);
  Replacements known;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Variable& inner = graph.inputs()[i];
    out.first.push_back(count);
    if (!as_tensor(inner.type())) continue;
    known.emplace_back(inner, values[i] ? constant(values[i]->astype(inner.dtype()))
                                        : Variable(tensor_type(inner.dtype(), lengths[i]), inner.name()));
    if (!values[i] && !is_discrete(inner.dtype())) count += walk.number_elements(known.back().second, count);
  }
  try {
    for (const Variable& output : clone_replace(graph.outputs(), known)) out.outputs.push_back(walk.of(output));
  } catch (const NotImplementedError&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

ElementDependencies dependencies_of(const Variable& expression, const Variable& wrt, const Variables& constants) {
  ElementDependencies out;
  Walk walk(out.sets);
  for (const Variable& each : constants) walk.set_independent(each);
  walk.number_elements(wrt, 0);
  out.of_expression = walk.of(expression);
  if (out.of_expression) out.of_expression = out.of_expression->contiguous();
  return out;
}

}  // namespace bitale
