#include "codegen/c/wasm.hpp"

#include <wasm_files.inc>  // wasm_loader.js, by cmake/EmbeddedTexts.cmake

#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/process.hpp"
#include "codegen/c/spelling.hpp"
#include "codegen/generate.hpp"

namespace bitale::codegen::c {

namespace {

// ---- the module -----------------------------------------------------------------------------------------------------

// Functions of <math.h>: instructions of WebAssembly, or functions that the loader imports.
constexpr std::string_view instructions_of_one[] = {"fabs", "sqrt", "floor", "ceil", "trunc", "rint"};
constexpr std::string_view imports_of_one[] = {"acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt",
                                               "cos",  "cosh",  "exp",  "expm1", "log",  "log10", "log1p",
                                               "log2", "sin",   "sinh", "tan",   "tanh", "tgamma"};
constexpr std::string_view imports_of_two[] = {"atan2", "fmod", "hypot"};

// Clang has no C library for this target; the text needs no more than these declarations.
std::string math_header() {
  std::string text =
      "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n"
      "#define signbit(x) __builtin_signbit(x)\ndouble copysign(double, double);\nfloat copysignf(float, float);\n";
  const auto declare = [&](std::string_view name, bool two) {
    text += cat("double ", name, "(double", two ? ", double" : "", ");\nfloat ", name, "f(float", two ? ", float" : "",
                ");\n");
  };
  for (auto name : instructions_of_one) declare(name, false);
  for (auto name : imports_of_one) declare(name, false);
  for (auto name : imports_of_two) declare(name, true);
  return text;
}

std::string imported_names() {
  std::string text;
  for (auto name : imports_of_one) text += cat(name, "\n", name, "f\n");
  for (auto name : imports_of_two) text += cat(name, "\n", name, "f\n");
  return text;
}

std::string find_clang() {
  constexpr std::string_view needs =
      "export_wasm needs clang and wasm-ld, its linker for WebAssembly: install both, for example by `apt install "
      "clang "
      "lld`, `dnf install clang lld` or `brew install llvm lld`";
  constexpr int newest = 25, oldest = 12;  // 12: the first with the final instructions on vectors
  const std::string configured = config::get("cc");
  std::string clang = found_in_path(configured.find("clang") == configured.npos ? "clang" : configured);
  for (int version = newest; clang.empty() && version >= oldest; --version)
    clang = found_in_path(cat("clang-", version));
  if (clang.empty()) throw MissingGenerator(cat(needs, "; no clang is found in PATH, nor named by the flag cc"));
  std::string linker = run({clang, "-print-prog-name=wasm-ld"}).second;
  while (linker.ends_with('\n')) linker.pop_back();
  if (found_in_path(linker).empty()) throw MissingGenerator(cat(needs, "; ", clang, " is there, and finds no wasm-ld"));
  return clang;
}

}  // namespace

std::string wasm_module(const std::string& name, const ExportedText& text) {
  const std::string clang = find_clang();
  const TemporaryFolder folder;
  const std::string source = folder.write(name + ".c", text.source), module = folder.file(name + ".wasm");
  folder.write(name + ".h", text.header);
  folder.write("math.h", math_header());
  const std::string imports = folder.write("imports", imported_names());
  // Memory of 256 KiB for calls, below everything else, so that an overflow is an error rather than a wrong number.
  std::vector<std::string> command{clang,
                                   "--target=wasm32",
                                   "-std=c99",
                                   "-O3",
                                   "-msimd128",
                                   "-mbulk-memory",
                                   "-mnontrapping-fptoint",
                                   "-ffp-contract=off",
                                   "-fno-math-errno",
                                   "-fno-trapping-math",
                                   "-w",
                                   "-nostdlib",
                                   "-isystem",
                                   folder.file(""),
                                   source,
                                   "-Wl,--no-entry",
                                   "-Wl,--stack-first",
                                   "-Wl,-z,stack-size=262144",
                                   "-Wl,--strip-all",
                                   "-Wl,--export=__heap_base",
                                   cat("-Wl,--allow-undefined-file=", imports),
                                   "-o",
                                   module};
  for (std::string_view function : {"", "_sizes"}) command.push_back(cat("-Wl,--export=", name, function));
  const auto [status, said] = run(command);
  std::string bytes = status == 0 ? contents(module) : "";
  if (!bytes.empty()) return bytes;
  constexpr std::string_view undefined = "undefined symbol: ";
  if (const std::size_t at = said.find(undefined); at != said.npos) {
    const std::size_t begin = at + undefined.size();
    throw NotImplementedError(cat("export_wasm: the function calls ",
                                  said.substr(begin, said.find('\n', begin) - begin),
                                  " of the C library, which JavaScript does not have"));
  }
  throw InternalError(cat("export_wasm: ", clang, " failed with status ", status, ":\n", said.substr(0, 2000)));
}

// ---- the loader -----------------------------------------------------------------------------------------------------

namespace {

// The class of JavaScript's typed arrays for elements of this dtype; of a format of memory, their bits.
std::string array_class(DType dtype) {
  const bool is_number = is_float(dtype) && !is_storage_format(dtype),
             is_big = is_integer(dtype) && itemsize(dtype) == 8;
  const std::string_view kind = is_number ? "Float" : is_signed_int(dtype) ? "Int" : "Uint";
  return cat(is_big ? "Big" : "", kind, 8 * itemsize(dtype), "Array");
}

std::string_view number_type(DType dtype) {
  return dtype == DType::Bool ? "boolean" : itemsize(dtype) == 8 && is_integer(dtype) ? "bigint" : "number";
}

std::string described(const std::string& name, DType dtype, int ndim) {
  return cat("    { name: \"", name, "\", dtype: \"", dtype_name(dtype), "\", array: ", array_class(dtype),
             ", ndim: ", ndim, " },\n");
}

// The types of an input and an output for TypeScript.
std::string given_type(DType dtype, int ndim) {
  const std::string_view number = number_type(dtype);
  const std::string scalar = number == "bigint" ? "bigint | number" : std::string(number);
  return ndim == 0 ? scalar : cat(array_class(dtype), " | Nested<", scalar, ">");
}

std::string result_type(DType dtype, int ndim) {
  return ndim == 0 ? std::string(number_type(dtype)) : cat("Shaped<", array_class(dtype), ">");
}

}  // namespace

WasmLoader wasm_loader(const Interface& interface) {
  const Signature& signature = interface.signature;
  const std::string& name = signature.name;
  std::string inputs, outputs, codes;
  std::vector<std::string> parameters, given_views, results, result_views;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    const DType dtype = signature.inputs[i].dtype;
    const int ndim = int(signature.inputs[i].shape.size());
    inputs += described(interface.input_names[i], dtype, ndim);
    parameters.push_back(cat(interface.input_names[i], ": ", given_type(dtype, ndim)));
    given_views.push_back(ndim == 0 ? given_type(dtype, 0) : result_type(dtype, ndim));
  }
  for (std::size_t i = 0; i < signature.outputs.size(); ++i) {
    const DType dtype = signature.outputs[i].dtype;
    outputs += described(interface.output_names[i], dtype, interface.output_ndim(i));
    results.push_back(result_type(dtype, interface.output_ndim(i)));
    result_views.push_back(cat("Shaped<", array_class(dtype), ">"));
  }
  for (auto& message : interface.codes()) codes += cat("    ", string_literal(message), ",\n");
  const std::string about = cat("// ", name, ": a function compiled by Bitale; ", name, ".wasm has its code.\n");
  const std::string result = results.empty()       ? "void"
                             : results.size() == 1 ? results[0]
                                                   : cat("[", join(results, ", "), "]");
  return {cat(about, "const signature = {\n  name: \"", name, "\",\n  inputs: [\n", inputs, "  ],\n  outputs: [\n",
              outputs, "  ],\n  codes: [\n", codes, "  ],\n};\n\n", wasm_loader_js),
          cat(about, R"(export type Nested<T> = T[] | Nested<T>[];
export type Shaped<T> = T & { readonly shape: number[] };
export class FunctionError extends Error {
  readonly code: number;
}
export interface Prepared {
  // Views of memory: write elements of arrays, replace numbers. Results are valid until the next call of run().
  inputs: [)",
              join(given_views, ", "), R"(];
  readonly outputs: [)",
              join(result_views, ", "), R"(];
  run(): void;
}
export interface Compiled {
  ()",
              join(parameters, ", "), "): ", result, R"(;
  // Memory for repeated calls with arguments of these shapes.
  prepare()",
              join(parameters, ", "), R"(): Prepared;
}
export function load(source?: string | URL | BufferSource | WebAssembly.Module): Promise<Compiled>;
)")};
}

}  // namespace bitale::codegen::c
