#include "autodiff/order.hpp"

#include <utility>

namespace bitale {

namespace {

// A step that is being visited, and the next of its dependencies.
struct Open {
  ApplyNode* node;
  const StableForm* form;
  std::size_t next = 0;

  const Variable* take_next() {
    if (form) return next++ == 0 ? &form->form : nullptr;
    return next < node->inputs.size() ? &node->inputs[next++] : nullptr;
  }
};

FindStableForms& finder() {
  static FindStableForms registered = nullptr;
  return registered;
}

}  // namespace

DifferentiationOrder::DifferentiationOrder(std::span<const Variable> starts, const PointerSet& blockers,
                                           std::span<const StableForm> forms) {
  for (const StableForm& form : forms) forms_.insert(form.variable.node(), &form);
  PointerSet seen;
  std::vector<Open> stack;
  const auto enter = [&](const Variable& v) {
    if (!v.node()->owner || (blockers.size() && blockers.contains(v.node()))) return;
    const StableForm* const* form = forms_.size() ? forms_.find(v.node()) : nullptr;
    if (form && seen.insert(*form)) stack.push_back({nullptr, *form});
    if (!form && seen.insert(v.node()->owner)) stack.push_back({v.node()->owner, nullptr});
  };
  for (const Variable& start : starts) {
    enter(start);
    while (!stack.empty()) {
      if (const Variable* needed = stack.back().take_next()) {
        enter(*needed);
        continue;
      }
      const Open done = stack.back();
      stack.pop_back();
      steps_.push_back({done.form ? Apply() : Apply::of(done.node), done.form});
    }
  }
}

std::vector<Apply> DifferentiationOrder::nodes() const {
  std::vector<Apply> out;
  for (const Step& step : steps_)
    if (step.node.defined()) out.push_back(step.node);
  return out;
}

RegisterStableForms::RegisterStableForms(FindStableForms find) { finder() = find; }

std::vector<StableForm> find_stable_forms(const StabilizationGraph& graph) {
  return finder() ? finder()(graph) : std::vector<StableForm>();
}

}  // namespace bitale
