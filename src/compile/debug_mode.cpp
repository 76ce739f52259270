// DebugMode's maker: rewriting is tracked, and repeated to check that it is deterministic; linking creates a
// CheckedThunk.
#include "bitale/compile/debug_mode.hpp"

#include <utility>

#include "bitale/compile/maker.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "compile/checked_thunk.hpp"
#include "compile/preallocated.hpp"

namespace bitale {

namespace {

DebugChecks checks_of(const DebugModeOptions& options) {
  const auto flag = [](const std::optional<bool>& given, std::string_view name) {
    return given ? *given : config::get_bool(name);
  };
  return {.perform = flag(options.check_py_code, "DebugMode__check_py"),
          .native = flag(options.check_c_code, "DebugMode__check_c"),
          .finite = flag(options.check_isfinite, "DebugMode__check_finite"),
          .warn_input_not_reused = flag(options.warn_input_not_reused, "DebugMode__warn_input_not_reused"),
          .memory_kinds =
              memory_kinds(options.check_preallocated_output ? *options.check_preallocated_output
                                                             : config::get("DebugMode__check_preallocated_output")),
          .memory_ndim = options.check_preallocated_output_ndim
                             ? *options.check_preallocated_output_ndim
                             : int(config::get_int("DebugMode__check_preallocated_output_ndim")),
          .linkers = options.native_linkers};
}

// The first line in which two texts differ.
std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string first = i < a.size() ? a[i] : "(nothing)", second = i < b.size() ? b[i] : "(nothing)";
    if (first != second) return cat("step ", i + 1, "\nthe first time: ", first, "\nthen: ", second);
  }
  return {};
}

class DebugMaker final : public FunctionMaker {
 public:
  DebugMaker(const Variables& inputs, const Variables& outputs, const FunctionOptions& options,
             const DebugModeOptions& debug)
      : FunctionMaker(inputs, outputs, options),
        checks_(checks_of(debug)),
        patience_(debug.stability_patience ? *debug.stability_patience : int(config::get_int("DebugMode__patience"))),
        tracker_(std::make_shared<EquivalenceTracker>()) {
    graph()->attach(tracker_);
  }

 protected:
  void do_rewrite(FunctionGraph& graph, RewriteReport& report) override {
    const FunctionGraph before = graph.clone();
    const RewriteQuery query = mode().query().including({"inplace"});
    bitale::rewrite(graph, query, &report);
    for (int again = 1; again < patience_; ++again) {
      FunctionGraph other = before.clone();
      const auto events = std::make_shared<EquivalenceTracker>();
      other.attach(events);
      bitale::rewrite(other, query);
      require_same_rewrites(graph, *events, other);
    }
  }

  std::unique_ptr<link::Thunk> do_link(const std::shared_ptr<const FunctionGraph>& graph,
                                       const link::LinkOptions& options) override {
    CheckedThunk::Parts parts;
    parts.graph = graph;
    for (auto& node : graph->toposort()) parts.nodes.push_back(tracker_->copy_of(node.output()).owner());
    for (auto& output : graph->outputs()) parts.outputs.push_back(tracker_->copy_of(output));
    parts.replacements = tracker_->replacements();
    parts.checks = checks_;
    const Linker& linker = mode().linker();
    parts.whole.emplace_back(linker.name, link::link(linker, graph, options));
    // Only the virtual machine runs the ops in place that the graph declares to be in place.
    if (linker.name != "vm") parts.whole.emplace_back("vm", link::link("vm", graph));
    this->graph()->detach(*tracker_);
    return std::make_unique<CheckedThunk>(std::move(parts));
  }

 private:
  void require_same_rewrites(const FunctionGraph& graph, const EquivalenceTracker& again,
                             const FunctionGraph& other) const {
    std::string difference = first_difference(tracker_->events(), again.events());
    if (difference.empty() && dprint(graph) != dprint(other))
      difference = cat("the same rewrites, but another graph\n", dprint(graph), "\n", dprint(other));
    if (difference.empty()) return;
    StochasticOrder error("StochasticOrder: rewriting the same graph again went another way");
    error.add("first difference", difference);
    error.add("hint",
              "a rewrite depends on something besides the graph: a counter, random numbers, addresses, the "
              "order of a set");
    throw error;
  }

  const DebugChecks checks_;
  const int patience_;
  const std::shared_ptr<EquivalenceTracker> tracker_;
};

class DebugMakerFactory final : public MakerFactory {
 public:
  explicit DebugMakerFactory(DebugModeOptions options) : options(std::move(options)) {}
  std::string name() const override { return "DebugMode"; }
  std::unique_ptr<FunctionMaker> make(const Variables& inputs, const Variables& outputs,
                                      const FunctionOptions& given) const override {
    return std::make_unique<DebugMaker>(inputs, outputs, given, options);
  }
  const DebugModeOptions options;
};

}  // namespace

Mode debug_mode(const DebugModeOptions& options) {
  if (options.stability_patience && *options.stability_patience < 1)
    throw ValueError(cat("DebugMode: stability_patience must be at least 1, got ", *options.stability_patience));
  checks_of(options);
  for (auto& linker : options.native_linkers) Linker{linker};
  return Mode(options.linker.empty() ? config::get("linker") : options.linker, options.optimizer)
      .making(std::make_shared<const DebugMakerFactory>(options));
}

std::optional<DebugModeOptions> debug_options(const Mode& mode) {
  auto* factory = dynamic_cast<const DebugMakerFactory*>(mode.maker().get());
  return factory ? std::optional(factory->options) : std::nullopt;
}

}  // namespace bitale
