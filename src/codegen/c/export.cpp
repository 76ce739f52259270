#include "codegen/c/export.hpp"

#include <cstring>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/emit.hpp"
#include "codegen/c/runtime.hpp"
#include "codegen/schedule.hpp"

namespace bitale::codegen::c {

namespace {

using program::Buffer;
using program::Code;
using program::Role;

std::string memory_text(const Array& array) {
  std::string out;
  const auto count = std::size_t(array.size());
  visit_dtype(array.dtype(), [&]<class T>() {
    const T* elements = static_cast<const T*>(array.data());
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t payload = 0;
      if constexpr (std::is_same_v<T, bool>)
        out += elements[i] ? "1" : "0";
      else {
        std::memcpy(&payload, elements + i, sizeof(T));
        out += constant_text(array.dtype(), payload);
      }
      if (i + 1 < count) out += i % 12 == 11 ? ",\n  " : ", ";
    }
  });
  return out.empty() ? "0" : out;
}

std::string with(const std::string& given, const std::string& more) {
  return given.empty() ? more : more.empty() ? given : given + ", " + more;
}

// What the functions of one file share.
struct File : Interface {
  using Interface::Interface;
  bool blas = false;
};

class ExportEmitter : public Emitter {
 public:
  ExportEmitter(File& file, const program::Program& program, Support& support)
      : Emitter(program, support), file_(file) {
    for (auto& own : file.own_names()) names().take(own);
    for (std::size_t i = 0; i < file.input_names.size(); ++i) {
      call_it(file.input_buffers[i], file.input_names[i]);
      for (auto& length : file.lengths[i]) names().take(length);
      if (file.input_buffers[i] >= 0) input_of_[file.input_buffers[i]] = i;
    }
    for (std::size_t i = 0; i < file.output_names.size(); ++i) call_it(file.output_buffers[i], file.output_names[i]);
  }

  // Casts to void of the parameters that no statement mentions, so that compilers don't warn of them.
  std::string unused() const {
    std::string out;
    for (std::size_t i = 0; i < file_.input_names.size(); ++i) {
      if (!(file_.input_buffers[i] >= 0 && is_mentioned(file_.input_buffers[i])))
        out += cat("  (void)", file_.input_names[i], ";\n");
      for (auto& length : file_.lengths[i])
        if (!mentioned_lengths_.contains(length)) out += cat("  (void)", length, ";\n");
    }
    return out;
  }

 protected:
  std::string length(std::int64_t id, int axis) override {
    const Buffer& of = buffer(id);
    if (of.role == Role::constant) return std::to_string(of.value.shape(axis));
    const auto input = input_of_.find(id);
    if (input == input_of_.end()) return atom(text_of(of.shape[std::size_t(axis)]));
    return mention(file_.lengths[input->second][std::size_t(axis)]);
  }
  const std::string& mention(const std::string& length) { return *mentioned_lengths_.insert(length).first; }
  void host_call(const program::HostCall& step) override {
    throw NotImplementedError(cat("export: the function calls the host back for ",
                                  program().callbacks[std::size_t(step.callback)],
                                  ", which has no native code; an exported function can't"));
  }
  void declare(const std::string& function, const std::string&) override {
    const runtime::RuntimeFunction* row = runtime::find_function(function);
    const std::string definition = row ? portable_definition(*row) : "";
    if (definition.empty())
      throw NotImplementedError(cat("export: the function calls ", function, ", for which there is no C code yet"));
    for (auto& other : row->needs) declare(std::string(other), "");
    if (!row->widened_from.empty()) declare(std::string(row->widened_from), "");
    support().add(function, definition);
    file_.blas |= row->c_uses_blas;
  }
  std::string single(std::int64_t id) override {
    return buffer(id).role == Role::input ? data_name(id) : data_name(id) + "[0]";
  }
  std::string failure(int check) override { return std::to_string(check + 1); }

  void call_it(std::int64_t id, const std::string& name) {
    if (id >= 0)
      set_data_name(id, name);
    else
      names().take(name);
  }
  static std::string atom(const std::string& text) { return is_word(text) ? text : cat("(", text, ")"); }

  File& file_;

 private:
  std::unordered_map<std::int64_t, std::size_t> input_of_;  // by buffer
  std::unordered_set<std::string> mentioned_lengths_;
};

// The function itself.
class BodyEmitter final : public ExportEmitter {
 public:
  using ExportEmitter::ExportEmitter;

  std::string body(int slots) {
    std::string start;
    int code = int(program().checks.size());
    for (auto& fixed : file_.fixed_lengths())
      start += cat("  if (!(", mention(file_.lengths[fixed.input][fixed.axis]), " == ", fixed.length, ")) return ",
                   ++code, ";  // ", fixed.message, "\n");
    if (slots)
      start += cat("  int64_t bt_starts[", slots, "];\n  if (", file_.signature.name, "_layout(",
                   with(file_.given_names(), "bt_starts"), ") > 0 && !workspace) return ", file_.no_workspace(), ";\n");
    else
      start += "  (void)workspace;\n";
    const std::string text = start + statements();
    return slots ? text : unused() + text;  // the layout is given all of them
  }
  // The constants that the body mentions; to be called after `body`.
  std::string constants() {
    std::string out;
    for (std::size_t b = 0; b < program().buffers.size(); ++b) {
      const Buffer& each = program().buffers[b];
      if (each.role != Role::constant || !is_mentioned(std::int64_t(b))) continue;
      out += cat("static const ", element_type(each.dtype), " ", data_name(std::int64_t(b)), "[] = {\n  ",
                 memory_text(each.value.contiguous()), "};\n");
    }
    return out.empty() ? out : out + "\n";
  }

 private:
  void allocate(std::int64_t id) override {
    for (auto& length : buffer(id).shape)
      if (!length.is_constant() && length.code() != Code::dim && checked_.insert(length.id()).second)
        line(cat("if (", atom(text_of(length)), " < 0) return ", file_.negative_length(), ";"));
    if (buffer(id).role == Role::output) return;
    if (buffer(id).on_stack) return line(cat(pointer(id, stack_memory(id)), ";"));
    const std::string_view type = element_type(buffer(id).dtype);
    line(cat(pointer(id, cat("(", type, " *)(void *)((char *)workspace + bt_starts[", buffer(id).slot, "])")), ";"));
  }
  std::unordered_set<std::uint32_t> checked_;  // lengths that are not negative
};

// What is computed from the lengths of allocations before the call.
class LengthsEmitter final : public ExportEmitter {
 public:
  // The text of a statement about a buffer, or nothing; `lengths` gives the texts of its lengths.
  using Lengths = std::function<std::vector<std::string>()>;
  using Write = std::function<std::string(const Buffer& buffer, const Lengths& lengths)>;
  LengthsEmitter(File& file, const program::Program& allocations, Support& support, Write write)
      : ExportEmitter(file, allocations, support), write_(std::move(write)) {}
  std::string body() { return statements(); }

 private:
  void allocate(std::int64_t id) override {
    const std::string text = write_(buffer(id), [&] {
      std::vector<std::string> lengths;
      for (auto& length : buffer(id).shape) lengths.push_back(atom(text_of(length)));
      return lengths;
    });
    if (!text.empty()) line(text);
  }
  Write write_;
};

// ---- texts ----------------------------------------------------------------------------------------------------------

std::string message_text(const File& file) {
  std::string text = cat("const char *", file.signature.name, "_message(int code) {\n  switch (code) {\n",
                         "    case 0: return \"no error\";\n");
  const auto codes = file.codes();
  for (std::size_t i = 0; i < codes.size(); ++i)
    text += cat("    case ", i + 1, ": return ", string_literal(codes[i]), ";\n");
  return text + "    default: return \"unknown code\";\n  }\n}\n";
}

std::string cmake_text(const File& file) {
  const std::string& name = file.signature.name;
  std::string text = cat(R"(cmake_minimum_required(VERSION 3.13)
project()",
                         name, R"( C)

option()",
                         upper(name), R"(_NATIVE "Code for this machine's processor, and only for such" OFF)

add_library()",
                         name, " STATIC ", name, ".c ", name, R"(.h)
set_target_properties()",
                         name, R"( PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
target_include_directories()",
                         name, R"( PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# The text says where to round: nothing may be fused or reordered.
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options()",
                         name, R"( PRIVATE -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
  if()",
                         upper(name), R"(_NATIVE)
    target_compile_options()",
                         name, R"( PRIVATE -march=native)
  endif()
endif()
if(UNIX)
  target_link_libraries()",
                         name, R"( PUBLIC m)
endif()
)");
  if (file.blas)
    text += cat(R"(
option()",
                upper(name), R"(_CBLAS "Matrix products by a CBLAS library; else by plain loops" OFF)
if()",
                upper(name), R"(_CBLAS)
  find_package(BLAS REQUIRED)
  target_compile_definitions()",
                name, R"( PRIVATE BITALE_CBLAS)
  target_link_libraries()",
                name, R"( PUBLIC ${BLAS_LIBRARIES})
endif()
)");
  return text;
}

}  // namespace

ExportedText export_text(const program::Program& exported, const Signature& signature, int vector_bytes) {
  const program::Program program = scheduled(exported, vector_bytes);
  File file(program, signature);
  const program::Program allocations = allocations_of(program);
  const std::string& name = signature.name;
  const int slots = program.workspace_slots;
  Support support;

  BodyEmitter emitter(file, program, support);
  const std::string body = emitter.body(slots), constants = emitter.constants();
  std::string layout;
  if (slots) {
    LengthsEmitter rooms(file, allocations, support, [&](const Buffer& buffer, const auto& lengths) -> std::string {
      if (buffer.role != Role::temporary || buffer.on_stack) return "";
      std::string bytes = std::to_string(itemsize(buffer.dtype));
      for (auto& length : lengths()) bytes += cat(" * ", length);
      const std::string room = cat("bt_room[", buffer.slot, "]");
      return cat(room, " = ", support.use("bt_max", DType::Int64), "(", room, ", ", bytes, ");");
    });
    const std::string text = rooms.body();
    layout = cat("// Where each temporary begins in the workspace, and how long that is.\nstatic int64_t ", name,
                 "_layout(", with(file.given(false), "int64_t *bt_starts"), ") {\n", rooms.unused(),
                 "  int64_t bt_room[", slots, "] = {0}, bt_end = 0;\n", text, "  for (int k = 0; k < ", slots,
                 "; ++k) {\n    bt_starts[k] = bt_end;\n    if (bt_room[k] > 0) bt_end += (bt_room[k] + 63) / 64 * "
                 "64;\n  }\n  return bt_end;\n}\n\n");
  }
  LengthsEmitter results(file, allocations, support, [&](const Buffer& buffer, const auto& lengths) {
    std::string text;
    if (buffer.role != Role::output) return text;
    std::size_t axis = 0;
    for (auto& length : lengths()) {
      text +=
          cat(axis ? " " : "", "size->", file.output_names[std::size_t(buffer.slot)], "[", axis, "] = ", length, ";");
      ++axis;
    }
    return text;
  });
  std::string sizes = results.body();
  if (slots)
    sizes += cat("  int64_t bt_starts[", slots, "];\n  size->workspace = ", name, "_layout(",
                 with(file.given_names(), "bt_starts"), ");\n");
  else
    sizes += "  size->workspace = 0;\n";
  sizes = cat("void ", name, "_sizes(", with(file.given(false), cat(name, "_size *size")), ") {\n",
              slots ? "" : results.unused(), sizes, "}\n\n");
  std::string source = cat("// ", signature.about.empty() ? name : signature.about, "; ", name,
                           ".h says how to call it.\n", "#include \"", name, ".h\"\n\n#include <math.h>\n");
  if (file.blas) source += "\n#ifdef BITALE_CBLAS\n#include <cblas.h>\n#endif\n";
  source += cat("\n#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n", support.text(), constants, layout,
                sizes, "int ", name, "(", with(file.given(true), file.results(true)), ") {\n", body,
                "  return 0;\n}\n\n", message_text(file));
  return {source, file.header(), cmake_text(file)};
}

}  // namespace bitale::codegen::c
