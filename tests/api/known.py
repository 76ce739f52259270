"""Names of PyTensor that are not here, and functions and classes whose arguments differ from PyTensor's, each with the reason.
tests/python/test_api.py fails for any other, and for reasons that apply to none."""

import re

# Constructors of variables: dmatrix, lvectors, tensor4s, ...
constructors = r"[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7])s?|[ilfd]?matrices"

# Reasons, and the names that they are about as regular expressions of module and name.
_missing = {
    "slices and None are what they are in Python, not values of graphs": [
        r"tensor\.(?:slicetype|none_type_t)"
    ],
    "a formula here, not an op class": [
        r"tensor\.(?:special\.vectorize_softmax_node)",
        r"tensor\.(einsum\.Einsum|pad\.Pad)",
        r"tensor\.special\.\w+",
    ],
    "a backend of PyTensor's; bitale.pytensor takes PyTensor's graphs the other way": [
        r"compile(\.mode)?\.(JAX|NUMBA|PYTORCH|MLX)"
    ],
    "an op has its native code in C++": [r"compile(\.ops)?\.register_\w+_c_code"],
    "results share no memory with inputs or each other, so there is nothing to mark or copy": [
        r"compile(\.ops)?\.(DeepCopyOp|ViewOp|TypeCastingOp|deep_copy_op|view_op)",
        r"compile\.(AliasedMemoryError|alias_root|infer_reuse_pattern|insert_deepcopy|view_tree_set)",
        r"compile\.(aliasing|executor)\.\w+",
    ],
    "a step of compiling that is no function of its own; FunctionMaker has the steps": [
        r"compile\.(add_supervisor_to_fgraph|rebuild_collect_shared)",
        r"compile\.rebuild\.construct_function_ins_and_outs",
    ],
    "stored functions are found by their names": [r"compile\.ops\.load_back"],
    "an OpFromGraph is complete when it is made": [
        r"compile\.builders\.(FinalizedOpFromGraph|SymbolicOp|construct_nominal_fgraph)"
    ],
    "DebugMode looks at values and memory by itself": [
        r"compile\.debug\.debugmode\.(DataDestroyed|OutputGuard|data_destroyed|output_guard|check_eq|str_diagnostic|validity_hint)"
    ],
    "names of folders of the cache are made in C++": [r"configdefaults\.short_platform"],
    "the environment and files are read in C++ (BITALE_FLAGS, BITALERC)": [
        r"configparser\.(PyTensorConfig\w+|TypedParam|config_files_from_pytensorrc|parse_config_string)"
    ],
    "debugprint walks the graph in C++": [
        r"printing\.(GraphModel|GraphModelNode|GraphNode|build_graph_model|iter_graph_nodes|op_debug_information)"
    ],
    "nodes have one class each, Apply, Variable and Constant": [
        r"graph\.basic\.(AbstractApply|AtomicVariable|Node|NominalVariable)"
    ],
    "graphs within ops are kept by the op (inner_inputs, inner_outputs)": [
        r"graph\.basic\.FrozenApply|graph\.fg\.(AbstractFunctionGraph|FrozenFunctionGraph)"
    ],
    "the older name of vectorize_graph, which PyTensor warns of": [r"graph\.replace\.vectorize"],
    "an op has at most one graph": [r"graph\.op\.HasMultipleInnerGraph"],
    "classes of ops in Python have __props__; lines are noted by themselves": [
        r"graph\.utils\.(AssocList|Meta\w+|MethodNotDefined|add_tag_trace)"
    ],
    "a formula, or nothing to compute; no op has it as its name": [
        r"scalar\.(?:basic\.|math\.)?(Complex|Conj|Imag|Real|Identity|RoundHalfAwayFromZero|round_half_away_from_zero_\w*)"
    ],
    "what has no meaning is a TypeError": [
        r"scalar\.(?:basic\.|math\.)?(ComplexError|IntegerDivisionError)"
    ],
    "the derivatives of hyp2f1 are functions of the runtime, not loops of the graph": [
        r"scalar\.(?:basic\.|math\.)?Grad2F1Loop"
    ],
    "elementwise functions are not made of graphs of scalars; expressions fuse by themselves": [
        r"scalar\.(?:basic\.|math\.)?(ScalarLoop|ScalarConstantSignature)",
        r"scalar\.loop\.ScalarLoop",
    ],
    "config.cast_policy says what constants become": [
        r"scalar\.(?:basic\.|math\.)?(NumpyAutocaster|autocast_\w+)"
    ],
    "bt.tensor.mod raises by itself": [r"scalar\.(?:basic\.|math\.)?mod_check"],
    "of tensors: pt.round_half_away_from_zero": [
        r"scalar\.(?:basic\.|math\.)?round_half_away_from_zero"
    ],
    "rules on branches are those of docs/rewrites.md": [
        r"ifelse\.(Cond\w+|cond_\w+|ifelse_lift\w+)"
    ],
    "CheckAndRaise takes the class of the exception itself": [
        r"raise_op\.(ExceptionType|exception_type)"
    ],
    "a helper of PyTensor's own ops and rewrites": [
        r"tensor\.(basic|math|shape|subtensor|extra_ops|elemwise|interpolate|reshape|sharedvar|variable|type_other)\.(CachedEquilibrimDB|infer_shape_db|register_infer_shape|isn?inf_?|isnan_|makeKeepDims|mod_check|register_shape\w*_c_code|as_scalar_index_variable|as_tensor_index_variable|basic_shape|get_constant_idx|get_slice_elements|group_indices|slice_static_length|broadcast_shape_iter|\w+_|get_normalized_batch_axes|pad_or_return|ShapeValueType|load_shared_variable|scalar_constructor|tensor_constructor|get_unique_constant_value|as_int_none_variable|as_symbolic_\w+)"
    ],
    "a step between classes, or a node that PyTensor's rewrites make; no node here has it": [
        r"tensor\.\w+\.(\w*WithCoreShape|FixedOpCAReduce|MaxAndMinCAReduce|NonZeroDimsCAReduce|MulWithoutZeros|ProdWithoutZeros|mul_without_zeros|BaseSubtensor|BaseBLAS|CGemv|GemmRelated|Dense\w+Meta|CpuContiguous|cpu_contiguous)"
    ],
    "C code of PyTensor's calls of BLAS": [
        r"tensor\.blas\.(blas_header_\w+|cgemv_\w+|ldflags|\w+_threads_text|must_initialize\w+|view_roots)"
    ],
    "a second name of u8, u16, u32 and u64 scalars, which PyTensor does not export: pt.scalar(dtype=)": [
        r"tensor\.type\.u\w+"
    ],
    "slices are what they are in Python, with variables as bounds": [
        r"tensor\.type_other\.(MakeSlice|SliceConstant)"
    ],
    "what can't be an index is a TypeError or an IndexError": [
        r"tensor\.exceptions\.AdvancedIndexingError"
    ],
    "x.signature() is a tuple that can be compared and hashed": [
        r"tensor\.variable\.TensorConstantSignature"
    ],
    "no op that users build writes over its operands": [r"graph\.destroyhandler\.\w+"],
    "a shared variable of rank 0": [r"scalar\.(?:basic\.|math\.)?sharedvar\.ScalarSharedVariable"],
    "profiles are objects: ProfileStats of a function, printed where its owner likes": [
        r"compile\.debug\.profiling\.\w+"
    ],
    "how scan reads what a step returns": [r"scan\.basic\.get_updates_and_outputs"],
    "functions of JAX are called by an op in Python": [r"wrap_jax"],
    "facts follow from ops by rules in C++ (StatesStructure), which Python does not add to; known_facts tells them": [
        r"assumptions\.(AssumptionFeature|FunctionGraph|assumption_tags|register_\w+|specify_assumption_rule|summarize_assumptions)"
    ],
    "a choice is an IfElse: its branches are expressions of the graph, not graphs of its own": [
        r"conditional(\.op)?\.LazyIfElse"
    ],
    "flags are declared in C++, in one table": [r"configdefaults\.add_\w+"],
    "a helper of PyTensor's own ops, rewrites or printing": [
        r"compile\.debug\.debugmode\.default_make_thunk|compile\.debug\.nanguardmode\.flatten|compile\.inner_function\.\w+|gradient\.grad_time",
        r"compile\.mode\.fast_run_linkers_to_mode",
        r"printing\.(VALID_ASSOC|default_colorCodes|greek|special|use_ascii)|graph\.rewriting\.all|graph\.features\.BadOptimization",
        r"scan\.(op|utils)\.(?!Scan$|ScanInfo$|ScanMethodsMixin$|until$)\w+",
        r"tensor\.math\.float\d+_[ar]tol|tensor\.pad\.(mode_options|stat_funcs)|tensor\.sort\.KIND_VALUES|tensor\.type\.dtype_specs_map",
        r"tensor\.optimize\.(LRUCache1|Scipy\w+|optimize|pack_inputs_of_objective|rewrite_optimize_inner_graph)|tensor\.signal\.conv\.scipy_signal",
        r"tensor\.random\.(basic|op|type|utils|variable)\.(broadcast_\w+|stats|vsearchsorted|AbstractRNGConstructor|DefaultGeneratorMakerOp|RNGConsumerOp|RandomVariableWithCoreShape|AbstractRandomGeneratorType|RandomType|gen_states_keys|numpy_bit_gens|compute_batch_shape|custom_rng_deepcopy|explicit_expand_dims|normalize_size_param|params_broadcast_shapes|supp_shape_from_ref_param_shape|UNSET|randomgen_constructor|warn_reuse)",
        r"scalar\.(basic|math)\.(discrete_dtypes|C_CODE_PATH|special)",
        r"sparse\.(basic\.\w+_dtypes|utils\.hash_from_sparse|variable\.(SparseConstantSignature|override_dense))",
    ],
    "ops are batched in C++ (Op.vectorize), and one's own by its method": [
        r"[\w.]+\.vectorize_\w+"
    ],
    "a name that this module of PyTensor imports from another one, where it is": [
        r"sparse\.(Apply|COp|Constant|DisconnectedType|Op|Split|TensorType|Variable|config|disconnected_type|generic|grad_not_implemented|grad_undefined|ivector|join_dims|minimum|scalar|slice_static_length|specify_broadcastable|split_dims|tensor|vector)",
        r"(scalar|typed_list)\.(Apply|COp|CType|Constant|FrozenFunctionGraph|HasDataType|HasInnerGraph|HasShape|MetaObject|MethodNotDefined|Op|Variable|apply_across_args|applys_between|clone_replace|config|difference|disconnected_type|grad_not_implemented|grad_undefined|lazy_scipy_module|pprint|special|to_return_values|SliceType|TensorVariable|lscalar)",
    ],
    "printers of PyTensor's own ops; pprint has C++'s": [r"tensor\.\w+\.\w+Printer"],
    "sparse functions are expressions, and so are their derivatives: no op computes them": [
        r"sparse(\.basic|\.math)?\.(CSMGrad|csm_grad|GetItem(2Lists|List)Grad|get_item_(2lists|list)_grad|StructuredDotGradCS[CR]|sdg_cs[cr])"
    ],
    "a type of thunks for annotations": [
        r"graph\.op\.(BasicThunkType|PerformMethodType|ThunkCallableType)"
    ],
    "an older interface; pt.fft has the functions": [
        r"tensor\.fft\.i?rfft_op|tensor\.fourier\.\w+"
    ],
    "a base class of PyTensor's own ops, or a step between ops; the function is there": [
        r"sparse(\.basic)?\.Stack",
        r"tensor\.linalg\.(?:[\w.]*\.)?(BaseBlockDiagonal|SolveBase|LUFactorTridiagonal|SolveLUFactorTridiagonal|SolveBilinearDiscreteLyapunov|TRSYL)",
        r"tensor\.signal\.conv\.(AbstractConvolveNd|Convolve[12]d)",
        r"tensor\.symbolic\.\w+",
        r"tensor\.blas\.gemm\.GemmRelated",
        r"tensor\.random\.basic\.(ChoiceWithoutReplacement|ScipyRandomVariable)",
    ],
    "shared variables of all types are instances of compile.SharedVariable": [
        r"tensor\.random\.variable\.RandomGeneratorSharedVariable"
    ],
}

_makes = "objects of the class are made by functions, and the class is there for isinstance"
_function = "a function that makes one"
_in_place = "nothing is written in place"
_none = "None is the default, and means the same"

# How arguments differ, by module and name, as regular expressions. Where nothing differs but that there are more arguments
# behind PyTensor's, they agree.
_arguments = {
    r"(compile\.|compile\.maker\.)?function": "False is the default, and means the same as None",
    r"breakpoint\.PdbBreakpoint|raise_op\.\w+": _function,
    r"compile(\.debug\.\w+)?\.(MonitorMode|NanGuardMode)": _function,
    r"compile(\.executor)?\.Function|compile(\.sharedvalue)?\.SharedVariable|graph(\.basic)?\.Variable|tensor\.Variable": _makes,
    r"tensor\.sharedvar\.TensorSharedVariable|tensor\.random\.variable\.RandomGeneratorVariable|scan\.op\.Scan|scan\.views\.\w+": _makes,
    r"typed_list\.(basic\.)?TypedList(Constant|Variable)": _makes,
    r"sparse\.(Variable|(sharedvar|variable)\.Sparse(Constant|TensorSharedVariable|Variable))": _makes,
    r"scalar\.(basic\.)?Composite|tensor\.linalg\.solvers\.linear_control\.Solve\w+": "a class of ops that no arguments make",
    r"compile(\.maker)?\.FunctionMaker": "its arguments are those of function()",
    r"compile(\.debug\.profiling)?\.ProfileStats": "of the function that it measures",
    r"compile(\.io)?\.SymbolicInput": "the arguments of In, by the same names",
    r"compile\.builders\.OpFromGraph|OpFromGraph": "inline is True by default: an op that is written for its derivative should not cost a call",
    r"compile\.debug\.debugmode\.DebugMode": "strides of results are not an op's to choose; the rewrites are those of optdb",
    r"compile\.rebuild\.rebuild_collect_shared|graph(\.basic)?\.clone(_get_equiv)?": "graphs within ops never change; leaves are copied with the inputs by default",
    r"(gradient\.)?Rop": "an op's own pushforward is always used, where it has one",
    r"(gradient|tensor)\.jacobian": "vectorize is True by default: one call for all rows",
    r"graph\.basic\.equal_computations": "dtypes are always compared",
    r"graph\.destroyhandler\.DestroyHandler|graph\.features\.NoOutputInplaceOnInput": "features are called for each change",
    r"printing\.(FunctionPrinter|min_informative_str)": "the others are PyTensor's own",
    r"tensor\.(basic\.)?arange|tensor\.(type\.)?(vector|matrix|row|col|tensor[3-7])|tensor\.(math\.)?(std|var)": _none,
    r"tensor\.(math\.)?prod|tensor\.math\.Prod": "zeros in the input are always counted in the derivative, so that nobody has to say that there are some",
    r"tensor\.(shape\.)?specify_shape": "the lengths may be given one by one",
    r"tensor\.math\.(Max|Min)": "there is no initial value",
    r"tensor\.blockwise\.Blockwise": "a signature says it",
    r"tensor\.linalg\.(decomposition\.cholesky\.)?cholesky": "what fails raises by default",
    r"tensor\.linalg\.(summary\.)?trace": "NumPy's function, whose first argument is a",
    r"tensor\.optimize\.\w+": "of one inner graph, and what surrounds it",
    r"tensor\.random\.(basic\.)?(chisquare|choice|permutation|multivariate_normal)": "rng is given by name",
    r"tensor\.random\.basic\.MvNormalRV": "the method is an argument of the draw",
    r"tensor\.shape\.shape_i": "lengths are those of x, in any graph",
    r"tensor\.subtensor\.(IncSubtensor|advanced_subtensor)": _in_place,
    r"tensor\.utils\.normalize_reduce_axis": "None stays None",
    r"tensor\.variable\.DenseTensor\w+": "the class of the variable, of which the type is the first argument",
}


def reason_missing(name: str) -> str | None:
    """Why a name is not here."""
    return next(
        (
            why
            for why, patterns in _missing.items()
            if any(re.fullmatch(pattern, name) for pattern in patterns)
        ),
        None,
    )


def reason_other_arguments(name: str) -> str | None:
    """Why the arguments of a function or class differ."""
    return next((why for pattern, why in _arguments.items() if re.fullmatch(pattern, name)), None)


def unused(missing: list[str], other: list[str]) -> list[str]:
    """The patterns that apply to none of these names."""
    of_missing = [
        pattern
        for patterns in _missing.values()
        for pattern in patterns
        if not any(re.fullmatch(pattern, name) for name in missing)
    ]
    return of_missing + [
        pattern for pattern in _arguments if not any(re.fullmatch(pattern, name) for name in other)
    ]
