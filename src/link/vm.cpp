// The virtual machine: runs each op's perform in dependency order and frees values when nobody needs them any more.
// It is slow, needs no code generation, and is the oracle for everything else. An op may destroy what nobody reads any
// more; anything else that it declares to destroy it gets as a copy.
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "graph/aliasing.hpp"
#include "graph/evaluate.hpp"
#include "link/linker.hpp"

namespace bitale::link {

namespace {

// One node: which cells it reads and writes, which of its inputs it gets as copies, and which cells are dead
// afterwards.
struct Instruction {
  Apply node;
  std::vector<std::size_t> in, out, copied, dead;
};

class VmThunk final : public Thunk {
 public:
  explicit VmThunk(const FunctionGraph& graph) {
    for (auto& input : graph.inputs()) {
      cell_of(input);
      input_types_.push_back(input.type());
    }
    const std::vector<Apply> order = graph.toposort();
    const Aliasing aliasing(graph, order);
    for (std::size_t position = 0; position < order.size(); ++position) {
      const Apply& node = order[position];
      Instruction instruction{node, {}, {}, {}, {}};
      for (int i : destroyed_inputs(node))
        if (!aliasing.may_destroy(position, i)) instruction.copied.push_back(std::size_t(i));
      for (auto& input : node.inputs()) instruction.in.push_back(cell_of(input));
      for (auto& output : node.outputs()) instruction.out.push_back(cell_of(output));
      program_.push_back(std::move(instruction));
    }
    for (auto& output : graph.outputs()) outputs_.push_back(cell_of(output));
    find_dead(graph.inputs().size());
    cells_.clear();
  }

  using Thunk::run;
  bool writes_last() const override { return false; }
  void run(std::span<const View> views, Receiver& receiver) const override {
    std::vector<Array> inputs;
    for (std::size_t i = 0; i < views.size(); ++i) {
      const TensorType& type = *as_tensor(input_types_[i]);
      inputs.push_back(borrow(views[i], type.dtype, type.ndim()));
    }
    receiver.begin(views, true);
    std::vector<Array> results = evaluate(inputs);
    for (std::size_t i = 0; i < results.size(); ++i) receiver.receive(int(i), std::move(results[i]));
  }

  std::string text(std::string_view stage) const override {
    throw ValueError(cat("linker vm has no stage `", stage, "`; its only stage is graph"));
  }

 private:
  std::vector<Array> evaluate(std::span<const Array> inputs) const {
    std::vector<Array> cells(cell_count_);
    for (std::size_t i = 0; i < inputs.size(); ++i) cells[i] = inputs[i];
    for (auto& [cell, value] : constants_) cells[cell] = value;
    std::vector<Array> in, out;
    for (auto& instruction : program_) {
      in.clear();
      for (auto cell : instruction.in) in.push_back(cells[cell]);
      for (auto i : instruction.copied) in[i] = in[i].copy();
      out.assign(instruction.out.size(), Array());
      evaluate_node(instruction.node, in, out);
      for (std::size_t k = 0; k < out.size(); ++k) cells[instruction.out[k]] = std::move(out[k]);
      for (auto cell : instruction.dead) cells[cell] = Array();
    }
    return results(cells, inputs);
  }

  std::size_t cell_of(const Variable& variable) {
    auto [it, is_new] = cells_.try_emplace(variable.node(), cell_count_);
    if (is_new) {
      if (auto* value = variable.constant()) constants_.emplace_back(cell_count_, *value);
      ++cell_count_;
    }
    return it->second;
  }

  // A cell dies with its last reader, unless it is an output, an input or a constant.
  void find_dead(std::size_t input_count) {
    std::vector<bool> kept(cell_count_, false);
    for (std::size_t i = 0; i < input_count; ++i) kept[i] = true;
    for (auto& [cell, value] : constants_) kept[cell] = true;
    for (auto cell : outputs_) kept[cell] = true;
    for (auto it = program_.rbegin(); it != program_.rend(); ++it)
      for (const auto* cells : {&it->in, &it->out})
        for (auto cell : *cells) {
          if (kept[cell]) continue;
          kept[cell] = true;
          it->dead.push_back(cell);
        }
  }

  // Results are the caller's own: never views of inputs, constants or one another.
  std::vector<Array> results(const std::vector<Array>& cells, std::span<const Array> inputs) const {
    std::vector<Array> out;
    for (auto cell : outputs_) {
      Array value = cells[cell];
      const auto shares = [&](const Array& other) { return value.shares_memory_with(other); };
      bool shared = value.size() == 0;  // has no elements to tell by
      for (auto& input : inputs) shared |= shares(input);
      for (auto& [constant_cell, constant] : constants_) shared |= shares(constant);
      for (auto& earlier : out) shared |= shares(earlier);
      out.push_back(shared ? value.copy() : value.contiguous());
    }
    return out;
  }

  std::vector<Type> input_types_;
  std::vector<Instruction> program_;
  std::vector<std::pair<std::size_t, Array>> constants_;
  std::vector<std::size_t> outputs_;
  std::size_t cell_count_ = 0;
  std::unordered_map<VariableNode*, std::size_t> cells_;  // while linking
};

}  // namespace

std::unique_ptr<Thunk> link_vm(const LinkedGraph& graph, const LinkOptions&) {
  return std::make_unique<VmThunk>(*graph);
}

}  // namespace bitale::link
