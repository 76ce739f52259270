"""Coverage of the generated graphs: ops, pairs of producer and consumer, rules that fired, configurations."""

from __future__ import annotations

import functools
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
        for mine, theirs in ((self.ops, other.ops), (self.pairs, other.pairs), (self.rules, other.rules), (self.counts, other.counts)):
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
        self.rules.update({name: count - before.get(name, 0) for name, count in rule_hits().items() if count > before.get(name, 0)})


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
            out += [f"Elemwise{{{each.rstrip('_')}}}" for each, _ in _core.elementwise_functions() if each not in OF_COMPLEX | OF_GRADIENTS | OF_DIGITS]
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


def report(coverage: Coverage, least: int = 10) -> str:
    """The coverage report as text."""
    known = all_ops()
    missing = [op for op in known if not coverage.ops[op]]
    families = sorted({op.split("{")[0] for op in known})
    pairs = {(a.split("{")[0], b.split("{")[0]) for a, b in coverage.pairs}
    absent = [f"{a} -> {b}" for a, b in itertools.product(families, families) if (a, b) not in pairs]
    import bitale as bt

    rules = [rule.name for rule in bt.rewrite.rules()]
    unfired = [name for name in rules if not coverage.rules[name]]
    lines = [
        "graphs: " + ", ".join(f"{count} {name}" for name, count in sorted(coverage.counts.items())),
        f"ops: {len(known) - len(missing)} of {len(known)}" + (f"; never: {', '.join(missing)}" if missing else ""),
        f"pairs of ops: {len(coverage.pairs)} of {len(known) ** 2}; of their {len(families)} families "
        f"{len(families) ** 2 - len(absent)} of {len(families) ** 2}",
        f"rules fired: {len(rules) - len(unfired)} of {len(rules)}",
    ]
    if absent:
        lines.append(f"pairs of families never seen ({len(absent)}): " + ", ".join(absent[:40]) + (" ..." if len(absent) > 40 else ""))
    if unfired:
        lines.append(f"rules never fired ({len(unfired)}): " + ", ".join(unfired))
    rare = [f"{op} ({count})" for op, count in coverage.ops.most_common()[::-1] if count < least]
    if rare:
        lines.append("rare ops: " + ", ".join(rare))
    return "\n".join(lines)
