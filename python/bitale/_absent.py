"""Names of PyTensor's that mean nothing here: they can be imported, and any use of them raises an error that says what to use
instead. The pages docs/api.md and docs/differences_extending.md list them."""

from __future__ import annotations

import functools
import sys
from typing import Any, NoReturn

# What to use instead, and the names by their modules.
TABLE: dict[str, dict[str, str]] = {
    "modes are FAST_RUN, FAST_COMPILE, C and JAX (compile.mode_names()); for other backends, write a linker (link.basic.JITLinker)": {
        "compile": "NUMBA PYTORCH",
        "compile.mode": "MLX NUMBA PYTORCH",
    },
    'mode JAX exists where the package jax is installed: mode="JAX"': {
        "compile": "JAX",
        "compile.mode": "JAX",
    },
    "native code of an op is written in C++ (docs/extending.md), or as a formula by emit": {
        "compile": "register_deep_copy_op_c_code register_view_op_c_code",
        "compile.ops": "register_deep_copy_op_c_code register_view_op_c_code",
        "scalar": "COp CType",
        "scalar.math": "C_CODE_PATH",
        "sparse": "COp",
        "tensor.shape": "register_shape_c_code register_shape_i_c_code",
        "typed_list": "COp",
    },
    "results of functions share no memory with inputs or each other, so there is nothing to find or copy": {
        "compile": "alias_root infer_reuse_pattern insert_deepcopy view_tree_set AliasedMemoryError add_supervisor_to_fgraph",
        "compile.aliasing": "alias_root infer_reuse_pattern insert_deepcopy view_tree_set add_supervisor_to_fgraph",
        "compile.executor": "AliasedMemoryError DUPLICATE",
    },
    "FunctionMaker has the steps of function(): create_fgraph, prepare_fgraph, link, create": {
        "compile": "rebuild_collect_shared",
        "compile.rebuild": "construct_function_ins_and_outs",
        "compile.mode": "fast_run_linkers_to_mode",
    },
    "an op of a graph is an OpFromGraph; it is complete when it is made": {
        "compile.builders": "FinalizedOpFromGraph construct_nominal_fgraph",
        "compile.inner_function": "HasInnerFunction link_only_mode",
        "graph.op": "HasMultipleInnerGraph",
        "tensor.symbolic": "FusibleSymbolicOp FusibleSymbolicOpDerivative",
    },
    "DebugMode looks at values and memory by itself": {
        "compile.debug.debugmode": "DataDestroyed OutputGuard check_eq data_destroyed default_make_thunk output_guard str_diagnostic validity_hint",
        "compile.debug.nanguardmode": "flatten",
    },
    "profiles are objects: f.profile, a ProfileStats of one function": {
        "compile.debug.profiling": "extended_open print_global_stats pytensor_imported_time register_profiler_printer total_fct_exec_time total_graph_rewrite_time total_time_linker",
        "gradient": "grad_time",
        "scan.op": "profile_printer",
        "scan.utils": "ScanProfileStats",
    },
    "flags are declared in C++: bt.config has them, the environment and files set them (BITALE_FLAGS, BITALERC)": {
        "configdefaults": "add_basic_configvars add_c_compile_configvars add_caching_dir_configvars add_compile_configvars add_error_and_warning_configvars add_multiprocessing_configvars add_numba_configvars add_optimizer_configvars add_scan_configvars add_tensor_configvars add_testvalue_and_checking_configvars add_traceback_configvars add_vm_configvars short_platform",
        "configparser": "PyTensorConfigParser PyTensorConfigWarning TypedParam config_files_from_pytensorrc parse_config_string",
    },
    "facts follow from ops by rules in C++; assumptions.known_facts tells them, and assume states more": {
        "assumptions": "AssumptionFeature assumption_tags register_assumption register_constant_inference register_implies register_matrix_property_rules register_universal_assumption specify_assumption_rule summarize_assumptions"
    },
    "a choice is an ifelse, whose branches are expressions of the graph": {
        "conditional": "LazyIfElse",
        "conditional.op": "LazyIfElse",
    },
    "rules on branches are those of docs/rewrite_rules.md": {
        "ifelse": "CondMerge cond_make_inplace cond_merge_ifs_false cond_merge_ifs_true cond_merge_random_op cond_remove_identical ifelse_lift_single_if_through_acceptable_ops"
    },
    "graphs of functions are FrozenFunctionGraphs by freeze(); their nodes are Apply nodes": {
        "graph.basic": "FrozenApply NominalVariable",
        "scalar": "FrozenFunctionGraph",
    },
    "graphs whose ops write over inputs are checked by DestroyHandler; the in-place rules choose them": {
        "graph.destroyhandler": "ProtocolError inplace_candidates"
    },
    "vectorize_graph is its newer name": {"graph.replace": "vectorize"},
    "debugprint prints the attributes of ops (print_op_info=True), which __props__ names": {
        "printing": "op_debug_information"
    },
    "ops are batched by their vectorize; your own ops define a method of that name": {
        "raise_op": "vectorize_check_and_raise",
        "tensor.basic": "vectorize_alloc vectorize_extract_diag vectorize_join vectorize_make_vector vectorize_scalar_from_tensor vectorize_split vectorize_tensor_from_scalar",
        "tensor.blockwise": "vectorize_node_fallback",
        "tensor.elemwise": "vectorize_careduce vectorize_dimshuffle",
        "tensor.extra_ops": "vectorize_cum_op",
        "tensor.math": "vectorize_argmax_node vectorize_node_dot",
        "tensor.random.op": "vectorize_random_variable",
        "tensor.shape": "vectorize_shape",
        "tensor.special": "vectorize_softmax_node",
        "tensor.subtensor": "vectorize_advanced_subtensor vectorize_subtensor",
    },
    "elementwise functions are expressions of tensors, which fuse by themselves; loops are scan": {
        "scalar": "ScalarLoop",
        "scalar.loop": "ScalarLoop",
    },
    "the derivatives of hyp2f1 are functions of the runtime": {
        "scalar": "Grad2F1Loop",
        "scalar.math": "Grad2F1Loop",
    },
    "config.floatX and config.cast_policy say what Python's floats become": {
        "scalar": "autocast_float_as",
        "scalar.basic": "autocast_float_as",
    },
    "a loop is an op with inner_inputs, inner_outputs and info (scan.classes.Scan); scan.views has its parts": {
        "scan.basic": "get_updates_and_outputs",
        "scan.op": "TensorConstructorType check_broadcast copy_var_format err_msg1 err_msg2 err_msg3",
    },
    "sparse functions and their derivatives are expressions of dense vectors": {
        "sparse": "CSMGrad GetItem2ListsGrad GetItemListGrad Stack StructuredDotGradCSC StructuredDotGradCSR csm_grad get_item_2lists_grad get_item_list_grad sdg_csc sdg_csr",
        "sparse.basic": "CSMGrad GetItem2ListsGrad GetItemListGrad Stack csm_grad get_item_2lists_grad get_item_list_grad",
        "sparse.math": "StructuredDotGradCSC StructuredDotGradCSR sdg_csc sdg_csr",
        "sparse.variable": "SparseConstantSignature override_dense",
    },
    "lengths follow from the infer_shape of each op; ShapeFeature has them": {
        "tensor.basic": "CachedEquilibrimDB"
    },
    "products of matrices are pt.dot and pt.matmul; the runtime calls BLAS": {
        "tensor.blas": "BaseBLAS CGemv GemmRelated blas_header_text blas_header_version cgemv_inplace cgemv_no_inplace ldflags mkl_threads_text must_initialize_y_gemv must_initialize_y_gemv_c openblas_threads_text view_roots",
        "tensor.blas.gemm": "GemmRelated",
    },
    "an op of a core is Blockwise(core_op); lengths of the core are found by the compiler": {
        "tensor.blockwise": "BlockwiseWithCoreShape OpWithCoreShape",
        "tensor.random.op": "RandomVariableWithCoreShape",
    },
    "pt.einsum is an expression of products and sums": {"tensor.einsum": "Einsum"},
    "arrays in functions are contiguous where code needs it": {
        "tensor.extra_ops": "CpuContiguous cpu_contiguous"
    },
    "pt.fft has the functions": {"tensor.fft": "irfft_op rfft_op", "tensor.fourier": "Fourier"},
    "an expression of other ops here; the function of the same name makes it": {
        "tensor.linalg": "BaseBlockDiagonal LUFactorTridiagonal SolveBase SolveLUFactorTridiagonal",
        "tensor.linalg.constructors": "BaseBlockDiagonal",
        "tensor.linalg.solvers.core": "SolveBase",
        "tensor.linalg.solvers.linear_control": "SolveBilinearDiscreteLyapunov TRSYL",
        "tensor.linalg.solvers.tridiagonal": "LUFactorTridiagonal SolveLUFactorTridiagonal",
        "tensor.random.basic": "ChoiceWithoutReplacement ScipyRandomVariable",
        "tensor.signal.conv": "AbstractConvolveNd Convolve1d Convolve2d",
    },
    "reductions are CAReduce; pt.max, pt.min, pt.prod and their classes Max, Min, Prod": {
        "tensor.math": "FixedOpCAReduce MaxAndMinCAReduce MulWithoutZeros NonZeroDimsCAReduce ProdWithoutZeros makeKeepDims mul_without_zeros"
    },
    "pt.optimize.minimize and root are expressions": {
        "tensor.optimize": "LRUCache1 ScipyScalarWrapperOp ScipyVectorWrapperOp ScipyWrapperOp optimize pack_inputs_of_objective rewrite_optimize_inner_graph"
    },
    "generators are pt.random.rng() and pt.random.shared_rng(seed=)": {
        "tensor.random.op": "AbstractRNGConstructor DefaultGeneratorMakerOp",
        "tensor.random.type": "gen_states_keys numpy_bit_gens",
        "tensor.random.variable": "UNSET randomgen_constructor warn_reuse",
        "tensor.random.basic": "broadcast_shapes stats vsearchsorted",
    },
    "pt.as_tensor_variable and bt.shared make variables of values; their types are TensorTypes": {
        "tensor.sharedvar": "load_shared_variable scalar_constructor tensor_constructor",
        "tensor.variable": "DenseConstantMeta DenseVariableMeta TensorConstantSignature get_unique_constant_value",
        "tensor.type": "DenseTypeMeta",
        "scalar": "ScalarConstantSignature",
        "scalar.basic": "ScalarConstantSignature",
    },
    "indices are those of NumPy: x[i, a:b], with variables": {
        "tensor.subtensor": "get_constant_idx group_indices",
        "tensor.type_other": "SliceConstant as_symbolic_None as_symbolic_slice",
        "tensor.interpolate": "pad_or_return",
        "tensor.elemwise": "get_normalized_batch_axes",
    },
    "rules that are tried together are queries on optdb": {"graph.rewriting": "all"},
    "thunks are functions without arguments (graph.op.ThunkType)": {
        "graph.op": "BasicThunkType PerformMethodType ThunkCallableType"
    },
    "expressions are printed in C++; printing.pprint, latex and debugprint return strings": {
        "printing": "VALID_ASSOC default_colorCodes greek special use_ascii"
    },
    "CheckAndRaise takes the class of the exception itself": {
        "raise_op": "ExceptionType exception_type"
    },
    "elementwise functions of tensors, or nothing to compute: pt.complex, pt.round_half_away_from_zero": {
        "scalar": "Complex Identity RoundHalfAwayFromZero round_half_away_from_zero_ round_half_away_from_zero_vec",
        "scalar.basic": "Complex Identity RoundHalfAwayFromZero round_half_away_from_zero_ round_half_away_from_zero_vec round_half_away_from_zero_vec32 round_half_away_from_zero_vec64",
    },
    "scipy.special is SciPy's own module": {
        "scalar": "special",
        "scalar.math": "special",
        "tensor.signal.conv": "scipy_signal",
    },
    "shared variables of all types are instances of compile.SharedVariable": {
        "scalar.sharedvar": "ScalarSharedVariable",
        "tensor.random.variable": "RandomGeneratorSharedVariable",
    },
    "what can't be an index is a TypeError or an IndexError": {
        "tensor.exceptions": "AdvancedIndexingError"
    },
    "helpers of PyTensor's own ops; the functions of the same name are in bitale.tensor": {
        "tensor.extra_ops": "bartlett_ broadcast_shape_iter fill_diagonal_ fill_diagonal_offset_",
        "tensor.math": "float16_atol float16_rtol float32_atol float32_rtol float64_atol float64_rtol isinf_ isnan_ mod_check",
        "tensor.pad": "mode_options stat_funcs",
        "tensor.sort": "KIND_VALUES",
        "tensor.type": "dtype_specs_map",
        "tensor.type_other": "as_int_none_variable",
    },
    "types of generators are RandomGeneratorTypes": {
        "tensor.random.type": "AbstractRandomGeneratorType RandomType"
    },
    "pt.scalar(dtype=) makes scalars of unsigned integers": {
        "tensor.type": "ubscalar uiscalar ulscalar uwscalar"
    },
    "functions of JAX are called by an op written in Python; jax.as_jax is for the other direction": {
        "": "wrap_jax"
    },
}


@functools.cache
def _reasons() -> dict[tuple[str, str], str]:
    return {
        (module, name): why
        for why, modules in TABLE.items()
        for module, names in modules.items()
        for name in names.split()
    }


def names() -> list[str]:
    """All of them, with their modules."""
    return [f"{module}.{name}".removeprefix(".") for module, name in _reasons()]


def reason(module: str, name: str) -> str | None:
    """What to use instead of a name of PyTensor's, or None where the name exists here or is not one of PyTensor's.

    module: without the package, "tensor.math".
    """
    return _reasons().get((module, name))


class Absent(type):
    """A name that any use of refuses. Nothing is an instance of it."""

    def _refuse(cls) -> NoReturn:
        raise NotImplementedError(f"{cls.__module__}.{cls.__name__} is not here: {cls._why}")

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        cls._refuse()

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        cls._refuse()

    def __iter__(cls) -> Any:
        cls._refuse()

    def __instancecheck__(cls, instance: Any) -> bool:
        return False

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls

    def __repr__(cls) -> str:
        return f"<{cls.__module__}.{cls.__name__}, which is not here>"


class _Base(metaclass=Absent):
    _why = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for base in cls.__mro__[1:]:
            if base is not _Base and isinstance(base, Absent):
                base._refuse()


@functools.cache
def find(module: str, name: str) -> Any:
    """What a module of the package has under a name that it does not define: a name of PyTensor's, or an AttributeError."""
    why = (
        None
        if name.startswith("_")
        else reason(module.removeprefix("bitale").removeprefix("."), name)
    )
    if why is None:
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules.get(module)
        )
    return Absent(name, (_Base,), {"__module__": module, "_why": why})
