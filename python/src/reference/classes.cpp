// Docstrings of the classes that are bound.
#include "reference/classes.hpp"

namespace bitale::python {

// clang-format off
std::span<const ClassDescription> class_descriptions() {
  static constexpr ClassDescription all[] = {
{"Variable", R"doc(Value at one point of a computation.

A leaf (an input, a constant or a shared variable), or an output of an Apply
node.

Parameters
----------
type : Type
    Type.
owner : None
    Must be None: outputs are created together with their node.
index : int, optional
    Accepted for compatibility with PyTensor.
name : str, optional
    Name.)doc"},
{"TensorVariable", R"doc(Symbolic tensor.

Operators and methods build expressions; `eval` computes one.

Parameters
----------
type : TensorType
    Type.
owner : None
    Must be None: outputs are created together with their node.
index : None
    Must be None.
name : str, optional
    Name.)doc"},
{"TensorConstant", R"doc(Constant tensor.

Parameters
----------
type : TensorType
    Type.
data : array_like
    Value, of this type.
name : str, optional
    Name.)doc"},
{"TensorSharedVariable", R"doc(Tensor whose value persists between calls of functions.)doc"},
{"Constant", R"doc(Variable whose value is known and never changes.

Parameters
----------
type : TensorType
    Type.
data : array_like
    Value, of this type.
name : str, optional
    Name.)doc"},
{"Apply", R"doc(Application of an op to inputs.

Parameters
----------
op : Op
    Op.
inputs : sequence of Variable
    Inputs.
outputs : sequence of Variable
    New variables, which become the outputs of the node.)doc"},
{"FunctionGraph", R"doc(Private copy of a graph that may be changed.

Equal nodes are merged when they are added.

Parameters
----------
inputs : sequence of Variable, optional
    Inputs; by default the leaves that are not constants.
outputs : sequence of Variable
    Outputs.
features : sequence of Feature, optional
    Observers of changes, to attach.
clone : bool
    Copy the graph.
update_mapping : dict, optional
    Which output is the new value of which input, by position; kept as an
    attribute.
**clone_kwds : object
    Of `bitale.graph.basic.clone_get_equiv`: `copy_inputs`, `copy_orphans` and
    `memo`.)doc"},
{"Function", R"doc(Compiled function.

``f(*inputs)`` computes the outputs; inputs may be given by name. Calls may
come from many threads.)doc"},
{"Mode", R"doc(How functions are compiled: a linker, and rewrites.

Parameters
----------
linker : str or Linker, optional
    How the graph is run; by default config.linker.
optimizer : str, RewriteDatabaseQuery, GraphRewriter or None
    Which rewrites are applied: the name of a query ("default" for
    config.optimizer), a query, or a rewriter, which is then all that is done;
    None for none.
db : RewriteDatabase, optional
    The database that is queried; by default optdb.

See Also
--------
bitale.function)doc"},
{"TensorType", R"doc(Type of tensors of one dtype and static shape.

Parameters
----------
dtype : dtype_like
    Dtype.
shape : sequence of int or None
    Lengths of the dimensions, None where a length is unknown.
name : str, optional
    Accepted for compatibility with PyTensor.
broadcastable : sequence of bool, optional
    The older form of `shape`: which lengths are 1.)doc"},
{"RandomGeneratorType", R"doc(Type of states of a random generator.

Parameters
----------
bit_generator : str
    "PCG64", "Philox", "SFC64", "MT19937" or "Threefry".)doc"},
{"RandomGeneratorVariable", R"doc(Symbolic random generator: its methods draw, and return the next generator.)doc"},
{"DisconnectedType", R"doc(Type of the cotangent of an input on which no output depends.)doc"},
{"NullType", R"doc(Type of a derivative that does not exist.

Parameters
----------
why_null : str
    Reason, for the message of an error.)doc"},
{"In", R"doc(Input of a function, with options.

Parameters
----------
variable : TensorVariable
    The variable.
name : str, optional
    Keyword of the input; by default the name of the variable.
value : object, optional
    Default for calls that leave the input out; or a shared variable or
    Container that holds it.
update : TensorVariable, optional
    Expression whose value the container gets after each call.
mutable : bool, optional
    Accepted for compatibility with PyTensor: inputs are never written.
strict : bool
    Take only arrays of just the dtype.
allow_downcast : bool, optional
    True converts whatever is given, False nothing that would lose
    precision, None also Python floats to config.floatX. By default the
    function decides.
autoname : bool
    Accepted for compatibility with PyTensor.
implicit : bool, optional
    Calls cannot give the input; its value is that of the container. By
    default if the value is a shared variable or a Container.
borrow : bool, optional
    Accepted for compatibility with PyTensor.
shared : bool
    Accepted for compatibility with PyTensor.

Raises
------
TypeError
    If the value or update does not have the type of the variable.
ValueError
    For an update or `implicit` without a value, or `mutable` without
    `borrow`.

See Also
--------
Out, function)doc"},
{"Out", R"doc(Output of a function, with options.

Parameters
----------
variable : TensorVariable
    The expression.
borrow : bool
    Accepted for compatibility with PyTensor: results are never shared.

See Also
--------
In, function)doc"},
{"Container", R"doc(Storage cell: the default of an input, the state that an update changes, or the value of a shared variable.

Parameters
----------
variable : Variable
    Shared variable that has the value.

Raises
------
TypeError
    If the variable is not shared.)doc"},
{"FunctionMaker", R"doc(Maker of functions, step by step.

``function(...)`` is ``FunctionMaker(...).create()``. Making one builds the
graph (`create_fgraph`) and rewrites it (`prepare_fgraph`); `create` links it
(`link`) and returns the callable. A subclass may do any step in another way:
it may look at the graph or change it, up to `link`.
``mode.with_function_maker(cls)`` is a mode whose functions are made by it; a
subclass of Mode may have an attribute ``function_maker`` instead.

Parameters
----------
inputs : sequence of Variable or In
    As in `function`.
outputs : Variable, sequence or dict of Variable, optional
    As in `function`.
mode : str or Mode, optional
    As in `function`.
accept_inplace : bool
    As in `function`.
updates, givens : mapping or iterable of pairs, optional
    As in `function`.
name : str, optional
    As in `function`.
allow_input_downcast : bool, optional
    As in `function`.
profile : bool or str, optional
    As in `function`.
on_unused_input : str, optional
    As in `function`.
trust_input : bool
    As in `function`.
threads : int, optional
    As in `function`.
no_fgraph_prep : bool
    Leave the graph as it was given.
no_default_updates : bool or list of Variable
    As in `function`.

See Also
--------
bitale.function, std_fgraph)doc"},
  };
  return all;
}
// clang-format on

}  // namespace bitale::python
