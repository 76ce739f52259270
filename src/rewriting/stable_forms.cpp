// Stable forms for differentiation (autodiff/stable_forms.hpp), by the rules of the phase `stabilize`.
//
// The whole graph is not rewritten for that: the nodes on which such a rule may fire are looked up, and only their
// surroundings are copied and rewritten. Variables from further below become placeholders, and so do borders. If the
// formula of a variable that is used outside has changed, the new formula, translated back to the user's own variables,
// is the variable's stable form.
#include "autodiff/stable_forms.hpp"

#include <algorithm>

#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "graph/copy.hpp"
#include "graph/pointer_map.hpp"
#include "rewriting/database.hpp"
#include "rewriting/stabilizing.hpp"

namespace bitale::rewriting {

namespace {

// The extent of the surroundings of a node on which a rule may fire: above it, for rules that fire on the results of
// the first one, and below it, for the nodes that rules inspect.
constexpr int levels_above = 8, levels_below = 12;

// Records the nodes that are new or whose inputs were changed.
class ChangedNodes final : public Feature {
 public:
  std::string name() const override { return "ChangedNodes"; }
  void on_import(FunctionGraph&, const Apply& node, std::string_view) override { nodes_.insert(node.node()); }
  void on_change_input(FunctionGraph&, const Client& client, const Variable&, const Variable&,
                       std::string_view) override {
    if (client.node) nodes_.insert(client.node);
  }
  bool contains(const ApplyNode* node) const { return nodes_.contains(node); }

 private:
  PointerSet nodes_;
};

// The nodes around those on which a rule may fire.
class Surroundings {
 public:
  explicit Surroundings(const StabilizationGraph& graph) : nodes_(graph.nodes), is_passed_(graph.is_passed) {
    for (const Variable& v : graph.borders) borders_.insert(v.node());
    if (!find_triggers()) return;
    for (std::size_t i = 0; i < nodes_.size(); ++i) positions_.insert(nodes_[i].node(), std::uint32_t(i));
    spread();
    find_outputs(graph.outputs);
  }

  // The variables that are used outside.
  const Variables& outputs() const { return outputs_; }
  bool is_inside(std::size_t i) const { return level_[i] > 0; }
  // Whether the node that computes the variable is part of the surroundings.
  bool is_seen(const Variable& v) const {
    const std::uint32_t* at = position_below(v);
    return at && is_inside(*at);
  }

 private:
  bool find_triggers() {
    const auto plan = OptDB::instance().plan(stabilizing());
    level_.assign(nodes_.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (auto& stage : *plan)
        if (is_passed_[i] && !stage->pass && !stage->rules.at(nodes_[i]).empty()) level_[i] = levels_above, any = true;
    return any;
  }

  const std::uint32_t* position_below(const Variable& v) const {
    const ApplyNode* owner = v.node()->owner;
    return owner && !borders_.contains(v.node()) ? positions_.find(owner) : nullptr;
  }

  void spread() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const Variable& input : nodes_[i].inputs())
        if (const auto* at = position_below(input); at && is_passed_[*at])
          level_[i] = std::max(level_[i], level_[*at] - 1);
    for (int& level : level_) level = level > 0 ? levels_below : 0;
    for (std::size_t i = nodes_.size(); i-- > 0;)
      for (const Variable& input : nodes_[i].inputs())
        if (const auto* at = position_below(input)) level_[*at] = std::max(level_[*at], level_[i] - 1);
  }

  void find_outputs(const Variables& of_graph) {
    PointerSet found;
    const auto add = [&](const Variable& v) {
      const std::uint32_t* at = v.has_owner() ? positions_.find(v.node()->owner) : nullptr;
      if (at && is_passed_[*at] && is_inside(*at) && found.insert(v.node())) outputs_.push_back(v);
    };
    for (const Variable& v : of_graph) add(v);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const Variable& input : nodes_[i].inputs())
        if (is_passed_[i] && (!is_inside(i) || borders_.contains(input.node()))) add(input);
  }

  std::span<const Apply> nodes_;
  std::span<const char> is_passed_;
  PointerSet borders_;
  PointerMap<std::uint32_t> positions_;
  std::vector<int> level_;
  Variables outputs_;
};

// The surroundings as a separate graph, and the translation back.
class Excerpt {
 public:
  Excerpt(const StabilizationGraph& graph, const Surroundings& around) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      if (around.is_inside(i)) copy(graph.nodes[i], around);
    for (const Variable& v : around.outputs()) outputs_.push_back(*copies_.find(v.node()));
  }

  // The outputs' new formulas, for outputs whose formula has changed.
  std::vector<StableForm> rewritten(const Variables& originals) {
    FunctionGraph graph(inputs_, outputs_, Clone::No);
    const Variables before = graph.outputs();
    const auto changed = std::make_shared<ChangedNodes>();
    graph.attach(changed);
    rewrite(graph, stabilizing());
    const Variables after = graph.outputs();
    PointerSet differs;
    for (const Apply& node : graph.toposort()) {
      const auto is_other = [&](const Variable& input) {
        return input.has_owner() && differs.contains(input.node()->owner);
      };
      if (changed->contains(node.node()) || std::ranges::any_of(node.inputs(), is_other)) differs.insert(node.node());
    }
    const auto is_other = [&](std::size_t k) {
      return !after[k].same_as(before[k]) || (after[k].has_owner() && differs.contains(after[k].node()->owner));
    };
    std::vector<StableForm> out;
    for (std::size_t k = 0; k < after.size(); ++k)
      if (is_other(k)) out.push_back({originals[k], after[k]}), has_form_.insert(originals[k].node());
    for (const Apply& node : graph.toposort()) map_back(node, differs.contains(node.node()));
    for (auto& [variable, form] : out) form = back(form);
    std::erase_if(out, [](const StableForm& at) { return at.variable.same_as(at.form); });
    return out;
  }

 private:
  void copy(const Apply& node, const Surroundings& around) {
    Variables inputs;
    for (const Variable& input : node.inputs())
      inputs.push_back(around.is_seen(input) ? *copies_.find(input.node()) : leaf_for(input));
    const Apply made = copy_node(node, std::move(inputs));
    copy_names(node, made);
    for (std::size_t o = 0; o < node.output_count(); ++o) {
      copies_.insert(node.output(int(o)).node(), made.output(int(o)));
      originals_.insert(made.output(int(o)).node(), node.output(int(o)));
    }
  }

  Variable leaf_for(const Variable& v) {
    if (v.is_constant()) return v;
    const auto [leaf, is_new] = leaves_.insert(v.node());
    if (is_new) {
      *leaf = v.has_owner() ? Variable(v.type(), v.name()) : v;
      inputs_.push_back(*leaf);
      back_.insert(leaf->node(), v);
    }
    return *leaf;
  }

  Variable back(const Variable& v) const {
    const Variable* found = back_.find(v.node());
    return found ? *found : v;
  }

  // An unchanged node maps back to the user's own node, unless a variable of that has a stable form.
  void map_back(const Apply& node, bool differs) {
    bool keeps = !differs;
    for (const Variable& output : node.outputs()) {
      const Variable* original = originals_.find(output.node());
      keeps = keeps && original && !has_form_.contains(original->node());
    }
    Apply made;
    if (!keeps) {
      Variables inputs;
      std::vector<Type> types;
      for (const Variable& input : node.inputs()) inputs.push_back(back(input));
      for (const Variable& output : node.outputs()) types.push_back(output.type());
      made = Apply(node.op_ref(), std::move(inputs), types);
      made.node()->provenance = node.provenance();
    }
    for (std::size_t o = 0; o < node.output_count(); ++o) {
      const VariableNode* output = node.output(int(o)).node();
      back_.insert(output, keeps ? *originals_.find(output) : made.output(int(o)));
    }
  }

  PointerMap<Variable> copies_, leaves_;  // by the user's variable
  PointerMap<Variable> originals_;        // by the copy
  PointerMap<Variable> back_;             // by a variable of the rewritten graph
  PointerSet has_form_;
  Variables inputs_, outputs_;
};

std::vector<StableForm> find(const StabilizationGraph& graph) {
  const Surroundings around(graph);
  return around.outputs().empty() ? std::vector<StableForm>() : Excerpt(graph, around).rewritten(around.outputs());
}

const RegisterStableForms registered(find);

}  // namespace

}  // namespace bitale::rewriting
