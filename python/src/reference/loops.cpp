// Loops: scan, and short forms of it.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions loops(R"doc(
= *loop
Loops.
sequences (tensor_like or tree, or list of these): Tensors that are stepped through along their first axis, labelled ones along `dim`.
non_sequences (tensor_like or tree, or list of these): Further arguments of `fn`.
dim (str or Dim): The dimension of the steps, which labelled results have as their first one. By default the first dimension of the first labelled sequence, or "step".
truncate_gradient: Number of last steps through which the gradient passes; -1 for all.
go_backwards: Step through the sequences from their ends.
mode (Mode): Accepted for compatibility with PyTensor: the loop is compiled with what surrounds it.
name: Name of the loop and its results.
profile: Accepted for compatibility with PyTensor.
allow_gc: Accepted for compatibility with PyTensor.
return_updates: Return the updates, too.
@ fn: collections.abc.Callable[..., TensorVariable] -> TensorVariable + updates
@ -> typing.Any

= loop_scan
Apply a function repeatedly, as a loop over sequences and states.
The loop is compiled: it is one loop of native code, with what surrounds it.
fn (callable): Builds one step. It is called once, with symbolic values: an element of each sequence (one for each of its taps), earlier values of the results (one for each tap), and `non_sequences`. It returns the results of the step, a value or a list, and may also return a dict of updates of shared variables and `until`. Variables around it may be used.
sequences (tensor_like, tree, dict or list of these): Tensors that are stepped through along their first axis, labelled ones along `dim`. A dict ``{"input": tensor, "taps": [...]}`` names elements relative to the step: tap k is k elements ahead.
outputs_info (tensor_like, tree, dict, None or list of these): Initial state for each result, of the structure, shape and dtype of its values. A dict ``{"initial": ..., "taps": [...]}`` with negative taps gives earlier values, stacked, the oldest first. None for a result that no later step reads.
non_sequences (tensor_like or tree, or list of these): Further arguments of `fn`, the same in each step.
n_steps (int or scalar tensor): Number of steps; by default the length of the sequences.
strict: Refuse variables that are neither arguments of `fn` nor constants.
return_list: Return a list also of a single result.
-> results (TensorVariable, tree or list of these): Values of each result after each step, stacked along a new first axis, without the initial ones.
-> updates (dict): Updates of shared variables, for `bitale.function`; where `return_updates` is true.
! ValueError: If nothing determines the number of steps, `n_steps` is negative, a tap reaches before the start or beyond the end, or `fn` returns another number of results.
! TypeError: If a result has another dtype, rank or static shape than its initial state.
! ShapeError: If sequences have different lengths.
! NotImplementedError: If a sequence or a result is a sparse matrix.
~ loop_map, loop_reduce, loop_foldl, loop_foldr, loop_while_loop, loop_fori_loop
* Random variables that `fn` draws without a generator (`rng`) are drawn anew in each step; the states of their generators are among the updates, and are also updated by a function that is not given these. The semantics are those of ``pytensor.scan``.
< *loop
@ fn: collections.abc.Callable[..., TensorVariable], return_list: typing.Literal[False] = False -> TensorVariable + updates
@ return_list: typing.Literal[True] -> list[TensorVariable] + updates
@ -> typing.Any + updates
@ -> typing.Any

= loop_map
Apply a function to each element of sequences.
fn (callable): Builds the result for an element of each sequence, followed by `non_sequences`.
-> results (TensorVariable or list of TensorVariable): Results, stacked along a new first axis.
-> updates (dict): Updates of shared variables; where `return_updates` is true.
~ loop_scan, loop_reduce, loop_filter
< *loop

= loop_reduce
Reduce sequences by a function of an element and a state.
fn (callable): Builds the new states from an element of each sequence, the states, and `non_sequences`.
outputs_info (tensor_like, tree, None or list of these): Initial states, which may be sparse matrices; None for a result that no later step reads.
-> results (TensorVariable or list of TensorVariable): Last states; no others are stored.
-> updates (dict): Updates of shared variables; where `return_updates` is true.
~ loop_scan, loop_foldl, loop_foldr
< *loop

= loop_foldl
Reduce sequences from the first element to the last.
~ loop_foldr, loop_reduce
< loop_reduce

= loop_foldr
Reduce sequences from the last element to the first.
~ loop_foldl, loop_reduce
< loop_reduce

= loop_filter
Select the elements of sequences for which a condition holds.
fn (callable): Builds the scalar condition from an element of each sequence, followed by `non_sequences`.
-> results (TensorVariable or list of TensorVariable): Selected elements of each sequence.
-> updates (dict): Updates of shared variables; where `return_updates` is true.
~ loop_map, loop_scan
< *loop
@ sequences: TensorVariable -> TensorVariable + updates
@ -> typing.Any

= loop_fori_loop
Apply a function to states for a range of integers.
lower (int or scalar tensor): First integer.
upper (int or scalar tensor): End of the range, not included.
body (callable): Builds the new states from the integer and the states, as many as there are initial ones.
initial (tensor_like or tree): Initial states, which may be sparse matrices.
-> TensorVariable or list of TensorVariable: States after the last step; no others are stored.
~ loop_while_loop, loop_scan
@ def loop_fori_loop(lower: int | numpy.integer[typing.Any] | TensorVariable, upper: int | numpy.integer[typing.Any] | TensorVariable, body: collections.abc.Callable[..., typing.Any], initial: TensorVariable | numpy.typing.ArrayLike, /) -> TensorVariable
@ def loop_fori_loop(lower: int | numpy.integer[typing.Any] | TensorVariable, upper: int | numpy.integer[typing.Any] | TensorVariable, body: collections.abc.Callable[..., typing.Any], first: TensorVariable | numpy.typing.ArrayLike, second: TensorVariable | numpy.typing.ArrayLike, /, *initial: TensorVariable | numpy.typing.ArrayLike) -> list[TensorVariable]

= loop_while_loop
Apply a function to states while a condition holds.
condition (callable): Builds the scalar condition from the states; it is evaluated before each step.
body (callable): Builds the new states from the states.
initial (tensor_like or tree): Initial states, which may be sparse matrices.
max_steps (int or scalar tensor): Most steps.
-> TensorVariable or list of TensorVariable: States when the condition first fails, or after `max_steps` steps. No others are stored, except for a gradient.
~ loop_fori_loop, loop_scan
@ def loop_while_loop(condition: collections.abc.Callable[..., typing.Any], body: collections.abc.Callable[..., typing.Any], initial: TensorVariable | numpy.typing.ArrayLike, /, *, max_steps: int | numpy.integer[typing.Any] | TensorVariable) -> TensorVariable
@ def loop_while_loop(condition: collections.abc.Callable[..., typing.Any], body: collections.abc.Callable[..., typing.Any], first: TensorVariable | numpy.typing.ArrayLike, second: TensorVariable | numpy.typing.ArrayLike, /, *initial: TensorVariable | numpy.typing.ArrayLike, max_steps: int | numpy.integer[typing.Any] | TensorVariable) -> list[TensorVariable]

= loop_scan_checkpoints
Scan that stores every N-th state, for gradients of long loops.
The states in between are computed again when the gradient needs them.
fn (callable): As of `scan`.
sequences (tensor_like or list of these): As of `scan`.
outputs_info (tensor_like or list of these): Initial states, one per result; results with taps are refused.
non_sequences (tensor_like or list of these): As of `scan`.
name: Name of the loop.
n_steps (int or scalar tensor): Number of steps: a multiple of `save_every_N` unless `padding`.
save_every_N: Distance of the states that are stored.
padding: Fill up the sequences with zeros, so that the number of steps may be any; the last result is then that of the last step made.
-> results (TensorVariable or list of TensorVariable): Every `save_every_N`-th value of each result.
-> updates (dict): Updates of shared variables; where `return_updates` is true.
~ loop_scan
< *loop
)doc");
// clang-format on

}  // namespace bitale::python
