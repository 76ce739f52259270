// Linkers of users: a function of the user's computes the whole graph. What it returns is checked here, and copied
// where a caller could see it change, so that such a linker can't break what functions promise.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "link/linker.hpp"

namespace bitale::link {

namespace {

class GraphThunk final : public Thunk {
 public:
  GraphThunk(const Linker& linker, const LinkedGraph& graph, const LinkOptions& options)
      : name_(linker.name), graph_(graph), code_(linker.link_graph(graph, options.updates)) {
    if (!code_) throw ValueError(cat("linker ", name_, " made no code"));
    for (auto& output : graph->outputs())
      if (output.is_constant()) constants_.push_back(*output.constant());
    for (auto& node : graph->toposort())
      for (auto& input : node.inputs())
        if (input.is_constant()) constants_.push_back(*input.constant());
  }

  using Thunk::run;
  bool writes_last() const override { return false; }

  void run(std::span<const View> views, Receiver& receiver) const override {
    std::vector<Array> inputs;
    for (std::size_t i = 0; i < views.size(); ++i)
      inputs.push_back(borrow_value(*graph_->inputs()[i].type(), views[i]));
    receiver.begin(views, true);
    std::vector<Array> results = code_(inputs);
    if (results.size() != graph_->outputs().size())
      throw ValueError(cat("linker ", name_, ": its code gave ", results.size(), " results for ",
                           graph_->outputs().size(), " outputs"));
    std::vector<Array> own;
    for (std::size_t k = 0; k < results.size(); ++k) own.push_back(accepted(k, results[k], inputs, own));
    for (std::size_t k = 0; k < own.size(); ++k) receiver.receive(int(k), std::move(own[k]));
  }

  std::string text(std::string_view stage) const override {
    throw ValueError(cat("linker ", name_, " has no stage `", stage, "`; its only stage is graph"));
  }

 private:
  // The result as a value of the output's type, which shares no memory with anything else.
  Array accepted(std::size_t k, const Array& result, std::span<const Array> inputs,
                 std::span<const Array> earlier) const {
    const Variable& output = graph_->outputs()[k];
    const auto where = [&] { return cat("output ", k, " (`", output.str(), "`) of linker ", name_); };
    if (!result.defined()) throw ValueError(cat(where(), " was not computed"));
    Array value = result;
    if (!output.type()->is_valid_value(value)) try {
        value = output.type()->filter(value, Strict::No, Downcast::Never);
      } catch (Error& error) {
        error.add("in", where());
        throw;
      }
    const auto shares = [&](const Array& other) { return value.shares_memory_with(other); };
    const bool is_shared = value.size() == 0 || std::ranges::any_of(inputs, shares) ||
                           std::ranges::any_of(constants_, shares) || std::ranges::any_of(earlier, shares);
    return is_shared ? value.copy() : value.contiguous();
  }

  const std::string name_;
  const LinkedGraph graph_;
  const GraphCode code_;
  std::vector<Array> constants_;
};

}  // namespace

std::unique_ptr<Thunk> link_by(const Linker& linker, const LinkedGraph& graph, const LinkOptions& options) {
  return std::make_unique<GraphThunk>(linker, graph, options);
}

}  // namespace bitale::link
