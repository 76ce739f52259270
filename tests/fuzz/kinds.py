"""The kinds of expressions that are drawn. Each is a function that takes a Generator and returns the text of one
expression."""

from __future__ import annotations

import ast
import copy
import functools
from typing import Any, Callable

import numpy as np

from .generate import MAX_ELEMENTS, Generator, Rejected

registry: list[tuple[float, Callable[[Generator], str]]] = []


def kind(weight: float) -> Callable[[Callable[[Generator], str]], Callable[[Generator], str]]:
    def decorate(function: Callable[[Generator], str]) -> Callable[[Generator], str]:
        registry.append((weight, function))
        return function

    return decorate


# ---- elementwise -----------------------------------------------------------------------------------------------------

operators = {"add": "+", "sub": "-", "mul": "*", "true_div": "/", "int_div": "//", "mod": "%", "pow": "**", "and_": "&",
             "or_": "|", "xor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}  # fmt: skip
discrete_only = {"and_", "or_", "xor", "invert", "left_shift", "right_shift"}
no_bool = {"sub", "neg"}
common = ["add", "sub", "mul", "true_div", "neg", "maximum", "minimum", "switch", "sqr", "abs"]


# Functions whose parameters have a domain, outside of which SciPy defines values that Bitale does not:
# tests/python/tensor/test_elementwise.py tests points inside.
with_parameters = {"betainc", "betainc_derivative", "betaincinv", "gammainc", "gammaincc", "gammaincinv", "gammainccinv",
                   "gammainc_derivative", "gammainc_density", "betainc_density", "betainc_derivative_by_b", "iv", "ive", "ive_derivative", "jv",
                   "kv", "kve_derivative", "kve", "hyp2f1", "hyp2f1_derivative", "hyp2f1_derivative_by_c"}  # fmt: skip


# Functions of the bits of a number, which the oracle does not have in more digits; signs of zeros and of nan may be any.
of_bits = {"nextafter", "copysign", "signbit"}


def elementwise_functions() -> list[tuple[str, int]]:
    from bitale import _core

    return [
        (name, arity)
        for name, arity in _core.elementwise_functions()
        if name not in with_parameters | of_bits
    ]


_functions: list[tuple[str, int]] = []


def _operand_kinds(name: str) -> str:
    return "biu" if name in discrete_only else "iuf" if name in no_bool else "biuf"


@kind(30)
def elementwise(g: Generator) -> str:
    if not _functions:
        _functions.extend(elementwise_functions())
    arities = dict(_functions)
    name = g.choice(common) if g.chance(0.4) else g.choice(_functions)[0]
    if name == "polygamma":
        x = g.pick(kinds="f")
        if (g.values[x].array < 0).any():  # SciPy's formula holds for positive arguments only
            raise Rejected
        return f"pt.polygamma({g.choice('0123')}, {x})"
    kinds = _operand_kinds(name)
    if name == "switch":
        x = g.pick(kinds=kinds)
        y = g.partner(x)
        condition = g.partner(x, "b" if g.chance(0.8) else "biuf")
        if y[0] == "x" or y[0] == "v":
            if condition[0] in "xv" and not g.fits(y, condition):
                raise Rejected
        return f"pt.switch({condition}, {x}, {y})"
    x = g.pick(kinds=kinds)
    if arities[name] == 1:
        return f"-{x}" if name == "neg" and g.chance(0.5) else f"pt.{name}({x})"
    if arities[name] == 3:
        return f"pt.{name}({x}, {g.partner(x, kinds)}, {g.partner(x, kinds)})"
    y = g.partner(x, kinds)
    if g.chance(0.5):
        x, y = y, x
    if name in operators and g.chance(0.7) and not (x[0] not in "xv"):
        return f"{x} {operators[name]} {y}"
    return f"pt.{name}({x}, {y})"


@kind(1)
def hypergeometric(g: Generator) -> str:
    a, b, c = (g.choice(["0.5", "1.0", "1.75", "2.5"]) for _ in range(3))
    return f"pt.hyp2f1({a}, {b}, {c}, 0.9 * pt.tanh({g.pick(kinds='f')}))"


@kind(1)
def sign_of_number(g: Generator) -> str:
    x = g.pick(kinds="f")
    number = f"pt.switch(pt.isnan({x}) | pt.eq({x}, 0), 1.0, {x})"
    return (
        f"pt.signbit({number})" if g.chance(0.3) else f"pt.copysign({g.partner(x, 'f')}, {number})"
    )


@kind(5)
def cast(g: Generator) -> str:
    x = g.pick()
    dtype = g.dtype()
    value = g.values[x]
    if value.dtype.kind == "f" and np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        # The conversion of a value outside the target's range is platform-dependent.
        wide = value.array.astype("longdouble")
        if (
            not wide.size
            or not (np.isfinite(wide) & (wide > info.min / 2 - 1) & (wide < info.max / 2)).all()
        ):
            raise Rejected
        if info.min == 0 and not (value.array >= 0).all():
            raise Rejected
    return f"pt.cast({x}, {dtype!r})" if g.chance(0.7) else f"{x}.astype({dtype!r})"


@kind(2)
def composed(g: Generator) -> str:
    name = g.choice(["logaddexp", "xlogy", "isclose", "divmod", "ceil_intdiv", "largest", "smallest", "isposinf", "isneginf",
                     "isfinite", "deg2rad", "rad2deg", "full_like", "zeros_like", "ones_like"])  # fmt: skip
    if name in (
        "zeros_like",
        "ones_like",
        "isposinf",
        "isneginf",
        "isfinite",
        "deg2rad",
        "rad2deg",
    ):
        return f"pt.{name}({g.pick()})"
    if name in ("logaddexp", "xlogy"):
        x = g.pick(kinds="f")
        return f"pt.{'special.' if name == 'xlogy' else ''}{name}({x}, {g.partner(x, 'f')})"
    kinds = "iuf" if name in ("divmod", "ceil_intdiv") else "biuf"
    x = g.pick(kinds=kinds)
    if name == "full_like":
        return f"pt.full_like({x}, {g.choice(['0', '1', '2.5', g.pick(0)])})"
    return f"pt.{name}({x}, {g.partner(x, kinds)})"


@kind(4)
def of_numpy(g: Generator) -> str:
    """NumPy's functions that are formulas of others."""
    name = g.choice(["nansum", "nanmax", "nanmin", "nanmean", "heaviside", "fmod", "logaddexp2", "relu", "elu", "silu", "gelu", "trapezoid", "vander",
                     "polyval", "vstack", "hstack", "column_stack", "dstack", "isin", "partition", "lexsort", "gradient", "count_nonzero",
                     "cumulative_sum", "convolve", "pool_2d", "cross", "select"])  # fmt: skip
    if name in ("nansum", "nanmax", "nanmin", "nanmean"):
        x = g.pick(kinds="f", nonempty=True)
        return f"pt.{name}({x}, axis={g.axes(x)})"
    if name in ("heaviside", "fmod", "logaddexp2"):
        x = g.pick(kinds="f")
        return f"pt.{name}({x}, {g.partner(x, 'f')})"
    if name in ("relu", "elu", "silu", "gelu"):
        return f"pt.{name}({g.pick(kinds='f')})"
    if name in ("vstack", "hstack", "column_stack", "dstack"):
        x = g.pick(min_ndim=1, kinds="f")
        return f"pt.{name}([{x}, {x}])"
    if name in ("isin", "lexsort"):
        x = g.pick(min_ndim=1, kinds="iu")
        return (
            f"pt.isin({x}, {g.pick(kinds='iu')})"
            if name == "isin"
            else f"pt.lexsort(({x}, {x} % 3))"
        )
    if name == "count_nonzero":
        return f"pt.count_nonzero({g.pick()})"
    if name == "cumulative_sum":
        x = g.pick(min_ndim=1, kinds="f")
        return f"pt.cumulative_sum({x}, axis={g.axis(x)}, include_initial=True)"
    if name == "select":
        x = g.pick(kinds="f")
        return f"pt.select([{x} > 1, {x} > 0], [{x}, -{x}], {x})"
    if name == "cross":
        return f"pt.cross({g.new_input(g.dtype('f'), (3,))}, {g.new_input(g.dtype('f'), (2, 3))})"
    x = g.pick(1, kinds="f", nonempty=True)
    n = g.values[x].shape[0]
    if name in ("gradient", "polyval") and n < 2:
        raise Rejected
    if name == "pool_2d":
        return f"pt.pool_2d(pt.outer({x}, {x}), 1, stride=2)"
    arguments = {
        "vander": f"{x}, 3",
        "polyval": f"{x}[:2], pt.tanh({x})",
        "partition": f"{x}, 0",
        "convolve": f"{x}, {x}",
    }
    return f"pt.{name}({arguments.get(name, x)})"


# Functions that are formulas of others, or rearrange, by what they are applied to: x is a vector of floats, m a matrix of floats, i a
# vector of integers, none of them empty.
formulas = {
    "atleast_1d": "pt.atleast_1d({x})", "atleast_Nd": "pt.atleast_Nd({x}, 3)", "bincount": "pt.bincount({i} % 5 * ({i} % 5 > 0))", "choose": "pt.choose(pt.cast({i} > 0, 'int64'), [{i}, {i} // 2])",
    "conjugate": "pt.conjugate({x})", "correlate": "pt.correlate({x}, {x})", "cumulative_prod": "pt.cumulative_prod(pt.tanh({x}))", "digitize": "pt.digitize({x}, np.array([-1.0, 0.0, 1.0]))",
    "einsum": "pt.einsum('i,i->', {x}, {x})", "extract_diag": "pt.extract_diag({m})", "fill_diagonal": "pt.fill_diagonal({m}, 0.5)", "float_power": "pt.float_power(pt.abs({x}), 0.5)",
    "horizontal_stack": "pt.horizontal_stack({m}, {m})", "identity_like": "pt.identity_like({m})", "interp": "pt.interp({x}, np.array([0.0, 1.0]), np.array([1.0, 3.0]))",
    "intersect1d": "pt.intersect1d({i}, {i} // 2)", "inverse_permutation": "pt.inverse_permutation(pt.argsort({i}))", "kron": "pt.linalg.kron({x}, {x})", "linspace": "pt.linspace(0.0, 1.0, 5) * {x}[0]",
    "logical_and": "pt.logical_and({x} > 0, {x} < 1)", "logical_not": "pt.logical_not({i})", "logical_or": "pt.logical_or({x} > 0, {x} < -1)", "logical_xor": "pt.logical_xor({x} > 0, {x} > 1)",
    "matrix_transpose": "pt.matrix_transpose({m})", "matvec": "pt.matvec(pt.outer({x}, {x}), {x})", "median": "pt.median(pt.tanh({x}))", "meshgrid": "pt.meshgrid({x}, {x})[0]", "nan_to_num": "pt.nan_to_num({x})",
    "nancumprod": "pt.nancumprod(pt.tanh({x}))", "nancumsum": "pt.nancumsum({x})", "nanmedian": "pt.nanmedian(pt.tanh({x}))", "nanprod": "pt.nanprod(pt.tanh({x}))", "percentile": "pt.percentile(pt.tanh({x}), 25.0)",
    "permute_dims": "pt.permute_dims({m}, (1, 0))", "positive": "pt.positive({x})", "quantile": "pt.quantile(pt.tanh({x}), 0.75)", "rot90": "pt.rot90({m})", "round_half_away_from_zero": "pt.round_half_away_from_zero({x})",
    "setdiff1d": "pt.setdiff1d({i}, {i} // 2)", "setxor1d": "pt.setxor1d({i}, {i} // 2)", "shape_padaxis": "pt.shape_padaxis({x}, 0)", "stacklists": "pt.stacklists([{x}[0], {x}[0]])",
    "take_along_axis": "pt.take_along_axis({i}, pt.argsort({i}), 0)", "tensor_copy": "pt.tensor_copy({x})", "tensordot": "pt.tensordot({m}, {m}, 2)", "topk": "pt.topk({i}, 1)", "tri": "pt.tri(3) * {x}[0]",
    "union1d": "pt.union1d({i}, {i} // 2)", "unique": "pt.unique({i})", "unstack": "pt.unstack(pt.stack([{x}, -{x}]))[0]", "vecdot": "pt.vecdot({x}, {x})", "vecmat": "pt.vecmat({x}, pt.outer({x}, {x}))",
    "argpartition": "pt.argpartition({i}, 0)", "nanvar": "pt.nanvar(pt.tanh({x}))", "nanstd": "pt.nanstd(pt.tanh({x}))", "nanquantile": "pt.nanquantile(pt.tanh({x}), 0.75)",
    "nanpercentile": "pt.nanpercentile(pt.tanh({x}), 25.0)", "convolve1d": "pt.signal.convolve1d({x}, {x})", "sgn": "pt.sgn({x})", "tensor_from_scalar": "pt.tensor_from_scalar({x}[0])",
    "scalar_from_tensor": "pt.scalar_from_tensor({x}[0])", "vertical_stack": "pt.vertical_stack({m}, {m})", "where": "pt.where({x} > 0, {x}, 0.5)", "betaln": "pt.special.betaln(0.5 + pt.sigmoid({x}), 1.5)",
    "vector_norm": "pt.linalg.vector_norm({x}, ord=3)", "matrix_norm": "pt.linalg.matrix_norm({m}, ord=1)", "sort, descending": "pt.sort({x}, descending=True)",
    "argsort, descending": "pt.argsort({i}, descending=True)", "clip, one side": "pt.clip({x}, min=0.5) + pt.clip({x}, max=1.5)", "diff with ends": "pt.diff({x}, prepend={x}[:1], append={x})",
    "var, corrected": "pt.var(pt.tanh({x}), correction=0.5)", "vecdot of columns": "pt.vecdot({m}, {m}, axis=0)",
}  # fmt: skip


@kind(5)
def formula(g: Generator) -> str:
    template = formulas[g.choice(sorted(formulas))]
    given = {}
    for name, (ndim, dtypes_) in {"x": (1, "f"), "m": (2, "f"), "i": (1, "i")}.items():
        if f"{{{name}}}" in template:
            given[name] = g.pick(ndim, kinds=dtypes_, nonempty=True)
    return template.format(**given)


def draw_of_vectors(g: Generator, rng: str) -> str:
    x = g.pick(min_ndim=1, kinds="f", nonempty=True)
    shape = g.values[x].shape
    batch = g.choice([shape[:-1], (g.between(1, 3), *shape[:-1])])
    size = g.choice(["", f", size={batch!r}"])
    moderate = f"pt.clip({x}, -2.0, 2.0)"
    if g.chance(0.6):
        return f"pt.random.categorical(pt.special.softmax({moderate}, axis=-1){size}, rng={rng})"
    y = f"pt.clip({g.new_input(g.dtype('f'), (shape[-1], g.between(1, 3)))}, -2.0, 2.0)"
    cov = f"(pt.dot({y}, {y}.T) / 4.0 + np.eye({shape[-1]}))"
    return f"pt.floor(pt.random.multivariate_normal({moderate}, {cov}{size}, rng={rng}) * 64) / 64"


@kind(4)
def draw(g: Generator) -> str:
    """A draw from a new stream, or from a child of one: parameters are numbers, scalars or arrays of the draw's
    shape."""
    x = g.pick(kinds="f")
    seed = g.between(0, 2**31)
    rng = (
        f"bt.random.stream({seed})"
        if g.chance(0.7)
        else f"pt.random.as_rng(bt.random.stream({seed})).fold({g.between(0, 9)})"
    )
    size = g.values[x].shape if g.values[x].ndim == 0 or g.chance(0.5) else g.shape(g.between(0, 3))
    if g.chance(0.2):
        return draw_of_vectors(g, rng)
    first = (
        g.choice([x, f"pt.abs({x})"])
        if size == g.values[x].shape
        else g.choice(["0.5", "2.0", "0.0"])
    )
    if g.chance(0.6):
        return f"pt.random.uniform(0.0, {first}, size={size!r}, rng={rng})"
    # Uniform numbers equal the oracle's bit for bit. Other draws may differ in the last bits, which later steps may
    # amplify, so these are rounded to few bits: a difference then remains with a probability of 1e-12.
    name, before, after = g.choice(
        [("normal", "0.0, ", ""), ("exponential", "", ""), ("halfnormal", "0.0, ", ""), ("pareto", "3.0, ", ""), ("gumbel", "0.0, ", ""),
         ("cauchy", "0.0, ", ""), ("halfcauchy", "0.0, ", ""), ("truncexpon", "2.0, 0.0, ", ""), ("truncated_normal", "0.0, 1.0, -1.0, ", "")]
    )  # fmt: skip
    return f"pt.floor(pt.random.{name}({before}{first}{after}, size={size!r}, rng={rng}) * 64) / 64"


# ---- reductions ------------------------------------------------------------------------------------------------------


def _call(g: Generator, name: str, x: str, arguments: str) -> str:
    return f"{x}.{name}({arguments})" if g.chance(0.5) else f"pt.{name}({x}, {arguments})"


@kind(14)
def reduction(g: Generator) -> str:
    name = g.choice(
        ["sum", "sum", "sum", "prod", "max", "min", "mean", "mean", "var", "std", "all", "any"]
    )
    x = g.pick(kinds="b" if name in ("all", "any") else "biuf")
    extra = ", keepdims=True" if g.chance(0.25) else ""
    if name in ("var", "std") and g.chance(0.2):
        extra += ", ddof=1"
    return _call(g, name, x, f"axis={g.axes(x)}{extra}")


@kind(5)
def arg_reduction(g: Generator) -> str:
    x = g.pick(nonempty=True)
    name = g.choice(["argmax", "argmin", "argmax", "max_and_argmax"])
    ndim = g.values[x].ndim
    axis = "None" if ndim == 0 or g.chance(0.2) else str(g.axis(x))
    keep = ", keepdims=True" if g.chance(0.2) else ""
    if name == "max_and_argmax":
        return f"pt.max_and_argmax({x}, axis={axis}{keep})"
    return _call(g, name, x, f"axis={axis}{keep}")


@kind(6)
def running(g: Generator) -> str:
    name = g.choice(["cumsum", "cumsum", "cumprod", "diff"])
    x = g.pick(min_ndim=1)
    if name == "diff":
        return (
            f"pt.diff({x}, n={g.between(0, 2)}, axis={g.axis(x)})"
            if g.values[x].dtype.kind in "iuf"
            else f"pt.diff({x})"
        )
    return _call(g, name, x, f"axis={'None' if g.chance(0.15) else g.axis(x)}")


@kind(5)
def normalized(g: Generator) -> str:
    name = g.choice(["softmax", "log_softmax", "logsumexp", "ptp"])
    x = g.pick(kinds="f", nonempty=True)
    if name == "ptp":
        ndim = g.values[x].ndim
        return f"pt.ptp({x}, axis={'None' if ndim == 0 or g.chance(0.3) else g.axis(x)})"
    return f"pt.{name}({x}, axis={g.axes(x)})"


@kind(4)
def with_parameter(g: Generator) -> str:
    """Functions of parameters, with arguments inside their domains."""
    name = g.choice(sorted(with_parameters))
    x = g.pick(kinds="f")
    positive = [f"(0.5 + 4 * pt.sigmoid({each}))" for each in (x, g.partner(x, "f"))]
    part = f"(0.05 + 0.9 * pt.sigmoid({x}))"
    if name in ("ive", "jv", "kve"):
        return f"pt.{name}({g.choice(['0', '1', '2.5'])}, {positive[0]})"
    if name.startswith("beta"):
        return f"pt.{name}({positive[0]}, {positive[1]}, {part})"
    return f"pt.{name}({positive[1]}, {part if 'inv' in name else positive[0]})"


@kind(6)
def rearranged(g: Generator) -> str:
    name = g.choice(["flip", "roll", "tile", "repeat", "pad", "join_dims", "searchsorted"])
    if name == "searchsorted":
        return f"pt.searchsorted(pt.sort({g.pick(ndim=1)}), {g.pick()}, side={g.choice(['left', 'right'])!r})"
    x = g.pick(min_ndim=1)
    ndim = g.values[x].ndim
    if name == "flip":
        return f"pt.flip({x}, axis={'None' if g.chance(0.3) else g.axis(x)})"
    if name == "roll":
        return f"pt.roll({x}, {g.between(-5, 5)}, axis={'None' if g.chance(0.3) else g.axis(x)})"
    if name == "tile":
        return (
            f"pt.tile({x}, {tuple(g.between(0 if g.chance(0.1) else 1, 2) for _ in range(ndim))})"
        )
    if name == "repeat":
        return f"pt.repeat({x}, {g.between(0 if g.chance(0.1) else 1, 3)}, axis={'None' if g.chance(0.3) else g.axis(x)})"
    if name == "join_dims":
        start = g.below(ndim)
        return f"pt.join_dims({x}, {start}, {g.between(1, ndim - start)})"
    if not g.values[x].array.size:
        raise Rejected
    mode = g.choice(["constant", "edge", "wrap", "symmetric", "reflect"])
    # For infinite edges, the result of reflecting twice depends on the order of NumPy's passes (docs/differences.md).
    mirrors = mode in ("symmetric", "reflect") and g.values[x].dtype.kind == "f"
    if mirrors and np.isfinite(g.values[x].array).all() and g.chance(0.3):
        return f"pt.pad({x}, ({g.below(3)}, {g.below(3)}), mode={mode!r}, reflect_type='odd')"
    return f"pt.pad({x}, ({g.below(3)}, {g.below(3)}), mode={mode!r})"


# ---- shapes ----------------------------------------------------------------------------------------------------------


@kind(8)
def moved(g: Generator) -> str:
    name = g.choice(["transpose", "T", "dimshuffle", "dimshuffle", "expand_dims", "squeeze", "swapaxes", "moveaxis", "flatten",
                     "shape_padleft", "shape_padright", "atleast_2d", "atleast_3d"])  # fmt: skip
    x = g.pick(min_ndim=1 if name in ("swapaxes", "moveaxis") else 0)
    ndim = g.values[x].ndim
    if ndim >= 5 and name not in ("transpose", "T", "squeeze", "flatten"):
        raise Rejected
    if name == "T":
        return f"{x}.T"
    if name == "transpose":
        return (
            f"pt.transpose({x}, {tuple(int(a) for a in g.rng.permutation(ndim))})"
            if ndim
            else f"pt.transpose({x})"
        )
    if name == "dimshuffle":
        static = g.variables[x].type.shape
        pattern: list[Any] = [
            int(a) for a in g.rng.permutation(ndim) if static[a] != 1 or g.chance(0.7)
        ]
        for _ in range(g.below(3)):
            pattern.insert(g.below(len(pattern) + 1), "x")
        return f"{x}.dimshuffle({', '.join(map(repr, pattern))})"
    if name == "expand_dims":
        return f"pt.expand_dims({x}, {g.between(-ndim - 1, ndim)})"
    if name == "squeeze":
        ones = [a for a, n in enumerate(g.variables[x].type.shape) if n == 1]
        if not ones:
            raise Rejected
        return f"pt.squeeze({x}, axis={g.choice(ones)})"
    if name == "swapaxes":
        return f"pt.swapaxes({x}, {g.axis(x)}, {g.axis(x)})"
    if name == "moveaxis":
        return f"pt.moveaxis({x}, {g.axis(x)}, {g.axis(x)})"
    if name == "flatten":
        return f"pt.flatten({x}, {g.between(1, max(1, ndim))})"
    return f"pt.{name}({x})"


def _factored(g: Generator, size: int) -> list[int]:
    """Random lengths whose product is `size`."""
    if size == 0:
        return [0] + [g.choice(g.lengths) for _ in range(g.below(2))]
    out, rest = [], size
    for _ in range(g.below(3)):
        divisors = [d for d in (1, 2, 3, 5, 7) if rest % d == 0]
        out.append(g.choice(divisors))
        rest //= out[-1]
    out.append(rest)
    return [int(n) for n in g.rng.permutation(out)]


@kind(6)
def reshape(g: Generator) -> str:
    x = g.pick()
    shape: list[Any] = _factored(g, g.values[x].array.size)
    if 0 not in shape and g.chance(0.3):
        shape[g.below(len(shape))] = -1
    if g.chance(0.2):
        name = g.choice(g.order)
        for i, n in enumerate(shape):
            dims = g.shape_of(name)
            if n in dims:
                shape[i] = f"{name}.shape[{dims.index(n)}]"
                break
    text = ", ".join(map(str, shape))
    return f"pt.reshape({x}, ({text},))"


@kind(3)
def shape(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    return g.choice(
        [
            f"{x}.shape",
            f"pt.shape({x})",
            f"pt.shape_i({x}, {g.below(g.values[x].ndim)})",
            f"{x}.shape[{g.axis(x)}]",
        ]
    )


@kind(2)
def specified(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    return f"pt.specify_shape({x}, ({', '.join(str(n) if g.chance(0.5) else 'None' for n in g.shape_of(x))},))"


def _length(g: Generator, n: int) -> str:
    """An expression with this value: a literal, or the length of a variable."""
    if g.chance(0.5):
        return str(n)
    fit = [(name, i) for name in g.order for i, m in enumerate(g.shape_of(name)) if m == n]
    if not fit:
        return str(n)
    name, i = g.choice(fit)
    return f"{name}.shape[{i}]"


@kind(4)
def filled(g: Generator) -> str:
    name = g.choice(["alloc", "broadcast_to", "full", "zeros", "ones"])
    if name in ("zeros", "ones"):
        return f"pt.{name}(({''.join(_length(g, n) + ', ' for n in g.shape(g.below(3)))}), dtype={g.dtype()!r})"
    if name == "full":
        return (
            f"pt.full(({''.join(_length(g, n) + ', ' for n in g.shape(g.below(3)))}), {g.pick(0)})"
        )
    x = g.pick()
    shape = [g.choice(g.lengths) for _ in range(g.below(3))] if g.values[x].ndim < 4 else []
    static = g.variables[x].type.shape
    shape += [
        g.choice(g.lengths) if n == 1 and s == 1 else n for n, s in zip(g.shape_of(x), static)
    ]
    if np.prod(shape, dtype=float) > MAX_ELEMENTS:
        raise Rejected
    lengths = "".join(_length(g, n) + ", " for n in shape)
    return (
        f"pt.broadcast_to({x}, ({lengths}))"
        if name == "broadcast_to"
        else f"pt.alloc({x}, ({lengths}))"
    )


@kind(2)
def arange(g: Generator) -> str:
    if g.chance(0.3):
        return f"pt.arange({_length(g, g.choice(g.lengths))})"
    start, step = g.between(-3, 3), g.choice([1, 1, 2, 3, -1, -2])
    stop = start + step * g.choice(g.lengths) + g.below(2)
    if g.chance(0.2):
        return (
            f"pt.arange({start}, {stop}, {step}, dtype={g.dtype('iuf')!r})"
            if min(start, stop) >= 0
            else f"pt.arange({start / 2}, {stop / 2}, {step / 4})"
        )
    return f"pt.arange({start}, {stop}, {step})"


@kind(2)
def vector_of(g: Generator) -> str:
    scalars = ", ".join(g.pick(0) for _ in range(g.between(1, 4)))
    return f"pt.make_vector({scalars})" if g.chance(0.5) else f"pt.stack([{scalars}])"


# ---- joining ---------------------------------------------------------------------------------------------------------


def _alike(g: Generator, x: str, free: int | None) -> str:
    """A variable with x's shape except along one axis."""
    if g.chance(0.3):
        return x
    shape = g.shape_of(x)

    def same(name: str) -> bool:
        other = g.shape_of(name)
        return len(other) == len(shape) and all(
            n == m or i == free for i, (n, m) in enumerate(zip(shape, other))
        )

    fit = [
        name
        for name in g.order
        if same(name) and (g.values[name].dtype == g.values[x].dtype or g.chance(0.2))
    ]
    if fit and g.chance(0.8):
        return g.choice(fit)
    target = list(shape)
    if free is not None:
        target[free] = g.choice(g.lengths)
    if np.prod(target, dtype=float) > 1000:
        raise Rejected
    return g.new_input(g.values[x].dtype.name if g.chance(0.8) else None, tuple(target))


@kind(9)
def joined(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    axis = g.axis(x)
    ndim = g.values[x].ndim
    parts = [x] + [_alike(g, x, axis % ndim) for _ in range(g.choice([1, 1, 1, 2, 3]))]
    parts = [parts[i] for i in g.rng.permutation(len(parts))]
    if g.chance(0.1):
        return f"pt.join({axis % ndim}, {', '.join(parts)})"
    return f"pt.concatenate([{', '.join(parts)}], axis={axis})"


@kind(4)
def stacked(g: Generator) -> str:
    x = g.pick()
    ndim = g.values[x].ndim
    if ndim > 4:
        raise Rejected
    parts = [x] + [_alike(g, x, None) for _ in range(g.choice([0, 1, 1, 2]))]
    return f"pt.stack([{', '.join(parts)}], axis={g.between(-ndim - 1, ndim)})"


# ---- indexing --------------------------------------------------------------------------------------------------------


def _slice(g: Generator, n: int) -> str:
    def bound() -> str:
        if g.chance(0.35):
            return ""
        if g.chance(0.1):
            return str(g.choice([100, -100, 2**62, -(2**62)]))
        return str(g.between(-n - 1, n + 1))

    step = g.choice(["", "", "", ":1", ":2", ":3", ":-1", ":-1", ":-2", ":"])
    return f"{bound()}:{bound()}{step}"


def _integer(g: Generator, n: int) -> str:
    if n == 0:
        raise Rejected
    i = g.between(-n, n - 1)
    if g.chance(0.7):
        return str(i)
    fit = [
        name
        for name in g.order
        if g.values[name].ndim == 0
        and g.values[name].dtype.kind in "iu"
        and -n <= int(g.values[name].array) < n
    ]
    return g.choice(fit) if fit and g.chance(0.5) else g.new_input(g.dtype("i"), value=np.array(i))


def _array(g: Generator, n: int, shape: tuple[int, ...]) -> str:
    """Integers that index n elements: a constant, a variable, or an expression."""
    if n == 0 and np.prod(shape) > 0:
        raise Rejected
    fit = [
        name
        for name in g.order
        if g.values[name].shape == shape
        and g.values[name].dtype.kind in "iu"
        and (
            (g.values[name].array.astype(float) >= -n) & (g.values[name].array.astype(float) < n)
        ).all()
    ]
    if fit and g.chance(0.4):
        return g.choice(fit)
    values = g.rng.integers(-n if g.chance(0.5) else 0, max(n, 1), shape)
    if g.chance(0.2) and len(shape) == 1 and shape[0] <= n:
        return f"pt.arange({shape[0]})"
    if g.chance(0.5) and values.size < 40:
        return (
            f"np.array({values.tolist()}, 'int64').reshape({shape})"
            if values.ndim != 1
            else f"np.array({values.tolist()}, 'int64')"
        )
    return g.new_input(
        g.choice(["int64", "int64", "int32", "int8" if n < 128 else "int16"]), value=values
    )


def _mask(g: Generator, shape: tuple[int, ...]) -> str:
    fit = [
        name for name in g.order if g.values[name].shape == shape and g.values[name].dtype == bool
    ]
    if fit and g.chance(0.5):
        return g.choice(fit)
    close = [
        name
        for name in g.order
        if g.values[name].shape == shape and g.values[name].dtype.kind == "f"
    ]
    if close and g.chance(0.4):
        return f"{g.choice(close)} > {g.choice(['0', '0.3', '-1'])}"
    values = g.rng.random(shape) < g.choice([0.5, 0.5, 0.1, 0.9])
    if g.chance(0.3) and values.size < 40:
        return (
            f"np.array({values.tolist()}, 'bool')" if values.size else f"np.zeros({shape}, 'bool')"
        )
    return g.new_input("bool", value=values)


def index(g: Generator, x: str, basic: bool) -> str:
    """A random index of x, as text."""
    shape = g.shape_of(x)
    items: list[str] = []
    dims = list(shape)
    common = (
        (g.choice([1, 2, 3, *g.lengths]),) if g.chance(0.85) else (g.between(1, 3), g.between(1, 3))
    )
    if g.chance(0.05):
        common = ()
    axis = 0
    advanced = 0
    masks = 0
    while axis < len(dims):
        if g.chance(0.15):
            break
        if g.chance(0.07) and len(items) < 6:
            items.append("None")
        draw = g.rng.random()
        if basic or draw < 0.5:
            items.append(
                _integer(g, dims[axis])
                if g.chance(0.3)
                else _slice(g, dims[axis])
                if g.chance(0.8)
                else ":"
            )
            axis += 1
        elif draw < 0.85 and not masks:
            items.append(_array(g, dims[axis], common))
            advanced += 1
            axis += 1
        elif not advanced and not masks:
            covers = 1 if g.chance(0.7) else g.between(1, len(dims) - axis)
            items.append(_mask(g, tuple(dims[axis : axis + covers])))
            masks += 1
            axis += covers
        else:
            items.append(":")
            axis += 1
    if axis < len(dims) and g.chance(0.3):
        items.append("...")
    elif items and g.chance(0.07):
        items.insert(0, "...") if axis >= len(dims) else None
    if not items:
        items = ["..."]
    return ", ".join(items) + ("," if len(items) == 1 and g.chance(0.3) else "")


@kind(12)
def indexed(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    return f"{x}[{index(g, x, g.chance(0.6))}]"


@kind(7)
def updated(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    at = index(g, x, g.chance(0.5))
    part = g.values[x]
    try:
        shape = g.evaluate(f"{x}[{at}]").shape
    except (ValueError, IndexError, TypeError) as error:
        raise Rejected from error
    if g.chance(0.3):
        shape = shape[g.below(len(shape) + 1) :]
    dtype = part.dtype.name
    fit = [
        name
        for name in g.order
        if g.values[name].shape == shape and g.values[name].dtype.name == dtype
    ]
    if g.chance(0.15):
        y = g.choice(
            {"b": ["np.True_", "np.False_"], "f": ["0.5", "2.0", "0.0"]}.get(
                part.dtype.kind, ["0", "1", "3"]
            )
        )
    elif fit and g.chance(0.6):
        y = g.choice(fit)
    else:
        y = g.new_input(dtype, shape)
    method = "set" if part.dtype == bool or g.chance(0.5) else "inc"
    if g.chance(0.2):
        return f"pt.{method}_subtensor({x}[{at}], {y})"
    return f"{x}[{at}].{method}({y})"


@kind(3)
def taken(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    axis = "None" if g.chance(0.2) else str(g.axis(x))
    n = g.values[x].array.size if axis == "None" else g.shape_of(x)[int(axis)]
    common = g.choice([(), (g.choice(g.lengths),), (g.choice(g.lengths),), (2, 3)])
    return f"pt.take({x}, {_array(g, n, common)}, axis={axis})"


@kind(2)
def positions(g: Generator) -> str:
    name = g.choice(["nonzero", "flatnonzero", "nonzero_values", "compress"])
    x = g.pick(min_ndim=1)
    if name == "compress":
        axis = g.axis(x)
        return f"pt.compress({_mask(g, (g.shape_of(x)[axis],))}, {x}, axis={axis})"
    return f"pt.{name}({x})" if name != "nonzero" or g.values[x].ndim > 1 else f"pt.nonzero({x})[0]"


# ---- sorting, products -----------------------------------------------------------------------------------------------


@kind(3)
def ordered(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    name = g.choice(["sort", "argsort"])
    return _call(g, name, x, f"axis={'None' if g.chance(0.1) else g.axis(x)}")


@kind(6)
def product(g: Generator) -> str:
    x = g.pick(min_ndim=1, kinds="f" if g.chance(0.8) else "iuf")
    shape = g.shape_of(x)
    name = g.choice(["dot", "dot", "matmul", "outer"])
    if name == "outer":
        if len(shape) != 1:
            raise Rejected
        return f"pt.outer({x}, {g.pick(1, kinds='iuf')})"
    if name == "dot" and len(shape) > 2 or len(shape) > 3:
        raise Rejected
    inner = shape[-1]
    if g.chance(0.3):
        target: tuple[int, ...] = (inner,)
    else:
        target = (inner, g.choice(g.lengths))
        if len(shape) == 3 and name == "matmul":
            target = (shape[0], *target) if g.chance(0.5) else target
    fit = [n for n in g.order if g.shape_of(n) == target and g.values[n].dtype == g.values[x].dtype]
    y = g.choice(fit) if fit and g.chance(0.7) else g.new_input(g.values[x].dtype.name, target)
    return f"pt.{name}({x}, {y})"


def _well_conditioned(g: Generator, most: int = 12) -> tuple[str, str]:
    """A positive definite matrix, or a batch of them, and the variable that it is computed from."""
    x = g.pick(min_ndim=2, kinds="f")
    shape = g.shape_of(x)
    if max(shape[-2:], default=0) > most or len(shape) > 4:
        raise Rejected
    bounded = f"pt.tanh({x})"
    return (
        f"(pt.matmul({bounded}, pt.swapaxes({bounded}, -1, -2)) + 3 * pt.eye({x}.shape[{len(shape) - 2}], dtype='{g.values[x].dtype}'))",
        x,
    )


@kind(4)
def factored(g: Generator) -> str:
    matrix, x = _well_conditioned(g)
    if g.chance(0.2):
        matrix = f"pt.assume({matrix}, {g.choice(['positive_definite', 'symmetric'])}=True)"
    lower = g.choice([True, False])
    factor = f"pt.linalg.cholesky({matrix}, lower={lower}, on_error='nan')"
    if g.chance(0.3):
        return factor
    if g.chance(0.15):
        return f"bt.grad(pt.sum({factor}), {x}, disconnected_inputs='ignore')"
    if g.chance(0.3):
        return g.choice(
            [
                f"pt.linalg.det({matrix})",
                f"pt.linalg.det({matrix})",
                f"pt.linalg.slogdet({matrix})[1]",
                f"pt.linalg.inv({matrix})",
            ]
        )
    if g.chance(0.3):
        decomposed = (
            "pinv({})",
            "expm(0.2 * {})",
            "solve_sylvester({0}, {0}, {0})",
            "lstsq({0}, {0})[0]",
        )
        return f"pt.linalg.{g.choice(decomposed).format(matrix)}"
    shape, form = g.shape_of(x), g.choice(["triangular", "triangular", "cho_solve", "solve"])
    b = g.new_input(
        g.values[x].dtype.name, (*shape[:-1], g.choice(g.lengths)) if g.chance(0.6) else shape[:-1]
    )
    values = g.values[b].array
    if values.size and np.abs(values[np.isfinite(values)], dtype=float).max(initial=0) > 1e30:
        raise Rejected  # intermediate products of elimination may overflow although the result does not
    b_ndim = 2 if values.ndim == len(shape) else 1
    if form == "cho_solve":
        return f"pt.linalg.cho_solve(({factor}, {lower}), {b}, b_ndim={b_ndim})"
    if form == "solve":
        return (
            f"pt.linalg.solve({matrix}, {b}, transposed={g.choice([True, False])}, b_ndim={b_ndim})"
        )
    return f"pt.linalg.solve_triangular({factor}, {b}, trans={g.choice([0, 1])}, lower={lower}, b_ndim={b_ndim})"


def _right_side(g: Generator, x: str) -> tuple[str, int]:
    """A right-hand side of moderate values with as many rows as x, and 1 for vectors or 2 for matrices."""
    shape = g.shape_of(x)
    b = g.new_input(
        g.values[x].dtype.name, (*shape[:-1], g.choice(g.lengths)) if g.chance(0.6) else shape[:-1]
    )
    if not np.isfinite(g.values[b].array).all():
        raise Rejected  # the algorithm determines which results a nan reaches
    return f"pt.tanh({b})", 2 if g.values[b].ndim == len(shape) else 1


@kind(2)
def solved(g: Generator) -> str:
    """Systems whose matrix has a structure."""
    matrix, x = _well_conditioned(g, 40)
    if not np.isfinite(g.values[x].array).all():
        raise Rejected
    b, b_ndim = _right_side(g, x)
    if g.chance(0.2):
        rest = f"pt.tanh({x}[..., 0])"
        return f"pt.linalg.solve_banded((1, 1), pt.stack([{rest}, 4 + {rest}, 0.5 * {rest}], axis=-2), {b}, b_ndim={b_ndim})"
    if g.chance(0.2):
        factors = f"pt.linalg.tridiagonal_lu_factor({matrix} + {sum(g.shape_of(x)[-1:])} * pt.eye({matrix}.shape[-1]))"
        # The factors have no derivative.
        return f"bt.disconnected_grad(pt.linalg.tridiagonal_lu_solve({factors}, {b}, b_ndim={b_ndim}, transposed={g.choice([True, False])}))"
    kinds = ["sym", "pos", "banded", "diagonal", "lower triangular", "upper triangular"]
    kind = g.choice(kinds)
    if kind == "banded" and g.chance(0.5):
        matrix = f"pt.tril(pt.triu({matrix}, -1), 2)"
    lower = f", lower={g.choice([True, False])}" if kind in ("sym", "pos") else ""
    return f"pt.linalg.solve({matrix}, {b}, assume_a={kind!r}, transposed={g.choice([True, False])}, b_ndim={b_ndim}{lower})"


@kind(2)
def decomposed(g: Generator) -> str:
    """LU factors, eigenvalues and solutions of Riccati equations, of matrices whose results do not depend on rounding
    decisions."""
    matrix, x = _well_conditioned(g)
    shape, dtype, value = g.shape_of(x), g.values[x].dtype, g.values[x].array
    if not value.size or not np.isfinite(value).all():
        raise Rejected
    n, form = shape[-2], g.choice(["eigvalsh", "lu", "tridiagonal", "riccati"])
    if form == "eigvalsh":
        steps = np.diag(np.arange(n) * 5.0)
        bounded = np.tanh(value.astype(float))
        values = np.linalg.eigvalsh(bounded @ np.swapaxes(bounded, -1, -2) + steps)
        if n > 1 and np.diff(values).min() < 0.1:
            raise Rejected  # equal eigenvalues have no derivative
        return f"pt.linalg.eigvalsh({matrix} + np.diag(np.arange({n}) * 5.0).astype('{dtype}'), lower={g.choice([True, False])})"
    # Column diagonal dominance: partial pivoting exchanges no rows, or, where the order of rows is reversed, all of
    # them.
    dominant = f"(pt.triu({matrix}) / {n * shape[-1]}.0 + 3 * pt.eye({n}, dtype='{dtype}'))"
    if form == "riccati":
        name = g.choice(["solve_discrete_are", "solve_continuous_are"])
        # avoids elements that are exactly 0, whose errors would be as large as those of the others
        return f"pt.linalg.{name}(0.2 * {dominant}, {dominant}, {matrix} + 0.25, {matrix})"
    b, b_ndim = _right_side(g, x)
    if form == "tridiagonal":
        return f"pt.linalg.solve({dominant}, {b}, assume_a='tridiagonal', transposed={g.choice([True, False])}, b_ndim={b_ndim})"
    if g.chance(0.5):
        dominant = f"pt.flip({dominant}, axis=-2)"
    factors = f"pt.linalg.lu_factor({dominant})"
    return g.choice(
        [
            f"{factors}[0]",
            f"pt.linalg.pivot_to_permutation({factors}[1], inverse={g.choice([True, False])})",
            f"pt.linalg.lu_solve({factors}, {b}, trans={g.choice([True, False])}, b_ndim={b_ndim})",
            f"pt.linalg.lu({dominant})[{g.below(3)}]",
        ]
    )


@kind(1)
def transformed(g: Generator) -> str:
    """A Fourier transform, or a transform and its inverse, of finite numbers: the algorithm determines which results a
    nan or an infinity reaches."""
    x = g.pick(min_ndim=2, kinds="f", nonempty=True)
    shape = g.shape_of(x)
    if len(shape) > 4 or g.values[x].array.size > 2000 or not np.isfinite(g.values[x].array).all():
        raise Rejected
    norm = g.choice(["None", "'ortho'", "'no_norm'"])
    direct = f"pt.fft.rfft(pt.tanh({x}), norm={norm})"
    if shape[-1] == 1 or g.chance(0.6):
        return direct
    return f"pt.fft.irfft({direct} * 0.5, norm={norm}, is_odd={bool(shape[-1] % 2)})"


@kind(1)
def convolved(g: Generator) -> str:
    dims = g.choice([1, 1, 2])
    x = g.pick(min_ndim=dims, kinds="iuf", nonempty=True)
    dtype = g.values[x].dtype
    if g.values[x].array.size > 500:
        raise Rejected
    fit = [
        n
        for n in g.order
        if g.values[n].dtype == dtype
        and g.values[n].ndim == dims
        and 0 < g.values[n].array.size < 50
    ]
    y = (
        g.choice(fit)
        if fit and g.chance(0.6)
        else g.new_input(dtype.name, tuple(g.choice([1, 2, 3, 5]) for _ in range(dims)))
    )
    return f"pt.signal.convolve{dims}d({x}, {y}, mode={g.choice(['full', 'valid', 'same'])!r})"


@kind(1)
def part_of_matrix(g: Generator) -> str:
    name = g.choice(["tril", "triu", "diagonal", "trace", "diag"])
    x = (
        g.pick(g.choice([1, 2]), nonempty=True)
        if name == "diag"
        else g.pick(min_ndim=2, nonempty=True)
    )
    if name == "trace" and g.values[x].dtype.kind not in "iuf":
        raise Rejected
    return f"pt.{name}({x}, {g.choice([0, 0, 1, -1, 2])})"


# ---- choices, checks, what passes values on --------------------------------------------------------------------------


def _condition(g: Generator) -> str:
    """A boolean scalar."""
    if g.chance(0.5):
        return g.pick(0, kinds="biu")
    x = g.pick(kinds="iuf")
    return g.choice([f"pt.any({x} > 0)", f"pt.all({x} < 3)", f"({x}.sum() > 0)"])


@kind(2)
def chosen(g: Generator) -> str:
    x = g.pick()
    ndim, dtype = g.values[x].ndim, g.values[x].dtype
    fit = [
        name
        for name in g.order
        if g.values[name].ndim == ndim and g.values[name].dtype == dtype and name != x
    ]
    y = g.choice(fit) if fit else g.new_input(dtype.name, g.shape_of(x))
    if g.chance(0.3):
        return f"bt.ifelse({_condition(g)}, [{x}, {y}], [{y}, {x}])"
    return f"bt.ifelse({_condition(g)}, {x}, {y})"


@kind(2)
def inner_graph(g: Generator) -> str:
    """An OpFromGraph of a few operations, whose input x need not be a leaf."""
    x = g.pick(kinds="iuf")
    other = g.choice([name for name in g.order if name != x] or [x])
    forms = [
        "pt.abs({x})",
        "{x} + {x}",
        "-{x}",
        "{x} * {x}",
        "pt.sum({x})",
        "pt.switch({x} > 0, {x}, {x} - {x})",
    ]
    one, two = (g.choice(forms).format(x=x) for _ in range(2))
    inline = g.chance(0.5)
    if any(isinstance(g.variables[name], g.bt.graph.Constant) for name in (x, other)):
        raise Rejected  # ones_like of a scalar is a constant, which cannot be an input
    if other == x:
        return f"bt.compile.OpFromGraph([{x}], [{one}], inline={inline})({x})"
    unused = f"{other} + 0"  # a distinct variable, even where both names denote the same one
    return f"bt.compile.OpFromGraph([{x}, {unused}], [{one}, {two}], inline={inline})({x}, {unused})[{g.choice([0, 1])}]"


@kind(2)
def loop(g: Generator) -> str:
    """A scan over the rows of x, or for a number of steps, from a state with the shape of a row."""
    x = g.pick(kinds="f", min_ndim=1)
    shape, dtype = g.values[x].shape, g.values[x].dtype.name
    if shape[0] > 12:
        raise Rejected
    fit = [
        name
        for name in g.order
        if g.values[name].shape == shape[1:] and g.values[name].dtype == dtype
    ]
    s = g.choice(fit) if fit and g.chance(0.5) else g.new_input(dtype, shape[1:])
    half = f"np.{dtype}(0.5)"
    steps = [f"pt.tanh(s * {half} + e)", f"s * {half} + e", "pt.maximum(s, e)", "pt.switch(s > e, s, e)", "s + e", "s * pt.cos(e)", "e",
             "pt.sin(e) + s", f"s - {half} * pt.tanh(s)"]  # fmt: skip
    if len(shape) > 1:
        steps += ["s[::-1] - e", "pt.cumsum(s, axis=0) * pt.exp(-abs(e))"]
    if len(shape) == 3 and shape[1] == shape[2]:
        steps += ["pt.tanh(s @ e)", "s.T - e"]
    step = g.choice(steps)
    form = g.between(0, 3)
    if form == 0 and " e" not in step and "(e" not in step and step != "e":
        return f"bt.scan(lambda s: {step}, outputs_info={s}, n_steps={g.between(0, 5)}, return_updates=False)"
    more = f", go_backwards={g.chance(0.3)}, return_updates=False)"
    if form == 1:
        also = g.choice(["s * e", "pt.sum(s + e)", "e", "s", "pt.exp(-abs(s))"])
        return (
            f"bt.scan(lambda e, s: ({step}, {also}), sequences={x}, outputs_info=[{s}, None]{more}"
        )
    if form == 2:
        other = g.choice(["pt.tanh(r + s)", f"r * {half} + e", "s", "r + e"])
        return f"bt.scan(lambda e, s, r: ({step}, {other}), sequences=[{x}], outputs_info=[{s}, {s}]{more}"
    return f"bt.scan(lambda e, s, c: {step.replace('e)', 'e + c)')}, sequences={x}, outputs_info={s}, non_sequences={s}{more}"


@kind(0.6)
def loop_of_other_states(g: Generator) -> str:
    """A scan with an integer or boolean state, with a stop condition, or nested in another scan."""
    form = g.choice(["i", "b", "until", "nest"])
    if form in "ib":
        x = g.new_input(
            g.choice(["int64", "int32", "int8", "uint8"]) if form == "i" else "bool",
            (g.between(0, 4), g.between(0, 5)),
        )
        s = g.new_input(g.values[x].dtype.name, g.values[x].shape[1:])
        step = g.choice(
            ["s + e", "s - e", "s ^ e", "pt.maximum(s, e)", "s * s + e"]
            if form == "i"
            else ["s | e", "s ^ e", "s & e", "pt.switch(e, s, ~s)"]
        )
        also = g.choice(["s", "pt.switch(s > e, s, e)", "pt.sum(s, dtype='int64')"])
        return f"bt.scan(lambda e, s: ({step}, {also}), sequences={x}, outputs_info=[{s}, None], return_updates=False)"
    x = g.new_input(g.choice(["float64", "float32"]), (g.between(1, 5), g.between(1, 4)))
    s = g.new_input(g.values[x].dtype.name, g.values[x].shape[1:])
    half = f"np.{g.values[x].dtype.name}(0.5)"
    if form == "until":
        return f"bt.scan(lambda e, s: (pt.tanh(s * {half} + e), bt.until(pt.sum(s) > {half})), sequences={x}, outputs_info={s}, return_updates=False)"
    inner = f"bt.scan(lambda i: pt.tanh(i * {half} + e), outputs_info=s, n_steps={g.between(1, 3)}, return_updates=False)"
    return f"bt.scan(lambda e, s: pt.sum({inner}, axis=0), sequences={x}, outputs_info={s}, return_updates=False)"


@kind(0.4)
def loop_of_matrices(g: Generator) -> str:
    """A scan with products of small matrices, whose rows may be compiled to vector lanes."""
    k, dtype = g.choice([3, 4, 4, 5, 7]), "float64"
    # Doubles of moderate size: where products of huge numbers cancel, the next step would read mere rounding errors.
    x, s, c = (
        g.new_input(dtype, value=g.rng.normal(size=shape))
        for shape in ((g.between(0, 4), k, k), (k, k), (k, k))
    )
    product = (
        (lambda a, b: f"({a} @ {b})")
        if k < 5 and g.chance(0.7)
        else (lambda a, b: f"({a}[:, :, None] * {b}[None]).sum(1)")
    )
    first = product(g.choice(["s", "c", "s.T"]), g.choice(["e", "c", "c.T"]))
    step = f"pt.tanh({product(first, g.choice(['s', 's.T', 'c.T']))} + e)"
    also = g.choice(["s", "pt.sum(s * e.T, axis=0)", product("e", "s")])
    return f"bt.scan(lambda e, s, c: ({step}, {also}), sequences={x}, outputs_info=[{s}, None], non_sequences={c}, return_updates=False)"


@kind(1.5)
def passed_on(g: Generator) -> str:
    x = g.pick()
    form = g.choice(
        [
            "bt.zero_grad({x})",
            "bt.disconnected_grad({x})",
            "bt.gradient.undefined_grad({x})",
            "bt.gradient.grad_scale({x}, 0.5)",
            "bt.gradient.grad_clip({x}, -1, 1)",
            "bt.printing.Print('v', attrs=())({x})",
            "check",
            "stop",
        ]
    )
    if form == "check":
        condition = _condition(g)
        try:
            holds = bool(g.evaluate(condition).array)
        except (ValueError, IndexError, TypeError) as error:
            raise Rejected from error
        return f"bt.raise_op.Assert('it holds')({x}, {condition if holds else f'pt.eq({condition}, np.False_)'})"
    if form == "stop":
        return f"bt.breakpoint.PdbBreakpoint('b')(pt.constant(False), {x})"
    return form.format(x=x)


# ---- derivatives -----------------------------------------------------------------------------------------------------


def _smooth(g: Generator, name: str) -> bool:
    value = g.values[name]
    return value.dtype.kind == "f" and value.array.size > 0 and bool(np.isfinite(value.array).all())


@kind(5)
def gradient(g: Generator) -> str:
    fit = [name for name in g.order if name[0] == "v" and _smooth(g, name)]
    wrt = [each.name for each in g.inputs if _smooth(g, each.name)]
    if not fit or not wrt:
        raise Rejected
    cost = g.choice(fit[-4:])
    cost = f"{cost}.sum()" if g.values[cost].ndim or g.chance(0.3) else cost
    chosen = [wrt[i] for i in g.rng.permutation(len(wrt))[: g.between(1, 2)]]
    of = chosen[0] if len(chosen) == 1 else f"[{', '.join(chosen)}]"
    if g.chance(0.1) and "sum" not in cost and g.values[chosen[0]].array.size < 50:
        return f"bt.jacobian({cost}, {chosen[0]}, disconnected_inputs='ignore')"
    return f"bt.grad({cost}, {of}, disconnected_inputs='ignore')"


@kind(1)
def forward_derivative(g: Generator) -> str:
    fit = [name for name in g.order if name[0] == "v" and _smooth(g, name)]
    wrt = [each.name for each in g.inputs if _smooth(g, each.name)]
    if not fit or not wrt:
        raise Rejected
    x = g.choice(wrt)
    return f"bt.pushforward({g.choice(fit[-4:])}, {x}, pt.cos({x}), disconnected_outputs='ignore')"


@kind(1)
def second_derivative(g: Generator) -> str:
    fit = [name for name in g.order if name[0] == "v" and _smooth(g, name)]
    wrt = [each.name for each in g.inputs if _smooth(g, each.name) and each.value.size <= 33]
    if not fit or not wrt:
        raise Rejected
    x, cost = g.choice(wrt), f"{g.choice(fit[-4:])}.sum()"
    if g.values[x].ndim == 1 and g.chance(0.5):
        return f"bt.hessian({cost}, {x}, disconnected_inputs='ignore')"
    return f"bt.hessian_vector_product({cost}, {x}, pt.cos({x}), disconnected_inputs='ignore')"


# ---- left sides of rewrite rules -------------------------------------------------------------------------------------


class _Instance(ast.NodeTransformer):
    """The text of one side of a rule, with operands substituted for its variables."""

    compared = {ast.Eq: "eq", ast.NotEq: "neq"}

    def __init__(self, operands: dict[str, str]):
        self.operands = operands

    def visit_Call(self, node: ast.Call) -> ast.AST:
        assert isinstance(node.func, ast.Name)
        return ast.Call(
            ast.Name(f"pt.{node.func.id}"), [self.visit(each) for each in node.args], []
        )

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        left, right = self.visit(node.left), self.visit(node.comparators[0])
        name = self.compared.get(type(node.ops[0]))
        return (
            ast.Call(ast.Name(f"pt.{name}"), [left, right], [])
            if name
            else ast.Compare(left, node.ops, [right])
        )

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.operands.get(node.id, node.id))


@functools.lru_cache(maxsize=None)
def _left_sides() -> list[tuple[ast.expr, list[str]]]:
    """The left sides of all equations that are expressions of elementwise functions, with their variables."""
    import bitale as bt

    known = {name for name, _ in elementwise_functions()} | {"logaddexp"}
    out = []
    for rule in bt.rewrite.rules():
        try:
            tree = ast.parse(rule.left, mode="eval").body
        except SyntaxError:
            continue
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        names = (
            {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            - called
            - {"inf", "nan"}
        )
        if rule.left and called <= known and names and all(len(name) == 1 for name in names):
            out.append((tree, sorted(names, key="xyzabcd".find)))
    return out


@kind(9)
def left_side(g: Generator) -> str:
    tree, names = g.choice(_left_sides())
    first = g.pick(kinds="f" if g.chance(0.7) else "biuf")
    operands = {}
    for name in names:
        if name in "cd":
            operands[name] = g.number("iuf")
        elif not operands:
            operands[name] = first
        else:
            operands[name] = g.partner(first)
    if not any(text[0] in "xv" for text in operands.values()):
        raise Rejected
    return ast.unparse(ast.fix_missing_locations(_Instance(operands).visit(copy.deepcopy(tree))))
