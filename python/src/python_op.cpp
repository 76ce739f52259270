// The queries that a C++ op makes of a Python object, each with the interpreter lock held, each result checked before
// use. The older names and signatures of methods are handled in bitale/graph/python_op.py.
#include "python_op.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/aliasing.hpp"
#include "graph/evaluate.hpp"
#include "graph/expansion.hpp"
#include "graph/interpreted.hpp"
#include "hooks.hpp"
#include "numpy_api.hpp"
#include "numpy_bridge.hpp"
#include "values.hpp"
#include "variable_lists.hpp"

namespace bitale::python {

namespace {

std::string qualified_name(nb::handle object) { return nb::cast<std::string>(object.type().attr("__qualname__")); }

// The names in __props__ of the class of an op or a type; std::nullopt when it has none.
std::optional<std::vector<std::string>> property_names(nb::handle object) {
  const nb::object declared = nb::getattr(object.type(), "__props__", nb::handle());
  if (!declared.is_valid() || declared.is(nb::object(nb::type<OpObject>().attr("__props__")))) return {};
  if (!PyTuple_Check(declared.ptr()) && !PyList_Check(declared.ptr()))
    throw TypeError(cat(qualified_name(object), ".__props__: expected a tuple of names, got ", shown(declared)));
  std::vector<std::string> names;
  for (nb::handle name : declared) {
    if (!PyUnicode_Check(name.ptr()))
      throw TypeError(cat(qualified_name(object), ".__props__: expected a tuple of names, got ", shown(declared)));
    names.push_back(nb::cast<std::string>(name));
  }
  return names;
}

nb::object property(nb::handle object, const std::string& name) {
  const nb::object value = nb::getattr(object, name.c_str(), nb::handle());
  if (!value.is_valid())
    throw TypeError(cat(qualified_name(object), ".__props__ names `", name,
                        "`, which the object does not have: set it in __init__"));
  return value;
}

// ---- the Python object as an attribute ------------------------------------------------------------------------------

class PythonObject final : public Opaque {
 public:
  explicit PythonObject(nb::handle object) : object_(nb::borrow(object)) {
    const Py_hash_t hash = PyObject_Hash(object.ptr());
    if (hash == -1) nb::raise_python_error();
    hash_ = std::size_t(hash);
  }
  ~PythonObject() override {
    if (!Py_IsInitialized()) {
      object_.release();
      return;
    }
    nb::gil_scoped_acquire locked;
    object_.reset();
  }

  nb::handle get() const { return object_; }
  bool equals(const Opaque& other) const override {
    const auto* python = dynamic_cast<const PythonObject*>(&other);
    if (!python) return false;
    if (object_.is(python->object_)) return true;
    nb::gil_scoped_acquire locked;
    return object_.equal(python->object_);
  }
  std::size_t hash() const override { return hash_; }
  std::string text() const override {
    nb::gil_scoped_acquire locked;
    try {
      return nb::cast<std::string>(nb::str(object_));
    } catch (nb::python_error&) {
      return qualified_name(object_);  // must not fail: the text is needed for errors too
    }
  }

 private:
  nb::object object_;
  std::size_t hash_ = 0;
};

// ---- view_map and destroy_map ---------------------------------------------------------------------------------------

// For each output, the inputs.
using Map = std::vector<std::vector<int>>;

Map map_of(nb::handle object, const char* name) {
  Map out;
  const nb::object given = attribute_or_none(object, name);
  if (given.is_none()) return out;
  const auto refuse = [&] {
    throw TypeError(cat(qualified_name(object), ".", name,
                        ": expected a dict from outputs to lists of inputs, such as ", "{0: [0]}, got ", shown(given)));
  };
  if (!PyDict_Check(given.ptr())) refuse();
  for (auto [output, inputs] : nb::borrow<nb::dict>(given)) {
    if (!is_integer_object(output) || !(PyList_Check(inputs.ptr()) || PyTuple_Check(inputs.ptr()))) refuse();
    const auto at = nb::cast<std::int64_t>(nb::int_(nb::borrow(output)));
    if (at < 0 || at > 1'000'000) refuse();
    if (std::size_t(at) >= out.size()) out.resize(std::size_t(at) + 1);
    out[std::size_t(at)] = as_ints(inputs, name);
  }
  return out;
}

std::vector<int> row(const Map& map, int output) {
  return std::size_t(output) < map.size() ? map[std::size_t(output)] : std::vector<int>();
}

bool is_among(int value, const std::vector<int>& list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// ---- types ----------------------------------------------------------------------------------------------------------

bool lengths_agree(const Dims& a, const Dims& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis)
    if (a[axis] != unknown_length && b[axis] != unknown_length && a[axis] != b[axis]) return false;
  return true;
}

Variables sequence_of(nb::handle result, std::string_view who) {
  if (is_variable(result)) return {variable_of(result)};
  if (!PyList_Check(result.ptr()) && !PyTuple_Check(result.ptr()))
    throw TypeError(cat(who, ": expected a list of variables, got ", shown(result)));
  Variables out;
  for (nb::handle item : result) {
    if (item.is_none()) throw TypeError(cat(who, ": expected variables, got None as number ", out.size()));
    out.push_back(as_variable(item));
  }
  return out;
}

// ---- values ---------------------------------------------------------------------------------------------------------

// Whether it owns its memory, so that it is not a view of another array.
bool owns_memory(nb::handle ndarray) {
  return PyArray_CHKFLAGS(reinterpret_cast<PyArrayObject*>(ndarray.ptr()), NPY_ARRAY_OWNDATA);
}

nb::list list_of_objects(std::span<const nb::object> items) {
  PyObject* list = PyList_New(Py_ssize_t(items.size()));
  if (!list) nb::raise_python_error();
  for (std::size_t i = 0; i < items.size(); ++i)
    PyList_SET_ITEM(list, Py_ssize_t(i), nb::object(items[i]).release().ptr());
  return nb::steal<nb::list>(list);
}

// [[None], [None], ...]
nb::list empty_cells(std::size_t count) {
  const nb::object nothing = nb::none();
  std::vector<nb::object> cells;
  cells.reserve(count);
  for (std::size_t k = 0; k < count; ++k) cells.push_back(list_of_objects({&nothing, 1}));
  return list_of_objects(cells);
}

// `what` gives the wording of errors.
Array stored_value(nb::object stored, const TensorType& type, const auto& what) {
  const bool is_array = is_ndarray(stored), is_ours = is_array && is_only_holder(stored);
  if (!is_array && !is_numpy_scalar(stored) && !PyFloat_Check(stored.ptr()) && !PyLong_Check(stored.ptr()))
    throw TypeError(cat(what(), " is not an array: expected ", type.str(), ", got ", shown(stored)));
  // A Python number has no dtype of its own.
  const bool is_number = !is_array && (PyFloat_CheckExact(stored.ptr()) || PyLong_Check(stored.ptr()));
  Array value = is_number ? value_for(type, stored, Downcast::Never) : array_from(stored, Share::Borrow);
  if (is_number && value.dtype() != type.dtype) value = value.astype(type.dtype);  // value_for has checked it
  if (value.dtype() != type.dtype || value.ndim() != type.ndim())
    throw TypeError(cat(what(), " does not fit: expected ", type.str(), ", got dtype ", dtype_name(value.dtype()),
                        " and shape ", tuple_text(value.shape())));
  if (!lengths_agree(value.shape(), type.shape))
    throw ShapeError(cat(what(), " has a wrong shape: expected ", type.str(), ", got ", tuple_text(value.shape())));
  return is_array && !is_ours && value.ndim() ? value.copy() : value;  // scalars are copies
}

// ---- the op ---------------------------------------------------------------------------------------------------------

class PythonOp final : public Op, public Expansion, public Interpreted {
 public:
  explicit PythonOp(nb::handle object)
      : object_(make_ref<const PythonObject>(object)),
        name_(cat(nb::cast<std::string>(nb::str(object.type().attr("__module__"))), ".", qualified_name(object))),
        views_(map_of(object, "view_map")),
        destroyed_(map_of(object, "destroy_map")),
        performs_(overrides(object, "perform")),
        infers_(overrides(object, "infer_shape")),
        makes_thunks_(overrides(object, "make_thunk") || overrides(object, "make_py_thunk") ||
                      overrides(object, "prepare_node")),
        stands_for_other_(nb::hasattr(object.type(), "_performs_as")) {}

  nb::handle object() const { return object_->get(); }

  // Contains a dot, so it is never the name of an op of the library.
  std::string_view name() const override { return name_; }
  ComplexForm complex_form() const override { return ComplexForm::own; }
  Attributes attributes() const override { return {{"object", OpaqueAttribute{object_}}}; }
  std::string label() const override { return object_->text(); }

  Apply make_node(std::span<const Variable> inputs) const override {
    nb::gil_scoped_acquire locked;
    return apply_of(object().attr("make_node")(*tuple_of(inputs)), method("make_node"));
  }

  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override {
    nb::gil_scoped_acquire locked;
    if (!infers_) return {};
    return with_node_context(node, [&] { return inferred_shape(node, inputs); });
  }

  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    nb::gil_scoped_acquire locked;
    if (!performs_ && !makes_thunks_) return perform_formula(node, in, out);
    const std::vector<nb::object> given = python_arguments(node, in);
    nb::list inputs = list_of_objects(given);
    const nb::list storage = empty_cells(out.size());
    const nb::object returned = call_perform(node, inputs, storage);
    inputs.clear();
    if (nb::len(storage) != out.size())
      throw ValueError(
          cat(method("perform"), ": output_storage has ", nb::len(storage), " entries now, expected ", out.size()));
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = take_output(node, int(k), PyList_GET_ITEM(storage.ptr(), Py_ssize_t(k)), returned, given, out.first(k));
    check_lengths(node, in, out);
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    nb::gil_scoped_acquire locked;
    const nb::object given =
        hook("op_pullback")(object(), list_of(node.inputs()), list_of(node.outputs()), list_of(cotangents));
    if (given.is_none()) return Op::pullback(node, cotangents);
    return derivatives(given, node.inputs(), "pullback", "input");
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    nb::gil_scoped_acquire locked;
    const nb::object given =
        hook("op_pushforward")(object(), list_of(node.inputs()), list_of(node.outputs()), list_of(tangents));
    return derivatives(given, node.outputs(), "pushforward", "output");
  }
  bool has_pushforward() const override {
    nb::gil_scoped_acquire locked;
    return overrides(object(), "pushforward") || overrides(object(), "R_op");
  }
  // What is written in Python may be any function; a formula is differentiated as its ops are.
  bool has_linear_pullback() const override { return false; }

  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override {
    nb::gil_scoped_acquire locked;
    if (!overrides(object(), "connection_pattern")) return Op::connection_pattern(node);
    return with_node_context(node, [&] { return own_pattern(node); });
  }

  Apply vectorize(const Apply& node, std::span<const Variable> batched) const override {
    nb::gil_scoped_acquire locked;
    const std::string who = method("vectorize");
    const nb::object given = overrides(object(), "vectorize")
                                 ? object().attr("vectorize")(wrap(node), *tuple_of(batched))
                                 : hook("op_batched")(object(), wrap(node), list_of(batched));
    Apply made;
    if (auto* apply = instance_of<ApplyObject>(given)) {
      made = apply->apply;
    } else {
      const Variables outputs = sequence_of(given, who);
      made = outputs.empty() ? Apply() : outputs[0].owner();
      bool are_all = made.defined() && made.output_count() == outputs.size();
      for (std::size_t k = 0; are_all && k < outputs.size(); ++k) are_all = outputs[k].same_as(made.output(int(k)));
      if (!are_all)
        throw TypeError(cat(who, ": expected an Apply node, or all of the outputs of one, got ", shown(given)));
    }
    if (made.output_count() != node.output_count())
      throw ValueError(cat(who, ": a node of ", made.output_count(), " outputs, expected ", node.output_count()));
    return made;
  }

  std::vector<int> view_of(const Apply&, int output) const override { return row(views_, output); }
  std::vector<int> destroys(const Apply&, int output) const override { return row(destroyed_, output); }

  bool may_fold(const Apply& node) const override {
    nb::gil_scoped_acquire locked;
    if (!overrides(object(), "do_constant_folding")) return true;
    return with_node_context(node, [&] {
      const nb::object answer = object().attr("do_constant_folding")(nb::none(), wrap(node));
      const int truth = PyObject_IsTrue(answer.ptr());
      if (truth < 0) nb::raise_python_error();
      return truth != 0;
    });
  }

  std::optional<Variables> expansion(const Apply& node) const override {
    nb::gil_scoped_acquire locked;
    if (!overrides(object(), "emit")) return std::nullopt;
    return formula(node, node.inputs());
  }

  // ValueError for outputs and inputs in the maps that the node does not have.
  void check_maps(std::size_t inputs, std::size_t outputs) const {
    for (auto& [map, called] : {std::pair(&views_, "view_map"), std::pair(&destroyed_, "destroy_map")}) {
      const auto has = [&](int i) { return i >= 0 && std::size_t(i) < inputs; };
      bool fits = map->size() <= outputs;
      for (auto& list : *map) fits = fits && std::all_of(list.begin(), list.end(), has);
      if (!fits)
        throw ValueError(cat(qualified_name(object()), ".", called,
                             " names an output or an input that the node does not have: ", "it has ", inputs,
                             " inputs and ", outputs, " outputs"));
    }
  }

 private:
  std::string method(const char* name) const { return cat(qualified_name(object()), ".", name); }

  std::vector<std::vector<bool>> own_pattern(const Apply& node) const {
    const nb::object given = object().attr("connection_pattern")(wrap(node));
    std::vector<std::vector<bool>> out;
    const auto is_list = [](nb::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()); };
    bool fits = is_list(given) && nb::len(given) == node.inputs().size();
    if (fits)
      for (nb::handle row : given) {
        fits = fits && is_list(row) && nb::len(row) == node.output_count();
        if (!fits) break;
        std::vector<bool>& flags = out.emplace_back();
        for (nb::handle flag : row) flags.push_back(PyObject_IsTrue(flag.ptr()) == 1);
      }
    if (!fits)
      throw TypeError(cat(method("connection_pattern"), ": expected ", node.inputs().size(), " lists of ",
                          node.output_count(), " bools, got ", shown(given)));
    return out;
  }

  // ---- lengths ----

  std::vector<Shape> inferred_shape(const Apply& node, std::span<const Shape> inputs) const {
    nb::list shapes;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      shapes.append(as_tensor(node.input(int(i)).type()) ? nb::object(tuple_of(inputs[i])) : nb::none());
    const nb::object given = hook("op_infer_shape")(object(), node, shapes);
    if (given.is_none()) return {};
    const std::string who = method("infer_shape");
    if (!PyList_Check(given.ptr()) && !PyTuple_Check(given.ptr()))
      throw TypeError(cat(who, ": expected a list with a shape per output, got ", shown(given)));
    if (nb::len(given) != node.output_count())
      throw ValueError(cat(who, ": ", nb::len(given), " shapes for ", node.output_count(), " outputs"));
    std::vector<Shape> out;
    for (nb::handle shape : given) {
      const Variable output = node.output(int(out.size()));
      if (!as_tensor(output.type())) {  // its shape is None, as PyTensor's ops say
        out.emplace_back();
        continue;
      }
      Shape lengths = as_lengths(shape, who);
      if (int(lengths.size()) != output.ndim())
        throw ValueError(cat(who, ": the shape of output ", out.size(), " has ", lengths.size(), " lengths, expected ",
                             output.ndim()));
      for (auto& length : lengths) {
        if (length.ndim() != 0 || !is_discrete(length.dtype()) || length.dtype() == DType::Bool)
          throw TypeError(cat(who, ": a length must be an integer scalar, not ", length.type()->str()));
        length = cast(length, DType::Int64);
      }
      out.push_back(std::move(lengths));
    }
    require_not_own(node, inputs, out);
    return out;
  }

  // Lengths that depend on the node's own output would cause an infinite recursion.
  void require_not_own(const Apply& node, std::span<const Shape> inputs, const std::vector<Shape>& shapes) const {
    Variables lengths;
    VariableSet known(node.inputs().begin(), node.inputs().end());
    for (auto& shape : inputs) known.insert(shape.begin(), shape.end());
    for (auto& shape : shapes) lengths.insert(lengths.end(), shape.begin(), shape.end());
    for (auto& v : ancestors(lengths, known))
      if (v.has_owner() && v.owner().same_as(node))
        throw ValueError(cat(method("infer_shape"), ": a length is computed from the node's own output"));
  }

  // ---- perform ----

  // The result of the op's `perform`. If the op stands for one of another library: of that op's `perform`, with its own
  // node.
  nb::object call_perform(const Apply& node, nb::handle inputs, nb::handle storage) const {
    static PyObject* const perform = PyUnicode_InternFromString("perform");
    if (makes_thunks_) return nb::borrow(runner_of(node))(nb::borrow(inputs), nb::borrow(storage));
    nb::object other, returned;
    if (stands_for_other_) other = object().attr("_performs_as");
    if (other.is_valid() && PyTuple_CheckExact(other.ptr()) && PyTuple_GET_SIZE(other.ptr()) == 2) {
      PyObject* const arguments[] = {PyTuple_GET_ITEM(other.ptr(), 1), inputs.ptr(), storage.ptr()};
      returned = nb::steal(PyObject_Vectorcall(PyTuple_GET_ITEM(other.ptr(), 0), arguments, 3, nullptr));
    } else {
      const nb::object applied = wrap(node);
      PyObject* const arguments[] = {object().ptr(), applied.ptr(), inputs.ptr(), storage.ptr()};
      returned = nb::steal(PyObject_VectorcallMethod(perform, arguments, 4, nullptr));
    }
    if (!returned.is_valid()) nb::raise_python_error();
    return returned;
  }

  // The op's own thunk for nodes of such types, as a function of inputs and output storage. It is made once: an op may
  // compile something for it.
  nb::handle runner_of(const Apply& node) const {
    const auto fits = [&](const Runner& runner) {
      return std::ranges::equal(runner.inputs, node.inputs(), [](auto& a, auto& b) {
        return a.is_constant() || b.is_constant() ? a.same_as(b) : a.type()->equals(*b.type());
      });
    };
    for (auto& runner : *runners_)
      if (fits(runner)) return runner.call;
    Variables leaves;  // not the node's inputs, which would keep everything above them alive
    for (auto& input : node.inputs())
      leaves.push_back(input.is_constant() ? input : Variable(input.type(), input.name()));
    nb::object call = with_node_context(node, [&] { return hook("op_runner")(object(), wrap(node), list_of(leaves)); });
    runners_->push_back({std::move(leaves), std::move(call)});
    return runners_->back().call;
  }

  // Copies, which are read-only unless the op destroys the input: the op may keep them, and a mistaken write is
  // detected. Inputs that it destroys are already its own.
  std::vector<nb::object> python_arguments(const Apply& node, std::span<const Array> in) const {
    std::vector<nb::object> given;
    given.reserve(in.size());
    std::vector<int> destroyed;
    if (!destroyed_.empty()) destroyed = destroyed_inputs(node);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool is_destroyed = is_among(int(i), destroyed);
      const TypeBase& type = *node.inputs()[i].type();
      if (is_destroyed || !type.tensor())
        given.push_back(value_object(type, is_destroyed && in[i].writeable() ? in[i] : in[i].copy()));
      else
        given.push_back(read_only_copy(in[i]));
    }
    return given;
  }

  // If the stored value is a view of an input that the op does not declare: the position of that input.
  std::optional<std::size_t> viewed_input(const Apply& node, int k, nb::handle stored,
                                          std::span<const nb::object> given) const {
    const auto is_same = [&](const nb::object& other) { return other.is(stored); };
    if (owns_memory(stored) && std::none_of(given.begin(), given.end(), is_same)) return {};
    const std::vector<int> viewed = view_of(node, k), destroyed = destroys(node, k);
    const Array value = array_from(stored, Share::Borrow);
    for (std::size_t i = 0; i < given.size() && value.ndim(); ++i)
      if (is_ndarray(given[i]) && value.shares_memory_with(array_from(given[i], Share::Borrow)) &&
          !is_among(int(i), viewed) && !is_among(int(i), destroyed))
        return i;
    return {};
  }

  Array take_output(const Apply& node, int k, nb::handle entry, nb::handle returned, std::span<const nb::object> given,
                    std::span<const Array> earlier) const {
    const auto what = [&] { return cat(method("perform"), ": output ", k); };
    if (!PyList_Check(entry.ptr()) || PyList_GET_SIZE(entry.ptr()) < 1)
      throw TypeError(cat(what(), ": output_storage[", k, "] was replaced by ", shown(entry),
                          "; store the value as output_storage[", k, "][0]"));
    nb::object stored = nb::borrow(PyList_GET_ITEM(entry.ptr(), 0));
    if (stored.is_none())
      throw TypeError(cat(what(), " was not stored: output_storage[", k, "][0] is None",
                          returned.is_none() ? "" : "; perform must store its results: its return value is ignored"));
    PyList_SetItem(entry.ptr(), 0, nb::none().release().ptr());
    const TypeBase& type = *node.node()->outputs[std::size_t(k)].type;
    if (stands_for_other_ && type.tensor()) {
      try {
        stored = as_dtype(stored, type.tensor()->dtype);
      } catch (Error& error) {
        error.add("in", what());
        throw;
      }
    }
    // Checked before the value may be copied.
    if (is_ndarray(stored))
      if (const auto input = viewed_input(node, k, stored, given)) {
        if (!stands_for_other_)
          throw ValueError(cat(what(), " is a view of input ", *input,
                               ", which the op does not declare: store a copy, or set ", "view_map = {", k, ": [",
                               *input, "]}"));
        stored = numpy_copy(array_from(stored, Share::Borrow));
      }
    if (!type.tensor()) {
      try {
        return value_from(type, stored, Downcast::Never, true);
      } catch (Error& error) {
        error.add("in", what());
        throw;
      }
    }
    Array value = stored_value(std::move(stored), *type.tensor(), what);
    for (auto& other : earlier)
      if (value.shares_memory_with(other)) return value.copy();
    return value;
  }

  void perform_formula(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
    if (!overrides(object(), "emit"))
      throw NotImplementedError(
          cat(qualified_name(object()), " has neither perform nor emit: nothing computes its outputs"));
    Variables leaves;
    for (auto& input : node.inputs()) leaves.emplace_back(input.type());
    const std::vector<Array> values = evaluate(formula(node, leaves), leaves, in);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = values[k].copy();
  }

  // ---- infer_shape against the results of perform ----

  // The lengths that infer_shape promises, as expressions of lengths of inputs. Created once, with the interpreter lock
  // held. Nodes that are copies of one another share the op, and the address of a destroyed node may be reused.
  // Therefore a promise is identified by the inputs of its node, which it keeps alive.
  struct Promise {
    Variables inputs;
    bool is_of(const Apply& node) const {
      return std::ranges::equal(inputs, node.inputs(), [](auto& a, auto& b) { return a.same_as(b); });
    }
    std::vector<std::pair<std::size_t, int>> axes;  // inputs and axes of leaves
    Variables leaves;
    std::vector<Shape> shapes;
  };

  void check_lengths(const Apply& node, std::span<const Array> in, std::span<const Array> out) const {
    if (!infers_) return;
    std::shared_ptr<const Promise> promise = promise_;
    if (!promise || !promise->is_of(node)) promise = promise_ = promise_of(node);
    Variables given = promise->leaves, wanted;
    std::vector<Array> values;
    for (auto [input, axis] : promise->axes) values.push_back(Array(in[input].shape(axis)));
    for (auto& shape : promise->shapes) wanted.insert(wanted.end(), shape.begin(), shape.end());
    if (wanted.empty()) return;
    for (std::size_t i = 0; i < in.size(); ++i) {
      given.push_back(node.input(int(i)));
      values.push_back(in[i]);
    }
    const std::vector<Array> lengths = evaluate(wanted, given, values);
    auto next = lengths.begin();
    for (std::size_t k = 0; k < promise->shapes.size(); ++k) {
      if (!as_tensor(node.output(int(k)).type())) continue;
      Dims expected;
      for (std::size_t axis = 0; axis < promise->shapes[k].size(); ++axis) expected.push_back((next++)->int_item());
      if (!(expected == out[k].shape()))
        throw ShapeError(cat(method("perform"), ": output ", k, " has a wrong shape: infer_shape says ",
                             tuple_text(expected), ", got ", tuple_text(out[k].shape())));
    }
  }

  std::shared_ptr<const Promise> promise_of(const Apply& node) const {
    auto promise = std::make_shared<Promise>();
    promise->inputs = node.inputs();
    std::vector<Shape> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      Shape& shape = inputs.emplace_back();
      if (!as_tensor(node.input(int(i)).type())) continue;  // it has no lengths
      for (int axis = 0; axis < node.input(int(i)).ndim(); ++axis) {
        promise->leaves.emplace_back(tensor_type(DType::Int64, 0));
        promise->axes.emplace_back(i, axis);
        shape.push_back(promise->leaves.back());
      }
    }
    promise->shapes = infer_shape(node, inputs);
    return promise;
  }

  // ---- formulas and derivatives ----

  Variables formula(const Apply& node, const Variables& inputs) const {
    const std::string who = method("emit");
    const Variables given = sequence_of(object().attr("emit")(wrap(node), *tuple_of(inputs)), who);
    if (given.size() != node.output_count())
      throw ValueError(cat(who, ": ", given.size(), " variables for ", node.output_count(), " outputs"));
    Variables out;
    for (std::size_t k = 0; k < given.size(); ++k) {
      const Type& type = node.output(int(k)).type();
      const TensorType &wanted = *as_tensor(type), *tensor = as_tensor(given[k].type());
      const bool fits = tensor && tensor->dtype == wanted.dtype && tensor->ndim() == wanted.ndim();
      if (!fits || !lengths_agree(wanted.shape, tensor->shape))
        throw TypeError(cat(who, ": output ", k, " is `", given[k].str(), "` of type ", given[k].type()->str(),
                            ", expected ", type->str()));
      out.push_back(type->is_super(*given[k].type()) ? given[k] : with_lengths(given[k], wanted.shape));
    }
    return out;
  }

  static Variable with_lengths(const Variable& v, const Dims& shape) {
    std::vector<std::optional<Operand>> lengths;
    for (std::int64_t length : shape)
      lengths.push_back(length == unknown_length ? std::nullopt : std::optional(Operand(length)));
    return specify_shape(v, lengths);
  }

  Variables derivatives(nb::handle given, const Variables& of, const char* name, const char* end) const {
    Variables out = sequence_of(given, method(name));
    if (out.size() != of.size())
      throw ValueError(cat(method(name), ": ", out.size(), " variables for ", of.size(), " ", end, "s"));
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (out[i].is_disconnected() || out[i].is_null()) continue;
      const TensorType *wanted = as_tensor(of[i].type()), *type = as_tensor(out[i].type());
      if (!wanted || !type || type->ndim() != wanted->ndim() || !lengths_agree(type->shape, wanted->shape))
        throw TypeError(cat(method(name), ": for ", end, " ", i, " of type ", of[i].type()->str(), " it gave `",
                            out[i].str(), "` of type ", out[i].type()->str()));
    }
    return out;
  }

  const Ref<const PythonObject> object_;
  const std::string name_;
  const Map views_, destroyed_;
  const bool performs_, infers_;  // whether the class has these methods
  const bool makes_thunks_;       // whether it makes thunks by a method of its own
  struct Runner {
    Variables inputs;
    nb::object call;
  };
  struct WithLock {
    void operator()(std::vector<Runner>* runners) const {
      if (!Py_IsInitialized())
        for (auto& runner : *runners) runner.call.release();
      else if (!runners->empty()) {
        nb::gil_scoped_acquire locked;
        runners->clear();
      }
      delete runners;
    }
  };
  // Accessed only with the interpreter lock held.
  const std::unique_ptr<std::vector<Runner>, WithLock> runners_{new std::vector<Runner>};
  // Classes of ops of another library have an attribute `_performs_as`: its `perform` and its node, or None where the
  // class has a `perform` of its own. The values that such an op stores may be converted or copied here: other dtypes,
  // numbers, views.
  const bool stands_for_other_;
  mutable std::shared_ptr<const Promise> promise_;
};

const PythonOp* python_op(const Op& op) { return dynamic_cast<const PythonOp*>(&op); }

}  // namespace

nb::object attribute_or_none(nb::handle object, const char* name) {
  if (PyObject* found = PyObject_GenericGetAttr(object.ptr(), nb::str(name).ptr())) return nb::steal(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) nb::raise_python_error();
  PyErr_Clear();
  return nb::none();
}

bool overrides(nb::handle object, const char* name) {
  const nb::handle base = nb::type<OpObject>();
  const nb::object own = nb::getattr(object.type(), name, nb::none());
  if (!own.is(nb::object(nb::getattr(base, name, nb::none())))) return true;
  const nb::object members = nb::getattr(object, "__dict__", nb::none());
  return PyDict_Check(members.ptr()) && PyDict_GetItemString(members.ptr(), name);
}

OpRef make_python_op(nb::handle object) { return make_ref<const PythonOp>(object); }

nb::object python_object(const Op& op) {
  const PythonOp* python = python_op(op);
  return python ? nb::borrow(python->object()) : nb::object();
}

void check_formula(const Apply& node) {
  if (const PythonOp* op = python_op(node.op())) op->expansion(node);
}

std::string python_op_label(nb::handle object) {
  const std::string name = nb::cast<std::string>(object.type().attr("__name__"));
  const auto names = property_names(object);
  if (!names || names->empty()) return name;
  std::vector<std::string> parts;
  for (auto& each : *names)
    parts.push_back(cat(each, "=", nb::cast<std::string>(nb::str(nb::object(property(object, each))))));
  return cat(name, "{", join(parts, ", "), "}");
}

bool python_ops_equal(nb::handle a, nb::handle b) {
  if (a.is(b)) return true;
  if (!nb::object(nb::borrow(a.type())).is(nb::object(nb::borrow(b.type())))) return false;
  const auto names = property_names(a);
  if (!names) return false;
  for (auto& name : *names)
    if (!property(a, name).equal(property(b, name))) return false;
  return true;
}

Py_hash_t python_op_hash(nb::handle object) {
  const auto names = property_names(object);
  if (!names) return Py_hash_t(reinterpret_cast<std::uintptr_t>(object.ptr()) >> 4);
  nb::list values;
  for (auto& name : *names) {
    const nb::object value = property(object, name);
    if (PyObject_Hash(value.ptr()) == -1) {
      PyErr_Clear();
      throw TypeError(cat(qualified_name(object), ".__props__: the value of `", name, "` can't be hashed: ",
                          shown(value), "; make it a tuple, a number or a string, or leave it out of __props__"));
    }
    values.append(value);
  }
  const nb::tuple key = nb::make_tuple(nb::borrow(object.type()), nb::tuple(values));
  const Py_hash_t hash = PyObject_Hash(key.ptr());
  if (hash == -1) nb::raise_python_error();
  return hash;
}

Apply default_node(nb::handle object, nb::handle inputs) {
  const std::string who = cat(qualified_name(object), ".make_node");
  const nb::object itypes = attribute_or_none(object, "itypes"), otypes = attribute_or_none(object, "otypes");
  if (itypes.is_none() || otypes.is_none())
    throw NotImplementedError(cat(qualified_name(object), " has neither make_node nor itypes and otypes"));
  const auto types_of = [&](nb::handle list, const char* name) {
    std::vector<Type> out;
    if (!PyList_Check(list.ptr()) && !PyTuple_Check(list.ptr()))
      throw TypeError(cat(qualified_name(object), ".", name, ": expected a list of types, got ", shown(list)));
    for (nb::handle item : list) {
      auto* type = instance_of<TypeObject>(item);
      if (!type)
        throw TypeError(cat(qualified_name(object), ".", name, ": expected types such as dvector, got ", shown(item)));
      out.push_back(type_of(item, *type));
    }
    return out;
  };
  const std::vector<Type> in = types_of(itypes, "itypes"), out = types_of(otypes, "otypes");
  if (nb::len(inputs) != in.size())
    throw ValueError(cat(who, ": ", in.size(), " inputs expected, got ", nb::len(inputs)));
  Variables variables;
  for (nb::handle input : inputs) {
    const Type& type = in[variables.size()];
    Variable variable = is_variable(input) || !type->storage() ? require_variable(input, who)
                                                               : constant_of(type, value_from(*type, input));
    if (!type->is_super(*variable.type()))
      throw TypeError(cat(who, ": input ", variables.size(), " `", variable.str(), "` has type ",
                          variable.type()->str(), ", expected ", type->str()));
    variables.push_back(std::move(variable));
  }
  OpRef op = make_python_op(object);
  python_op(*op)->check_maps(in.size(), out.size());
  return Apply(std::move(op), std::move(variables), out);
}

Apply node_of_python_op(nb::handle op, nb::handle inputs, nb::handle outputs) {
  const auto* known = instance_of<OpObject>(op);
  if (!known) throw TypeError(cat("Apply: expected an Op, got ", shown(op)));
  if (known->op)
    throw TypeError(cat("Apply: nodes of ", known->op->label(), " are made by the op: op(*inputs) or op.make_node"));
  const auto variables_of = [&](nb::handle list, const char* name) {
    if (!PyList_Check(list.ptr()) && !PyTuple_Check(list.ptr()))
      throw TypeError(
          cat("Apply: ", name, " of ", qualified_name(op), ": expected a list of variables, got ", shown(list)));
    Variables out;
    for (nb::handle item : list)
      out.push_back(require_variable(item, cat("Apply: ", name, " of ", qualified_name(op))));
    return out;
  };
  const Variables in = variables_of(inputs, "inputs"), out = variables_of(outputs, "outputs");
  if (out.empty() && !nb::hasattr(op.type(), "_is_output"))
    throw ValueError(cat("Apply: ", qualified_name(op), " has no output"));
  std::vector<Type> types;
  for (auto& v : out) {
    if (v.has_owner())
      throw ValueError(cat("Apply: the output `", v.str(), "` of ", qualified_name(op),
                           " is computed by another node; outputs are new variables, such as x.type()"));
    if (!v.type()->storage())
      throw TypeError(cat("Apply: an output of type ", v.type()->str(), ", which has no values"));
    types.push_back(v.type());
  }
  OpRef made = make_python_op(op);
  python_op(*made)->check_maps(in.size(), types.size());
  Apply node(std::move(made), in, types);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!out[k].name().empty()) node.output(int(k)).set_name(out[k].name());
  return node;
}

const Apply& apply_of(nb::handle object, std::string_view who) {
  if (auto* apply = instance_of<ApplyObject>(object)) return apply->apply;
  throw TypeError(cat(who, ": expected an Apply node, such as Apply(self, inputs, [x.type()]), got ", shown(object)));
}

}  // namespace bitale::python
