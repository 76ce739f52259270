#include "link/branches.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/lazy.hpp"
#include "graph/pointer_map.hpp"
#include "graph/walk.hpp"
#include "link/part.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/guarded.hpp"
#include "ops/control/inner_graph_queries.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale::link {

namespace {

// The nesting depth of branches up to which native code contains them; deeper ones are separate functions.
constexpr int deepest = 16;

// Several lazy nodes with the same condition, and one graph for each alternative. Inputs: those of the condition, then
// those that the branches read; outputs: those of the lazy nodes, in order.
class Branches final : public OpOf<Branches>, public EmitsTensors {
 public:
  struct Branch {
    LinkedGraph whole, graph;  // the original, and the one whose own branches are nodes of this kind
    std::vector<std::size_t> inputs;
    std::unique_ptr<Thunk> thunk = {};  // null where native code contains the branch
  };

  Branches(Apply lazy, std::vector<int> first, std::vector<Branch> branches)
      : lazy(std::move(lazy)), first(std::move(first)), branches(std::move(branches)), number(address()) {}

  const Apply lazy;  // the lazy node that chooses
  const std::vector<int> first;
  std::vector<Branch> branches;
  const std::int64_t number;  // a unique value: no two ops compare equal
  static constexpr auto fields = attribute_list(attribute("number", &Branches::number));

  std::string_view name() const override { return "Branches"; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  std::string label() const override { return lazy.op().label(); }
  // Nodes are created only by outline_branches.
  Apply make_node(std::span<const Variable>) const override {
    throw InternalError("Branches: a node can't be created from other inputs");
  }
  // Lengths that the sides have in common are used as they are; between different ones a switch chooses.
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override {
    const auto condition = condition_input();
    if (!condition) return {};
    std::vector<Shape> out = lengths_of(branches[0], node, inputs), other = lengths_of(branches[1], node, inputs);
    if (out.empty() || other.empty()) return {};
    for (std::size_t k = 0; k < out.size(); ++k)
      for (std::size_t axis = 0; axis < out[k].size(); ++axis) {
        const auto known = known_integer(out[k][axis]);
        if (out[k][axis].same_as(other[k][axis]) || (known && known == known_integer(other[k][axis]))) continue;
        out[k][axis] = switch_(node.input(*condition), out[k][axis], other[k][axis]);
      }
    return out;
  }
  bool emit(Lowering& to, const Apply&) const override {
    const auto condition = condition_input();
    if (!condition || branches[0].thunk) return false;
    const auto side = [&](const Branch& branch) {
      return Side{branch.graph->inputs(), branch.graph->outputs(), branch.inputs};
    };
    return to.choose(*condition, side(branches[0]), side(branches[1]));
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    const auto condition = condition_input();
    if (!condition || branches[0].thunk) to.refuse("its branches are functions of their own");
    const auto side = [&](const Branch& branch) {
      return Side{branch.graph->inputs(), branch.graph->outputs(), branch.inputs};
    };
    to.choose(*condition, side(branches[0]), side(branches[1]));
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    std::vector<Array> asked(lazy.inputs().size()), taken;
    for (std::size_t i = 0; i < first.size(); ++i) asked[std::size_t(first[i])] = in[i];
    const Branch& branch = branches.at(lazy_inputs(lazy)->chosen(lazy, asked));
    for (auto input : branch.inputs) taken.push_back(in[input]);
    // Native code that contains the branch does not call it; the search for a failed node inside it does.
    std::vector<Array> results = branch.thunk ? branch.thunk->run(taken) : link_vm(branch.whole)->run(taken);
    std::move(results.begin(), results.end(), out.begin());
  }

 private:
  // The input of this node that is the condition, if a scalar chooses one of two branches.
  std::optional<int> condition_input() const {
    const auto asked = lazy_inputs(lazy)->condition();
    if (!asked || branches.size() != 2) return std::nullopt;
    return int(std::find(first.begin(), first.end(), *asked) - first.begin());
  }
  static std::vector<Shape> lengths_of(const Branch& branch, const Apply& node, std::span<const Shape> inputs) {
    const InnerGraph inner(branch.whole->inputs(), branch.whole->outputs());
    Variables arguments;
    std::vector<Shape> shapes;
    for (auto input : branch.inputs) {
      arguments.push_back(node.inputs()[input]);
      shapes.push_back(inputs[input]);
    }
    return applied_lengths(inner, inner_lengths(inner), arguments, shapes);
  }
  std::int64_t address() const { return std::int64_t(reinterpret_cast<std::intptr_t>(this)); }
};

class Division {
 public:
  Division(FunctionGraph& graph, const LinkBranch& link, std::int64_t& budget, int depth, Divided which)
      : graph_(graph), link_(link), budget_(budget), depth_(depth), which_(which), order_(graph.toposort()) {
    if (which == Divided::guarded) guarded_ = guarded_values(graph.outputs());
    find_small();
    find_needed();
    find_levels();
  }

  // Calls done(lazy node, what stands in for it).
  template <class Done>
  void run(Done&& done) {
    // Lazy nodes with the same condition that don't depend on each other form one group. Later groups are divided
    // first, since they read the results of earlier ones.
    std::map<std::pair<int, Choice>, std::size_t> group_of;
    std::vector<std::vector<Apply>> groups;
    for (auto& node : order_) {
      if (!is_divided(node)) continue;
      const auto [it, is_new] = group_of.try_emplace({of(node).level, choice_of(node)}, groups.size());
      if (is_new) groups.emplace_back();
      groups[it->second].push_back(node);
    }
    const auto is_later = [&](auto& a, auto& b) { return of(a[0]).level > of(b[0]).level; };
    std::stable_sort(groups.begin(), groups.end(), is_later);
    for (auto& nodes : groups) {
      const Apply together = divide(nodes);
      std::vector<std::pair<Variable, Variable>> replacements;
      int at = 0;
      for (auto& node : nodes)
        for (auto& output : node.outputs()) replacements.emplace_back(output, together.output(at++));
      graph_.replace_all(replacements, "branches");
      for (auto& node : nodes) done(node, together);
    }
  }

 private:
  static constexpr int few = 64;
  struct Facts {
    int cost = few;       // scalar operations that compute it, if there is nothing but those; otherwise `few`
    bool needed = false;  // whatever alternative is chosen
    int level = 0;        // number of lazy nodes on the longest path to it
  };
  Facts& of(const Apply& node) { return facts_[graph_.slot(node.node())]; }

  // What lazy nodes that choose alike have in common: the condition, the op, and the number of alternatives.
  using Choice = std::tuple<std::vector<VariableNode*>, std::string_view, std::size_t>;
  static Choice choice_of(const Apply& lazy) {
    std::vector<VariableNode*> inputs;
    for (int input : needed_first(lazy, *lazy_inputs(lazy))) inputs.push_back(lazy.input(input).node());
    return {inputs, lazy.op().name(), lazy_inputs(lazy)->alternatives(lazy).size()};
  }

  static bool is_scalar(const Apply& node) {
    for (auto& output : node.outputs())
      if (!as_tensor(output.type()) || output.ndim() != 0) return false;
    return node.op().elementwise() || lazy_inputs(node);
  }

  void find_small() {
    facts_.resize(graph_.slot_count());
    for (auto& node : order_) {
      if (!is_scalar(node)) continue;
      int cost = 1;
      for (auto& input : node.inputs())
        if (const Apply owner = input.owner(); owner.defined()) cost = std::min(few, cost + of(owner).cost);
      of(node).cost = cost;
    }
  }

  // Whether a branch is worth a call: it contains something other than scalar operations, or many of these.
  bool is_worth_dividing(const Apply& node) {
    for (auto& alternative : lazy_inputs(node)->alternatives(node))
      for (int input : alternative) {
        const Apply owner = node.input(input).owner();
        if (!owner.defined() || of(owner).needed) continue;
        if (which_ == Divided::guarded ? guarded_.contains(node.input(input).node()) : of(owner).cost >= few)
          return true;
      }
    return false;
  }
  bool is_divided(const Apply& node) {
    return lazy_inputs(node) && of(node).needed && divided_[graph_.slot(node.node())];
  }

  void find_needed() {
    divided_.assign(graph_.slot_count(), true);
    mark_needed();
    // A node that is not divided needs all its inputs. So more nodes are needed, and fewer are worth dividing.
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& node : order_)
        if (is_divided(node) && !is_worth_dividing(node)) {
          divided_[graph_.slot(node.node())] = false;
          changed = true;
        }
      if (changed) mark_needed();
    }
  }
  void mark_needed() {
    reached_.clear();
    const auto need = [&](const Variable& v) {
      if (const Apply owner = v.owner(); owner.defined()) of(owner).needed = true;
    };
    for (auto& output : graph_.outputs()) need(output);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!of(*it).needed) continue;
      if (is_divided(*it)) {
        for (int input : needed_first(*it, *lazy_inputs(*it))) need(it->input(input));
        mark_needed_by_all(*it);
      } else {
        for (auto& input : it->inputs()) need(input);
      }
    }
  }
  // A node that every branch needs is needed, too, also if they are branches of several choices with one condition: a
  // chain of choices, each of which reads the previous one, is not a nest, nor is its gradient.
  void mark_needed_by_all(const Apply& lazy) {
    const auto alternatives = lazy_inputs(lazy)->alternatives(lazy);
    std::vector<PointerSet>& reached = reached_[choice_of(lazy)];
    reached.resize(alternatives.size());
    for (std::size_t k = 0; k < alternatives.size(); ++k) {
      std::vector<Apply> left;
      const auto reach = [&](const Variable& v) {
        const Apply owner = v.owner();
        if (owner.defined() && !of(owner).needed && reached[k].insert(owner.node())) left.push_back(owner);
      };
      for (int input : alternatives[k]) reach(lazy.input(input));
      while (!left.empty()) {
        const Apply node = left.back();
        left.pop_back();
        if (std::ranges::all_of(reached, [&](auto& each) { return each.contains(node.node()); }))
          of(node).needed = true;
        if (const LazyInputs* own = lazy_inputs(node))
          for (int input : needed_first(node, *own)) reach(node.input(input));
        else
          for (auto& input : node.inputs()) reach(input);
      }
    }
  }

  void find_levels() {
    for (auto& node : order_) {
      int level = 0;
      for (auto& input : node.inputs())
        if (const Apply owner = input.owner(); owner.defined())
          level = std::max(level, of(owner).level + (is_divided(owner) ? 1 : 0));
      of(node).level = level;
    }
  }

  bool may_nest() const { return depth_ < deepest && budget_ > 0; }

  Apply divide(const std::vector<Apply>& nodes) {
    const Apply& first_node = nodes[0];
    const std::vector<int> first = needed_first(first_node, *lazy_inputs(first_node));
    Variables inputs;
    for (int input : first) inputs.push_back(first_node.input(input));
    std::vector<Branches::Branch> branches;
    const std::size_t count = lazy_inputs(first_node)->alternatives(first_node).size();
    for (std::size_t k = 0; k < count; ++k) {
      Variables outputs;
      for (auto& node : nodes) {
        const auto alternatives = lazy_inputs(node)->alternatives(node);
        for (int input : alternatives[k]) outputs.push_back(node.input(input));
      }
      branches.push_back(branch(outputs, inputs));
    }
    std::vector<Type> types;
    for (auto& node : nodes)
      for (auto& output : node.outputs()) types.push_back(output.type());
    auto op = make_ref<Branches>(first_node, first, std::move(branches));
    const Apply together(op, inputs, types);
    together.node()->provenance = first_node.provenance();
    if (!may_nest() || !is_native(together))
      for (auto& branch : op->branches) branch.thunk = link_(branch.whole);
    return together;
  }

  // The variables that the branch reads are added to `inputs` if they are not among them.
  Branches::Branch branch(const Variables& outputs, Variables& inputs) {
    Variables leaves;
    const auto read = [&](const Variable& v) {
      const auto is_same = [&](const Variable& other) { return other.same_as(v); };
      if (!v.is_constant() && std::none_of(leaves.begin(), leaves.end(), is_same)) leaves.push_back(v);
    };
    const auto is_outside = [&](const Variable& v) { return !v.node()->owner || of(v.owner()).needed; };
    for (auto& output : outputs)
      if (is_outside(output)) read(output);
    visit_nodes(
        outputs, [&](const VariableNode* v) { return is_outside(Variable::of(const_cast<VariableNode*>(v))); },
        [&](ApplyNode* node) {
          for (auto& input : node->inputs)
            if (is_outside(input)) read(input);
        });
    const LinkedGraph whole = part_of_graph(leaves, outputs);
    budget_ -= whole->node_count();
    Branches::Branch out{
        whole, may_nest() ? outline_branches(whole, link_, budget_, depth_ + 1, which_).graph : whole, {}};
    for (auto& leaf : leaves) {
      std::size_t at = 0;
      while (at < inputs.size() && !inputs[at].same_as(leaf)) ++at;
      if (at == inputs.size()) inputs.push_back(leaf);
      out.inputs.push_back(at);
    }
    return out;
  }

  FunctionGraph& graph_;
  const LinkBranch& link_;
  std::int64_t& budget_;
  const int depth_;
  const Divided which_;
  PointerSet guarded_;
  const std::vector<Apply> order_;
  std::vector<Facts> facts_;  // by slot
  std::vector<bool> divided_;
  std::map<Choice, std::vector<PointerSet>> reached_;  // nodes that some branch of each alternative needs
};

bool has_lazy_nodes(const FunctionGraph& graph) {
  for (std::size_t slot = 0; slot < graph.slot_count(); ++slot) {
    const Apply node = graph.at_slot(slot);
    if (node.defined() && !node.op().elementwise() && lazy_inputs(node)) return true;
  }
  return false;
}

}  // namespace

OutlinedBranches outlined(std::shared_ptr<const FunctionGraph> copy, const VariableMap& originals,
                          const NodeMap& replaced) {
  NodeMap counterparts;
  for (auto& [original, own] : originals) {
    ApplyNode* owner = own.node()->owner;
    if (!owner || !original.node()->owner) continue;
    const auto found = replaced.find(owner);
    counterparts[original.node()->owner] = found == replaced.end() ? owner : found->second;
  }
  return {std::move(copy), std::move(counterparts)};
}

std::int64_t branch_budget(const FunctionGraph& graph) { return deepest * std::int64_t(graph.node_count()) + 1000; }

OutlinedBranches outline_branches(const LinkedGraph& graph, const LinkBranch& link, std::int64_t& budget, int depth,
                                  Divided which) {
  if (!has_lazy_nodes(*graph)) return {graph, {}};
  const auto copy = std::make_shared<FunctionGraph>(graph->clone());
  const VariableMap originals = copy->originals();
  NodeMap replaced;
  Division(*copy, link, budget, depth, which).run([&](const Apply& lazy, const Apply& together) {
    replaced[lazy.node()] = together.node();
  });
  if (replaced.empty()) return {graph, {}};
  return outlined(copy, originals, replaced);
}

}  // namespace bitale::link
