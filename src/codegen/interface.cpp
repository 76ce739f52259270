#include "codegen/interface.hpp"

#include <cctype>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/spelling.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using c::element_type;
using c::Names;
using c::value_type;
using program::Buffer;
using program::Code;
using program::Role;

Interface::Interface(const program::Program& program, const Signature& signature)
    : program(program),
      signature(signature),
      input_buffers(signature.inputs.size(), -1),
      output_buffers(signature.outputs.size(), -1) {
  Names names;
  for (auto& own : own_names()) names.take(own);
  const auto named = [&](const Parameter& parameter, std::string_view other, std::size_t i) {
    return names.take(parameter.name.empty() ? cat(other, i) : parameter.name);
  };
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) input_names.push_back(named(signature.inputs[i], "in", i));
  for (std::size_t i = 0; i < signature.outputs.size(); ++i)
    output_names.push_back(named(signature.outputs[i], "out", i));
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    lengths.emplace_back();
    for (std::size_t axis = 0; axis < signature.inputs[i].shape.size(); ++axis)
      lengths.back().push_back(names.take(cat(input_names[i], "_n", axis)));
  }
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role == Role::input) input_buffers.at(std::size_t(buffer.slot)) = std::int64_t(b);
    if (buffer.role == Role::output) output_buffers.at(std::size_t(buffer.slot)) = std::int64_t(b);
  }
}

std::vector<std::string> Interface::own_names() const {
  std::vector<std::string> out{signature.name};
  for (std::string_view ending : {"_size", "_sizes", "_layout", "_message"}) out.push_back(cat(signature.name, ending));
  return out;
}

std::string Interface::given(bool restricted) const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const Parameter& input = signature.inputs[i];
    if (input.shape.empty()) {
      out.push_back(cat(value_type(input.dtype), " ", input_names[i]));
      continue;
    }
    out.push_back(cat("const ", element_type(input.dtype), " *", restricted ? "restrict " : "", input_names[i]));
    for (auto& length : lengths[i]) out.push_back(cat("int64_t ", length));
  }
  return join(out, ", ");
}

std::string Interface::given_names() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    out.push_back(input_names[i]);
    for (auto& length : lengths[i]) out.push_back(length);
  }
  return join(out, ", ");
}

std::string Interface::results(bool restricted) const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < signature.outputs.size(); ++i)
    out.push_back(cat(element_type(signature.outputs[i].dtype), " *", restricted ? "restrict " : "", output_names[i]));
  out.push_back("void *workspace");
  return join(out, ", ");
}

int Interface::output_ndim(std::size_t i) const {
  return output_buffers[i] < 0 ? 0 : program.buffers[std::size_t(output_buffers[i])].ndim();
}

std::vector<Interface::FixedLength> Interface::fixed_lengths() const {
  std::vector<FixedLength> out;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i)
    for (std::size_t axis = 0; axis < lengths[i].size(); ++axis) {
      const std::int64_t length = signature.inputs[i].shape[axis];
      if (length >= 0)
        out.push_back({i, axis, length, cat(input_names[i], ": dimension ", axis, " must have length ", length)});
    }
  return out;
}

int Interface::negative_length() const { return int(program.checks.size() + fixed_lengths().size()) + 1; }

std::vector<std::string> Interface::codes() const {
  std::vector<std::string> out = program.checks;
  for (auto& fixed : fixed_lengths()) out.push_back(fixed.message);
  out.push_back("a length would be negative");
  out.push_back(cat("workspace is NULL, and ", signature.name, "_sizes asks for one"));
  for (auto& text : out)
    for (char& c : text)
      if (std::iscntrl(static_cast<unsigned char>(c)) || c == '\\') c = ' ';
  return out;
}

// Keeps only the allocations, which determine how much memory a call needs.
program::Program allocations_of(const program::Program& program) {
  program::Program out = program;
  out.steps.clear();
  for (auto& step : program.steps) {
    auto* allocate = program::as_allocate(step);
    if (!allocate) continue;
    const Buffer& buffer = program.buffers[std::size_t(allocate->buffer)];
    for (auto& length : buffer.shape)
      program::ExprWalk()(length, [&](program::Expr expr) {
        const bool reads = expr.code() == Code::load;
        const Role from = reads ? program.buffers[std::size_t(expr.payload())].role : Role::input;
        const bool known = !reads || (expr.argument_count() == 0 && (from == Role::input || from == Role::constant));
        if (!known || expr.code() == Code::var)
          throw NotImplementedError(cat("export: the length of ",
                                        buffer.role == Role::output ? "an output" : "a temporary", " (", buffer.name,
                                        ") depends on values computed in the call"));
      });
    out.steps.push_back(step);
  }
  return out;
}

// ---- the header -----------------------------------------------------------------------------------------------------

namespace {

std::string with(const std::string& given, const std::string& more) {
  return given.empty() ? more : more.empty() ? given : given + ", " + more;
}

std::string shape_text(const std::vector<std::string>& lengths) {
  return lengths.empty() ? "a number" : cat("[", join(lengths, ", "), "]");
}

std::string prototypes(const Interface& file) {
  const std::string& name = file.signature.name;
  std::string text = "// What a call with these inputs needs: bytes of workspace, and the lengths of the results.\n";
  text += cat("typedef struct ", name, "_size {\n  int64_t workspace;\n");
  for (std::size_t i = 0; i < file.output_names.size(); ++i)
    if (const int ndim = file.output_ndim(i)) text += cat("  int64_t ", file.output_names[i], "[", ndim, "];\n");
  text += cat("} ", name, "_size;\n\n");
  text += cat("void ", name, "_sizes(", with(file.given(false), cat(name, "_size *size")), ");\n\n");
  text += cat("int ", name, "(", with(file.given(false), file.results(false)), ");\n\n");
  text += "// What a code other than 0 means.\n";
  text += cat("const char *", name, "_message(int code);\n");
  return text;
}

std::string header_comment(const Interface& file) {
  std::string text = "// ";
  text += file.signature.about.empty() ? file.signature.name : file.signature.about;
  text += "\n//\n// Inputs, arrays C-contiguous, each followed by its lengths:\n";
  for (std::size_t i = 0; i < file.input_names.size(); ++i) {
    const Parameter& input = file.signature.inputs[i];
    text += cat("//   ", file.input_names[i], "  ", dtype_name(input.dtype), " ", shape_text(file.lengths[i]),
                input.about.empty() ? "" : cat("  ", input.about), "\n");
  }
  text += "// Results, into memory of the caller that overlaps neither the inputs nor each other:\n";
  for (std::size_t i = 0; i < file.output_names.size(); ++i) {
    const Parameter& output = file.signature.outputs[i];
    const int ndim = file.output_ndim(i);
    text += cat("//   ", file.output_names[i], "  ", dtype_name(output.dtype), " ",
                ndim ? cat("of ", count_text(ndim, "dimension"), ", as long as ", file.signature.name, "_sizes says")
                     : std::string("a number"),
                output.about.empty() ? "" : cat("  ", output.about), "\n");
  }
  text +=
      "// bool is uint8_t, 0 or 1. `workspace` is memory for temporaries, aligned as malloc's is; it may be NULL "
      "where\n";
  text += cat("// ", file.signature.name,
              "_sizes asks for none. Nothing is allocated and nothing is kept: calls may come from many threads,\n");
  text += "// each with its own workspace.\n//\n// Returns 0, or\n";
  const auto codes = file.codes();
  for (std::size_t i = 0; i < codes.size(); ++i) text += cat("//   ", i + 1, "  ", codes[i], "\n");
  text += "// in which case the results are undefined.\n";
  return text;
}

}  // namespace

std::string upper(std::string text) {
  for (char& c : text) c = char(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string Interface::header() const {
  const std::string guard = upper(signature.name) + "_H";
  return cat(header_comment(*this), "#ifndef ", guard, "\n#define ", guard,
             "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
             prototypes(*this), "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

}  // namespace bitale::codegen
