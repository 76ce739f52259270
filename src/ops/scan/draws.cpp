// Whether two scans draw the same numbers: they start from the same states of generators, and each next state is
// computed by the same expressions from the same sequences and constants, and from states for which this holds
// recursively.
#include <map>
#include <set>
#include <utility>

#include "ops/scan/scan.hpp"

namespace bitale {

namespace {

bool is_same_value(const Variable& a, const Variable& b) {
  if (a.same_as(b)) return true;
  return a.is_constant() && b.is_constant() && a.type()->equals(*b.type()) && identical(*a.constant(), *b.constant());
}

class Comparison {
 public:
  Comparison(const Apply& a, const Apply& b)
      : a_(a), b_(b), first_(static_cast<const ScanOp&>(a.op())), second_(static_cast<const ScanOp&>(b.op())) {
    number(first_, first_inputs_);
    number(second_, second_inputs_);
  }

  // Generators that start equal must remain equal; there must be at least one.
  bool run() {
    bool any = false;
    for (int k = 0; k < first_.layout().states; ++k)
      for (int j = 0; j < second_.layout().states; ++j)
        if (!as_tensor(first_.state(k).type()) && same_inputs(first_.initial_input(k), second_.initial_input(j)))
          any = true, pending_.emplace_back(first_.state(k), second_.state(j));
    if (first_.layout().has_until) pending_.emplace_back(first_.until(), second_.until());
    while (!pending_.empty()) {
      const auto [x, y] = pending_.back();
      pending_.pop_back();
      if (!agree(x, y)) return false;
    }
    return any;
  }

 private:
  static void number(const ScanOp& op, std::map<const VariableNode*, int>& inputs) {
    const Variables& all = op.inner_graph()->inputs();
    for (std::size_t i = 0; i < all.size(); ++i) inputs[all[i].node()] = int(i);
  }
  bool same_inputs(int of_a, int of_b) const {
    return is_same_value(a_.inputs()[std::size_t(of_a)], b_.inputs()[std::size_t(of_b)]);
  }

  bool agree(const Variable& x, const Variable& y) {
    if (!seen_.emplace(x.node(), y.node()).second) return true;
    if (x.has_owner() != y.has_owner()) return false;
    if (!x.has_owner()) return leaves_agree(x, y);
    const Apply p = x.owner(), q = y.owner();
    if (x.index() != y.index() || !p.op().equals(q.op()) || p.inputs().size() != q.inputs().size()) return false;
    for (std::size_t i = 0; i < p.inputs().size(); ++i) pending_.emplace_back(p.inputs()[i], q.inputs()[i]);
    return true;
  }

  bool leaves_agree(const Variable& x, const Variable& y) {
    const auto i = first_inputs_.find(x.node()), j = second_inputs_.find(y.node());
    if (i == first_inputs_.end() || j == second_inputs_.end()) return is_same_value(x, y);
    if (!same_inputs(1 + i->second, 1 + j->second)) return false;
    const int k = i->second - first_.layout().sequences, l = j->second - second_.layout().sequences;
    const bool is_first = k >= 0 && k < first_.layout().states, is_second = l >= 0 && l < second_.layout().states;
    if (is_first && is_second) pending_.emplace_back(first_.next(k), second_.next(l));
    return is_first == is_second && (k < 0) == (l < 0);
  }

  const Apply &a_, &b_;
  const ScanOp &first_, &second_;
  std::map<const VariableNode*, int> first_inputs_, second_inputs_;
  std::vector<std::pair<Variable, Variable>> pending_;
  std::set<std::pair<const VariableNode*, const VariableNode*>> seen_;
};

}  // namespace

bool ScanOp::draws_the_same(const Apply& node, const Apply& other) const {
  const auto* op = dynamic_cast<const ScanOp*>(&other.op());
  if (!op || !is_same_value(node.input(0), other.input(0)) || op->layout().has_until != layout_.has_until) return false;
  return Comparison(node, other).run();
}

}  // namespace bitale
