// The machine runs a graph node by node, on demand: a node runs when all its needed inputs are known; a lazy node
// reports its needed inputs as their values become known. It implements the virtual machine, which runs each node by
// its op's perform, needs no code generation and is the oracle for everything else; and every linker that works on
// single nodes, with code for them or with a wrapper.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/pool.hpp"
#include "graph/aliasing.hpp"
#include "graph/evaluate.hpp"
#include "graph/lazy.hpp"
#include "link/node_code.hpp"
#include "link/node_profiler.hpp"

namespace bitale::link {

namespace {

using Index = std::uint32_t;

// One node: the cells it reads and writes.
struct Instruction {
  Apply node;
  std::vector<Index> in, out;
  std::vector<int> destroyed;  // the inputs that it destroys
  const LazyInputs* lazy;      // null: all inputs are needed
  std::vector<NodeCode> codes;
};

// The nodes that every call runs, in order, and the number of readers of each cell. A cell whose value is kept has one
// extra reader that never comes.
struct Plan {
  std::vector<Index> order, readers;
};

// The state of one call: a value per cell, and the number of readers that are still to come.
struct Cells {
  std::vector<Array> values;  // in cells that are not known: leftovers of the previous call
  std::vector<Index> readers;
  std::vector<bool> known;
  std::vector<Index> waiting;  // a stack of instructions
  std::vector<Array> in;       // of the node that runs
  std::vector<std::vector<Array>> results;
  NodeProfiler::Call* profiled = nullptr;
};

// Receives results into the memory of earlier ones, if these have the same form and no other owner.
class ReusingReceiver final : public Receiver {
 public:
  explicit ReusingReceiver(std::vector<Array>& values) : values_(values) {}
  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override {
    Array& value = values_[std::size_t(output)];
    const Dims wanted(shape);
    if (!value.is_unique() || value.dtype() != dtype || !(value.shape() == wanted) || !value.is_contiguous())
      value = Array::empty(dtype, wanted);
    return value.mutable_data();
  }
  void* receive(int output, Array value) override {
    return (values_[std::size_t(output)] = std::move(value)).mutable_data();
  }

 private:
  std::vector<Array>& values_;
};

bool has_no_repeats(const Array& value) {
  for (int axis = 0; axis < value.ndim(); ++axis)
    if (value.shape(axis) > 1 && value.strides()[std::size_t(axis)] == 0) return false;
  return true;
}

class Machine final : public Thunk {
 public:
  Machine(const LinkedGraph& graph, const Linker& linker, const LinkOptions& options)
      : graph_(graph), linker_(linker), keeps_(!linker.allow_gc.value_or(config::get_bool("allow_gc"))) {
    std::unordered_map<VariableNode*, Index> cells;
    const auto cell_of = [&](const Variable& variable) {
      auto [it, is_new] = cells.try_emplace(variable.node(), Index(producers_.size()));
      if (is_new) {
        producers_.push_back(nobody);
        if (variable.is_constant()) constants_.emplace_back(it->second, variable);
      }
      return it->second;
    };
    for (auto& input : graph->inputs()) cell_of(input);
    LinkOptions of_nodes = options;
    of_nodes.profile = false;
    const std::vector<Apply> nodes = graph->toposort();
    if (options.profile) profiler_ = std::make_unique<NodeProfiler>(nodes);
    for (auto& node : nodes) {
      Instruction instruction{node, {}, {}, destroyed_inputs(node), lazy_inputs(node), {}};
      for (auto& input : node.inputs()) instruction.in.push_back(cell_of(input));
      for (auto& output : node.outputs()) {
        instruction.out.push_back(cell_of(output));
        producers_[instruction.out.back()] = Index(program_.size());
      }
      for (auto& each : linker.node_linkers) instruction.codes.push_back(node_code(node, each, of_nodes));
      if (linker.node_linkers[0] == "opwise" && !instruction.codes[0].thunk) by_perform_.insert(node.node());
      program_.push_back(std::move(instruction));
    }
    for (auto& output : graph->outputs()) outputs_.push_back(cell_of(output));
    std::vector<int> all;
    for (std::size_t k = 0; k < outputs_.size(); ++k) all.push_back(int(k));
    all_ = plan(all);
  }

  using Thunk::run;
  bool writes_last() const override { return false; }
  void run(std::span<const View> views, Receiver& receiver) const override { run(views, all_, outputs_, receiver); }
  void run_some(std::span<const View> views, std::span<const int> wanted, Receiver& receiver) const override {
    std::vector<Index> outputs;
    for (int output : wanted) outputs.push_back(outputs_[std::size_t(output)]);
    run(views, plan(wanted), outputs, receiver);
  }
  void free() const override { pool_.clear(); }
  Measured measured() const override { return profiler_ ? profiler_->measured() : Measured(); }

  std::string note(const Apply& node) const override { return by_perform_.count(node.node()) ? "perform" : ""; }

  std::string text(std::string_view stage) const override {
    throw ValueError(cat("linker ", linker_.name, " has no stage `", stage, "`; its only stage is graph"));
  }

 private:
  static constexpr Index nobody = Index(-1);

  void run(std::span<const View> views, const Plan& plan, std::span<const Index> outputs, Receiver& receiver) const {
    std::vector<Array> inputs;
    for (std::size_t i = 0; i < views.size(); ++i)
      inputs.push_back(borrow_value(*graph_->inputs()[i].type(), views[i]));
    receiver.begin(views, true);
    std::vector<Array> results = evaluate(inputs, plan, outputs);
    for (std::size_t i = 0; i < results.size(); ++i) receiver.receive(int(i), std::move(results[i]));
  }

  Plan plan(std::span<const int> wanted) const {
    Plan plan;
    plan.readers.assign(producers_.size(), 0);
    std::vector<bool> needed(program_.size(), false);
    const auto need = [&](Index cell) {
      if (producers_[cell] != nobody) needed[producers_[cell]] = true;
    };
    for (int output : wanted) {
      const Index cell = outputs_[std::size_t(output)];
      ++plan.readers[cell];
      need(cell);
    }
    for (Index i = Index(program_.size()); i-- > 0;) {
      const Instruction& instruction = program_[i];
      for (auto cell : instruction.in) ++plan.readers[cell];
      if (!needed[i]) continue;
      if (!instruction.lazy)
        for (auto cell : instruction.in) need(cell);
      else
        for (auto input : needed_first(instruction.node, *instruction.lazy)) need(instruction.in[std::size_t(input)]);
    }
    for (Index cell = 0; cell < producers_.size(); ++cell)
      if (producers_[cell] == nobody) ++plan.readers[cell];
    for (Index i = 0; i < program_.size(); ++i)
      if (needed[i]) plan.order.push_back(i);
    return plan;
  }

  std::vector<Array> evaluate(std::span<const Array> inputs, const Plan& plan, std::span<const Index> outputs) const {
    Pool<Cells>::Loan loan(pool_);
    Cells& cells = *loan;
    struct Release {
      const Machine& machine;
      Cells& cells;
      ~Release() { machine.release(cells); }
    } release{*this, cells};
    cells.values.resize(producers_.size());
    cells.readers = plan.readers;
    cells.known.assign(producers_.size(), false);
    const auto give = [&](Index cell, const Variable& variable, const Array& value) {
      cells.values[cell] = value;
      cells.known[cell] = true;
      if (linker_.on_input) linker_.on_input(variable, value);
    };
    for (Index i = 0; i < inputs.size(); ++i) give(i, graph_->inputs()[i], inputs[i]);
    for (auto& [cell, variable] : constants_) give(cell, variable, *variable.constant());
    std::optional<NodeProfiler::Call> call;
    if (profiler_) cells.profiled = &call.emplace(*profiler_, producers_.size());
    try {
      for (auto i : plan.order) demand(i, cells);
    } catch (Error& error) {
      add_storage(error, stored(cells));
      throw;
    }
    std::vector<Array> out = results(cells, inputs, outputs);
    if (call) call->succeed(out);
    return out;
  }

  // The values that a failing call holds at that moment.
  std::vector<StoredValue> stored(const Cells& cells) const {
    std::vector<StoredValue> out;
    std::vector<bool> seen(producers_.size(), false);
    const auto add = [&](const Variable& variable, Index cell) {
      const bool held = cells.known[cell] && cells.readers[cell] && !variable.is_constant();
      if (held && !seen[cell]) out.push_back({variable.node(), &cells.values[cell]});
      seen[cell] = true;
    };
    if (!cells.waiting.empty()) {  // the failing node may be the only owner of its inputs by now
      const Instruction& failing = program_[cells.waiting.back()];
      for (std::size_t k = 0; k < std::min(failing.in.size(), cells.in.size()); ++k) {
        const Variable& variable = failing.node.input(int(k));
        if (!variable.is_constant() && !seen[failing.in[k]]) out.push_back({variable.node(), &cells.in[k]});
        seen[failing.in[k]] = true;
      }
    }
    for (auto& instruction : program_) {
      for (std::size_t k = 0; k < instruction.in.size(); ++k) add(instruction.node.input(int(k)), instruction.in[k]);
      for (std::size_t k = 0; k < instruction.out.size(); ++k) add(instruction.node.output(int(k)), instruction.out[k]);
    }
    return out;
  }

  // After a call: releases values owned by others and, with garbage collection, all values.
  void release(Cells& cells) const {
    cells.in.clear();
    cells.profiled = nullptr;
    cells.results.clear();
    if (!keeps_) return cells.values.clear();
    for (Index cell = 0; cell < producers_.size(); ++cell)
      if (producers_[cell] == nobody) cells.values[cell] = Array();
  }

  // Runs the instruction after all instructions that it depends on and that have not run yet.
  void demand(Index wanted, Cells& cells) const {
    cells.waiting.assign(1, wanted);
    while (!cells.waiting.empty()) {
      const Index i = cells.waiting.back();
      const Instruction& instruction = program_[i];
      if (!cells.known[instruction.out[0]]) {
        const std::size_t before = cells.waiting.size();
        push_missing(instruction, cells);
        if (cells.waiting.size() != before) continue;
        step(i, cells);
      }
      cells.waiting.pop_back();
    }
  }

  void push_missing(const Instruction& instruction, Cells& cells) const {
    const auto push = [&](Index cell) {
      if (!cells.known[cell]) cells.waiting.push_back(producers_[cell]);
    };
    if (!instruction.lazy) {
      for (auto cell : instruction.in) push(cell);
      return;
    }
    const std::size_t before = cells.waiting.size();
    for (auto input : needed_first(instruction.node, *instruction.lazy)) push(instruction.in[std::size_t(input)]);
    if (cells.waiting.size() != before) return;
    read(instruction, cells);
    const auto alternatives = instruction.lazy->alternatives(instruction.node);
    for (auto input : alternatives.at(instruction.lazy->chosen(instruction.node, cells.in)))
      push(instruction.in[std::size_t(input)]);
    cells.in.clear();
  }

  void read(const Instruction& instruction, Cells& cells) const {
    cells.in.clear();
    for (auto cell : instruction.in) cells.in.push_back(cells.values[cell]);
  }

  void step(Index i, Cells& cells) const {
    const Instruction& instruction = program_[i];
    read(instruction, cells);
    for (auto cell : instruction.in)
      if (--cells.readers[cell] == 0 && !keeps_) cells.values[cell] = Array();
    if (keeps_)  // the memory is about to become the result's, and is kept there
      for (int input : instruction.destroyed)
        if (const Index cell = instruction.in[std::size_t(input)]; cells.readers[cell] == 0)
          cells.values[cell] = Array();
    std::vector<Array> before;
    if (keeps_)
      for (auto cell : instruction.out) before.push_back(std::exchange(cells.values[cell], Array()));
    cells.results.resize(instruction.codes.size());
    for (auto& each : cells.results) each.clear();
    Step step(*this, i, cells.in, std::move(before), cells.results);
    if (cells.profiled) cells.profiled->begin_node();
    if (linker_.wrapper) {
      linker_.wrapper(step);
      if (step.outputs(0).empty()) not_run(instruction.node);
    } else {
      step.run(0);
    }
    if (cells.profiled)
      cells.profiled->end_node({i, instruction.in, instruction.out, cells.in, cells.results[0]},
                               [&](Index cell) { return cells.readers[cell] == 0 && !keeps_; });
    for (std::size_t k = 0; k < instruction.out.size(); ++k) {
      const Index cell = instruction.out[k];
      cells.known[cell] = true;
      if (cells.readers[cell] || keeps_) cells.values[cell] = std::move(cells.results[0][k]);
    }
    cells.in.clear();
  }

  [[noreturn]] void not_run(const Apply& node) const {
    ValueError error("the wrapper has not run a node: it must call run() for every node");
    add_node_context(error, node, {});
    throw error;
  }

  class Step final : public NodeStep {
   public:
    Step(const Machine& machine, Index i, std::span<Array> in, std::vector<Array> before,
         std::vector<std::vector<Array>>& results)
        : NodeStep(machine.graph_, i, machine.program_[i].node, in, machine.program_[i].codes.size()),
          instruction_(machine.program_[i]),
          in_(in),
          is_watched_(bool(machine.linker_.wrapper)),
          before_(std::move(before)),
          results_(results) {}

    void run(std::size_t linker) override {
      const NodeCode& code = instruction_.codes.at(linker);
      if (code.thunk) {
        std::vector<View> views;
        for (auto input : code.inputs) views.push_back(view_of(inputs[input]));
        std::vector<Array> out = results_[linker].empty() && linker == 0 ? std::move(before_) : std::vector<Array>();
        out.resize(node.output_count());
        ReusingReceiver receiver(out);
        code.thunk->run(views, receiver);
        results_[linker] = std::move(out);
        return;
      }
      std::vector<Array> own;  // copies, for an op that destroys values with other readers
      for (int input : instruction_.destroyed) {
        Array& value = in_[std::size_t(input)];
        if (!is_watched_ && value.is_unique() && has_no_repeats(value)) continue;
        if (own.empty()) own.assign(in_.begin(), in_.end());
        own[std::size_t(input)] = value.copy();
      }
      std::vector<Array> out(node.output_count());
      evaluate_node(node, own.empty() ? std::span<const Array>(in_) : own, out);
      results_[linker] = std::move(out);
    }
    std::span<const Array> outputs(std::size_t linker) const override { return results_.at(linker); }

   private:
    const Instruction& instruction_;
    const std::span<Array> in_;
    const bool is_watched_;
    std::vector<Array> before_;                 // left over from the previous call
    std::vector<std::vector<Array>>& results_;  // per node linker
  };

  // Results are the caller's own: never views of inputs, constants or one another.
  std::vector<Array> results(const Cells& cells, std::span<const Array> inputs, std::span<const Index> outputs) const {
    std::vector<Array> out;
    for (auto cell : outputs) {
      const Array& value = cells.values[cell];
      const auto shares = [&](const Array& other) { return value.shares_memory_with(other); };
      bool shared = value.size() == 0;  // memory can't be compared without elements
      for (auto& input : inputs) shared |= shares(input);
      for (auto& [constant_cell, variable] : constants_) shared |= shares(*variable.constant());
      for (auto& earlier : out) shared |= shares(earlier);
      out.push_back(shared ? value.copy() : value.contiguous());
    }
    return out;
  }

  LinkedGraph graph_;
  Linker linker_;
  std::vector<Instruction> program_;
  std::vector<Index> producers_;  // per cell: the instruction that writes it
  std::vector<std::pair<Index, Variable>> constants_;
  std::vector<Index> outputs_;
  Plan all_;
  std::unordered_set<const ApplyNode*> by_perform_;  // nodes without native code, for `opwise`
  std::unique_ptr<NodeProfiler> profiler_;           // with `profile`
  const bool keeps_;
  mutable Pool<Cells> pool_{[] { return std::make_unique<Cells>(); }};
};

}  // namespace

std::unique_ptr<Thunk> link_nodes(const LinkedGraph& graph, const Linker& linker, const LinkOptions& options) {
  return std::make_unique<Machine>(graph, linker, options);
}

}  // namespace bitale::link
