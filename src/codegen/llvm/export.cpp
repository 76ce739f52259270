#include "codegen/llvm/export.hpp"

#include <cstddef>
#include <limits>

#include "bitale/core/text.hpp"
#include "codegen/freestanding.hpp"
#include "codegen/generate.hpp"
#include "codegen/llvm/library.hpp"
#include "codegen/llvm/module.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

namespace {

using program::Buffer;
using program::Role;

// Functions int32(Frame*). No C name can equal theirs, because they contain dots.
constexpr const char *call_name = "bitale.call", *sizes_name = "bitale.sizes";

std::string_view ir_type(DType dtype) {
  if (dtype == DType::Float32) return "float";
  if (dtype == DType::Float64) return "double";
  switch (itemsize(dtype)) {
    case 1: return "i8";
    case 2: return "i16";
    case 4: return "i32";
    default: return "i64";
  }
}

std::string quoted(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out = "c\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
    if (plain) {
      out += c;
    } else {
      out += '\\';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out + "\"";
}

// Writes the functions of the C header as LLVM IR.
class Wrapper {
 public:
  Wrapper(const Interface& interface, const SizesProgram& sizes)
      : interface_(interface), sizes_(sizes), offsets_(program::length_offsets(sizes.program)) {}

  std::string text() const {
    return cat("%frame = type { ptr, ptr, ptr, ptr, i64, i64, i64, ptr, ptr }\ndeclare i32 @", call_name,
               "(ptr)\ndeclare i32 @", sizes_name, "(ptr)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n",
               constants(), sizes_text(), call_text(), message_text());
  }

 private:
  const std::string& name() const { return interface_.signature.name; }
  const std::vector<Buffer>& buffers() const { return sizes_.program.buffers; }
  std::int64_t words() const { return buffers().back().shape[0].payload(); }

  std::string constants() const {
    std::string out;
    for (std::size_t b = 0; b < buffers().size(); ++b) {
      if (buffers()[b].role != Role::constant) continue;
      const Array value = buffers()[b].value.contiguous();
      const std::string_view bytes(static_cast<const char*>(value.data()),
                                   std::size_t(value.size()) * itemsize(value.dtype()));
      out += cat("@.constant", b, " = internal constant [", bytes.size(), " x i8] ", quoted(bytes), ", align 64\n");
    }
    return out;
  }

  // %i0, %i0_n0, ...
  std::string given() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < interface_.lengths.size(); ++i) {
      const auto& input = interface_.signature.inputs[i];
      out.push_back(cat(input.shape.empty() ? ir_type(input.dtype) : "ptr", " %i", i));
      for (std::size_t axis = 0; axis < input.shape.size(); ++axis) out.push_back(cat("i64 %i", i, "_n", axis));
    }
    return join(out, ", ");
  }

  // Memory of the frame; before any branch.
  std::string frame_memory() const {
    std::string out = cat("  %frame = alloca %frame, align 16\n  %data = alloca [", buffers().size(),
                          " x ptr], align 16\n  %lengths = alloca [", offsets_.back(),
                          " x i64], align 16\n  %sizes = alloca [", words(), " x i64], align 64\n");
    for (std::size_t i = 0; i < interface_.lengths.size(); ++i)
      if (interface_.signature.inputs[i].shape.empty()) {
        const std::string_view type = ir_type(interface_.signature.inputs[i].dtype);
        out += cat("  %i", i, "_at = alloca ", type, "\n  store ", type, " %i", i, ", ptr %i", i, "_at\n");
      }
    return out;
  }

  std::string set_data(std::int64_t buffer, const std::string& value) const {
    const std::string at = cat("%data", buffer);
    return cat("  ", at, " = getelementptr ptr, ptr %data, i64 ", buffer, "\n  store ptr ", value, ", ptr ", at, "\n");
  }
  std::string set_length(std::int64_t buffer, std::size_t axis, const std::string& value) const {
    const auto slot = offsets_[std::size_t(buffer)] + std::int64_t(axis);
    return cat("  %length", slot, " = getelementptr i64, ptr %lengths, i64 ", slot, "\n  store i64 ", value,
               ", ptr %length", slot, "\n");
  }
  std::string set_field(int field, std::string_view type, const std::string& value) const {
    return cat("  %field", field, " = getelementptr %frame, ptr %frame, i64 0, i32 ", field, "\n  store ", type, " ",
               value, ", ptr %field", field, "\n");
  }

  // Fills the frame with what is known before the call.
  std::string fill_frame() const {
    std::string out = set_field(0, "ptr", "%data") + set_field(1, "ptr", "%lengths") + set_field(4, "i64", "1") +
                      set_field(5, "i64", "0") +
                      set_field(6, "i64", std::to_string(std::numeric_limits<std::int64_t>::max()));
    for (std::size_t i = 0; i < interface_.lengths.size(); ++i) {
      const std::int64_t buffer = interface_.input_buffers[i];
      if (buffer < 0) continue;
      const std::size_t ndim = interface_.lengths[i].size();
      out += set_data(buffer, cat("%i", i, ndim ? "" : "_at"));
      for (std::size_t axis = 0; axis < ndim; ++axis) out += set_length(buffer, axis, cat("%i", i, "_n", axis));
    }
    for (std::size_t b = 0; b < buffers().size(); ++b) {
      if (buffers()[b].role != Role::constant) continue;
      out += set_data(std::int64_t(b), cat("@.constant", b));
      for (int axis = 0; axis < buffers()[b].value.ndim(); ++axis)
        out += set_length(std::int64_t(b), std::size_t(axis), std::to_string(buffers()[b].value.shape(axis)));
    }
    return out + set_data(sizes_.buffer, "%sizes") + cat("  call i32 @", sizes_name, "(ptr %frame)\n");
  }

  static std::string with(const std::string& given, std::string_view more) {
    return given.empty() ? std::string(more) : cat(given, ", ", more);
  }

  std::string sizes_text() const {
    return cat("define void @", name(), "_sizes(", with(given(), "ptr %size"), ") nounwind {\n", frame_memory(),
               fill_frame(), "  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %size, ptr align 8 %sizes, i64 ",
               8 * sizes_.header_words, ", i1 false)\n  ret void\n}\n");
  }

  // The address in the workspace at the offset that this word of the row holds.
  static std::string load_address(const std::string& result, std::int64_t word) {
    return cat("  ", result, "_word = getelementptr i64, ptr %sizes, i64 ", word, "\n  ", result,
               "_start = load i64, ptr ", result, "_word\n  ", result, " = getelementptr i8, ptr %workspace, i64 ",
               result, "_start\n");
  }

  std::string call_text() const {
    std::string parameters;
    for (std::size_t i = 0; i < interface_.output_names.size(); ++i) parameters += cat("ptr %o", i, ", ");
    std::string out =
        cat("define i32 @", name(), "(", with(given(), cat(parameters, "ptr %workspace")), ") nounwind {\n");
    out += frame_memory();
    int code = int(interface_.program.checks.size());
    for (auto& fixed : interface_.fixed_lengths()) {
      ++code;
      out += cat("  %fits", code, " = icmp eq i64 %i", fixed.input, "_n", fixed.axis, ", ", fixed.length,
                 "\n  br i1 %fits", code, ", label %good", code, ", label %bad", code, "\nbad", code, ":\n  ret i32 ",
                 code, "\ngood", code, ":\n");
    }
    out += fill_frame();
    out +=
        cat("  %needed = load i64, ptr %sizes\n  %needs = icmp sgt i64 %needed, 0\n"
            "  %missing = icmp eq ptr %workspace, null\n  %fails = and i1 %needs, %missing\n"
            "  br i1 %fails, label %nothing, label %something\nnothing:\n  ret i32 ",
            interface_.no_workspace(), "\nsomething:\n");
    for (std::size_t i = 0; i < interface_.output_names.size(); ++i)
      if (interface_.output_buffers[i] >= 0) out += set_data(interface_.output_buffers[i], cat("%o", i));
    std::int64_t word = sizes_.header_words;
    for (auto buffer : sizes_.with_offset) {
      out += load_address(cat("%temporary", buffer), word++);
      out += set_data(buffer, cat("%temporary", buffer));
    }
    out += load_address("%spill_area", word);
    out += set_field(7, "ptr", "%spill_area");
    return cat(out, "  %code = call i32 @", call_name, "(ptr %frame)\n  ret i32 %code\n}\n");
  }

  std::string message_text() const {
    std::vector<std::string> texts = interface_.codes(), entries;
    texts.insert(texts.begin(), "no error");
    texts.emplace_back("unknown code");
    std::string out;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      out += cat("@.message", i, " = internal constant [", texts[i].size() + 1, " x i8] ",
                 quoted(std::string_view(texts[i].c_str(), texts[i].size() + 1)), "\n");
      entries.push_back(cat("ptr @.message", i));
    }
    return cat(out, "@.messages = internal constant [", texts.size(), " x ptr] [", join(entries, ", "),
               "]\ndefine ptr @", name(), "_message(i32 %code) nounwind {\n  %known = icmp ult i32 %code, ",
               texts.size(), "\n  %which = select i1 %known, i32 %code, i32 ", texts.size() - 1,
               "\n  %wide = zext i32 %which to i64\n  %at = getelementptr ptr, ptr @.messages, i64 %wide\n"
               "  %text = load ptr, ptr %at\n  ret ptr %text\n}\n");
  }

  const Interface& interface_;
  const SizesProgram& sizes_;
  const std::vector<std::int64_t> offsets_;
};

// The layout of a frame that the text above assumes.
static_assert(sizeof(runtime::Frame) == 72 && offsetof(runtime::Frame, threads) == 32 &&
              offsetof(runtime::Frame, in_small_chunks) == 40 && offsetof(runtime::Frame, stream_from) == 48 &&
              offsetof(runtime::Frame, spill_area) == 56);

}  // namespace

std::string object_file(const Interface& interface, const Target& target) {
  const program::Program program = freestanding(interface);
  const std::string library = library_text(runtime_functions(program));
  Module module(interface.signature.name, target);
  module.memory_is_given();
  module.add(program, call_name);
  const SizesProgram sizes = sizes_program(interface, module.spill_bytes());
  module.add(sizes.program, sizes_name);
  module.add(library);
  module.add(Wrapper(interface, sizes).text());
  // Only the names of the header are visible from outside.
  const std::string& name = interface.signature.name;
  module.optimise(cat("internalize<preserve-gv=", name, ";preserve-gv=", name, "_sizes;preserve-gv=", name,
                      "_message>,globaldce,", function_passes));
  return module.object();
}

}  // namespace bitale::codegen
