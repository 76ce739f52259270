"""Why names of PyTensor are not here (bitale/_absent.py), and why arguments of functions and classes differ from PyTensor's.
tests/python/test_api.py fails for any other, and for reasons that apply to none."""

import re

from bitale import _absent

# Constructors of variables: dmatrix, lvectors, tensor4s, ...
constructors = r"[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7])s?|[ilfd]?matrices"

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
    r"graph\.(basic\.AtomicVariable|fg\.FrozenFunctionGraph)|tensor\.subtensor\.BaseSubtensor": _makes,
    r"graph\.utils\.MetaType": "the arguments of type, which are given by position",
    r"graph\.basic\.equal_computations": "dtypes are always compared",
    r"graph\.destroyhandler\.DestroyHandler|graph\.features\.NoOutputInplaceOnInput": "features are called for each change",
    r"printing\.(FunctionPrinter|min_informative_str)": "the others are PyTensor's own",
    r"tensor\.(basic\.)?arange|(tensor|sparse)\.(type\.)?(vector|matrix|row|col|tensor[3-7])|tensor\.(math\.)?(std|var)": _none,
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
    """What is used instead of a name that is not here."""
    return _absent.reason(*name.rpartition(".")[::2])


def reason_other_arguments(name: str) -> str | None:
    """Why the arguments of a function or class differ."""
    return next((why for pattern, why in _arguments.items() if re.fullmatch(pattern, name)), None)


def unused(missing: list[str], other: list[str]) -> list[str]:
    """Reasons that apply to no name."""
    return [name for name in _absent.names() if name not in set(missing)] + [
        pattern for pattern in _arguments if not any(re.fullmatch(pattern, name) for name in other)
    ]
