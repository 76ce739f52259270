"""What the headers below include/bitale declare, and its names in Python: of each public function of Python the one that does the
same in C++, or the reason why there is none. tests/python/test_api.py checks that the two agree, in both directions."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator

_include = pathlib.Path(__file__).parents[2] / "include" / "bitale"

# The namespaces, below bitale, in which functions of these modules are looked for. All of their functions are in C++, unless
# there is a reason; a class stands for its methods.
namespaces = {
    "": "",
    "tensor": "",
    "tensor.special": "",
    "tensor.linalg": "",
    "tensor.fft": "fourier",
    "tensor.signal": "",
    "tensor.optimize": "",
    "tensor.random": "random",
    "optimizers": "optimizers",
    "tree": "tree",
    "random": "random",
    "stats": "stats",
    "stats.transforms": "stats",
    "integrate": "integrate",
    "xtensor": "xtensor",
    "xtensor.linalg": "xtensor",
    "xtensor.random": "xtensor::random",
    "xtensor.stats": "xtensor::stats",
}

# The same for modules of which C++ has a part, or the same under other names.
partial = {
    "xtensor.math": "xtensor",
    "xtensor.reduction": "xtensor",
    "xtensor.shape": "xtensor",
    "xtensor.selection": "xtensor",
    "xtensor.windows": "xtensor",
    "xtensor.signal": "xtensor",
    "xtensor.XTensorVariable": "xtensor",
    "sparse": "sparse",
    "sparse.linalg": "sparse",
    "sparse.SparseVariable": "sparse",
    "gradient": "",
    "compile": "",
    "link": "",
    "graph": "",
    "graph.traversal": "",
    "graph.features": "",
    "rewrite": "",
    "printing": "",
    "profile": "",
    "raise_op": "",
    "breakpoint": "",
}

# Functions with another name in C++, by regular expressions. (A keyword, or a name of the standard library, ends in _ there.)
renamed = {
    r"(tensor\.)?as_tensor": "as_tensor_variable",
    r"debugprint": "dprint",
    r"pp": "pprint",
    r"random\.stream": "stream_state",
    r"tensor\.random\.nbinom": "random::negative_binomial",
    r"xtensor\.random\.nbinom": "xtensor::random::negative_binomial",
    r"optimizers\.clip": "optimizers::clip_by_value",
    r"optimizers\.cosine_decay": "optimizers::cosine_decay_schedule",
    r"tree\.leaves": "variables_of",
    r"tree\.unflatten": "with_variables",
    r"xtensor\.stats\.\w+": "xtensor::stats::log_function",
    r"xtensor\.as_xtensor|xtensor\.xtensor_constant": "xtensor::XVariable",
    r"sparse\.as_sparse": "sparse::Matrix",
    r"sparse\.dense_from_sparse": "sparse::to_dense",
    r"sparse\.cs[cr]_from_dense": "sparse::from_dense",
    r"sparse\.remove0": "sparse::remove_zeros",
    r"sparse\.sp_sum": "sparse::sum",
    r"sparse\.true_dot": "sparse::dot",
    r"sparse\.segment_sum": "segment_sum",
    r"sparse\.linalg\.spsolve": "sparse::solve",
    r"sparse\.linalg\.cholesky": "sparse::Cholesky",
    r"sparse\.linalg\.lu": "sparse::Lu",
    r"printing\.Print": "print",
    r"breakpoint\.PdbBreakpoint": "breakpoint",
    r"rewrite\.check": "rewriting::verify_rule",
    r"rewrite\.equation": "rewriting::register_rules",
    r"rewrite\.trace": "trace_rewrite",
}

# Why there is no function in C++, by regular expressions.
reasons = {
    r"In": "FunctionOptions; inputs with default values are those of a FunctionMaker",
    r"Out": "results belong to the caller; `run_into` writes into the memory of the caller",
    r"jit": "`function` compiles an expression once; a lambda that builds it is a function of functions",
    r"vmap": "`vectorize` of a lambda, `vectorize_graph` of an expression",
    r"remat": "`op_from_graph` with `is_inline = false`",
    r"jacrev": "`jacobian` of an expression",
    r"map|reduce|foldl|foldr|until|scan_checkpoints": "`scan`, whose step may end the loop (ScanStep)",
    r"as_op|wrap_py": "a class derived from OpOf ([tutorial](tutorial/own_op.md#in-c-one-class))",
    r"as_symbolic": "an Operand, to which numbers and Arrays convert",
    r"(tree\.)?register_tree": "`BITALE_TREE` lists the members of a struct",
    r"tree\.\w+": "structs, and containers of the standard library, with their algorithms",
    r"tensor\.TensorLike": "an annotation: Operand in C++",
    r"tensor\.values_eq_approx_always_true": "a type in C++ says itself how its values compare",
    r"tensor\.(asarray|from_dlpack)": "Python's protocol between array libraries; an Array borrows memory in C++",
    r"tensor\.(make_slice|slicetype)": "a Slice is made of its bounds",
    r"tensor\.none_type_t": "a parameter that may be absent is a std::optional",
    r"tensor\.linalg\.ordqz": "`qz` with `sort`",
    r"tensor\.optimize\.\w+": "Python's part: solvers of SciPy",
    r"(xtensor|tensor)\.random\.((as|default|shared)_rng|random_generator_type|rng)": "shared_of(random_type(), random_state(seed)), and stream_state(seed) of a stream",
    r"tensor\.random\.(distribution|from_quantile)|xtensor\.random\.draw_function": "any function that gives a random::Draw is a distribution",
    r"xtensor\.xtensor_shared": "an XVariable of a shared variable and its dimensions",
}

# Functions of these folders of headers that have no name of their own in Python, by regular expressions.
only_in_cpp = {
    r"(integrate::)?parse_\w+|quantile_method": "an enumeration from its name",
    r"sparse_(jacobian|hessian)|(jacobian|hessian)_pattern": "`jacobian` and `hessian` with `sparse` and `sparsity`",
    r"structure_of|add_statement|contradicted_fact|common_element|linspace_step|subtensor|each_named|dtype_of_prefix": "what other functions of C++ are made of",
    r"random::(draw|rows|composed|distribution_names)": "draws by the name of the distribution",
    r"random::(fold|split)": "methods of a stream",
    r"(derivative_override|op_from_graph|apply_op)": "the class OpFromGraph",
    r"check_and_raise|set_print_handler": "the classes of `raise_op`, and Python's output",
    r"slice": "Python's slices",
    r"i?rfft": "transforms in PyTensor's form, whose complex numbers are pairs; those of NumPy are in `fourier`",
    r"[mo]grid|size|segment_ids|power_norm": "objects and attributes",
    r"stats::gamma_rate_logpdf": "`gamma_logpdf` with `rate`",
    r"xtensor::random::draw": "draws by the name of the distribution",
    r"xtensor::(grad|jacobian|hessian|pushforward|pullback)": "the functions of tensors take labelled ones",
    r"xtensor::(coordinates|between|constant_labels|positions|elementwise)": "arguments of other functions: lists of labels, slices, names",
    r"xtensor::\w+": "what other functions of C++ are made of",
}


# ---- the headers -------------------------------------------------------------------------------------------------------------


def _inlined(header: str, seen: set[str]) -> str:
    """A header with those of the library that it includes, each once, and without others; lines say where they are from."""
    if header in seen:
        return ""
    seen.add(header)
    out = [f'# 1 "{header}"']
    for number, line in enumerate((_include / header).read_text().splitlines(), 1):
        if included := re.match(r'#include "bitale/(.+)"', line):
            out += [_inlined(included[1], seen), f'# {number + 1} "{header}"']
        elif re.match(r"#(include|error|pragma)", line):
            out.append("")
        else:
            out.append(re.sub(r"__has_include\(.*?\)", "0", line))
    return "\n".join(out)


def _preprocessed() -> str:
    """All headers with their macros expanded, which declare functions for lists of names."""
    seen: set[str] = set()
    headers = sorted(path.relative_to(_include).as_posix() for path in _include.rglob("*.hpp"))
    text = "\n".join(_inlined(header, seen) for header in headers)
    compiler = [os.environ.get("CXX", "c++"), "-E", "-x", "c++", "-std=c++20", "-nostdinc", "-"]
    return subprocess.run(compiler, input=text, text=True, capture_output=True, check=True).stdout


_TOKEN = re.compile(
    r"""^\#\ \d+\ "([^"]*)".*$ | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)+' | [(){};] | [^"'(){};\#\n]+ | [\n\#']""",
    re.M | re.X,
)


@functools.cache
def _statements() -> list[tuple[str, str, str]]:
    """Of each declaration at the scope of a namespace: the namespace, its text up to a body, and the header."""
    return list(_read_statements())


def _read_statements() -> Iterator[tuple[str, str, str]]:
    scope: list[str] = []
    statement = header = ""
    parentheses = braces = 0
    for match in _TOKEN.finditer(_preprocessed()):
        token = match[0]
        if match[1] is not None:
            header = match[1]
        elif braces:  # in a body
            braces += (token == "{") - (token == "}")
        elif token in "()" or parentheses:
            parentheses += (token == "(") - (token == ")")
            statement += token
        elif token == "{" and (
            name := re.match(r"\s*(?:inline )?namespace\s*([\w:]*)\s*$", statement)
        ):
            scope.append(name[1])
            statement = ""
        elif token in "{;":
            yield "::".join(scope), statement, header
            statement = ""
            braces = token == "{"
        elif token == "}":
            scope.pop()
        else:
            statement += token


def _without_angles(text: str) -> str:
    out, depth = "", 0
    for letter in text:
        depth += letter == "<"
        out += letter if not depth else ""
        depth -= letter == ">" and depth > 0
    return out


def _without_constraint(text: str) -> str:
    """A declaration without the condition in parentheses that follows the template's parameters."""
    while re.match(r"requires ?\(", text):
        depth, end = 0, text.index("(")
        for end in range(end, len(text)):
            depth += (text[end] == "(") - (text[end] == ")")
            if not depth:
                break
        text = re.sub(r"^(&&|\|\|)", "requires", text[end + 1 :].strip())
    return text


def _name(statement: str) -> tuple[str, bool] | None:
    """The function or type that a statement declares, and whether it is a function."""
    text = " ".join(re.sub(r"\[\[.*?\]\]|->|<=|>=", "", statement).split())
    text = _without_constraint(re.sub(r"^(template )+", "", _without_angles(text)).strip())
    if is_type := re.match(r"(?:class|struct|enum class|enum) (?:\w+\([^)]*\) )?(\w+)", text):
        return is_type[1], False
    if is_alias := re.match(r"using (\w+) =", text):
        return is_alias[1], False
    is_function = re.match(r"([^(=]*[\s&*])(\w+) ?\(", text)
    if not is_function or re.match(r"(using|typedef|static_assert|extern|friend)\b", text):
        return None
    is_operator = "operator" in is_function[1] + is_function[2]
    return None if is_operator else (is_function[2], True)


@functools.cache
def declared() -> dict[str, str]:
    """By the name below namespace bitale ("exp", "stats::normal_logpdf") of each function and type: the header, the first that
    has it."""
    found: dict[str, str] = {}
    for namespace, statement, header in _statements():
        name = _name(statement)
        if name and re.match(r"bitale(::|$)", namespace) and header != "fwd.hpp":
            found.setdefault(f"{namespace}::{name[0]}".removeprefix("bitale::"), header)
    return found


@functools.cache
def declared_functions() -> dict[str, str]:
    """The same without types."""
    found = (
        (f"{namespace}::{name[0]}".removeprefix("bitale::"), header)
        for namespace, statement, header in _statements()
        if (name := _name(statement)) and name[1]
    )
    return {name: header for name, header in found if name in declared()}


@functools.cache
def included() -> set[str]:
    """The headers that bitale/bitale.hpp includes, directly or not."""
    seen: set[str] = set()
    _inlined("bitale.hpp", seen)
    return seen


# ---- the names in Python -----------------------------------------------------------------------------------------------------


def _object(module: str) -> object:
    """A module below bitale, or a class in one."""
    parent, _, name = module.rpartition(".")
    if name[:1].isupper():
        return getattr(_object(parent), name)
    return importlib.import_module(f"bitale.{module}".rstrip("."))


def _public(module: str) -> list[str]:
    value = _object(module)
    return [
        name
        for name in sorted(getattr(value, "__all__", None) or dir(value))
        if name[0] != "_"
        and callable(getattr(value, name, None))
        and not (inspect.isclass(getattr(value, name)) and module in namespaces)
    ]


def full_name(module: str, name: str) -> str:
    return f"{module}.{name}" if module else name


def counterpart(module: str, name: str) -> str | None:
    """What does the same in C++: the name below namespace bitale."""
    if other := first_of(renamed, full_name(module, name)):
        return other
    namespace = {**namespaces, **partial}[module]
    candidates = (f"{namespace}::{each}".removeprefix("::") for each in (name, f"{name}_"))
    return next((each for each in candidates if each in declared()), None)


@functools.cache
def counterparts() -> dict[tuple[str, str], str]:
    """Of each function of Python that C++ has, by module and name: its counterpart. A function of several modules is in the
    first."""
    found: dict[tuple[str, str], str] = {}
    first: dict[int, str] = {}
    for module in (*namespaces, *partial):
        for name in _public(module):
            other = counterpart(module, name)
            if other and first.setdefault(id(getattr(_object(module), name)), module) == module:
                found[module, name] = other
    return found


def first_of(patterns: dict[str, str], name: str) -> str | None:
    """The text of the first pattern that the name matches."""
    return next((text for pattern, text in patterns.items() if re.fullmatch(pattern, name)), None)


def reason(full: str) -> str | None:
    return first_of(reasons, full)


def missing() -> list[str]:
    """The functions of the modules in `namespaces` that have no counterpart: "tensor.asarray"."""
    return [
        full_name(module, name)
        for module in namespaces
        for name in _public(module)
        if counterpart(module, name) is None
    ]


# Headers of these folders that describe internals.
_INTERNAL = r"ops/(lowering|registry|from_attributes|shape_feature)\.hpp"


def only_declared() -> list[str]:
    """Functions of the headers for expressions that are the counterpart of none in Python."""
    known = set(counterparts().values())
    folders = r"(ops|autodiff|stats|optimizers|integrate|xtensor)/.*"
    return [
        name
        for name, header in declared_functions().items()
        if name not in known and re.fullmatch(folders, header) and not re.match(_INTERNAL, header)
        if not re.search(r"\b\w+_detail::|\brefuse_", name)
    ]


# ---- the array-API standard --------------------------------------------------------------------------------------------------

# The same for the functions of the array-API standard (bitale.array_api).
reasons_of_standard = {
    r"__array_namespace_info__|asarray|from_dlpack": "Python's protocol between array libraries; an Array borrows memory in C++",
    r"broadcast_shapes|can_cast|finfo|iinfo|isdtype|result_type": "of dtypes and shapes, which have functions of their own: promote, can_cast_safely, std::numeric_limits",
    r"unique_\w+": "unique, with what it returns besides by flags",
}


def of_standard() -> list[str]:
    """The functions of bitale.array_api, "fft.rfft" for a name in a submodule."""
    import bitale.array_api as xp

    modules = {"": xp, "linalg.": xp.linalg, "fft.": xp.fft}
    return [
        prefix + name
        for prefix, module in modules.items()
        for name, value in sorted(vars(module).items())
        if inspect.isfunction(value)
        and not re.match(r"_[^_]", name)
        and (not prefix or value.__module__ == module.__name__)
    ]


def missing_of_standard() -> list[str]:
    """Those that no header declares."""
    return [
        name
        for name in of_standard()
        if counterpart(f"tensor.{name}".rpartition(".")[0], name.rpartition(".")[2]) is None
    ]
