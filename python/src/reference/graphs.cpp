// Derivatives, graphs, printing and compiled functions, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions graphs(R"doc(
= grad
Gradient of a scalar with respect to variables.
@ def grad(cost: Variable | None, wrt: Variable, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: typing.Any = None, return_disconnected: str = 'zero', null_gradients: str = 'raise') -> TensorVariable
@ def grad(cost: Variable | None, wrt: collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: typing.Any = None, return_disconnected: str = 'zero', null_gradients: str = 'raise') -> list[TensorVariable]
@ def grad(cost: typing.Any, wrt: typing.Any = None, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', add_names: bool = True, known_grads: typing.Any = None, return_disconnected: str = 'zero', null_gradients: str = 'raise', *, argnums: int | collections.abc.Sequence[int] = 0, has_aux: bool = False) -> typing.Any
cost (TensorVariable or callable): Scalar to differentiate; None if `known_grads` contains everything needed.
wrt (Variable or tree of Variable): Variables with respect to which to differentiate.
consider_constant (sequence of Variable): Variables through which no gradient passes.
add_names: Name the gradients, as ``dcost/dx``.
known_grads (mapping): Gradients of the cost with respect to intermediate variables, if they are already known.
return_disconnected: The gradient with respect to such a variable: ``'zero'``, ``'none'`` or ``'disconnected'``.
null_gradients: ``'raise'`` an error if a derivative is undefined, or ``'return'`` a variable of type NullType.
argnums (int or sequence of int): For a function, the positions of the arguments with respect to which to differentiate; they may also be given as `wrt`.
has_aux: For a function, whether it returns a pair whose second part is not differentiated.
-> TensorVariable or list of TensorVariable: Gradients, each of the shape of its variable; with the structure of `wrt`.
! TypeError: if `cost` is not a scalar of floating-point or complex dtype.
! DisconnectedInputError: if `cost` does not depend on a variable and `disconnected_inputs` is ``'raise'``.
! NullTypeGradError: if a derivative is undefined and `null_gradients` is ``'raise'``.
~ jacobian, hessian, pullback, pushforward
* The gradient is that of the expression after the rewrites tagged ``stabilize``, so it is as stable as the compiled value. Integers and bools have no derivative: they are treated as variables on which the cost does not depend.
* For a Python function, the result is a function of the same arguments that returns the gradient with respect to one of them: called with variables, an expression; called with arrays, an array, compiled as by `bitale.jit`.

= jacobian
Jacobian of an expression with respect to variables.
@ def jacobian(expression: Variable, wrt: Variable, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', vectorize: bool = True, *, sparsity: typing.Any = None, sparse: typing.Literal[False] = False) -> TensorVariable
@ def jacobian(expression: Variable, wrt: Variable, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', vectorize: bool = True, *, sparsity: typing.Any = None, sparse: typing.Literal[True]) -> SparseVariable
@ def jacobian(expression: Variable, wrt: collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', vectorize: bool = True, *, sparsity: typing.Any = None, sparse: typing.Literal[False] = False) -> list[TensorVariable]
@ def jacobian(expression: typing.Any, wrt: typing.Any = None, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', vectorize: bool = True, *, sparsity: typing.Any = None, sparse: bool = False, argnums: int | collections.abc.Sequence[int] = 0, has_aux: bool = False) -> typing.Any
expression (TensorVariable or callable): Expression to differentiate.
wrt (Variable or tree of Variable): Variables with respect to which to differentiate.
consider_constant (sequence of Variable): Variables through which no gradient passes.
disconnected_inputs: What to do if the expression does not depend on a variable: ``'raise'``, ``'warn'`` or ``'ignore'``.
vectorize: Accepted for compatibility with PyTensor: it is always one batched product.
sparsity ('auto', array_like or scipy.sparse matrix of bool): Which elements of the derivative of a vector with respect to a vector may be nonzero. With ``'auto'`` they are derived from the graph, which requires static shapes.
sparse: Return a sparse matrix, whose elements are those of `sparsity`, by default of ``'auto'``.
argnums (int or sequence of int): For a function, the positions of the arguments with respect to which to differentiate; they may also be given as `wrt`.
has_aux: For a function, whether it returns a pair whose second part is not differentiated.
-> TensorVariable, list of TensorVariable or SparseVariable: Derivatives: the dimensions of the expression, then those of the variable.
! ShapeError: at run time, if `sparsity` does not have the shape of the result.
~ grad, hessian, pullback, jacfwd
* Reverse mode takes as many products as the expression has elements, forward mode as many as the variable has. Forward mode is chosen if the variable has fewer than half as many elements. If lengths are unknown, each call decides, except that a variable with at most 32 elements gets forward mode if only the length of the expression is unknown. Products that can't be batched, such as those of a loop with ``until`` whose step may fail after the last one, are taken in a loop.
* With `sparsity`, rows or columns that share no nonzero are computed by a single product (Curtis, Powell and Reid 1974): a band of width w takes w products, however long it is. A nonzero that `sparsity` omits is not seen, and may be added to other elements.
* For a Python function, the result is a function of the same arguments that returns Jacobians for each leaf of its result; see `grad`.

= jacfwd
Jacobian of an expression with respect to variables, by forward-mode derivatives.
@ def jacfwd(expression: Variable, wrt: Variable, disconnected_inputs: str = 'raise') -> TensorVariable
@ def jacfwd(expression: Variable, wrt: collections.abc.Sequence[Variable], disconnected_inputs: str = 'raise') -> list[TensorVariable]
@ def jacfwd(expression: typing.Any, wrt: typing.Any = None, disconnected_inputs: str = 'raise', *, argnums: int | collections.abc.Sequence[int] = 0, has_aux: bool = False) -> typing.Any
expression (TensorVariable or callable): Expression to differentiate.
wrt (Variable or tree of Variable): Variables with respect to which to differentiate.
disconnected_inputs: What to do if the expression does not depend on a variable: ``'raise'``, ``'warn'`` or ``'ignore'``.
argnums (int or sequence of int): For a function, the positions of the arguments with respect to which to differentiate; they may also be given as `wrt`.
has_aux: For a function, whether it returns a pair whose second part is not differentiated.
-> TensorVariable or list of TensorVariable: Derivatives: the dimensions of the expression, then those of the variable.
! TypeError: if the expression or a variable is not a tensor of a float dtype.
~ jacobian, pushforward
* One batched pushforward for each variable takes as many products as the variable has elements; `jacobian` takes as many as the expression has. Use this function for a few parameters and many observations. Products that can't be batched are taken in a loop.
* For a Python function, the result is a function of the same arguments that returns Jacobians for each leaf of its result; see `grad`.

= hessian
Hessian of a scalar with respect to vectors.
@ def hessian(cost: Variable, wrt: Variable, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', *, sparsity: typing.Any = None, sparse: typing.Literal[False] = False) -> TensorVariable
@ def hessian(cost: Variable, wrt: Variable, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', *, sparsity: typing.Any = None, sparse: typing.Literal[True]) -> SparseVariable
@ def hessian(cost: Variable, wrt: collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', *, sparsity: typing.Any = None, sparse: typing.Literal[False] = False) -> list[TensorVariable]
@ def hessian(cost: typing.Any, wrt: typing.Any = None, consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', *, sparsity: typing.Any = None, sparse: bool = False, argnums: int | collections.abc.Sequence[int] = 0, has_aux: bool = False) -> typing.Any
cost (TensorVariable or callable): Scalar to differentiate twice.
wrt (Variable or tree of Variable): Vectors with respect to which to differentiate.
consider_constant (sequence of Variable): Variables through which no gradient passes.
sparsity ('auto', array_like or scipy.sparse matrix of bool): Which elements may be nonzero; as in `jacobian`.
sparse: Return a sparse matrix; as in `jacobian`.
argnums (int or sequence of int): For a function, the positions of the arguments with respect to which to differentiate; they may also be given as `wrt`.
has_aux: For a function, whether it returns a pair whose second part is not differentiated.
-> TensorVariable, list of TensorVariable or SparseVariable: Matrices of second derivatives, one per variable.
~ jacobian, hessian_vector_product
* For a Python function, the result is a function of the same arguments; see `grad`.

= hessian_vector_product
Product of a Hessian with vectors.
@ def hessian_vector_product(cost: Variable, wrt: Variable, p: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise') -> TensorVariable
@ def hessian_vector_product(cost: Variable, wrt: collections.abc.Sequence[Variable], p: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise') -> list[TensorVariable]
cost (TensorVariable): Scalar to differentiate twice.
wrt (Variable or sequence of Variable): Variables with respect to which to differentiate.
p (Variable or sequence of Variable): Vectors, each of the shape of its variable.
consider_constant (sequence of Variable): Variables through which no gradient passes.
-> TensorVariable or list of TensorVariable: The Hessian over all of `wrt`, times `p`.
~ hessian, gauss_newton_vector_product

= gauss_newton_vector_product
Product of a Gauss-Newton matrix with vectors.
@ def gauss_newton_vector_product(cost: Variable, outputs: Variable | collections.abc.Sequence[Variable], wrt: Variable, p: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise') -> TensorVariable
@ def gauss_newton_vector_product(cost: Variable, outputs: Variable | collections.abc.Sequence[Variable], wrt: collections.abc.Sequence[Variable], p: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise') -> list[TensorVariable]
cost (TensorVariable): Scalar.
outputs (Variable or sequence of Variable): Outputs of a model, of which `cost` is a function.
wrt (Variable or sequence of Variable): Parameters of the model.
p (Variable or sequence of Variable): Vectors, each of the shape of its parameter.
consider_constant (sequence of Variable): Variables through which no gradient passes.
disconnected_inputs: What to do if `outputs` do not depend on a parameter: ``'raise'``, ``'warn'`` or ``'ignore'``.
-> TensorVariable or list of TensorVariable: ``J.T @ H @ J @ p``, where J is the Jacobian of the outputs and H the Hessian of the cost as a function of the outputs.
~ hessian_vector_product, jacobian
* The matrix is positive semidefinite for a convex cost: Schraudolph (2002). Everything else on which `cost` depends is held constant.

= pullback
Vector-Jacobian product, the reverse-mode derivative.
@ def pullback(f: Variable | collections.abc.Sequence[Variable], wrt: Variable, cotangents: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', return_disconnected: str = 'zero') -> TensorVariable
@ def pullback(f: Variable | collections.abc.Sequence[Variable], wrt: collections.abc.Sequence[Variable], cotangents: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', return_disconnected: str = 'zero') -> list[TensorVariable]
f (Variable or sequence of Variable): Expressions.
wrt (Variable or sequence of Variable): Variables with respect to which to differentiate.
cotangents (Variable or sequence of Variable): Vectors, each of the shape of its expression.
consider_constant (sequence of Variable): Variables through which no gradient passes.
disconnected_inputs: What to do if `f` does not depend on a variable: ``'raise'``, ``'warn'`` or ``'ignore'``.
return_disconnected: The result for such a variable: ``'zero'``, ``'none'`` or ``'disconnected'``.
-> TensorVariable or list of TensorVariable: Cotangents times the Jacobian of `f`, each of the shape of its variable.
~ pushforward, grad, jacobian

= pushforward
Jacobian-vector product, the forward-mode derivative.
@ def pushforward(f: Variable, wrt: Variable | collections.abc.Sequence[Variable], tangents: Variable | collections.abc.Sequence[Variable], disconnected_outputs: str = 'raise', return_disconnected: str = 'zero', use_op_pushforward: bool = False) -> TensorVariable
@ def pushforward(f: collections.abc.Sequence[Variable], wrt: Variable | collections.abc.Sequence[Variable], tangents: Variable | collections.abc.Sequence[Variable], disconnected_outputs: str = 'raise', return_disconnected: str = 'zero', use_op_pushforward: bool = False) -> list[TensorVariable]
f (Variable or sequence of Variable): Expressions.
wrt (Variable or sequence of Variable): Variables with respect to which to differentiate.
tangents (Variable or sequence of Variable): Vectors, each of the shape of its variable.
disconnected_outputs: What to do if an expression does not depend on `wrt`: ``'raise'``, ``'warn'`` or ``'ignore'``.
return_disconnected: The result for such an expression: ``'zero'``, ``'none'`` or ``'disconnected'``.
use_op_pushforward: Accepted for compatibility with PyTensor: an op's own pushforward is always used if it has one.
-> TensorVariable or list of TensorVariable: The Jacobian of `f` times tangents, each of the shape of its expression.
~ pullback, jacobian

= Lop
Vector-Jacobian product; a deprecated name of `pullback`.
@ def Lop(f: Variable | collections.abc.Sequence[Variable], wrt: Variable, eval_points: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', return_disconnected: str = 'zero') -> TensorVariable
@ def Lop(f: Variable | collections.abc.Sequence[Variable], wrt: collections.abc.Sequence[Variable], eval_points: Variable | collections.abc.Sequence[Variable], consider_constant: collections.abc.Sequence[Variable] | None = None, disconnected_inputs: str = 'raise', return_disconnected: str = 'zero') -> list[TensorVariable]
eval_points (Variable or sequence of Variable): Vectors, each of the shape of its expression.
-> TensorVariable or list of TensorVariable: Products, each of the shape of its variable.
~ pullback
< pullback

= Rop
Jacobian-vector product; a deprecated name of `pushforward`.
@ def Rop(f: Variable, wrt: Variable | collections.abc.Sequence[Variable], eval_points: Variable | collections.abc.Sequence[Variable], disconnected_outputs: str = 'raise', return_disconnected: str = 'zero', use_op_rop_implementation: bool = True) -> TensorVariable
@ def Rop(f: collections.abc.Sequence[Variable], wrt: Variable | collections.abc.Sequence[Variable], eval_points: Variable | collections.abc.Sequence[Variable], disconnected_outputs: str = 'raise', return_disconnected: str = 'zero', use_op_rop_implementation: bool = True) -> list[TensorVariable]
eval_points (Variable or sequence of Variable): Vectors, each of the shape of its variable.
use_op_rop_implementation: Accepted for compatibility with PyTensor: an op's own pushforward is used in any case.
-> TensorVariable or list of TensorVariable: Products, each of the shape of its expression.
~ pushforward
< pushforward

= pushforward_through_pullback
Jacobian-vector product; the same as `pushforward`.
@ def pushforward_through_pullback(outputs: Variable, inputs: Variable | collections.abc.Sequence[Variable], tangents: Variable | collections.abc.Sequence[Variable], disconnected_outputs: str = 'raise', return_disconnected: str = 'zero') -> TensorVariable
@ def pushforward_through_pullback(outputs: collections.abc.Sequence[Variable], inputs: Variable | collections.abc.Sequence[Variable], tangents: Variable | collections.abc.Sequence[Variable], disconnected_outputs: str = 'raise', return_disconnected: str = 'zero') -> list[TensorVariable]
outputs (Variable or sequence of Variable): Expressions.
inputs (Variable or sequence of Variable): Variables with respect to which to differentiate.
disconnected_outputs: What happens if an expression does not depend on `inputs`: ``'raise'``, ``'warn'`` or ``'ignore'``.
-> TensorVariable or list of TensorVariable: Products, each of the shape of its expression.
~ pushforward
* `pushforward` takes the transpose of a pullback where an op has no pushforward.
< pushforward

= disconnected_grad
Identity that cuts off gradients.
-> `x`; for gradients, nothing depends on the argument.
~ zero_grad

= zero_grad
Identity whose gradient is zero.
-> `x`; gradients through it are 0.
~ disconnected_grad

= undefined_grad
Identity whose gradient is undefined.
-> `x`; a gradient that needs its derivative raises NullTypeGradError.
~ zero_grad

= grad_clip
Identity that clips gradients.
lower_bound: Lower bound of the elements of gradients.
upper_bound: Upper bound of the elements of gradients.
-> `x`.
! ValueError: if ``lower_bound > upper_bound``.
~ grad_scale

= grad_scale
Identity that scales gradients.
multiplier: Factor by which gradients are multiplied.
-> `x`.
~ grad_clip

= clone_replace
Copy expressions, with some variables replaced.
@ def clone_replace(output: TensorVariable, replace: typing.Any = None, rebuild_strict: bool = True, copy_inputs_over: bool = True, clone_inner_graphs: bool | None = None) -> TensorVariable
@ def clone_replace(output: collections.abc.Sequence[Variable], replace: typing.Any = None, rebuild_strict: bool = True, copy_inputs_over: bool = True, clone_inner_graphs: bool | None = None) -> list[TensorVariable]
output (Variable or sequence of Variable): Expressions.
replace (mapping or sequence of pairs): Variables and what replaces them.
rebuild_strict: Accepted for compatibility with PyTensor: a replacement always has the type of what it replaces.
copy_inputs_over: Whether the copies use the same inputs; otherwise they get new inputs.
clone_inner_graphs: Accepted for compatibility with PyTensor: graphs within ops never change.
-> Variable or list of Variable: Copies, with the structure of `output`.
~ graph_replace, vectorize_graph

= graph_replace
Replace variables in expressions.
@ def graph_replace(outputs: TensorVariable, replace: typing.Any = None, strict: bool = True) -> TensorVariable
@ def graph_replace(outputs: collections.abc.Sequence[Variable], replace: typing.Any = None, strict: bool = True) -> list[TensorVariable]
outputs (Variable or sequence of Variable): Expressions.
replace (mapping or sequence of pairs): Variables and what replaces them.
strict: Whether each variable must occur.
-> Variable or list of Variable: New expressions, with the structure of `outputs`.
! ValueError: if `strict` and a variable does not occur.
~ clone_replace, vectorize_graph

= vectorize_graph
Apply expressions to batches of their inputs.
@ def vectorize_graph(outputs: TensorVariable, replace: typing.Any, *, batch_axis: int = 0) -> TensorVariable
@ def vectorize_graph(outputs: collections.abc.Sequence[Variable], replace: typing.Any, *, batch_axis: int = 0) -> list[TensorVariable]
outputs (Variable or sequence of Variable): Expressions.
replace (mapping): Inputs and variables of the same type with additional leading batch dimensions.
batch_axis (int): With -1, the batch dimension is the last one. Small computations with sums and indices then process several elements of a batch at once.
-> Variable or list of Variable: New expressions, with the batch dimensions first or last.
! ValueError: for another `batch_axis`, or batches of several dimensions with -1.
~ clone_replace, vectorize

= function
Compile expressions to a function of inputs.
inputs (sequence of Variable or In): Inputs. At a computed variable the graph is cut: the variables from which it was computed are not needed.
outputs (Variable, sequence or dict of Variable): Expressions to compute; the function returns results with the same structure.
mode (str or Mode): How to compile; by default config.mode.
updates (mapping or iterable of pairs): Shared variables, and the expressions whose values they take after each call.
givens (mapping or iterable of pairs): Variables, and what to use in place of them.
no_default_updates (bool or list of Variable): Ignore the default updates (such as those of random generators) of all shared variables, or of those listed.
accept_inplace (bool): Accepted for compatibility with PyTensor: ops that overwrite their inputs get copies.
name (str): Name of the function, for errors and profiles.
rebuild_strict (bool): Must be True.
allow_input_downcast (bool): None converts Python floats to config.floatX and refuses other conversions that would lose precision; True converts every value; False refuses even Python floats that would lose precision.
profile (bool or str): Measure the time of compilation and calls (`Function.profile`); a str also names a function without a name. By default config.profile.
on_unused_input (str): ``'raise'``, ``'warn'`` or ``'ignore'``; by default config.on_unused_input.
trust_input (bool): Accepted for compatibility with PyTensor.
threads (int): Number of threads that a call may use, from 1 to 1024; by default config.num_threads. Large loops are split among them. Results are the same to the last bit for any number.
-> Function: The compiled function.
! UnusedInputError: if no output depends on an input, and `on_unused_input` is ``'raise'``.
! MissingInputError: if an output depends on a variable that is neither an input nor has a value.
! NotImplementedError: for ``rebuild_strict=False``.
! TypeError: if an update or a given has a different type than its variable.
! ValueError: if `threads` is out of range, or `givens` replace an input.
~ In, shared, Mode

= get_mode
Find the mode of a name.
orig_string (str or Mode): Name; a mode is returned as it is. By default config.mode.
-> Mode: The mode.
! ValueError: for an unknown name.
~ Mode, register_mode

= register_mode
Give a mode a name, by which functions find it.
name (str): Name.
mode (Mode): Mode.
! ValueError: for a name that is already in use.
~ get_mode

= ancestors
Variables on which graphs depend.
graphs (Variable or sequence of Variable): Variables where the graphs end.
blockers (sequence of Variable): Variables beyond which the graphs are not followed.
-> list of Variable: All variables of the graphs, `graphs` included, inputs first.
~ graph_inputs, toposort

= graph_inputs
Leaves of graphs that are not constants.
graphs (Variable or sequence of Variable): Variables where the graphs end.
blockers (sequence of Variable): Variables beyond which the graphs are not followed.
-> list of Variable: The leaves.
~ explicit_graph_inputs, ancestors

= explicit_graph_inputs
Leaves of a graph that are neither constants nor shared variables.
graph (Variable or sequence of Variable): Variables where the graph ends.
-> list of Variable: The leaves.
~ graph_inputs

= node_count
Number of Apply nodes of graphs.
graphs (Variable or sequence of Variable): Variables where the graphs end.
-> int: Number of nodes, each counted once.
~ toposort

= toposort
Apply nodes of graphs in topological order.
graphs (Variable or sequence of Variable): Variables where the graphs end.
blockers (sequence of Variable): Variables beyond which the graphs are not followed.
-> list of Apply: The nodes, each after those on which it depends.
~ ancestors

= equal_computations
Test whether graphs are equal.
xs (Variable or sequence of Variable): Outputs of the first graph.
ys (Variable or sequence of Variable): Outputs of the second graph.
in_xs (sequence of Variable): Inputs of the first graph.
in_ys (sequence of Variable): Inputs of the second graph, which correspond to `in_xs`.
-> bool: Whether the same ops compute the outputs from corresponding inputs.

= variable_depends_on
Test whether a variable is computed from others.
variable (Variable): Variable.
depends_on (Variable or sequence of Variable): Others.
-> bool: Whether `variable` depends on any of them.
~ ancestors

= latex
Expression in LaTeX, as notebooks typeset it.
variable: Expression.
-> str: Source of a formula.
~ bitale.pprint

= rule_hits
Number of times a rewrite rule was applied in this process.
name: Name of the rule.
-> int: Count.

= get_default_mode
Mode that `config.mode` names.
-> bitale.compile.mode.Mode: The mode of functions compiled without an explicit one.
~ mode_names

= mode_names
Names of all modes.
-> list of str: Names that `get_mode` and the argument `mode` of functions accept.
~ linker_names

= linker_names
Names of all linkers.
-> list of str: Names that `Mode` and ``config.linker`` accept.
~ mode_names

= logical_and
Logical and, elementwise.
-> True where both operands are true (not 0); bool.
~ logical_or, logical_not, and_

= logical_or
Logical or, elementwise.
-> True where one of the operands is true (not 0); bool.
~ logical_and, logical_not, or_

= logical_xor
Logical exclusive or, elementwise.
-> True where exactly one of the operands is true (not 0); bool.
~ logical_or, xor

= logical_not
Logical not, elementwise.
-> True where the operand is 0; bool.
~ logical_and, invert

= round_half_away_from_zero
Nearest integer, elementwise.
-> Rounded numbers; ties are rounded away from 0.
~ round

= Function.export_c
Write the function as C source code.
folder: Folder for NAME.c, NAME.h and CMakeLists.txt.
name: Name of the C function; by default that of the function.
-> list of str: Paths of the files.
! NotImplementedError: naming what cannot be exported.
~ Function.export_object
* The code is C99, needs only the C library, allocates no memory and may be called from many threads.

= Function.export_wasm
Write the function as a WebAssembly module, with the JavaScript that loads it.
folder: Folder for NAME.wasm, NAME.js and NAME.d.ts.
name: Name of the function and its files; by default that of the function.
-> list of str: Paths of the files.
! NotImplementedError: naming what cannot be exported, or what to install if clang or wasm-ld is missing.
~ Function.export_c
* ``load()`` of NAME.js returns the function, in a browser or in Node.js. Results differ from native ones in their last bits, because WebAssembly has no fused multiply-add.

= Function.export_object
Write the function as an object file.
folder: Folder for NAME.o and NAME.h.
name: Name of the function in the object file; by default that of the function.
target: ``'native'``, ``'native-128'``, ``'native-256'``, ``'native-512'``, ``'x86-64'``, ``'x86-64-v2'``, ``'x86-64-v3'``, ``'x86-64-v4'`` or ``'aarch64'``; by default config.target.
-> list of str: Paths of the files.
! NotImplementedError: naming what cannot be exported.
! ValueError: for an unknown target.
~ Function.export_c
* The object file is for Linux and needs to be linked only with the C math library (-lm).

= Function.export_stablehlo
Write the function as a StableHLO module, for XLA and PJRT plugins.
folder: Folder for NAME.mlir.
shapes: Shapes of the inputs, then of the shared variables; by default those of their types.
name: Name of the module; by default that of the function.
checks: Add a result bool[count] that is false where a check fails. Without it, indices out of range are clamped, and matrix factors that do not exist are nan.
platform: ``'cpu'`` for a module with calls to LAPACK, which jaxlib provides on CPUs; by default, a module that every platform can compile.
-> str: Path of the file.
! NotImplementedError: for an op without a translation to StableHLO, or lengths that depend on values.
! ValueError: for unknown lengths or platforms.
! ShapeError: for shapes that do not match.
~ Function.export_c
)doc");
// clang-format on

}  // namespace bitale::python
