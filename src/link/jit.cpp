// The native linker lowers the graph to one Program, has it compiled, and runs it on one Frame per call. Ops without
// native code are called back through their perform from inside the same function.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "codegen/code.hpp"
#include "codegen/schedule.hpp"
#include "core/compile_stage.hpp"
#include "graph/evaluate.hpp"
#include "graph/interpreted.hpp"
#include "link/arrangement.hpp"
#include "link/branches.hpp"
#include "link/direct.hpp"
#include "link/effort.hpp"
#include "link/explain_failure.hpp"
#include "link/failing.hpp"
#include "link/host_outputs.hpp"
#include "link/inner_choices.hpp"
#include "link/inner_graphs.hpp"
#include "link/linker.hpp"
#include "link/profiler.hpp"
#include "link/workspace.hpp"
#include "lowering/lower.hpp"
#include "program/steps.hpp"
#include "runtime/caches.hpp"
#include "runtime/threads.hpp"

namespace bitale::link {

namespace {

using program::Buffer;
using program::Role;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Whether all host calls are of ops in an interpreter, and return scalars: then all other lengths are those of inputs.
bool calls_back_for_scalars(std::span<const Apply> callbacks) {
  return std::all_of(callbacks.begin(), callbacks.end(), [](const Apply& node) {
    bool are_scalars = dynamic_cast<const Interpreted*>(&node.op()) != nullptr;
    for (auto& output : node.outputs()) {
      const TensorType* type = as_tensor(output.type());
      are_scalars &= type && type->ndim() == 0;
    }
    return are_scalars;
  });
}

class JitThunk final : public Thunk {
 public:
  JitThunk(const LinkedGraph& graph, const LinkOptions& options, const codegen::Generator& generator,
           lowering::InputLayouts layouts = {})
      : graph_(graph),
        options_(options),
        generator_(generator),
        threads_(options.eager_threads ? options.threads : std::min(options.threads, runtime::processor_count())),
        layouts_(std::move(layouts)) {
    auto start = std::chrono::steady_clock::now();
    {
      const CompileStageScope stage("lowering", graph->node_count());
      lowered_ = lowering::lower(*graph, layouts_, threads_ > 1);
    }
    times.lower = milliseconds_since(start);
    start = std::chrono::steady_clock::now();
    if (options.profile) profiler_ = std::make_unique<Profiler>(lowered_, *graph);
    const CompileStageScope stage("generating code", graph->node_count());
    code_ =
        codegen::compile(profiler_ ? profiler_->program() : lowered_.program, target(), generator_, options_.cached);
    times.codegen = milliseconds_since(start);
    times.generate = code_->generating();
    times.code = codegen::name_of(code_->origin());
    offsets_ = program::length_offsets(lowered_.program);
    for (std::size_t b = 0; b < buffers().size(); ++b)
      if (buffers()[b].role == Role::input) {
        const TensorType& type = graph->inputs()[std::size_t(buffers()[b].slot)].storage();
        inputs_.push_back({b, std::size_t(buffers()[b].slot), std::size_t(offsets_[b]), type.ndim(),
                           std::int64_t(itemsize(type.dtype)), type.dtype});
      }
    for (auto& output : graph->outputs()) output_dtypes_.push_back(output.storage().dtype);
    layouts_.resize(inputs_.size());
    const auto in_passing = read_in_passing(lowered_.program);
    for (auto& input : inputs_) input.in_passing = in_passing[input.buffer] && !is_complex(input.dtype);
    for (std::size_t b = 0; b < buffers().size(); ++b)
      if (buffers()[b].role == Role::output) results_.push_back(b);
    writes_last_ = link::writes_last(lowered_.program);
    if (threads_ == 1 && !profiler_) direct_ = DirectCode::of(lowered_, *graph, code_->tier(), stream_from_);
    short_call_length_ = link::short_call_length(lowered_.program, !calls_back_for_scalars(lowered_.callbacks));
    for (auto& node : lowered_.callbacks) host_nodes_.insert(node.node());
    for (auto& step : lowered_.program.steps)
      if (auto* host = program::as_host_call(step)) host_steps_.push_back(*host);
    std::sort(host_steps_.begin(), host_steps_.end(), [](auto& a, auto& b) { return a.callback < b.callback; });
  }

  bool writes_last() const override { return writes_last_; }
  const DirectCode* direct() const override { return direct_ ? &*direct_ : nullptr; }

  using Thunk::run;
  void run(std::span<const View> inputs, Receiver& results) const override {
    bool is_long = short_call_length_ < 0, in_rows = true;
    for (auto& input : inputs_) {
      const View& view = inputs[input.slot];
      for (int axis = 0; axis < input.ndim; ++axis) is_long |= view.shape[axis] > short_call_length_;
      in_rows &= is_contiguous(view, input.ndim, input.itemsize);
    }
    if (in_rows) {
      results.begin(inputs, is_long);
      const auto status = direct_ && !is_long ? direct_->run(inputs, results) : std::nullopt;
      if (!status) return execute(inputs, {}, results);
      if (*status) fail(*status, inputs);
      return;
    }
    const Arrangements arrangements = arrange_inputs(inputs);
    Strided* strided = note_strides(inputs, arrangements);
    results.begin(inputs, is_long || (strided && strided->state == Strided::State::compiling));
    const JitThunk* entry = strided ? entry_for(*strided) : nullptr;
    (entry ? entry : this)->execute(inputs, arrangements, results);
  }

  void free() const override {
    pool_.clear();
    std::lock_guard lock(strides_mutex_);
    for (auto& strided : strided_)
      if (strided.thunk) strided.thunk->free();
  }
  Measured measured() const override {
    Measured out;
    if (!profiler_) return out;
    profiler_->add_to(out, false);
    std::lock_guard lock(strides_mutex_);
    for (auto& strided : strided_)
      if (strided.thunk) strided.thunk->profiler_->add_to(out, true);
    if (!counterparts_.empty()) map_to_user_nodes(out);
    return out;
  }
  std::string note(const Apply& node) const override {
    const auto found = counterparts_.find(node.node());
    ApplyNode* const own = found == counterparts_.end() ? node.node() : found->second;
    if (!host_nodes_.count(own)) return "";
    return is_inner_call(*own->op) ? "a function of its own" : "host callback to perform";
  }
  // For the user's nodes, those of the linked graph that stand for them.
  void set_counterparts(std::unordered_map<const ApplyNode*, ApplyNode*> nodes) { counterparts_ = std::move(nodes); }

  std::string text(std::string_view stage) const override {
    if (stage == "program") return program::to_string(codegen::scheduled(lowered_.program, target().vector_bytes));
    if (stage == "llvm") return codegen::llvm_text(lowered_.program, target());
    if (stage == "c") return codegen::c_text(lowered_.program, target());
    throw ValueError(
        cat("linker ", generator_.linker, " has no stage `", stage, "`; its stages are graph, program, llvm and c"));
  }

 private:
  const codegen::Target& target() const {
    return options_.target.empty() ? codegen::this_target() : codegen::target_named(options_.target);
  }

  using Arrangements = std::vector<std::optional<Arrangement>>;  // per input; nullopt: C-contiguous, or copied

  void execute(std::span<const View> inputs, const Arrangements& arrangements, Receiver& results) const {
    const auto start = profiler_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    Pool<Workspace>::Loan loan(pool_);
    Workspace& workspace = *loan;
    std::vector<Array> copies;
    for (auto& input : inputs_) {
      const View& view = inputs[input.slot];
      std::int64_t* lengths = workspace.lengths.data() + input.lengths;
      if (layouts_[input.slot]) {
        const Arrangement& arrangement = *arrangements[input.slot];
        std::copy(arrangement.lengths.begin(), arrangement.lengths.end(), lengths);
        workspace.data[input.buffer] = arrangement.data;
        continue;
      }
      std::copy(view.shape, view.shape + input.ndim, lengths);
      if (is_complex(input.dtype)) lengths[input.ndim] = 2;
      const bool as_is = is_contiguous(view, input.ndim, input.itemsize);
      if (!as_is) copies.push_back(borrow(view, input.dtype, input.ndim).copy());
      workspace.data[input.buffer] = as_is ? view.data : copies.back().mutable_data();
    }
    for (auto buffer : results_) workspace.data[buffer] = nullptr;
    Call call(*this, workspace, results);
    std::optional<runtime::ThreadBudget> budget;  // for products of matrices
    if (threads_ > 1) budget.emplace(threads_);
    if (profiler_) return run_profiled(call, inputs, start);
    if (const auto status = code_->run(&call.frame.self)) fail(call, status, inputs);
  }

  // ---- other strides ----
  // Inputs that are not C-contiguous are copied, until the copies have cost as much as generating code that reads such
  // inputs in place.
  struct Strided {
    enum class State { copying, compiling, ready };
    lowering::InputLayouts layouts;
    State state = State::copying;
    double copied = 0;  // bytes
    std::unique_ptr<JitThunk> thunk;
  };
  static constexpr std::size_t max_entries = 8;
  static constexpr double bytes_per_millisecond = 1e6;  // of copies from strided memory

  Arrangements arrange_inputs(std::span<const View> inputs) const {
    Arrangements found(inputs.size());
    for (auto& input : inputs_) {
      const View& view = inputs[input.slot];
      if (input.in_passing && !is_contiguous(view, input.ndim, input.itemsize))
        found[input.slot] = arrange(view, input.ndim, input.itemsize);
    }
    return found;
  }

  // The record of inputs with such strides, or null when they are to be copied. The caller that gets a record in state
  // `compiling` compiles the code.
  Strided* note_strides(std::span<const View> inputs, const Arrangements& arrangements) const {
    lowering::InputLayouts layouts;
    double bytes = 0;
    for (auto& arrangement : arrangements) {
      layouts.emplace_back();
      if (arrangement) layouts.back() = arrangement->layout;
    }
    for (auto& input : inputs_) {
      if (!arrangements[input.slot]) continue;
      double size = double(input.itemsize);
      for (int axis = 0; axis < input.ndim; ++axis) size *= double(inputs[input.slot].shape[axis]);
      bytes += size;
    }
    if (bytes == 0) return nullptr;
    std::lock_guard lock(strides_mutex_);
    auto found = std::find_if(strided_.begin(), strided_.end(), [&](auto& each) { return each.layouts == layouts; });
    if (found == strided_.end()) {
      if (strided_.size() == max_entries) return nullptr;
      strided_.emplace_back().layouts = std::move(layouts);
      found = std::prev(strided_.end());
    }
    if (found->state == Strided::State::compiling) return nullptr;
    found->copied += bytes;
    const double budget = (times.lower + times.codegen) * bytes_per_millisecond;
    if (found->state == Strided::State::copying) {
      if (found->copied < budget && !options_.eager_strides) return nullptr;
      found->state = Strided::State::compiling;
    }
    return &*found;
  }

  const JitThunk* entry_for(Strided& strided) const {
    if (strided.state == Strided::State::compiling) {
      std::unique_ptr<JitThunk> thunk;
      try {
        thunk = std::make_unique<JitThunk>(graph_, options_, generator_, strided.layouts);
      } catch (const codegen::MissingGenerator&) {
        // This thunk's code came from the cache and no generator is available: inputs are copied.
      }
      std::lock_guard lock(strides_mutex_);
      strided.thunk = std::move(thunk);
      strided.state = Strided::State::ready;
    }
    return strided.thunk && strided.thunk->writes_last_ == writes_last_ ? strided.thunk.get() : nullptr;
  }

  // What a call needs to know of an input without a lookup.
  struct InputBuffer {
    std::size_t buffer, slot, lengths;  // the last: the offset of its lengths in the frame
    int ndim;
    std::int64_t itemsize;
    DType dtype;
    bool in_passing = false;  // each element is read about once: a copy doesn't pay off
  };

  // One call: the frame that generated code sees, and what the host needs to serve its callbacks.
  struct Call {
    Call(const JitThunk& thunk, Workspace& workspace, Receiver& results)
        : thunk(thunk), workspace(workspace), results(results) {
      frame.self.data = workspace.data.data();
      frame.self.lengths = workspace.lengths.data();
      frame.self.threads = thunk.threads_;
      frame.self.in_small_chunks = thunk.options_.eager_threads;
      frame.self.allocate = [](runtime::Frame* f, std::int64_t buffer, std::int64_t count) {
        return of(f).guard([&](Call& c) {
          for (std::int64_t k = 0; k < count; ++k) {
            if (k > 0) c.take_lengths(buffer + k, buffer);
            c.allocate_for_node(buffer + k);
          }
        });
      };
      frame.self.host_call = [](runtime::Frame* f, std::int64_t callback) {
        return of(f).guard([&](Call& c) { c.host_call(callback); });
      };
      frame.self.stream_from = thunk.stream_from_;
      frame.call = this;
    }
    struct LinkedFrame {
      runtime::Frame self;  // first: generated code is given its address
      Call* call;
    };
    static Call& of(runtime::Frame* f) { return *reinterpret_cast<LinkedFrame*>(f)->call; }

    // Exceptions must not propagate through generated code.
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

    void take_lengths(std::int64_t id, std::int64_t from) {
      std::int64_t* lengths = workspace.lengths.data();
      const std::int64_t at = thunk.offsets_[std::size_t(from)], end = thunk.offsets_[std::size_t(from) + 1];
      std::copy(lengths + at, lengths + end, lengths + thunk.offsets_[std::size_t(id)]);
    }

    void allocate_for_node(std::int64_t id) {
      try {
        allocate(id);
      } catch (Error& error) {
        const auto& makers = thunk.lowered_.makers;
        const auto writes = [&](auto& maker) { return maker.buffer == id; };
        const auto found = std::find_if(makers.begin(), makers.end(), writes);
        if (found != makers.end()) add_node_context(error, found->node, {});
        throw;
      }
    }

    void allocate(std::int64_t id) {
      const Buffer& buffer = thunk.buffers()[std::size_t(id)];
      void*& data = workspace.data[std::size_t(id)];
      if (buffer.role == Role::output) {
        const auto at = std::size_t(thunk.offsets_[std::size_t(id)]);
        const DType dtype = thunk.output_dtypes_[std::size_t(buffer.slot)];
        const std::size_t rank = std::size_t(buffer.ndim()) - is_complex(dtype);
        data = results.allocate(buffer.slot, dtype, std::span(workspace.lengths).subspan(at, rank));
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
      if (buffer.per_worker) bytes = runtime::worker_stride(bytes) * thunk.threads_;
      if (block.nbytes() < bytes || block.dtype() != DType::UInt8) {
        block = Array();  // releases its memory before the larger block is allocated
        try {
          block = Array::empty(DType::UInt8, Dims{bytes});
        } catch (OutOfMemoryError& error) {
          error.add("temporary", cat(dtype_name(buffer.dtype), " of shape ", tuple_text(shape)));
          throw;
        }
      }
      data = block.mutable_data();
    }

    void host_call(std::int64_t callback) {
      const Apply& node = thunk.lowered_.callbacks[std::size_t(callback)];
      const auto& steps = thunk.host_steps_.at(std::size_t(callback));
      std::vector<Array> in, out(node.output_count());
      in.reserve(steps.inputs.size());
      for (auto b : steps.inputs) {
        const Buffer& buffer = thunk.buffers()[std::size_t(b)];
        const Dims shape = shape_of(b);
        const Dims strides = contiguous_strides(shape, itemsize(buffer.dtype));
        in.push_back(borrow_value(*node.inputs()[in.size()].type(),
                                  {workspace.data[std::size_t(b)], shape.data(), strides.data()}));
      }
      copy_destroyed(node, in);  // the buffers have other readers
      evaluate_node(node, in, out);
      for (std::size_t k = 0; k < steps.outputs.size(); ++k) {
        const bool is_view = !node.op().view_of(node, int(k)).empty();
        const std::int64_t b = steps.outputs[k];
        Array value = is_view ? out[k].copy() : out[k].contiguous();
        const TypeBase& type = *node.node()->outputs[k].type;
        if (!type.is_valid_value(value)) value = type.filter(value, Strict::Yes, Downcast::Never);
        std::int64_t* lengths = workspace.lengths.data() + thunk.offsets_[std::size_t(b)];
        for (int axis = 0; axis < value.ndim(); ++axis) lengths[axis] = value.shape(axis);
        if (is_complex(value.dtype())) lengths[value.ndim()] = 2;
        const Buffer& buffer = thunk.buffers()[std::size_t(b)];
        void*& data = workspace.data[std::size_t(b)];
        if (buffer.role == Role::output) {
          data = results.receive(buffer.slot, std::move(value));
        } else {
          data = value.mutable_data();
          workspace.held[std::size_t(b)] = std::move(value);
        }
      }
    }

    const JitThunk& thunk;
    Workspace& workspace;
    LinkedFrame frame;
    Receiver& results;
    std::exception_ptr error;
  };

  void run_profiled(Call& call, std::span<const View> inputs, std::chrono::steady_clock::time_point start) const {
    runtime::ProbeRecord record = profiler_->new_record();
    std::int32_t status;
    {
      const runtime::ProbeScope scope(record);
      status = code_->run(&call.frame.self);
    }
    if (status) fail(call, status, inputs);
    const double seconds = 1e-3 * milliseconds_since(start);
    std::int64_t temporaries = 0, results = 0;
    for (auto& block : call.workspace.blocks)
      if (block.dtype() == DType::UInt8) temporaries += block.nbytes();
    for (auto& step : host_steps_)
      for (auto b : step.outputs)
        if (buffers()[std::size_t(b)].role == Role::temporary)
          temporaries += call.workspace.held[std::size_t(b)].nbytes();
    for (std::size_t b = 0; b < buffers().size(); ++b) {
      const Buffer& buffer = buffers()[b];
      if (buffer.role != Role::output) continue;
      std::int64_t bytes = std::int64_t(itemsize(buffer.dtype));
      for (auto length : call.shape_of(std::int64_t(b))) bytes *= length;
      results += bytes;
    }
    profiler_->add(record, seconds, temporaries, results);
  }

  // A node of the linked graph may stand for several of the user's nodes.
  void map_to_user_nodes(Measured& measured) const {
    std::unordered_multimap<const ApplyNode*, const ApplyNode*> users;
    for (auto& [users_node, node] : counterparts_) users.emplace(node, users_node);
    for (auto& part : measured.parts) {
      std::vector<Apply> nodes;
      for (auto& node : part.nodes) {
        const auto [begin, end] = users.equal_range(node.node());
        for (auto it = begin; it != end; ++it) nodes.push_back(Apply::of(const_cast<ApplyNode*>(it->second)));
      }
      part.nodes = std::move(nodes);
    }
  }

  const std::vector<Buffer>& buffers() const { return lowered_.program.buffers; }

  std::unique_ptr<Workspace> make_workspace() const {
    auto workspace = std::make_unique<Workspace>();
    workspace->data.resize(buffers().size());
    workspace->lengths.resize(std::size_t(offsets_.back()));
    for (std::size_t b = 0; b < buffers().size(); ++b)
      if (buffers()[b].role == Role::constant) {
        workspace->data[b] = buffers()[b].value.mutable_data();
        // Generated code knows these lengths; host callbacks read them here.
        const Dims& shape = buffers()[b].value.shape();
        std::copy(shape.begin(), shape.end(), workspace->lengths.begin() + offsets_[b]);
      }
    workspace->blocks.resize(std::size_t(lowered_.program.workspace_slots));
    workspace->held.resize(buffers().size());
    return workspace;
  }

  [[noreturn]] void fail(Call& call, std::int32_t status, std::span<const View> inputs) const {
    if (status == runtime::failed_in_host) std::rethrow_exception(call.error);
    fail(status, inputs);
  }
  [[noreturn]] void fail(std::int32_t status, std::span<const View> inputs) const {
    if (status == runtime::interrupted) throw_interruption();
    if (status == runtime::no_memory) throw OutOfMemoryError("no memory for the values of a long function");
    const auto check = std::size_t(status - 1);
    explain_failure(graph_, {lowered_.check_nodes[check], lowered_.program.checks[check]}, inputs);
  }

  LinkedGraph graph_;
  LinkOptions options_;
  const codegen::Generator& generator_;
  int threads_;
  lowering::InputLayouts layouts_;  // of inputs that this code reads with other strides
  lowering::Lowered lowered_;
  std::unique_ptr<Profiler> profiler_;  // with `profile`
  std::unique_ptr<codegen::MachineCode> code_;
  std::optional<DirectCode> direct_;
  std::vector<std::int64_t> offsets_;
  mutable Pool<Workspace> pool_{[this] { return make_workspace(); }};
  std::vector<InputBuffer> inputs_;
  std::vector<std::size_t> results_;  // the buffers of results
  std::vector<DType> output_dtypes_;
  std::int64_t short_call_length_ = -1, stream_from_ = runtime::stream_from();
  bool writes_last_ = false;
  std::vector<program::HostCall> host_steps_;
  std::unordered_set<ApplyNode*> host_nodes_;
  std::unordered_map<const ApplyNode*, ApplyNode*> counterparts_;
  mutable std::mutex strides_mutex_;
  mutable std::list<Strided> strided_;
};

// Nested branches become nested functions. Branches beyond this nesting depth, or beyond these numbers, run node by
// node.
constexpr int deepest_function = 16;
struct BranchLimits {
  int functions;
  std::int64_t nodes;
};

std::unique_ptr<Thunk> link_native(const LinkedGraph& graph, const LinkOptions& options,
                                   const codegen::Generator& generator, int nested, BranchLimits& left) {
  LinkOptions of_branches = options;
  of_branches.profile = false;  // a choice is one part, with the side that it takes; so is an op with an inner graph
  const LinkBranch link_part = [&](const LinkedGraph& part) {
    const bool is_native = nested < deepest_function && left.nodes > 0 && left.functions-- > 0;
    return is_native ? link_native(part, of_branches, generator, nested + 1, left) : link_vm(part);
  };
  OutlinedBranches outline = outline_host_outputs(graph);
  const auto then = [&](OutlinedBranches next) {
    outline.graph = next.graph;
    if (outline.counterparts.empty()) std::swap(outline.counterparts, next.counterparts);
    for (auto& [users_node, node] : outline.counterparts) {
      const auto later = next.counterparts.find(node);
      if (later != next.counterparts.end()) node = later->second;
    }
  };
  then(outline_inner_choices(outline.graph, link_part, left.nodes));
  then(outline_inner_graphs(outline.graph, link_part));
  then(outline_branches(outline.graph, link_part, left.nodes));
  auto thunk = std::make_unique<JitThunk>(outline.graph, options, generator);
  thunk->set_counterparts(std::move(outline.counterparts));
  return thunk;
}
std::unique_ptr<Thunk> link_native(const LinkedGraph& graph, const LinkOptions& options,
                                   const codegen::Generator& generator) {
  BranchLimits left{.functions = 256, .nodes = branch_budget(*graph)};
  return link_native(graph, options, generator, 0, left);
}

}  // namespace

std::unique_ptr<Thunk> link_jit(const LinkedGraph& graph, const LinkOptions& options) {
  return link_native(graph, options, codegen::llvm_generator());
}

std::unique_ptr<Thunk> link_tiered(const LinkedGraph& graph, const LinkOptions& options) {
  // A profile is one of code.
  return link_native(graph, options, options.profile ? codegen::llvm_generator() : codegen::llvm_tiered_generator());
}

std::unique_ptr<Thunk> link_c(const LinkedGraph& graph, const LinkOptions& options) {
  LinkOptions alone = options;  // C code does not use threads
  alone.threads = 1;
  alone.eager_threads = false;
  return link_native(graph, alone, codegen::c_generator());
}

}  // namespace bitale::link
