"""Coverage of the generated graphs: ops, pairs of producer and consumer, rules that fired, configurations."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections import Counter
from typing import Any


@functools.lru_cache(maxsize=None)
def _label(name: str, attributes: tuple) -> str:
    of = {key: value for key, _, value in attributes}
    detail = None
    if name in ("Elemwise", "CAReduce", "CumOp"):
        detail = of.get("name") or of.get("scalar_op") or of.get("mode")
    if "set_instead_of_inc" in of:
        detail = "set" if of["set_instead_of_inc"] else "inc"
    return f"{name}{{{detail}}}" if detail else name


class Coverage:
    def __init__(self) -> None:
        self.ops: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.rules: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()  # of graphs, failures and configurations

    def add(self, other: Coverage) -> None:
        for mine, theirs in (
            (self.ops, other.ops),
            (self.pairs, other.pairs),
            (self.rules, other.rules),
            (self.counts, other.counts),
        ):
            mine.update(theirs)

    def note_graph(self, outputs: list[Any]) -> None:
        """Records the ops and producer-consumer pairs of a graph as it was built."""
        from bitale import _core

        labels: dict[Any, str] = {}
        for node in _core.toposort(outputs):
            consumer = _label(*_core.stored_op(node.op))
            self.ops[consumer] += 1
            for x in node.inputs:
                producer = labels.get(x)
                if producer:
                    self.pairs[producer, consumer] += 1
            for output in node.outputs:
                labels[output] = consumer

    def note_rules(self, before: dict[str, int]) -> None:
        """Records the rules that fired since `before`, a result of rule_hits."""
        self.rules.update(
            {
                name: count - before.get(name, 0)
                for name, count in rule_hits().items()
                if count > before.get(name, 0)
            }
        )


def rule_hits() -> dict[str, int]:
    import bitale as bt

    return {rule.name: rule.hits for rule in bt.rewrite.rules()}


# Only complex_graphs.py generates graphs of complex numbers.
OF_COMPLEX = {"angle", "conj", "imag", "real"}
# Derivatives with respect to parameters, which few random graphs contain: tests/python/tensor/test_elementwise.py compares
# them.
OF_GRADIENTS = {"hyp2f1_derivative", "hyp2f1_derivative_by_c"}
# The oracle computes in more digits, in which a number has other neighbours: tests/python/tensor/test_numpy_functions.py.
OF_DIGITS = {"nextafter"}


def all_ops() -> list[str]:
    """Every op of the registry, with every elementwise function and reduction, as `Coverage.ops` names them."""
    from bitale import _core

    from oracle.ops import without_formula

    out = []
    for name in _core.op_names():
        if name in without_formula:
            continue
        if name == "Elemwise":
            out += [
                f"Elemwise{{{each.rstrip('_')}}}"
                for each, _ in _core.elementwise_functions()
                if each not in OF_COMPLEX | OF_GRADIENTS | OF_DIGITS
            ]
            from .data import dtypes

            out += [f"Elemwise{{cast_{dtype}}}" for dtype in dtypes]
        elif name == "CAReduce":
            out += [f"CAReduce{{{each}}}" for each in ("sum", "prod", "max", "min", "all", "any")]
        elif name in ("IncSubtensor", "AdvancedIncSubtensor"):
            out += [f"{name}{{set}}", f"{name}{{inc}}"]
        elif name == "CumOp":
            out += ["CumOp{add}", "CumOp{mul}"]
        else:
            out.append(name)
    return out


# Public functions that no random graph draws, by regular expression, and why.
NOT_DRAWN = {
    r"[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7])s?|[ilfd]?matrices": "a variable",
    r"TensorLike|make_slice|slice_at_axis|transfer|values_eq_approx_always_true|as_tensor(_variable)?|get_\w+|is_flat|broadcast_shape|identity|dense_dot": "no computation, or another name",
    r"apply_along_axis|vectorize|pack|unpack|piecewise|linalg\.matrix_dot|concat_with_broadcast|broadcast_arrays|split_dims|specify_broadcastable|conv2d|signal\.convolve2d": "of functions, lists or shapes that have to fit: tests/python/tensor/test_numpy_functions.py, test_tensor_functions.py and test_signal.py",
    r"bartlett|geomspace|logspace|interpolate1d|empty(_like)?|fill_diagonal_offset|histogram|iround|(tril|triu)_indices(_from)?|(un)?ravel_(multi_)?index|permute_row_elements": "tests/python/tensor/test_tensor_functions.py and test_function_table.py compare it",
    r"nanargm(ax|in)|argtopk|topk_and_argtopk": "positions among equal elements: tests/python/tensor/test_sorting.py and test_numpy_functions.py",
    r"cov|corrcoef": "a difference of large numbers, which has no digits for many inputs: tests/python/tensor/test_numpy_functions.py",
    r"chi2sf|gamma[lu]|kn|special\.(factorial|poch|xlogx)": "tests/python/tensor/test_special_functions.py and test_elementwise.py compare it within its domain",
    r"asarray|from_dlpack": "a value as a variable",
    r"linalg\.(matrix_rank|svdvals)": "matrices at the border of ranks have either; complex_graphs.py draws the op of singular values: tests/python/test_array_api_namespace.py",
    r"complex_from_polar|fft\.\w+|linalg\.eig(vals)?": "of complex numbers: complex_graphs.py draws their ops",
    r"linalg\.(block_diag|eigh|lstsq|ordqz|qz|schur|solve_tridiagonal|tensorinv|tensorsolve)": "several results are right, or few matrices fit: tests/python/tensor/linalg",
    r"jacfwd": "tests/python/gradient/test_gradient_functions.py compares it with jacobian, which is drawn",
    r"optimize\.\w+": "a solver: tests/python/tensor/test_optimize.py",
    r"random\.\w+": "distributions are compared with NumPy's bits by tests/python/tensor/random",
}


def _functions() -> list[str]:
    """Names of the functions of bitale.tensor: "exp", or "linalg.det" for a name in a submodule."""
    import bitale.tensor as pt

    modules = {"": pt} | {
        f"{name}.": getattr(pt, name)
        for name in ("special", "linalg", "fft", "signal", "optimize", "random")
    }
    return [
        prefix + name
        for prefix, module in modules.items()
        for name in sorted(getattr(module, "__all__", dir(module)))
        if name[0] != "_"
        and callable(getattr(module, name))
        and not inspect.isclass(getattr(module, name))
    ]


def not_drawn() -> list[str]:
    """The public functions of bitale.tensor whose names occur in no generator."""
    import pathlib
    import re

    import bitale.tensor as pt
    from bitale import _core
    from bitale.graph.type import Type

    text = "".join(
        pathlib.Path(__file__).with_name(f"{name}.py").read_text()
        for name in ("kinds", "complex_graphs", "loops", "gradients", "derivatives", "generate")
    )
    known = {name for name, _ in _core.elementwise_functions()} | set(
        re.findall(r"(?<=\.)\w+(?=\()|(?<=[\"'])\w+(?=[\"'])", text)
    )
    same: dict[int, list[str]] = {}  # names of one function
    for name in _functions():
        value: Any = pt
        for part in name.split("."):
            value = getattr(value, part)
        if isinstance(value, Type):
            continue
        same.setdefault(id(value), []).append(name)
    return [
        names[0]
        for names in same.values()
        if not {each.split(".")[-1] for each in names} & known
        and not {each.split(".")[-1] + "_" for each in names} & known
    ]


def reason_not_drawn(name: str) -> str | None:
    import re

    return next((why for pattern, why in NOT_DRAWN.items() if re.fullmatch(pattern, name)), None)


def report(coverage: Coverage, least: int = 10) -> str:
    """The coverage report as text."""
    known = all_ops()
    missing = [op for op in known if not coverage.ops[op]]
    families = sorted({op.split("{")[0] for op in known})
    pairs = {(a.split("{")[0], b.split("{")[0]) for a, b in coverage.pairs}
    absent = [
        f"{a} -> {b}" for a, b in itertools.product(families, families) if (a, b) not in pairs
    ]
    import bitale as bt

    rules = [rule.name for rule in bt.rewrite.rules()]
    unfired = [name for name in rules if not coverage.rules[name]]
    lines = [
        "graphs: "
        + ", ".join(f"{count} {name}" for name, count in sorted(coverage.counts.items())),
        f"ops: {len(known) - len(missing)} of {len(known)}"
        + (f"; never: {', '.join(missing)}" if missing else ""),
        f"pairs of ops: {len(coverage.pairs)} of {len(known) ** 2}; of their {len(families)} families "
        f"{len(families) ** 2 - len(absent)} of {len(families) ** 2}",
        f"rules fired: {len(rules) - len(unfired)} of {len(rules)}",
    ]
    if absent:
        lines.append(
            f"pairs of families never seen ({len(absent)}): "
            + ", ".join(absent[:40])
            + (" ..." if len(absent) > 40 else "")
        )
    if unfired:
        lines.append(f"rules never fired ({len(unfired)}): " + ", ".join(unfired))
    rare = [f"{op} ({count})" for op, count in coverage.ops.most_common()[::-1] if count < least]
    if rare:
        lines.append("rare ops: " + ", ".join(rare))
    return "\n".join(lines)
