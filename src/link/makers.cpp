#include "link/makers.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "program/steps.hpp"

namespace bitale::link {

namespace {

using Nodes = std::vector<ApplyNode*>;

// The results that a step writes.
struct Written {
  std::vector<std::int64_t> buffers, vars;
  std::vector<int> callbacks;
};

class Assignment {
 public:
  explicit Assignment(const lowering::Lowered& lowered) : lowered_(lowered) {
    for (auto& [buffer, var, node] : lowered.makers) {
      if (buffer >= 0) add(buffer_makers_[buffer], node.node());
      if (var >= 0) add(var_makers_[var], node.node());
    }
  }

  // The nodes whose results the sections write.
  std::vector<Nodes> run(const std::vector<Section>& sections) {
    std::vector<std::vector<std::int64_t>> buffers;
    std::vector<Nodes> out(sections.size());
    std::unordered_map<std::int64_t, std::vector<std::size_t>> writers;  // buffer -> sections
    for (std::size_t k = 0; k < sections.size(); ++k) {
      Written written;
      for (std::size_t at = sections[k].begin; at < sections[k].end; ++at) note(lowered_.program.steps[at], written);
      for (auto buffer : written.buffers)
        if (auto& list = writers[buffer]; list.empty() || list.back() != k) list.push_back(k);
      for (auto var : written.vars)
        for (auto* node : var_makers_[var]) add(out[k], node);
      for (auto callback : written.callbacks) add(out[k], lowered_.callbacks[std::size_t(callback)].node());
    }
    // If as many nodes as sections write a buffer, they do so in the order of the sections.
    for (auto& [buffer, list] : writers) {
      const Nodes& makers = buffer_makers_[buffer];
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t m = 0; m < makers.size(); ++m)
          if (makers.size() != list.size() || m == i) add(out[list[i]], makers[m]);
    }
    return out;
  }

 private:
  static void add(Nodes& nodes, ApplyNode* node) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }

  // Results of the host are known by its callback; a fill of a buffer only prepares it for the nodes that write there.
  static void note(const program::Step& step, Written& written) {
    program::for_each_access(step, [&](const program::Access& access) {
      const bool by_step = access.reach == program::Reach::element || access.reach == program::Reach::runtime_call;
      if (access.writes() && by_step) written.buffers.push_back(access.buffer);
    });
    program::for_each_definition(step, [&](program::Expr var, program::Definition kind) {
      if (kind == program::Definition::named || kind == program::Definition::combined)
        written.vars.push_back(var.payload());
    });
    if (auto* host = program::as_host_call(step)) written.callbacks.push_back(host->callback);
    program::for_each_body(step, [&](const program::Steps& body) {
      for (auto& inner : body) note(inner, written);
    });
  }

  const lowering::Lowered& lowered_;
  std::unordered_map<std::int64_t, Nodes> buffer_makers_, var_makers_;
};

}  // namespace

std::vector<std::vector<Apply>> nodes_of_sections(const lowering::Lowered& lowered, const FunctionGraph& graph,
                                                  const std::vector<Section>& sections) {
  const std::vector<Nodes> writing = Assignment(lowered).run(sections);
  std::unordered_set<ApplyNode*> present;
  for (auto& nodes : writing) present.insert(nodes.begin(), nodes.end());
  std::unordered_map<ApplyNode*, std::size_t> order;
  for (auto& node : graph.toposort()) order.emplace(node.node(), order.size());

  std::vector<std::vector<Apply>> out;
  for (auto& nodes : writing) {
    // Nodes that no section writes are computed where they are read.
    std::unordered_set<ApplyNode*> seen(nodes.begin(), nodes.end());
    Nodes found(nodes), stack(nodes);
    while (!stack.empty()) {
      const Apply node = Apply::of(stack.back());
      stack.pop_back();
      for (auto& input : node.inputs()) {
        if (!input.has_owner()) continue;
        ApplyNode* from = input.node()->owner;
        if (present.count(from) || !seen.insert(from).second) continue;
        found.push_back(from);
        stack.push_back(from);
      }
    }
    std::erase_if(found, [&](ApplyNode* node) { return !order.count(node); });  // nodes of expressions of lengths
    std::sort(found.begin(), found.end(), [&](auto* a, auto* b) { return order.at(a) < order.at(b); });
    auto& list = out.emplace_back();
    for (auto* node : found) list.push_back(Apply::of(node));
  }
  return out;
}

}  // namespace bitale::link
