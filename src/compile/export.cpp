#include "bitale/compile/export.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "codegen/c/export.hpp"
#include "codegen/c/spelling.hpp"
#include "codegen/c/wasm.hpp"
#include "codegen/llvm/export.hpp"
#include "codegen/target.hpp"
#include "link/inner_choices.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"
#include "stablehlo/module.hpp"

namespace bitale {

namespace {

namespace c = codegen::c;
namespace fs = std::filesystem;

std::string chosen_name(const Function& function, const std::string& name) {
  // A function's own name was not chosen for C.
  if (name.empty()) return function.name().empty() ? "f" : c::Names().take(function.name());
  if (const std::string possible = c::Names().take(name); possible != name)
    throw ValueError(
        cat("export: `", name, "` can't be the name of a function in C, and its file; `", possible, "` can be"));
  return name;
}

codegen::Parameter parameter(const Variable& variable, const std::string& prefix = "") {
  codegen::Parameter out;
  if (!variable.name().empty()) out.name = prefix + variable.name();
  if (variable.type()->is_host_only())
    throw NotImplementedError(cat("export: `", variable.str(), "` of type ", variable.type()->str(),
                                  " is an object of this process, which can't be passed to C"));
  out.dtype = component_dtype(variable.storage().dtype);
  out.shape = variable.storage().shape;
  if (is_complex(variable)) {  // the layout of native code, and of C's `double complex` in memory
    out.shape.push_back(2);
    out.about = "complex numbers: real and imaginary parts";
  }
  return out;
}

void add_about(codegen::Parameter& parameter, std::string_view text) {
  parameter.about = parameter.about.empty() ? std::string(text) : cat(text, ", ", parameter.about);
}

codegen::Signature signature_of(const Function& function, const std::string& name) {
  codegen::Signature out;
  out.name = name;
  for (auto& input : function.inputs()) out.inputs.push_back(parameter(input));
  for (auto& shared : function.shared_variables()) {
    out.inputs.push_back(parameter(shared));
    add_about(out.inputs.back(), "a shared variable's value");
  }
  const auto& outputs = function.graph().outputs();
  const auto updated = function.updated_variables();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_update = i >= function.output_count();
    out.outputs.push_back(
        parameter(is_update ? updated[i - function.output_count()] : outputs[i], is_update ? "new_" : ""));
    if (!is_update && outputs[i].name().empty()) out.outputs.back().name.clear();
    if (is_update) add_about(out.outputs.back(), "a shared variable's new value");
  }
  return out;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw ValueError(cat("export: the folder ", folder, " can't be made: ", error.message()));
}

std::string write(const std::string& folder, const std::string& file, const std::string& text) {
  const std::string path = cat(folder, "/", file);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw ValueError(cat("export: ", path, " can't be written"));
  return path;
}

// Throws a NotImplementedError where only one of two branches must be computed: exported code can't call host
// functions.
link::LinkedGraph exported_graph(const Function& function) {
  const std::shared_ptr<const FunctionGraph> lent(std::shared_ptr<void>(), &function.graph());
  std::int64_t budget = link::branch_budget(*lent);
  const auto refuse = [](const link::LinkedGraph&) -> std::unique_ptr<link::Thunk> {
    throw NotImplementedError(
        "export: an ifelse whose sides call functions of the host, give results of different lengths, or contain too "
        "many further choices, has no exported form yet; switch computes both sides");
  };
  return link::outline_branches(link::outline_inner_choices(lent, refuse, budget).graph, refuse, budget).graph;
}

// Throws a NotImplementedError for an inner graph that is a separate function; loops become ordinary code.
lowering::Lowered lowered_for_export(const Function& function) {
  lowering::Lowered lowered = lowering::lower(*exported_graph(function));
  for (const Apply& node : lowered.callbacks)
    if (inner_graph_of(node.op()))
      throw NotImplementedError(cat("export: ", node.op().label(),
                                    " is an op with an inner graph, which has no exported form yet; an OpFromGraph "
                                    "with the option inline becomes part of the function"));
  return lowered;
}

}  // namespace

std::vector<std::string> export_c(const Function& function, const std::string& folder, const ExportOptions& options) {
  const std::string name = chosen_name(function, options.name);
  const lowering::Lowered lowered = lowered_for_export(function);
  const c::ExportedText text =
      c::export_text(lowered.program, signature_of(function, name), codegen::this_target().vector_bytes);
  make_folder(folder);
  return {write(folder, name + ".c", text.source), write(folder, name + ".h", text.header),
          write(folder, "CMakeLists.txt", text.cmake)};
}

std::vector<std::string> export_wasm(const Function& function, const std::string& folder,
                                     const ExportOptions& options) {
  constexpr int vector_bytes = 16;
  const std::string name = chosen_name(function, options.name);
  const lowering::Lowered lowered = lowered_for_export(function);
  const codegen::Signature signature = signature_of(function, name);
  const std::string module = c::wasm_module(name, c::export_text(lowered.program, signature, vector_bytes));
  const c::WasmLoader loader = c::wasm_loader(codegen::Interface(lowered.program, signature));
  make_folder(folder);
  return {write(folder, name + ".wasm", module), write(folder, name + ".js", loader.script),
          write(folder, name + ".d.ts", loader.declarations)};
}

std::vector<std::string> export_object(const Function& function, const std::string& folder,
                                       const ObjectOptions& options) {
  const std::string name = chosen_name(function, options.name);
  const codegen::Target target =
      options.target.empty() ? codegen::this_target() : codegen::foreign_target(options.target);
  const lowering::Lowered lowered = lowered_for_export(function);
  const codegen::Signature signature = signature_of(function, name);
  const codegen::Interface interface(lowered.program, signature);
  const std::string object = codegen::object_file(interface, target);
  make_folder(folder);
  return {write(folder, name + ".o", object), write(folder, name + ".h", interface.header())};
}

namespace {

// The shapes of the graph's inputs: those of the function, then those of the present values of shared variables.
std::vector<Dims> module_shapes(const Function& function, const std::vector<Dims>& given) {
  const std::size_t count = function.inputs().size();
  if (!given.empty() && given.size() != count)
    throw ValueError(cat("export_stablehlo: expected ", count, " shapes, one per input, got ", given.size()));
  std::vector<Dims> shapes;
  for (std::size_t k = 0; k < count; ++k) {
    const Variable& input = function.inputs()[k];
    const Dims& known = input.storage().shape;
    shapes.push_back(given.empty() ? known : given[k]);
    if (shapes.back().size() != known.size())
      throw ValueError(cat("export_stablehlo: expected ", known.size(), " lengths for `", input.str(), "`, got ",
                           shapes.back().size()));
    for (std::size_t axis = 0; axis < known.size(); ++axis) {
      const std::int64_t length = shapes.back()[axis];
      if (length < 0)
        throw ValueError(cat("export_stablehlo: the length of `", input.str(), "` in dimension ", axis,
                             " is not known: give the shapes of all inputs"));
      if (known[axis] != unknown_length && known[axis] != length)
        throw ShapeError(cat("export_stablehlo: `", input.str(), "` has length ", known[axis], " in dimension ", axis,
                             ", got ", length));
    }
  }
  for (auto& shared : function.shared_variables()) {
    const auto value = shared.node()->leaf->present_value();
    if (!value) throw ValueError(cat("export_stablehlo: `", shared.str(), "` has no value"));
    shapes.push_back(value->shape());
  }
  return shapes;
}

}  // namespace

ModuleText stablehlo_text(const Function& function, const std::vector<Dims>& shapes, const StablehloOptions& options) {
  const std::shared_ptr<const FunctionGraph> lent(std::shared_ptr<void>(), &function.graph());
  stablehlo::Module module = stablehlo::write_module(*link::graph_for_module(lent), module_shapes(function, shapes),
                                                     {.platform = options.platform, .with_checks = options.checks});
  ModuleText out{std::move(module.text), {}, {}};
  for (auto& result : module.results) out.results.emplace_back(result.dtype, result.lengths);
  for (auto& check : module.checks) out.checks.push_back(check.message);
  return out;
}

std::string export_stablehlo(const Function& function, const std::string& folder, const std::vector<Dims>& shapes,
                             const ExportOptions& options, const StablehloOptions& module) {
  const std::string name = chosen_name(function, options.name);
  const std::string text = stablehlo_text(function, shapes, module).text;
  make_folder(folder);
  return write(folder, name + ".mlir", text);
}

}  // namespace bitale
