"""Names of pytensor.tensor and of PyTensor's other modules that Bitale lacks, and functions whose parameters have other
names, each with the reason. tests/python/test_api.py fails for any that is not listed here."""

import re

# Constructors of variables: dmatrix, lvectors, tensor4s, ...
constructors = r"[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7])s?|[ilfd]?matrices"

_missing = {
    r"slicetype|none_type_t": "slices and None are what they are in Python, not values of graphs",
    r"special\.vectorize_softmax_node": "a formula here, not an op class",
}  # fmt: skip

_other_library = "a backend of PyTensor's; bitale.pytensor takes PyTensor's graphs the other way"
_rewriting = "modes and bitale.rewrite say which rules run; there are no other queries"
_library_c = "an op has its native code in C++"
_in_library = "a step of compiling that is no function of its own; FunctionMaker has the steps"
_views = "results share no memory with inputs or each other, so there is nothing to mark or copy"
_node_classes = "nodes have one class each, Apply, Variable and Constant"
_scalar_graph = "elementwise functions are not made of graphs of scalars; expressions fuse by themselves"

# Keyed by a regular expression for module and name.
_missing_of_modules = {
    r"compile(\.mode)?\.(JAX|NUMBA|PYTORCH|MLX)": _other_library,
    r"compile(\.mode)?\.(OPT_\w+|optdb|local_useless|register_optimizer|Add\w+|PrintCurrentFunctionGraph)": _rewriting,
    r"compile(\.ops)?\.register_\w+_c_code": _library_c,
    r"compile(\.ops)?\.(DeepCopyOp|ViewOp|TypeCastingOp|deep_copy_op|view_op)": _views,
    r"compile\.(AliasedMemoryError|alias_root|infer_reuse_pattern|insert_deepcopy|view_tree_set)": _views,
    r"compile\.(add_supervisor_to_fgraph|rebuild_collect_shared)": _in_library,
    r"compile\.ops\.load_back": "stored functions are found by their names",
    r"compile\.builders\.(FinalizedOpFromGraph|SymbolicOp|construct_nominal_fgraph)": "an OpFromGraph is complete when it is made",
    r"compile\.builders\.infer_shape": "lengths of expressions are those of x.shape",
    r"compile\.debug\.debugmode\.(DataDestroyed|OutputGuard|data_destroyed|output_guard|check_eq|str_diagnostic|validity_hint)": "DebugMode looks at values and memory by itself",
    r"configdefaults\.short_platform": "names of folders of the cache are made in C++",
    r"configparser\.(PyTensorConfig\w+|TypedParam|config_files_from_pytensorrc|parse_config_string)": "the environment and files are read in C++ (BITALE_FLAGS, BITALERC)",
    r"configparser\.PyTensorConfigParser\.warn_unused_flags": "flags that are not known are warned of when they are read, with the nearest name; none is left to warn of",
    r"d3viz\.formatting\.PyDotFormatter": "no pydot graph is made: pydotprint and d3viz write a graph as text and as a page in C++",
    r"ipython\.InteractiveRewrite": "a widget on anywidget, which nothing else needs: FullHistory goes back and forth over rewrites, and debugprint shows each graph",
    r"printing\.(GraphModel|GraphModelNode|GraphNode|build_graph_model|iter_graph_nodes|op_debug_information)": "debugprint walks the graph in C++",
    r"graph\.(RewriteDatabaseQuery|graph_rewriter)": _rewriting,
    r"graph\.basic\.(AbstractApply|AtomicVariable|Node|NominalVariable)": _node_classes,
    r"graph\.basic\.FrozenApply|graph\.fg\.(AbstractFunctionGraph|FrozenFunctionGraph|Output)": "graphs within ops are kept by the op (inner_inputs, inner_outputs); outputs are no nodes",
    r"graph\.replace\.vectorize": "the older name of vectorize_graph, which PyTensor warns of",
    r"graph\.op\.(HasMultipleInnerGraph|ThunkType|is_thunk_type)": "an op has at most one graph; thunks are NodeThunk of bitale.link",
    r"graph\.features\.(HistoryEntry|register_feature_callback|ReplaceValidate|PreserveVariableAttributes)": "holds for every FunctionGraph (bitale.graph.features)",
    r"graph\.utils\.(AssocList|Meta\w+|MethodNotDefined|add_tag_trace)": "classes of ops in Python have __props__; lines are noted by themselves",
    r"scalar\.(Complex|Conj|Imag|Real|Identity|RoundHalfAwayFromZero|round_half_away_from_zero_\w*)": "a formula, or nothing to compute; no op has it as its name",
    r"scalar\.(ComplexError|IntegerDivisionError)": "what has no meaning is a TypeError",
    r"scalar\.Grad2F1Loop": "the derivatives of hyp2f1 are functions of the runtime, not loops of the graph",
    r"scalar\.(ScalarLoop|ScalarConstantSignature)": _scalar_graph,
    r"scalar\.(NumpyAutocaster|autocast_\w+)": "config.cast_policy says what constants become",
    r"scalar\.mod_check": "bt.tensor.mod raises by itself",
    r"scalar\.round_half_away_from_zero": "of tensors: pt.round_half_away_from_zero",
    r"ifelse\.(Cond\w+|cond_\w+|ifelse_lift\w+)": "rules on branches are those of docs/rewrites.md",
    r"raise_op\.(ExceptionType|exception_type)": "CheckAndRaise takes the class of the exception itself",
}  # fmt: skip


# Names that PyTensor's tensor and scalar modules use internally. Reasons for names of bitale.scalar are given above.
_missing_names = {
    r"tensor\.(basic|math|shape|subtensor|extra_ops|elemwise|interpolate|reshape|sharedvar|variable|type_other)\.(CachedEquilibrimDB|infer_shape_db|"
    r"register_infer_shape|isn?inf_?|isnan_|makeKeepDims|mod_check|register_shape\w*_c_code|as_scalar_index_variable|as_tensor_index_variable|basic_shape|"
    r"get_constant_idx|get_slice_elements|group_indices|slice_static_length|broadcast_shape_iter|\w+_|get_normalized_batch_axes|pad_or_return|"
    r"ShapeValueType|load_shared_variable|scalar_constructor|tensor_constructor|get_unique_constant_value|as_int_none_variable|as_symbolic_\w+)":
        "a helper of PyTensor's own ops and rewrites",
    r"tensor\.\w+\.(\w*WithCoreShape|FixedOpCAReduce|MaxAndMinCAReduce|NonZeroDimsCAReduce|MulWithoutZeros|ProdWithoutZeros|mul_without_zeros|BaseSubtensor|"
    r"BaseBLAS|CGemv|GemmRelated|Dense\w+Meta|CpuContiguous|cpu_contiguous)": "a step between classes, or a node that PyTensor's rewrites make; no node here has it",
    r"tensor\.blas\.(blas_header_\w+|cgemv_\w+|ldflags|\w+_threads_text|must_initialize\w+|view_roots)": "C code of PyTensor's calls of BLAS",
    r"tensor\.(einsum\.Einsum|pad\.Pad)": "a formula here, not an op class",
    r"tensor\.type\.u\w+": "a second name of u8, u16, u32 and u64 scalars, which PyTensor does not export: pt.scalar(dtype=)",
    r"tensor\.type_other\.(MakeSlice|SliceConstant)": "slices are what they are in Python, with variables as bounds",
    r"tensor\.exceptions\.AdvancedIndexingError": "what can't be an index is a TypeError or an IndexError",
    r"tensor\.variable\.TensorConstantSignature": "x.signature() is a tuple that can be compared and hashed",
    r"graph\.rewriting\.\w+\.\w+": "rules are functions and equations (bitale.rewrite); there are no classes of rewriters to build them from",
    r"graph\.destroyhandler\.\w+": "no op that users build writes over its operands",
    r"scalar\.sharedvar\.ScalarSharedVariable": "a shared variable of rank 0",
    r"compile\.(aliasing|executor)\.\w+": "results share no memory with inputs or each other, so there is nothing to mark or copy",
    r"compile\.rebuild\.construct_function_ins_and_outs": "a step of compiling that is no function of its own; FunctionMaker has the steps",
    r"compile\.debug\.profiling\.\w+": "profiles are objects: ProfileStats of a function, printed where its owner likes",
    r"scan\.basic\.get_updates_and_outputs": "how scan reads what a step returns",
    r"tensor\.special\.\w+": "a formula here, not an op class",
}  # fmt: skip


def reason_missing_at(name: str) -> str | None:
    for pattern, reason in _missing_names.items():
        if re.fullmatch(pattern, name):
            return reason
    return reason_missing_of_module(re.sub(r"^scalar\.(basic|math)\.", "scalar.", name)) if name.startswith("scalar.") else None


def reason_missing(name: str) -> str | None:
    for pattern, reason in _missing.items():
        if re.fullmatch(pattern, name):
            return reason
    return None


def reason_missing_of_module(name: str) -> str | None:
    for pattern, reason in _missing_of_modules.items():
        if re.fullmatch(pattern, name):
            return reason
    return None


_more = "the same by position, and more behind them"
_spelled = "the same, with each keyword that counts named; unknown ones are errors"

# How a function's parameters differ from PyTensor's, by function. Positional calls accept PyTensor's arguments in
# PyTensor's order, as far as the parameters exist.
other_arguments = {
    "hessian": _more,
    "jacobian": _more,
    "as_tensor": _spelled,
    "as_tensor_variable": _spelled,
    "broadcast_shape": _spelled,
    "prod": "zeros in the input are always counted in the derivative, so that nobody has to say that there are some",
    "tensor": _spelled,
    "where": _spelled,
    "cumprod": _more,
    "cumsum": _more,
    "extract_diag": _more,
    "median": _more,
    "ptp": _more,
    "round": _more,
    "scalar": _more,
    "std": _more,
    "var": _more,
    "specify_shape": "the lengths may be given one by one",
}  # fmt: skip

_by_name = "the same names, where they mean something here"

# The same for other modules, by module and name.
other_arguments_of_modules = {
    "compile.FunctionMaker": "its arguments are those of function()",
    "compile.Mode": "there is no database of rewrites to choose",
    "compile.mode.Mode": "there is no database of rewrites to choose",
    "compile.debug.debugmode.DebugMode": "there is no database of rewrites to choose; strides always match",
    "graph.FunctionGraph": "FunctionMaker has the mapping of updates",
    "graph.fg.FunctionGraph": "FunctionMaker has the mapping of updates",
    "compile.MonitorMode": "there is no database of rewrites to choose",
    "compile.ProfileStats": "of the function that it measures",
    "compile.function": _more,
    "compile.io.SymbolicInput": _more,
    "compile.SymbolicInput": _more,
    "compile.shared": _more,
    "compile.sharedvalue.shared": _more,
    "compile.maker.FunctionMaker": "its arguments are those of function()",
    "compile.maker.function": _more,
    "compile.builders.OpFromGraph": "connections follow from the graph; nothing is destroyed",
    "gradient.hessian": _more,
    "gradient.hessian_vector_product": _spelled,
    "gradient.jacobian": _more,
    "gradient.pushforward": "an op's own pushforward is always used, where it has one",
    "gradient.verify_grad": _more,
    "graph.basic.clone": _more,
    "graph.clone": _more,
    "graph.basic.equal_computations": "dtypes are always compared",
    "graph.clone_replace": "there is nothing more to say",
    "graph.replace.clone_replace": "there is nothing more to say",
    "graph.node_rewriter": _by_name,
    "graph.rewrite_graph": _by_name,
    "printing.debugprint": _more,
    "printing.min_informative_str": "the others are PyTensor's own",
    "printing.pydotprint": _more,
}
