"""The subjects by which the reference groups functions of bitale.tensor: those of the C++ headers that declare them, since a
header is a subject. What is written in Python has the subject of its module. All other modules are a subject each."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include" / "bitale"

# Header or module, by its last name: the page of the subject, and its title. The order is that of the reference.
TITLES = {
    "constructors": ("variables", "Variables"),
    "creation": ("creation", "Creation of tensors"),
    "elementary": ("elementary", "Elementary functions and arithmetic"),
    "comparison": ("comparison", "Comparisons, logic and bits"),
    "special": ("special", "Special functions"),
    "complex": ("complex", "Complex numbers"),
    "reductions": ("reductions", "Sums and other reductions"),
    "statistics": ("statistics", "Statistics and histograms"),
    "arrange": ("shapes", "Shapes, axes and repetition"),
    "stacking": ("stacking", "Joining and splitting"),
    "search": ("indexing", "Indexing and searching"),
    "sorting": ("sorting", "Sorting and sets"),
    "contraction": ("products", "Products of tensors"),
    "calculus": ("calculus", "Differences, integrals and interpolation"),
    "networks": ("networks", "Neural networks"),
    "debugging": ("debugging", "Prints, checks and assumptions"),
    "vectorize": ("vectorize", "Vectorisation and other functions of functions"),
    "other": ("other", "Further functions of tensors"),
}
# Headers and modules that are part of another subject.
JOINED = {
    "histogram": "statistics", "quantile": "statistics", "interpolate": "calculus", "piecewise": "elementary", "ordered": "sorting", "sets": "sorting",
    "segments": "reductions", "assume": "debugging", "gradient_control": "debugging", "formula": "vectorize", "op_from_graph": "vectorize",
    "fourier": "other", "names": "other", "grids": "creation", "transfers": "debugging", "unique_slices": "sorting", "xlogx": "special",
    "type": "variables", "variable": "variables", "sharedvar": "variables",
}  # fmt: skip
# Functions whose header, `ops.hpp`, is no subject: it declares what tables of the library make.
NAMED = {
    "constructors": "[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7]?)s?|[bwilfdcz]?matrices|constant|Tensor(Type|Variable|SharedVariable)|as_tensor.*|"
    "get_.*|tensor_from_scalar|scalar_from_tensor|tensor_copy|values_eq.*",
    "creation": "alloc|arange|eye|identity|ones.*|zeros.*|make_vector|fill|second",
    "comparison": "eq|neq|[lg][te]|equal|not_equal|less.*|greater.*|and_|or_|xor|invert|bitwise.*|logical.*|(left|right)_shift|is(finite|inf|nan)|switch|where|"
    "is_flat",
    "elementary": "abs|a?(sin|cos|tan)h?|arc.*|atan2|add|sub(tract)?|mul(tiply)?|.*div(ide)?|neg(ative)?|pow(er)?|mod|remainder|sqrt?|square|cbrt|ceil|floor|"
    "trunc|round.*|clip|exp[2m1]*|log[12p0]*|hypot|reciprocal|sgn|sign|deg2rad|rad2deg|maximum|minimum|cast|astype|floor_div.*|int_div",
    "special": "beta.*|erf.*|gamma.*|hyp2f1.*|[ijk][01]|[ijk]ve?.*|log1mexp|log1pexp|softplus|log_ndtr|logaddexp|logit|sigmoid|expit|ndtr.*|owens_t|polygamma|psi|"
    "tri_?gamma|digamma|xlog.*",
    "complex": "conj.*",
    "reductions": "all|any|argmax|argmin|max|min|mean|sum|prod|std|var|trace|logsumexp",
    "arrange": "broadcast_to|diag.*|extract_diag|dimshuffle|transpose|matrix_transpose|swap_last_axes|expand_dims|squeeze|flatten|permute_dims|reshape|shape.*|"
    "specify_shape|tri[lu]",
    "stacking": "concat.*|join|stack",
    "search": "take|nonzero.*|flatnonzero|compress|(set|inc)_subtensor",
    "contraction": "dot|dense_dot|matmul|outer",
    "calculus": "convolve|correlate",
    "networks": "softmax|log_softmax",
}  # fmt: skip


@cache
def _declared() -> dict[str, str]:
    """The header that declares a function first."""
    found: dict[str, str] = {}
    for path in sorted((INCLUDE / "ops").glob("*.hpp")):
        for name in re.findall(r"\b(\w+?)_?\(", re.sub(r"//.*", "", path.read_text(encoding="utf-8"))):
            found.setdefault(name, path.stem)
    return found


def subject(name: str, value: object) -> str:
    """The subject of a name of bitale.tensor, one of the keys of TITLES."""
    for key, pattern in NAMED.items():
        if re.fullmatch(pattern, name):
            return key
    module = str(getattr(value, "__module__", "")).rpartition(".")[2]
    place = module if module in JOINED or module in TITLES else _declared().get(name, "other")
    place = JOINED.get(place, place)
    return place if place in TITLES else "other"
