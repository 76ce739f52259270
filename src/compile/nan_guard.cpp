// NanGuardMode: the virtual machine with a check of every value.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>

#include "bitale/compile/monitor.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

constexpr double big = 1e10;

// The indices of an element, from its position in C order.
std::string index_text(const Array& value, std::int64_t number) {
  Dims index(std::size_t(value.ndim()), 0);
  for (std::size_t axis = index.size(); axis-- > 0; number /= value.shape(int(axis)))
    index[axis] = number % value.shape(int(axis));
  return tuple_text(index);
}

class NanGuard {
 public:
  explicit NanGuard(const NanGuardOptions& options) : given_(options), options_(options) {
    const auto choose = [](std::optional<bool> given, std::string_view flag) {
      return given ? *given : config::get_bool(flag);
    };
    nan_ = choose(options_.nan_is_error, "NanGuardMode__nan_is_error");
    inf_ = choose(options_.inf_is_error, "NanGuardMode__inf_is_error");
    big_ = choose(options_.big_is_error, "NanGuardMode__big_is_error");
    if (!nan_ && !inf_ && !big_)
      throw ValueError("NanGuardMode: one of nan_is_error, inf_is_error, big_is_error must be true");
    if (options_.action.empty()) options_.action = config::get("NanGuardMode__action");
    if (options_.action == "pdb" && !options_.report)
      throw ValueError("NanGuardMode: the action pdb exists in Python only; use raise or warn");
    if (options_.action != "raise" && options_.action != "warn" && options_.action != "pdb")
      throw ValueError(cat("NanGuardMode: action must be raise, warn or pdb, not `", options_.action, "`"));
  }

  // What is wrong with the value; "" if it passes.
  std::string finding(const Array& value) const {
    bool nan = false, inf = false, large = false;
    const Array wide = (is_complex(value.dtype()) ? value.as_pairs() : value).astype(DType::Float64).contiguous();
    for (std::int64_t i = 0; i < wide.size(); ++i) {
      const double each = wide.data_as<double>()[i];
      nan |= std::isnan(each);
      inf |= std::isinf(each);
      large |= std::isfinite(each) && std::abs(each) > big;
    }
    std::vector<std::string> found;
    if (nan_ && nan) found.emplace_back("a nan");
    if ((inf_ || big_) && inf) found.emplace_back("an infinity");
    if (big_ && large) found.emplace_back("a value beyond 1e10");
    return join(found, " and ");
  }

  // Adds the value to an error, and the position of the first element that counts as an error.
  void add_value(NanGuardError& error, const Array& value) const {
    error.add("value", value.str());
    if (value.size() == 1) return;
    const std::int64_t parts = is_complex(value.dtype()) ? 2 : 1;
    const Array wide = (parts == 2 ? value.as_pairs() : value).astype(DType::Float64).contiguous();
    for (std::int64_t i = 0; i < wide.size(); ++i) {
      const double each = wide.data_as<double>()[i];
      if (!((nan_ && std::isnan(each)) || (inf_ && std::isinf(each)) || (big_ && std::abs(each) > big))) continue;
      error.add("first at", index_text(value, i / parts));
      return;
    }
  }

  const NanGuardOptions& given() const { return given_; }

  void check_input(const Variable& variable, const Array& value) const {
    if (!variable.is_guarded()) return;
    const std::string found = finding(value);
    if (found.empty()) return;
    NanGuardError error(cat("NanGuardMode: found ", found, " in the ", variable.is_constant() ? "constant" : "input",
                            " `", variable.str(), "`"));
    add_value(error, value);
    if (const Location& where = variable.where()) error.add("built at", where.str_with_callers());
    act(error);
  }
  void check_outputs(const NodeStep& step) const {
    for (std::size_t k = 0; k < step.outputs().size(); ++k) {
      if (!step.node.output(int(k)).is_guarded()) continue;
      const std::string found = finding(step.outputs()[k]);
      if (found.empty()) continue;
      if (const auto* inner = dynamic_cast<const HasInnerGraph*>(&step.node.op())) locate_in_inner_graph(step, *inner);
      NanGuardError error(cat("NanGuardMode: found ", found, " in output ", k, " of a node"));
      add_value(error, step.outputs()[k]);
      for (std::size_t i = 0; i < step.inputs.size(); ++i) error.add(cat("input ", i), step.inputs[i].str());
      add_node_context(error, step.node, step.inputs);
      act(error);
    }
  }

 private:
  // Runs the inner graph again, node by node, to find the first node whose value is an error. A loop adds the step.
  void locate_in_inner_graph(const NodeStep& step, const HasInnerGraph& op) const {
    const InnerGraph& graph = *op.inner_graph();
    const auto evaluate = [&](std::span<const Array> given) {
      std::unordered_map<const VariableNode*, Array> values;
      for (std::size_t i = 0; i < given.size(); ++i) values[graph.inputs()[i].node()] = given[i];
      const auto value_of = [&](const Variable& v) { return v.is_constant() ? *v.constant() : values.at(v.node()); };
      for (const Apply& node : toposort(graph.outputs(), VariableSet(graph.inputs().begin(), graph.inputs().end()))) {
        std::vector<Array> in, out(node.output_count());
        for (auto& input : node.inputs()) in.push_back(value_of(input));
        copy_destroyed(node, in);
        evaluate_node(node, in, out);
        for (std::size_t k = 0; k < out.size(); ++k) {
          values[node.output(int(k)).node()] = out[k];
          const std::string found = as_tensor(node.output(int(k)).type()) ? finding(out[k]) : "";
          if (found.empty()) continue;
          NanGuardError error(cat("NanGuardMode: found ", found, " in output ", k, " of a node of an inner graph"));
          add_node_context(error, node, in);
          throw error;
        }
      }
      std::vector<Array> results;
      for (auto& output : graph.outputs()) results.push_back(value_of(output));
      return results;
    };
    std::vector<Array> in(step.inputs.begin(), step.inputs.end()), out(step.node.output_count());
    copy_destroyed(step.node, in);
    try {
      op.perform_by(step.node, in, out, evaluate);
    } catch (NanGuardError& error) {
      add_node_context(error, step.node, step.inputs);
      act(error);
    }
  }

  void act(const NanGuardError& error) const {
    if (options_.report) return options_.report(error.what());
    if (options_.action == "raise") throw error;
    std::fprintf(stderr, "warning: %s\n", error.what());
  }

  const NanGuardOptions given_;
  NanGuardOptions options_;
  bool nan_ = false, inf_ = false, big_ = false;
};

struct InputGuard {
  std::shared_ptr<const NanGuard> guard;
  void operator()(const Variable& variable, const Array& value) const { guard->check_input(variable, value); }
};

}  // namespace

Linker nan_guard_linker(const NanGuardOptions& options) {
  const auto guard = std::make_shared<const NanGuard>(options);
  return vm_linker([guard](NodeStep& step) { guard->check_outputs(step); }, InputGuard{guard});
}

std::optional<NanGuardOptions> nan_guard_options(const Linker& linker) {
  const auto* input_guard = linker.on_input.target<InputGuard>();
  return input_guard ? std::optional(input_guard->guard->given()) : std::nullopt;
}

const Variable& set_nan_guarded(const Variable& variable, bool guarded) {
  variable.tag().is_guarded = guarded;
  return variable;
}

Mode nan_guard_mode(const NanGuardOptions& options, std::string optimizer) {
  return Mode(nan_guard_linker(options), std::move(optimizer));
}

}  // namespace bitale
