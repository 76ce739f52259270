// Graphs as text and as pictures: bitale/printing.py and bitale/_picture.py write the results to a file or return them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/page.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/assume.hpp"
#include "bitale/printing/picture.hpp"
#include "bitale/printing/printing.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"
#include "hooks.hpp"
#include "numpy_bridge.hpp"
#include "printing/notebook.hpp"

namespace bitale::python {

namespace {

// Whether all options are the defaults: then a function prints more about itself than its graph.
bool is_default(const DprintOptions& options) {
  return options.depth == -1 && options.id_type == "CHAR" && !options.print_type && !options.print_shape &&
         !options.stop_on_name && !options.print_destroy_map && !options.print_view_map && !options.provenance &&
         !options.print_fgraph_inputs && options.print_inner_graphs && !options.about;
}

std::string print_function(const Function& function, const DprintOptions& options) {
  return is_default(options) ? function.dprint("graph") : dprint(function.graph(), options);
}

std::string print_one(nb::handle graph, const DprintOptions& options) {
  if (is_variable(graph)) return dprint(variable_of(graph), options);
  if (auto* node = instance_of<ApplyObject>(graph)) return dprint(node->apply, options);
  if (auto* held = instance_of<FunctionGraphObject>(graph)) return dprint(*held->graph, options);
  if (auto* compiled = instance_of<FunctionObject>(graph)) return print_function(compiled->function, options);
  throw TypeError(cat("dprint: expected variables, Apply nodes, FunctionGraphs or functions, got ", shown(graph)));
}

// Calls the functions for the Variables and Apply nodes that are keys of a dictionary, in its order.
template <class OnVariable, class OnNode>
void each_key(nb::handle dictionary, const char* what, OnVariable on_variable, OnNode on_node) {
  if (dictionary.is_none()) return;
  if (!PyDict_Check(dictionary.ptr())) throw TypeError(cat("dprint: expected a dict as ", what));
  for (auto [key, text] : nb::borrow<nb::dict>(dictionary)) {
    if (auto* node = instance_of<ApplyObject>(key))
      on_node(node->apply);
    else if (is_variable(key))
      on_variable(variable_of(key));
    else
      throw TypeError(cat("dprint: expected variables and Apply nodes as keys of ", what, ", got ", shown(key)));
  }
}

// Restores what earlier calls have printed, from PyTensor's dictionaries `used_ids` and `done`.
void recall(PrintedNodes& printed, nb::handle done, nb::handle used_ids) {
  each_key(
      used_ids, "used_ids", [&](const Variable& leaf) { printed.add_id(leaf); },
      [&](const Apply& node) { printed.add_id(node.output()); });
  each_key(
      done, "done", [](const Variable&) {}, [&](const Apply& node) { printed.add_expanded(node); });
}

// "[id A]", in the form that dprint writes.
std::string id_text(const Variable& variable, std::size_t number, const std::string& id_type) {
  if (id_type.empty()) return {};
  const std::uintptr_t address =
      variable.has_owner() ? std::uintptr_t(variable.owner().node()) : std::uintptr_t(variable.node());
  if (id_type != "CHAR") return cat("[id ", id_type == "id" ? std::to_string(address) : std::to_string(number), "]");
  const nb::object letters = hook("char_from_number")(number);
  return cat("[id ", nb::cast<std::string>(letters), "]");
}

// Records what has been printed now in the same dictionaries.
void remember(const PrintedNodes& printed, nb::handle done, nb::handle used_ids, const std::string& id_type) {
  if (done.is_none() && used_ids.is_none()) return;
  std::size_t number = 0;
  for (const Variable& variable : printed.with_ids()) {
    const nb::object key = variable.has_owner() ? wrap(variable.owner()) : wrap(variable);
    const nb::object text = nb::cast(id_text(variable, number++, id_type));
    if (!used_ids.is_none() && !nb::borrow<nb::dict>(used_ids).contains(key)) used_ids[key] = text;
    if (!done.is_none() && variable.has_owner() && printed.is_expanded(variable.owner())) done[key] = text;
  }
}

// Further facts of a variable: the value of a shared one, the attributes of its op, the assumptions about its matrices.
std::string about(const Variable& variable, bool storage, bool op_info, bool assumptions) {
  std::vector<std::string> parts;
  if (const Container* container = storage ? container_of(variable) : nullptr) parts.push_back(container->get().repr());
  if (op_info && variable.has_owner())
    for (const Attribute& attribute : variable.owner().op().attributes())
      if (!std::holds_alternative<OpaqueAttribute>(attribute.value))
        parts.push_back(cat(attribute.name, "=", attribute_text(attribute.value)));
  if (assumptions && as_tensor(variable.type()) && variable.ndim() >= 2)
    if (const std::string facts = structure_of(variable).str(); !facts.empty()) parts.push_back(cat("<", facts, ">"));
  return join(parts, " ");
}

// Seconds per Apply node.
std::function<double(const Apply&)> as_times(nb::handle times) {
  if (times.is_none()) return {};
  auto seconds = std::make_shared<std::unordered_map<const ApplyNode*, double>>();
  for (auto& [node, value] : as_pairs(times, "times")) {
    auto* apply = instance_of<ApplyObject>(node);
    if (!apply) throw TypeError(cat("times: expected Apply nodes as keys, got ", shown(node)));
    (*seconds)[apply->apply.node()] = nb::cast<double>(value);
  }
  return [seconds](const Apply& node) {
    const auto found = seconds->find(node.node());
    return found == seconds->end() ? -1.0 : found->second;
  };
}

void bind_pictures(nb::module_& m) {
  m.def(
      "dot_text",
      [](const Variables& outputs, const std::vector<std::string>& output_names, bool compact, bool structure,
         bool with_ids, bool high_contrast, bool var_with_name_simple, std::optional<std::size_t> max_label_size,
         const std::map<std::string, std::string>& color_codes, Any condition) {
        PictureOptions options;
        options.compact = compact;
        options.structure = structure;
        options.with_ids = with_ids;
        options.high_contrast = high_contrast;
        options.var_with_name_simple = var_with_name_simple;
        options.max_label_size = max_label_size.value_or(std::size_t(-1));
        options.color_codes = color_codes;
        options.outputs = output_names;
        if (auto* node = instance_of<ApplyObject>(condition)) options.condition = node->apply;
        return dot_text(outputs, options);
      },
      "outputs"_a, nb::kw_only(), "output_names"_a = std::vector<std::string>{}, "compact"_a = true,
      "structure"_a = false, "with_ids"_a = false, "high_contrast"_a = true, "var_with_name_simple"_a = false,
      "max_label_size"_a.none() = 70, "color_codes"_a = std::map<std::string, std::string>{},
      "condition"_a.none() = nb::none(), "The graph in Graphviz's language.");
  m.def(
      "draw",
      [](const std::string& text, const std::string& format) {
        std::string image;
        {
          nb::gil_scoped_release unlocked;
          image = draw(text, format);
        }
        return nb::bytes(image.data(), image.size());
      },
      "text"_a, "format"_a, "What Graphviz's `dot` makes of a text.");
  m.def(
      "graph_html",
      [](const Variables& outputs, const std::string& name, const std::string& title, Any times) {
        return graph_html({title, {{name, outputs, {}, as_times(times)}}});
      },
      "outputs"_a, "name"_a, "title"_a, "times"_a.none() = nb::none(), "A page that shows the graph.");
  m.def(
      "node_times",
      [](Any function, nb::sequence values, int runs) {
        auto* compiled = instance_of<FunctionObject>(function);
        if (!compiled) throw TypeError(cat("node_times: expected a function, got ", shown(function)));
        const Variables& inputs = compiled->function.inputs();
        if (nb::len(values) != inputs.size())
          throw ValueError(cat("node_times: expected ", inputs.size(), " inputs, got ", nb::len(values)));
        std::vector<Array> arrays;
        for (std::size_t i = 0; i < inputs.size(); ++i)
          arrays.push_back(input_value(compiled->kinds[i], nb::object(values[i]).ptr()));
        std::vector<std::pair<Apply, double>> times;
        {
          nb::gil_scoped_release unlocked;
          times = node_times(compiled->function, arrays, runs);
        }
        nb::dict out;
        for (auto& [node, seconds] : times) out[wrap(node)] = seconds;
        return out;
      },
      "function"_a, "values"_a, "runs"_a, "Seconds that the interpreter takes for each node.");
  m.def(
      "function_html",
      [](Any function, const std::string& title, Any times) {
        auto* compiled = instance_of<FunctionObject>(function);
        if (!compiled) throw TypeError(cat("function_html: expected a function, got ", shown(function)));
        Page page = page_of(compiled->function);
        if (!title.empty()) page.title = title;
        page.graphs.front().seconds = as_times(times);
        return graph_html(page);
      },
      "function"_a, "title"_a, "times"_a.none() = nb::none(),
      "A page that shows a function: its graph after and before rewriting, and its program.");
}

}  // namespace

void bind_printing(nb::module_& m) {
  bind_pictures(m);
  m.def(
      "dprint_text",
      [](Any graphs, int depth, bool print_type, bool print_shape, const std::string& id_type, bool stop_on_name,
         bool print_destroy_map, bool print_view_map, bool print_fgraph_inputs, bool provenance,
         bool print_inner_graphs, Any done, Any used_ids, bool print_storage, bool print_op_info,
         bool print_assumptions) {
        PrintedNodes printed;
        recall(printed, done, used_ids);
        DprintOptions options;
        options.depth = depth;
        options.print_type = print_type;
        options.print_shape = print_shape;
        options.id_type = id_type;
        options.stop_on_name = stop_on_name;
        options.print_destroy_map = print_destroy_map;
        options.print_view_map = print_view_map;
        options.print_fgraph_inputs = print_fgraph_inputs;
        options.provenance = provenance;
        options.print_inner_graphs = print_inner_graphs;
        options.printed = &printed;
        if (print_storage || print_op_info || print_assumptions)
          options.about = [=](const Variable& v) { return about(v, print_storage, print_op_info, print_assumptions); };
        std::string out;
        if (!PyList_Check(graphs.ptr()) && !PyTuple_Check(graphs.ptr()))
          out = print_one(graphs, options);
        else
          for (nb::handle graph : graphs) out += print_one(graph, options);
        remember(printed, done, used_ids, id_type);
        return out;
      },
      "graph_like"_a, "depth"_a = -1, "print_type"_a = false, "print_shape"_a = false, "id_type"_a = "CHAR",
      "stop_on_name"_a = false, "print_destroy_map"_a = false, "print_view_map"_a = false,
      "print_fgraph_inputs"_a = false, "provenance"_a = false, "print_inner_graphs"_a = true, "done"_a = nb::none(),
      "used_ids"_a = nb::none(), "print_storage"_a = false, "print_op_info"_a = false, "print_assumptions"_a = false);
  constexpr const char* signature =
      "def dprint(self, depth: int = -1, *, file: typing.Any = None, **options: typing.Any) -> str | None";
  constexpr const char* doc = "Prints the tree; the options are those of bitale.dprint.";
  auto variable = nb::borrow<nb::class_<VariableObject>>(m.attr("Variable"));
  auto apply = nb::borrow<nb::class_<ApplyObject>>(m.attr("Apply"));
  auto graph = nb::borrow<nb::class_<FunctionGraphObject>>(m.attr("FunctionGraph"));
  auto function = nb::borrow<nb::class_<FunctionObject>>(m.attr("Function"));
  define_in_python(variable, "dprint", "debugprint", signature, doc);
  define_in_python(apply, "dprint", "debugprint", signature, doc);
  define_in_python(graph, "dprint", "debugprint", signature, doc);
  define_in_python(
      function, "dprint", "function_dprint",
      "def dprint(self, stage: str = 'graph', *, file: typing.Any = None, **options: typing.Any) -> str | None",
      "Prints the compiled function: its graph, or another stage such as \"program\".");
  variable.def(
      "_repr_latex_",
      [](const VariableObject& self) { return cat("$\\displaystyle ", notebook_latex(self.variable), "$"); },
      "The expression as a notebook typesets it: parts with names as their names, which are then defined.");
  define_in_python(variable, "_repr_html_", "notebook_html", "def _repr_html_(self) -> str | None",
                   "Of a shared variable: its value, its shape and its type. None for others.");
  define_in_python(apply, "_repr_svg_", "notebook_svg", "def _repr_svg_(self) -> str | None",
                   "The graph as a notebook shows it.");
  define_in_python(graph, "_repr_html_", "notebook_html", "def _repr_html_(self) -> str | None",
                   "The page of printing.html as a notebook shows it.");
  define_in_python(function, "_repr_html_", "notebook_html", "def _repr_html_(self) -> str | None",
                   "The page of printing.html as a notebook shows it.");
  m.def(
      "pprint", [](const Variable& variable) { return pprint(variable); }, "variable"_a,
      "The expression as a formula.");
  m.def(
      "latex", [](const Variable& variable) { return latex(variable); }, "variable"_a, R"(>>> x = pt.dscalar("x")
>>> print(bt.printing.latex(pt.exp(x) / x))
\frac{\exp\left(x\right)}{x})");
}

}  // namespace bitale::python
