#include "link/makers.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace bitale::link {

namespace {

using Nodes = std::vector<ApplyNode*>;

// What a step writes; of a call, the buffers that are named for the first time.
struct Written {
  std::vector<std::int64_t> buffers, vars;
  std::vector<int> callbacks;
};

class Assignment {
 public:
  explicit Assignment(const lowering::Lowered& lowered) : lowered_(lowered), known_(lowered.program.buffers.size()) {
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
    // Nodes that write one buffer, one after the other, do so in the order of the sections.
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

  void note(const program::Step& step, Written& written) {
    const auto write = [&](std::int64_t buffer) {
      known_[std::size_t(buffer)] = true;
      written.buffers.push_back(buffer);
    };
    if (auto* store = std::get_if<program::Store>(&step.what)) write(store->buffer);
    if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) write(accumulate->buffer);
    if (auto* fill = std::get_if<program::Fill>(&step.what)) known_[std::size_t(fill->buffer)] = true;
    if (auto* let = std::get_if<program::Let>(&step.what)) written.vars.push_back(let->var.payload());
    if (auto* update = std::get_if<program::Update>(&step.what)) {
      written.vars.push_back(update->var.payload());
      if (update->place_var) written.vars.push_back(update->place_var.payload());
    }
    if (auto* call = std::get_if<program::Call>(&step.what))
      for (auto& argument : call->arguments)
        if (auto* buffer = std::get_if<program::BufferArgument>(&argument);
            buffer && !known_[std::size_t(buffer->buffer)])
          write(buffer->buffer);
    if (auto* host = std::get_if<program::HostCall>(&step.what)) {
      written.callbacks.push_back(host->callback);
      for (auto buffer : host->outputs) known_[std::size_t(buffer)] = true;
    }
    if (auto* loop = std::get_if<program::Loop>(&step.what))
      for (auto& inner : loop->body) note(inner, written);
  }

  const lowering::Lowered& lowered_;
  std::vector<bool> known_;  // buffers that earlier steps have written or named
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
    // What no section writes is computed where it is read.
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
    std::erase_if(found, [&](ApplyNode* node) { return !order.count(node); });  // of expressions of lengths
    std::sort(found.begin(), found.end(), [&](auto* a, auto* b) { return order.at(a) < order.at(b); });
    auto& list = out.emplace_back();
    for (auto* node : found) list.push_back(Apply::of(node));
  }
  return out;
}

}  // namespace bitale::link
