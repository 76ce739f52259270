// Structure facts about matrices, found through their expressions. The search is iterative, and limited to some
// thousand nodes: facts further away are not found. A graph keeps the facts that were found; a change makes it derive
// those again that are near to it, and all that follow where they differ.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/assume.hpp"
#include "graph/pointer_map.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/range.hpp"

namespace bitale {

namespace {

constexpr int max_steps = 4000;
constexpr std::int64_t max_inspected_elements = 10000;

// Facts by variable. A leaf is held, so that no other variable is made at its address while facts of it are kept; a
// graph forgets the outputs of a node together with it.
class KnownStructures {
 public:
  bool empty() const { return known_.empty(); }
  const Structure* find(const Variable& v) const {
    const auto found = known_.find(v.node());
    return found == known_.end() ? nullptr : &found->second.facts;
  }
  // Those of the variable, nothing at first.
  Structure& of(const Variable& v) {
    Entry& entry = known_[v.node()];
    if (!v.has_owner()) entry.leaf = v;
    return entry.facts;
  }
  void erase(const Variable& v) { known_.erase(v.node()); }

 private:
  struct Entry {
    Structure facts;
    Variable leaf;
  };
  std::unordered_map<const VariableNode*, Entry> known_;
};

// Constants of which nothing is looked for. They may be large, and nothing is kept of them.
bool is_unknown_constant(const Variable& v) {
  return v.is_constant() && (!as_tensor(v.type()) || v.ndim() < 2 || v.constant()->size() > max_inspected_elements ||
                             is_complex(v.dtype()));
}

// Facts that the elements show. For a batch: those of all its matrices.
Structure structure_of_values(const Array& value) {
  const int ndim = value.ndim();
  const std::int64_t rows = value.shape(ndim - 2), columns = value.shape(ndim - 1), size = rows * columns;
  const Array flat = value.astype(DType::Float64).contiguous();
  bool lower = true, upper = true, symmetric = rows == columns, unit = symmetric, positive = symmetric;
  for (std::int64_t at = 0; at < flat.size(); ++at) {
    const double* matrix = flat.data_as<double>() + at / size * size;
    const std::int64_t i = at % size / columns, j = at % columns;
    const double x = matrix[i * columns + j];
    if (std::isnan(x)) return {};
    lower &= j <= i || x == 0;
    upper &= j >= i || x == 0;
    symmetric = symmetric && x == matrix[j * columns + i];
    unit &= i != j || x == 1;
    positive &= i != j || x > 0;
  }
  Structure out;
  if (rows == columns)
    out.add(Fact::Square);
  else
    out.exclude(Fact::Square);
  if (lower) out.add(Fact::LowerTriangular);
  if (upper) out.add(Fact::UpperTriangular);
  if (symmetric) out.add(Fact::Symmetric);
  if (unit) out.add(Fact::UnitDiagonal);
  if (positive) out.add(Fact::PositiveDiagonal);
  return out;
}

class StructureSearch {
 public:
  // Searches in a graph, or in an expression by itself. `base`: facts that are known besides.
  StructureSearch(KnownStructures& known, const FunctionGraph* graph, const KnownStructures* stated,
                  const KnownStructures* base = nullptr)
      : known_(known), graph_(graph), stated_(stated), base_(base) {}

  // A node is queried; if it needs facts about an input that are not known yet, those are found first, and the node is
  // queried again.
  Structure of(const Variable& variable) {
    if (is_unknown_constant(variable)) return {};
    Variables waiting{variable};
    int steps = 0;
    while (!waiting.empty()) {
      const Variable v = waiting.back();
      if (find(v)) {
        waiting.pop_back();
        continue;
      }
      if (++steps > max_steps) return {};
      missing_.clear();
      const Structure found = derive_structure(v);
      if (missing_.empty()) {
        known_.of(v) = found;
        waiting.pop_back();
      } else {
        waiting.insert(waiting.end(), missing_.begin(), missing_.end());
      }
    }
    return *find(variable);
  }

 private:
  const Structure* find(const Variable& v) const {
    const Structure* found = known_.find(v);
    return found || !base_ ? found : base_->find(v);
  }

  class Inputs final : public InputStructures {
   public:
    Inputs(StructureSearch& search, const Apply& node) : search_(search), node_(node) {}
    Structure of(int input) override {
      const Variable& v = node_.input(input);
      if (is_unknown_constant(v)) return {};
      if (const Structure* found = search_.find(v)) return *found;
      search_.missing_.push_back(v);
      return {};
    }

   private:
    StructureSearch& search_;
    const Apply& node_;
  };

  Structure derive_structure(const Variable& v) {
    if (!as_tensor(v.type()) || is_complex(v.dtype())) return {};
    if (v.is_constant()) return structure_of_values(*v.constant());
    Structure out;
    if (const Dims& shape = v.static_shape(); shape.size() >= 2 && shape.back() == 1 && shape[shape.size() - 2] == 1)
      out.add(Fact::Diagonal);  // a single element
    if (stated_)
      if (const Structure* found = stated_->find(v)) out = *found;
    if (graph_ && graph_->contains(v))
      for (auto& client : graph_->clients(v))
        if (client.node)
          if (const auto* op = dynamic_cast<const StatesStructure*>(client.node->op.get()))
            out.add(op->stated_of_input(client.index));
    if (!v.has_owner()) return out;
    const auto* op = dynamic_cast<const StatesStructure*>(v.owner_op());
    if (!op) return out;
    const Apply node = v.owner();
    Inputs inputs(*this, node);
    out.add(op->structure(node, int(v.index()), inputs));
    const bool matters = out.is_triangular() || out.is(Fact::PositiveDiagonal);
    if (matters && missing_.empty() && !out.is(Fact::Square) && has_equal_lengths(v)) out.add(Fact::Square);
    return out;
  }

  // Rows and columns.
  static bool has_equal_lengths(const Variable& v) {
    const Dims& shape = v.static_shape();
    if (shape.size() < 2) return false;
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (rows != unknown_length && columns != unknown_length) return rows == columns;
    return is_same_length(length_of(v, v.ndim() - 2), length_of(v, v.ndim() - 1));
  }

  KnownStructures& known_;
  const FunctionGraph* graph_;
  const KnownStructures* stated_;
  const KnownStructures* base_;
  Variables missing_;
};

// For a graph: the facts that were stated about its variables, and those that were found. A fact is about a value, so
// that a change of the graph makes none of them false; but more may follow after it, or less be seen.
class StructureFeature final : public Feature {
 public:
  std::string name() const override { return "structure"; }
  void on_import(FunctionGraph&, const Apply& node, std::string_view) override { forget_stated_by(node); }
  void on_prune(FunctionGraph&, const Apply& node, std::string_view) override {
    forget_stated_by(node);
    for (auto& output : node.outputs()) {
      known_.erase(output);
      stated_.erase(output);
    }
  }
  // The replacement of a variable has its value, so the stated facts hold for it, too.
  void on_change_input(FunctionGraph&, const Client& client, const Variable& before, const Variable& after,
                       std::string_view) override {
    if (client.node && !known_.empty()) add_outputs(*client.node, changed_);
    if (const Structure* found = stated_.find(before)) {
      const Structure facts = *found;
      add_statement(after, facts);
    }
  }

  Structure of(FunctionGraph& graph, const Variable& x) {
    update(graph);
    KnownStructures own;  // for a variable outside the graph, which may be freed at any time
    if (graph.contains(x)) return StructureSearch(known_, &graph, &stated_).of(x);
    return StructureSearch(own, &graph, &stated_, &known_).of(x);
  }
  void add_statement(const Variable& x, const Structure& facts) {
    stated_.of(x).add(facts);
    changed_.push_back(x);
  }

 private:
  static void add_outputs(ApplyNode& node, Variables& to) {
    for (auto& output : Apply::of(&node).outputs()) to.push_back(output);
  }
  void forget_stated_by(const Apply& node) {
    const auto* op = dynamic_cast<const StatesStructure*>(&node.op());
    if (!op || known_.empty()) return;
    for (int i = 0; i < int(node.inputs().size()); ++i)
      if (!op->stated_of_input(i).is_unknown()) changed_.push_back(node.input(i));
  }

  // Derives again what is known of the changed variables and of those that depend on them over few levels, as far as a
  // derivation looks. Where a fact comes or goes, the same is done for what depends on it.
  void update(FunctionGraph& graph) {
    while (!changed_.empty()) {
      std::vector<std::pair<Variable, Structure>> before = taken_near(graph, std::exchange(changed_, {}));
      StructureSearch search(known_, &graph, &stated_);
      for (auto& [v, facts] : before)
        if (!(search.of(v) == facts))
          for (auto& client : graph.clients(v))
            if (client.node) add_outputs(*client.node, changed_);
    }
  }
  // What is known of these variables and of those near to them, which is known no more.
  std::vector<std::pair<Variable, Structure>> taken_near(const FunctionGraph& graph, Variables level) {
    std::vector<std::pair<Variable, Structure>> out;
    PointerSet seen;
    for (int distance = 0; distance <= levels_of_ranges && !level.empty(); ++distance) {
      Variables next;
      for (const Variable& v : level) {
        if (!seen.insert(v.node()) || !graph.contains(v)) continue;
        if (const Structure* found = known_.find(v)) {
          out.emplace_back(v, *found);
          known_.erase(v);
        }
        for (auto& client : graph.clients(v))
          if (client.node) add_outputs(*client.node, next);
      }
      level = std::move(next);
    }
    return out;
  }

  KnownStructures known_, stated_;
  Variables changed_;  // since `known_` was up to date
};

StructureFeature& structure_feature(FunctionGraph& graph) {
  if (auto* found = graph.feature<StructureFeature>()) return *found;
  const auto made = std::make_shared<StructureFeature>();
  graph.attach(made);
  return *made;
}

}  // namespace

Structure structure_of(const Variable& x) {
  KnownStructures known;
  return StructureSearch(known, nullptr, nullptr).of(x);
}

Structure structure_of(FunctionGraph& graph, const Variable& x) {
  const Structure found = structure_feature(graph).of(graph, x);
  if (found.is_conflict())
    throw ConflictingAssumptionsError(cat("`", x.str(), "` is both known to be and known not to be ",
                                          join(found.contradictions(), ", "),
                                          ", by what was assumed and what follows"));
  return found;
}

void add_statement(FunctionGraph& graph, const Variable& x, const Structure& facts) {
  structure_feature(graph).add_statement(x, facts);
}

}  // namespace bitale
