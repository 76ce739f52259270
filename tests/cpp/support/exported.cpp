#include "support/exported.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "bitale/core/text.hpp"

namespace bitale::testing {

namespace {

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string c_type(DType dtype, bool value) {
  if (dtype == DType::Bool) return value ? "bool" : "uint8_t";
  if (dtype == DType::Float32) return "float";
  if (dtype == DType::Float64) return "double";
  return cat(is_signed_int(dtype) ? "int" : "uint", 8 * itemsize(dtype), "_t");
}

// static const uint64_t NAME[] = {...};
std::string data_text(const std::string& name, const Array& array) {
  const Array rows = array.contiguous();
  const std::size_t bytes = std::size_t(rows.size()) * itemsize(rows.dtype());
  std::vector<std::uint64_t> words(bytes / 8 + 1, 0);
  if (bytes) std::memcpy(words.data(), rows.data(), bytes);
  std::string out = cat("  static const uint64_t ", name, "[] = {");
  for (auto word : words) out += cat("UINT64_C(", word, "), ");
  return out + "0};\n";
}

const std::vector<Variable> outputs_of(const Function& function) {
  const auto& all = function.graph().outputs();
  return {all.begin(), all.end()};
}

std::string call_text(const ExportedCall& call, std::size_t number) {
  std::string data, given;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Array& input = call.inputs[i];
    const std::string name = cat("in", i);
    data += data_text(name, input);
    given += i ? ", " : "";
    if (input.ndim() == 0) {
      given +=
          cat(input.dtype() == DType::Bool ? "*(const uint8_t *)" : cat("*(const ", c_type(input.dtype(), true), " *)"),
              "(const void *)", name);
      continue;
    }
    given += cat("(const ", c_type(input.dtype(), false), " *)(const void *)", name);
    for (int axis = 0; axis < input.ndim(); ++axis) given += cat(", ", input.shape(axis));
  }
  const std::string comma = given.empty() ? "" : ", ";
  std::string text = cat("static void call", number, "(FILE *out) {\n", data, "  int64_t words[64];\n  ", call.name,
                         "_sizes(", given, comma, "(", call.name, "_size *)(void *)words);\n",
                         "  void *workspace = malloc((size_t)words[0] + 1);\n  size_t at = 1;\n");
  const auto outputs = outputs_of(call.function[0]);
  std::string results, writes, frees;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string o = cat("out", k);
    const int ndim = outputs[k].ndim();
    text += cat("  size_t bytes", k, " = ", itemsize(outputs[k].dtype()), ";\n");
    for (int axis = 0; axis < ndim; ++axis)
      text += cat("  bytes", k, " *= (size_t)(words[at] < 0 ? 0 : words[at]); ++at;\n");
    text += cat("  void *", o, " = malloc(bytes", k, " + 1);\n");
    results += cat(comma.empty() && k == 0 ? "" : ", ", o);
    writes += cat("  fwrite(words + at, 8, ", ndim, ", out);\n  at += ", ndim, ";\n  fwrite(", o, ", 1, bytes", k,
                  ", out);\n");
    frees += cat("  free(", o, ");\n");
  }
  if (results.empty()) results = comma;
  text += cat("  int32_t code = ", call.name, "(", given, results, given.empty() && results.empty() ? "" : ", ",
              "workspace);\n  fwrite(&code, 4, 1, out);\n  at = 1;\n  if (code == 0) {\n", writes, "  }\n", frees,
              "  free(workspace);\n}\n\n");
  return text;
}

template <class T>
bool take(std::string_view& from, T* to, std::size_t count) {
  if (from.size() < count * sizeof(T)) return false;
  std::memcpy(to, from.data(), count * sizeof(T));
  from.remove_prefix(count * sizeof(T));
  return true;
}

}  // namespace

bool is_there(const std::string& program) {
  return std::system(cat("command -v ", program, " >/dev/null 2>&1").c_str()) == 0;
}

std::vector<ExportedResult> run_exported(const std::vector<ExportedCall>& calls, const std::string& folder,
                                         const std::string& extension, const std::string& compiler,
                                         const std::string& runner, std::string& trouble) {
  trouble.clear();
  const std::string source = folder + "/main.c", program = folder + "/main", log_file = folder + "/log",
                    results = folder + "/results";
  std::string text = "#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n", files,
              main;
  std::set<std::string> names;
  for (auto& call : calls)
    if (names.insert(call.name).second) {
      text += cat("#include \"", call.name, ".h\"\n");
      files += cat(" ", folder, "/", call.name, extension);
    }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    text += call_text(calls[i], i);
    main += cat("  call", i, "(out);\n");
  }
  std::ofstream(source) << text << "int main(void) {\n  FILE *out = fopen(\"" << results << "\", \"wb\");\n"
                        << main << "  return fclose(out);\n}\n";
  std::ofstream(folder + "/files") << files;
  for (const std::string& command : {cat(compiler, " -std=c99 -Wall -Wextra -Werror -pedantic -I", folder, " ", source,
                                         " @", folder, "/files -o ", program, " -lm"),
                                     cat(runner, " ", program)})
    if (std::system(cat(command, " >", log_file, " 2>&1").c_str()) != 0) {
      trouble = cat(command, ":\n", contents(log_file).substr(0, 4000));
      return {};
    }
  const std::string bytes = contents(results);
  std::string_view left = bytes;
  std::vector<ExportedResult> out(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::int32_t code = -1;
    bool ok = take(left, &code, 1);
    out[i].code = code;
    if (code == 0)
      for (auto& output : outputs_of(*calls[i].function)) {
        Dims shape(std::size_t(output.ndim()), 0);
        ok = ok && take(left, shape.data(), shape.size());
        Array array = Array::empty(output.dtype(), shape);
        ok = ok &&
             take(left, static_cast<char*>(array.mutable_data()), std::size_t(array.size()) * itemsize(output.dtype()));
        out[i].outputs.push_back(array);
      }
    if (!ok) {
      trouble = cat("the results of ", calls[i].name, " are truncated");
      return {};
    }
  }
  return out;
}

}  // namespace bitale::testing
