// Docstrings of the classes that are bound.
#include "reference/classes.hpp"

namespace bitale::python {

// clang-format off
std::span<const ClassDescription> class_descriptions() {
  static constexpr ClassDescription all[] = {
{"Variable", R"doc(Value at one point of a computation.

A leaf (an input, a constant or a shared variable), or an output of an Apply
node.)doc"},
{"TensorVariable", R"doc(Symbolic tensor.

Operators and methods build expressions; `eval` computes one.)doc"},
{"TensorConstant", R"doc(Constant tensor.)doc"},
{"TensorSharedVariable", R"doc(Tensor whose value is kept between calls of functions.)doc"},
{"Constant", R"doc(Variable whose value is known and never changes.)doc"},
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
    Copy the graph.)doc"},
{"Function", R"doc(Compiled function.

``f(*inputs)`` computes the outputs; inputs may be given by name. Calls may
come from many threads.)doc"},
{"Mode", R"doc(How functions are compiled: a linker, and rewrites.

Parameters
----------
linker : str or Linker, optional
    How the graph is run; by default config.linker.
optimizer : str or None
    Which rewrites are applied; None for none.

See Also
--------
bitale.function)doc"},
{"TensorType", R"doc(Type of tensors of one dtype and static shape.

Parameters
----------
dtype : dtype_like
    Dtype.
shape : sequence of int or None
    Lengths of the dimensions, None where a length is unknown.)doc"},
{"RandomGeneratorType", R"doc(Type of states of a random generator.

Parameters
----------
bit_generator : str
    "PCG64", "Philox", "SFC64", "MT19937" or "Threefry".)doc"},
{"RandomGeneratorVariable", R"doc(Symbolic random generator: its methods draw, and return the next one.)doc"},
{"DisconnectedType", R"doc(Type of the cotangent of an input on which no output depends.)doc"},
{"NullType", R"doc(Type of a derivative that does not exist.

Parameters
----------
why_null : str
    Reason, for the message of an error.)doc"},
  };
  return all;
}
// clang-format on

}  // namespace bitale::python
