#include "codegen/c/kernel.hpp"

#include "bitale/core/text.hpp"
#include "codegen/c/emit.hpp"
#include "codegen/generate.hpp"
#include "codegen/schedule.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen::c {

namespace {

using program::Role;

// runtime/frame.hpp, in C.
constexpr std::string_view frame_text = R"(#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// What one call sees: the elements and lengths of all buffers, and how to ask for more.
struct frame {
  void **data;
  int64_t *lengths;
  int32_t (*allocate)(struct frame *frame, int64_t buffer, int64_t count);
  int32_t (*host_call)(struct frame *frame, int64_t callback);
  int64_t threads, in_small_chunks, stream_from;
  void *spill_area;
  int32_t (*poll)(struct frame *frame);
};

)";

class KernelEmitter final : public Emitter {
 public:
  KernelEmitter(const program::Program& program, Support& support)
      : Emitter(program, support), offsets_(program::length_offsets(program)) {}

  std::string function() {
    std::string start;
    for (std::size_t b = 0; b < program().buffers.size(); ++b) {
      const Role role = program().buffers[b].role;
      const auto id = std::int64_t(b);
      if (role != Role::input && role != Role::constant) continue;
      start += cat("  ", pointer(id, cat("frame->data[", b, "]")), ";\n");
      start += cat("  (void)", data_name(id), ";\n");
    }
    const std::string body = statements();
    return cat("int32_t ", entry_name, "(struct frame *frame) {\n", start, body, "  return 0;\n}\n");
  }

 private:
  std::string length(std::int64_t buffer, int axis) override {
    return cat("frame->lengths[", offsets_[std::size_t(buffer)] + axis, "]");
  }
  void allocate(std::int64_t id) override {
    const auto& lengths = buffer(id).shape;
    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
      line(cat(length(id, int(axis)), " = ", text_of(lengths[axis]), ";"));
    if (buffer(id).on_stack)
      line(cat("frame->data[", id, "] = ", stack_memory(id), ";"));
    else  // memory that the caller provides for a result is not requested again
      line(cat("if (", buffer(id).role == Role::output ? cat("!frame->data[", id, "] && ") : std::string(),
               "frame->allocate(frame, ", id, ", 1) != 0) return ", runtime::failed_in_host, ";"));
    take(id);
  }
  void host_call(const program::HostCall& step) override {
    line(cat("// ", program().callbacks[std::size_t(step.callback)]));
    line(cat("if (frame->host_call(frame, ", step.callback, ") != 0) return ", runtime::failed_in_host, ";"));
    for (auto id : step.outputs) take(id);
  }
  std::string poll() override { return cat("frame->poll(frame) != 0) return ", runtime::interrupted); }
  void declare(const std::string& function, const std::string& prototype) override {
    support().add(function, prototype);
  }
  std::string failure(int check) override { return std::to_string(check + 1); }

  // Declares a buffer's pointer, and marks it as used: not every buffer is.
  void take(std::int64_t id) {
    line(cat(pointer(id, cat("frame->data[", id, "]")), ";"));
    line(cat("(void)", data_name(id), ";"));
  }

  std::vector<std::int64_t> offsets_;
};

std::string commented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string one(text.substr(0, end));
    while (!one.empty() && one.back() == '\\') one.pop_back();
    out += cat("// ", one, "\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::string kernel_text(const program::Program& program, const Target& target) {
  Support support;
  const program::Program own = scheduled(program, target.vector_bytes);
  const std::string function = KernelEmitter(own, support).function();
  return cat(commented(program::to_string(program)), "\n", frame_text, support.text(), function);
}

}  // namespace bitale::codegen::c
