#include "link/host_outputs.hpp"

#include <unordered_set>

#include "bitale/core/error.hpp"

namespace bitale::link {

namespace {

class HostOutput final : public OpOf<HostOutput> {
 public:
  explicit HostOutput(std::int64_t output) : output(output) {}
  const std::int64_t output;  // a unique value: no two ops compare equal
  static constexpr auto fields = attribute_list(attribute("output", &HostOutput::output));

  std::string_view name() const override { return "HostOutput"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override { out[0] = in[0].copy(); }
};

}  // namespace

OutlinedBranches outline_host_outputs(const LinkedGraph& graph) {
  Variables outputs = graph->outputs();
  std::unordered_set<const VariableNode*> made;
  bool any = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Variable& output = outputs[i];
    if (!output.type()->is_host_only()) continue;
    if (output.has_owner() && made.insert(output.node()).second) continue;
    const Variable given[] = {output};
    output = make_ref<HostOutput>(std::int64_t(i))->make_node(given).output();
    any = true;
  }
  if (!any) return {graph, {}};
  const auto copy = std::make_shared<FunctionGraph>(graph->inputs(), outputs);
  std::unordered_map<const ApplyNode*, ApplyNode*> counterparts;
  for (auto& [original, own] : copy->originals())
    if (original.node()->owner && own.node()->owner) counterparts[original.node()->owner] = own.node()->owner;
  return {copy, std::move(counterparts)};
}

}  // namespace bitale::link
