"""The sections of docs/api.md in the order in which a newcomer needs them: of each its title, a sentence, the module and the
names. tests/python/test_api.py requires that every public function is in one."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Section:
    title: str
    text: str
    module: str  # under bitale; "" for bitale itself
    names: tuple[str, ...]


def _section(title: str, text: str, names: str, module: str = "tensor") -> Section:
    return Section(title, text, module, tuple(names.split()))


SECTIONS = [
    _section("Compiling functions", "From expressions to native functions, and the variables that keep values between calls ([page](functions.md)).",
             "function In Out shared Mode get_mode export_c export_object export_wasm export_stablehlo", ""),
    _section("Derivatives", "Reverse and forward mode, and products with second derivatives: [tutorial](tutorial/gradients.md).",
             "grad value_and_grad jacobian jacfwd jacrev hessian Lop Rop pullback pushforward hessian_vector_product gauss_newton_vector_product subgraph_grad "
             "disconnected_grad zero_grad verify_grad", ""),
    _section("Functions of functions", "Python functions of arrays, compiled, and applied to batches: [tutorial](tutorial/trees.md).", "jit vmap remat", ""),
    _section("Trees", "Values of several variables, which go wherever one goes; the module `bitale.tree` has more: [tutorial](tutorial/trees.md).",
             "register_tree", ""),
    _section("Loops and choices", "Computations that repeat or depend on values: [loops](scan.md).",
             "ifelse scan until map reduce foldl foldr scan_checkpoints", ""),
    _section("Graphs", "Copies of expressions, your own ops, and what a graph looks like: [extending](extending.md), [debugging](debugging.md).",
             "clone_replace graph_replace vectorize_graph as_op wrap_py dprint debugprint pprint pp", ""),
    _section("Variables and constants", "Inputs of functions are made by `tensor`, or by constructors for a dtype and rank: `dmatrix`, `lvectors`, ...",
             "tensor constant as_tensor as_tensor_variable asarray from_dlpack tensor_copy scalar_from_tensor tensor_from_scalar"),
    _section("Creation", "Tensors from shapes, ranges and diagonals.",
             "zeros zeros_like ones ones_like full full_like empty empty_like alloc fill second eye identity identity_like arange linspace "
             "logspace geomspace meshgrid diag tri vander bartlett make_vector stacklists fill_diagonal fill_diagonal_offset"),
    _section("Dtypes", "Conversions; dtypes of results are those of NumPy's promotion.", "cast astype iround"),
    _section("Shapes and arrangement", "Other shapes and orders of the same elements.",
             "shape shape_i reshape flatten squeeze expand_dims transpose matrix_transpose permute_dims dimshuffle moveaxis swapaxes "
             "swap_last_axes broadcast_to broadcast_arrays broadcast_shape atleast_1d atleast_2d atleast_3d atleast_Nd shape_padaxis "
             "shape_padleft shape_padright join_dims split_dims pack unpack flip roll rot90 tile repeat pad tril triu"),
    _section("Joining and splitting", "Tensors side by side, and parts of one.",
             "concatenate concat concat_with_broadcast join stack hstack vstack dstack column_stack horizontal_stack vertical_stack split unstack"),
    _section("Indexing", "Besides `x[...]`, which takes slices, integers, masks and tensors of integers.",
             "take take_along_axis compress choose select switch where piecewise set_subtensor inc_subtensor nonzero nonzero_values "
             "flatnonzero extract_diag diagonal slice_at_axis make_slice unravel_index ravel_multi_index tril_indices tril_indices_from triu_indices "
             "triu_indices_from permute_row_elements inverse_permutation"),
    _section("Arithmetic", "Elementwise; operands broadcast, and operators of variables are these functions.",
             "add sub subtract mul multiply true_div true_divide divide floor_div floor_divide int_div mod remainder fmod divmod neg negative "
             "positive abs sign sgn sqr square sqrt cbrt pow power float_power reciprocal maximum minimum largest smallest clip hypot copysign "
             "heaviside ceil_intdiv polyval"),
    _section("Exponentials and logarithms", "Elementwise, accurate to the ends of their domains ([math](math.md)).",
             "exp exp2 expm1 log log2 log10 log1p log1mexp log1pexp logaddexp logaddexp2 logsumexp"),
    _section("Trigonometric and hyperbolic functions", "Elementwise.",
             "sin cos tan arcsin arccos arctan arctan2 asin acos atan atan2 sinh cosh tanh arcsinh arccosh arctanh asinh acosh atanh deg2rad rad2deg"),
    _section("Rounding and floating point", "Elementwise.",
             "round around round_half_to_even round_half_away_from_zero floor ceil trunc nan_to_num nextafter signbit isnan isinf isfinite "
             "isneginf isposinf isclose allclose"),
    _section("Comparison, logic and bits", "Elementwise.",
             "eq equal neq not_equal lt less le less_equal gt greater ge greater_equal logical_and logical_or logical_xor logical_not and_ or_ xor "
             "invert bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_invert left_shift right_shift bitwise_left_shift bitwise_right_shift"),
    _section("Complex numbers", "Elementwise.", "complex complex_from_polar real imag angle conj conjugate"),
    _section("Activation functions", "Elementwise, and softmax along an axis.",
             "sigmoid expit logit softplus relu elu gelu silu softmax log_softmax"),
    _section("Special functions", "Elementwise.",
             "gamma gammaln gammainc gammaincc gammaincinv gammainccinv gammal gammau gammainc_density gammainc_derivative psi digamma tri_gamma "
             "polygamma erf erfc erfcx erfinv erfcinv ndtr log_ndtr ndtri_exp owens_t chi2sf betainc betaincinv betainc_density "
             "betainc_derivative betainc_derivative_by_b hyp2f1 hyp2f1_derivative hyp2f1_derivative_by_c i0 i1 iv ive ive_derivative j0 j1 jv kn "
             "kv kve kve_derivative xlogy xlog1py"),
    _section("Special functions under SciPy's names", "As in scipy.special.",
             "beta betaln factorial poch logit logaddexp logsumexp log_softmax softmax xlogx xlogy xlog1py", "tensor.special"),
    _section("Reductions and statistics", "Over all elements or given axes.",
             "sum prod max min mean median var std ptp all any count_nonzero max_and_argmax argmax argmin quantile percentile cumsum cumprod "
             "cumulative_sum cumulative_prod diff gradient trapezoid cov corrcoef histogram bincount nansum nanprod nanmax nanmin nanmean nanmedian "
             "nanvar nanstd nanquantile nanpercentile nanargmax nanargmin nancumsum nancumprod"),
    _section("Sorting, searching and sets", "",
             "sort argsort lexsort partition argpartition topk argtopk topk_and_argtopk searchsorted digitize unique isin union1d intersect1d "
             "setdiff1d setxor1d"),
    _section("Products of tensors", "", "dot matmul matvec vecmat vecdot tensordot einsum outer kron cross dense_dot trace"),
    _section("Linear algebra", "Of matrices, and of each matrix of a batch ([page](linalg.md)).",
             "solve solve_triangular solve_banded solve_tridiagonal tridiagonal_lu_factor tridiagonal_lu_solve cho_solve lu_solve lstsq inv "
             "matrix_inverse pinv det slogdet cholesky lu lu_factor pivot_to_permutation qr svd eig eigh eigvals eigvalsh schur qz ordqz expm "
             "matrix_power matrix_dot matrix_rank norm vector_norm matrix_norm svdvals trace diagonal matrix_transpose block_diag matmul vecdot outer "
             "tensordot cross kron tensorinv tensorsolve solve_sylvester solve_continuous_lyapunov solve_discrete_lyapunov solve_continuous_are "
             "solve_discrete_are", "tensor.linalg"),
    _section("Convolution, pooling and interpolation", "", "convolve correlate conv2d pool_2d interp interpolate1d"),
    _section("Signals", "", "convolve1d convolve2d", "tensor.signal"),
    _section("Fourier transforms", "As in numpy.fft.",
             "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftfreq rfftfreq fftshift ifftshift", "tensor.fft"),
    _section("Random numbers", "Every distribution also takes `rng`, `dtype`, `name` and `return_next_rng` ([page](random.md)).",
             "rng shared_rng default_rng as_rng uniform normal standard_normal halfnormal truncated_normal lognormal multivariate_normal t cauchy "
             "halfcauchy laplace logistic gumbel exponential truncexpon gamma gengamma invgamma chisquare beta dirichlet weibull pareto rayleigh maxwell "
             "gompertz loguniform kumaraswamy moyal wald vonmises triangular bernoulli binomial negative_binomial nbinom betabinom geometric hypergeometric poisson multinomial "
             "categorical integers choice permutation distribution from_quantile", "tensor.random"),
    _section("Optimisation", "Minima and roots by SciPy, with gradients through the solution ([page](optimize.md)).",
             "minimize minimize_scalar root root_scalar", "tensor.optimize"),
    _section("Optimisers", "Steps of gradient descent and its relatives, on shared variables or as pure functions ([page](optimizers.md)).",
             "sgd momentum nesterov adagrad rmsprop adadelta adam adamw nadam lion chain clip clip_by_value clip_by_global_norm "
             "add_decayed_weights parameter_ema parameter_average global_norm", "optimizers"),
    _section("Schedules", "Numbers that follow from how many steps were made, for optimisers.",
             "constant_schedule linear_schedule exponential_decay cosine_decay cosine_decay_schedule warmup_cosine_decay_schedule "
             "join_schedules", "optimizers"),
    _section("Functions along axes", "", "vectorize apply_along_axis"),
    _section("Facts about tensors", "What is stated or known of a tensor while its expression is built.",
             "specify_shape specify_broadcastable assume is_flat get_vector_length get_scalar_constant_value get_underlying_scalar_constant_value "
             "transfer values_eq_approx_always_true"),
    _section("Derivatives under PyTensor's names", "The functions of `bitale`.", "grad jacobian hessian"),
]  # fmt: skip

OTHER_MODULES = {
    "config": "flags, as attributes ([page](command_line.md))",
    "printing": "graphs as text, pictures and pages ([page](debugging.md))",
    "profile": "profiles of functions ([page](profiling.md))",
    "rewrite": "your own rules, and reports of those applied ([page](rewrites.md))",
    "graph": "nodes, types, traversal and features of graphs ([page](extending.md))",
    "graph.rewriting": "rewriters, databases of them, and patterns, by PyTensor's names ([page](extending_rewriting.md))",
    "compile": "steps of compiling, DebugMode, NanGuardMode, MonitorMode, OpFromGraph ([page](debugging.md))",
    "conditional": "the choice of which only one side is computed, under PyTensor's newer name",
    "link": "linkers, and wrappers around the execution of nodes ([page](linkers.md))",
    "assumptions": "properties of matrices that rewrites use ([page](linalg.md))",
    "tree": "values of several variables, taken apart and put together ([page](tutorial/trees.md))",
    "functional": "functions of functions: `jit`, `vmap` and derivatives ([page](tutorial/trees.md))",
    "random": "counter-based streams ([page](random.md))",
    "stats": "log densities, and transforms of constrained variables ([page](stats.md))",
    "integrate": "solutions of differential equations ([page](integrate.md))",
    "scalar": "scalar ops, and functions of scalars written in Python",
    "sparse": "sparse matrices ([page](sparse.md))",
    "xtensor": "labelled dimensions ([page](xtensor.md))",
    "datasets": "tables of public data, which the pages read",
    "checkpoint": "states of programs in folders ([page](checkpoint.md))",
    "typed_list": "lists of values of one type",
    "array_api": "the array-API standard ([page](array_api.md))",
    "pytensor": "graphs and models of PyTensor and PyMC ([page](pymc.md))",
    "jax": "functions within JAX, and JAX's devices ([page](xla.md))",
}
