// The native linker: lowers the graph to one Program, has it compiled, and runs it on a frame per call. Ops without
// native code are called back through their perform, inside the same function.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <unordered_set>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/code.hpp"
#include "graph/evaluate.hpp"
#include "link/linker.hpp"
#include "link/workspace.hpp"
#include "lowering/lower.hpp"

namespace bitale::link {

namespace {

using program::Buffer;
using program::Role;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

class JitThunk final : public Thunk {
 public:
  explicit JitThunk(const LinkedGraph& graph) : graph_(graph) {
    auto start = std::chrono::steady_clock::now();
    lowered_ = lowering::lower(*graph);
    times.lower = milliseconds_since(start);
    start = std::chrono::steady_clock::now();
    code_ = codegen::compile_with_llvm(lowered_.program);
    times.codegen = milliseconds_since(start);
    offsets_ = program::length_offsets(lowered_.program);
    pool_ = std::make_unique<WorkspacePool>(buffers().size(), std::size_t(offsets_.back()),
                                            std::size_t(lowered_.program.workspace_slots));
    for (std::size_t b = 0; b < buffers().size(); ++b)
      if (buffers()[b].role == Role::input) input_buffers_.push_back(b);
    for (std::size_t b = 0; b < buffers().size(); ++b)
      if (buffers()[b].role == Role::constant) constants_.emplace_back(b, buffers()[b].value.mutable_data());
    for (auto& node : lowered_.callbacks) by_host_.insert(node.node());
    for (auto& step : lowered_.program.steps)
      if (auto* host = std::get_if<program::HostCall>(&step.what)) host_steps_.push_back(*host);
    std::sort(host_steps_.begin(), host_steps_.end(), [](auto& a, auto& b) { return a.callback < b.callback; });
  }

  std::vector<Array> run(std::span<const Array> inputs) const override {
    WorkspacePool::Loan loan(*pool_);
    Call call(*this, *loan);
    std::vector<Array> copies;  // generated code reads rows one after the other
    for (std::size_t b : input_buffers_) {
      const Array& value = inputs[std::size_t(buffers()[b].slot)];
      const bool as_is = value.is_contiguous();
      if (!as_is) copies.push_back(value.contiguous());
      call.workspace.data[b] = as_is ? value.mutable_data() : copies.back().mutable_data();
      for (int axis = 0; axis < value.ndim(); ++axis)
        call.workspace.lengths[std::size_t(offsets_[b] + axis)] = value.shape(axis);
    }
    set_constants(call.workspace);
    call.outputs.resize(std::size_t(lowered_.program.output_count));
    if (const auto status = code_->entry()(&call.frame.self)) fail(call, status, inputs);
    return std::move(call.outputs);
  }

  double run_scalars(std::span<const double> inputs) const override {
    WorkspacePool::Loan loan(*pool_);
    Call call(*this, *loan);
    for (std::size_t b : input_buffers_)
      call.workspace.data[b] = const_cast<double*>(&inputs[std::size_t(buffers()[b].slot)]);
    set_constants(call.workspace);
    double result = 0;
    call.scalar = &result;
    if (const auto status = code_->entry()(&call.frame.self)) {
      const std::vector<Array> arrays(inputs.begin(), inputs.end());
      fail(call, status, arrays);
    }
    return result;
  }

  std::string note(const Apply& node) const override {
    return by_host_.count(node.node()) ? "(host callback to perform)" : "";
  }

  std::string text(std::string_view stage) const override {
    if (stage == "program") return program::to_string(lowered_.program);
    if (stage == "llvm") return code_->text();
    throw ValueError(cat("linker jit has no stage `", stage, "`; its stages are graph, program and llvm"));
  }

 private:
  // One call: the frame that generated code sees, with what the host needs to serve it.
  struct Call {
    Call(const JitThunk& thunk, Workspace& workspace) : thunk(thunk), workspace(workspace) {
      frame.self.data = workspace.data.data();
      frame.self.lengths = workspace.lengths.data();
      frame.self.allocate = [](runtime::Frame* f, std::int64_t buffer) {
        return of(f).guard([&](Call& c) { c.allocate(buffer); });
      };
      frame.self.host_call = [](runtime::Frame* f, std::int64_t callback) {
        return of(f).guard([&](Call& c) { c.host_call(callback); });
      };
      frame.call = this;
    }
    struct LinkedFrame {
      runtime::Frame self;  // first: generated code is given its address
      Call* call;
    };
    static Call& of(runtime::Frame* f) { return *reinterpret_cast<LinkedFrame*>(f)->call; }

    // Exceptions must not travel through generated code.
    template <class Action>
    std::int32_t guard(Action&& action) {
      try {
        action(*this);
        return 0;
      } catch (...) {
        error = std::current_exception();
        return runtime::failed_in_host;
      }
    }

    Dims shape_of(std::int64_t buffer) const {
      const std::int64_t* lengths = workspace.lengths.data() + thunk.offsets_[std::size_t(buffer)];
      return Dims(std::span(lengths, std::size_t(thunk.buffers()[std::size_t(buffer)].ndim())));
    }

    void allocate(std::int64_t id) {
      const Buffer& buffer = thunk.buffers()[std::size_t(id)];
      void*& data = workspace.data[std::size_t(id)];
      if (buffer.role == Role::output) {
        if (scalar) {
          data = scalar;
          return;
        }
        Array& output = outputs[std::size_t(buffer.slot)];
        output = Array::empty(buffer.dtype, shape_of(id));
        data = output.mutable_data();
        return;
      }
      Array& block = workspace.blocks[std::size_t(buffer.slot)];
      const Dims shape = shape_of(id);
      std::int64_t bytes = std::int64_t(itemsize(buffer.dtype));
      for (auto length : shape)
        if (length < 0)
          throw ValueError(cat("negative dimension ", length, " in ", buffer.name));
        else if (__builtin_mul_overflow(bytes, length, &bytes))
          throw OutOfMemoryError(cat("a temporary of shape ", tuple_text(shape), " does not fit in memory"));
      if (block.nbytes() < bytes || block.dtype() != DType::UInt8) block = Array::empty(DType::UInt8, Dims{bytes});
      data = block.mutable_data();
    }

    void host_call(std::int64_t callback) {
      const Apply& node = thunk.lowered_.callbacks[std::size_t(callback)];
      const auto& steps = thunk.host_steps_.at(std::size_t(callback));
      std::vector<Array> in, out(node.output_count());
      for (auto b : steps.inputs) {
        const Buffer& buffer = thunk.buffers()[std::size_t(b)];
        const Dims shape = shape_of(b);
        in.push_back(Array::borrow(workspace.data[std::size_t(b)], buffer.dtype, shape,
                                   contiguous_strides(shape, itemsize(buffer.dtype)), nullptr, false));
      }
      evaluate_node(node, in, out);
      for (std::size_t k = 0; k < out.size(); ++k) {
        const bool is_view = !node.op().view_of(node, int(k)).empty();
        const std::int64_t b = steps.outputs[k];
        Array value = is_view ? out[k].copy() : out[k].contiguous();
        const TensorType& type = node.output(int(k)).tensor();
        value = filter(type, value, true);
        for (int axis = 0; axis < value.ndim(); ++axis)
          workspace.lengths[std::size_t(thunk.offsets_[std::size_t(b)] + axis)] = value.shape(axis);
        workspace.data[std::size_t(b)] = value.mutable_data();
        const Buffer& buffer = thunk.buffers()[std::size_t(b)];
        if (buffer.role != Role::output)
          workspace.held[std::size_t(b)] = value;
        else if (scalar)
          *scalar = value.item();
        else
          outputs[std::size_t(buffer.slot)] = value;
      }
    }

    const JitThunk& thunk;
    Workspace& workspace;
    LinkedFrame frame;
    std::vector<Array> outputs;
    double* scalar = nullptr;  // where the only output goes, without an Array
    std::exception_ptr error;
  };

  const std::vector<Buffer>& buffers() const { return lowered_.program.buffers; }

  void set_constants(Workspace& workspace) const {
    for (auto& [b, data] : constants_) workspace.data[b] = data;
  }

  // Native code only says which check failed. The interpreter, run on the same inputs, says it in full.
  [[noreturn]] void fail(Call& call, std::int32_t status, std::span<const Array> inputs) const {
    if (status == runtime::failed_in_host) std::rethrow_exception(call.error);
    std::call_once(vm_once_, [&] { vm_ = link_vm(graph_); });
    vm_->run(inputs);
    ShapeError error(lowered_.program.checks[std::size_t(status - 1)]);
    add_node_context(error, lowered_.check_nodes[std::size_t(status - 1)], {});
    throw error;
  }

  LinkedGraph graph_;
  lowering::Lowered lowered_;
  std::unique_ptr<codegen::Code> code_;
  std::vector<std::int64_t> offsets_;
  std::unique_ptr<WorkspacePool> pool_;
  std::vector<std::size_t> input_buffers_;
  std::vector<std::pair<std::size_t, void*>> constants_;
  std::vector<program::HostCall> host_steps_;
  std::unordered_set<ApplyNode*> by_host_;
  mutable std::once_flag vm_once_;
  mutable std::unique_ptr<Thunk> vm_;
};

}  // namespace

std::unique_ptr<Thunk> link_jit(const LinkedGraph& graph) { return std::make_unique<JitThunk>(graph); }

}  // namespace bitale::link
