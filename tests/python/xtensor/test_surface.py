"""Every name of the surface beside the same without names: equal programs, values and gradients. A name without a case fails
the first test. What xarray computes for each name is in test_parity."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

# ---- the inputs of all cases -----------------------------------------------------------------------------------------

DRAW = np.random.default_rng(7)
COORDS = {"b": [10.0, 20.0, 40.0, 50.0]}
FACTOR = DRAW.normal(size=(3, 3))
VALUES = {
    "x": DRAW.uniform(0.1, 0.9, (3, 4)),
    "y": DRAW.uniform(0.1, 0.9, 4),
    "z": DRAW.uniform(0.1, 0.9, (4, 3)),
    "m": FACTOR @ FACTOR.T + 3 * np.eye(3),
    "r": DRAW.normal(size=3),
    "c": DRAW.normal(size=3),
    "k": DRAW.normal(size=2),
    "q": DRAW.uniform(0.1, 0.9, (3, 4, 2)),
    "i": np.array([2, 0, 1]),
}
LABELLED = {
    "x": px.xtensor("x", dims=("a", px.Dim("b", coords=COORDS["b"])), shape=(3, None)),
    "y": px.xtensor("y", dims="b", shape=(4,)),
    "z": px.xtensor("z", dims=("b", "a"), shape=(4, 3)),
    "m": px.xtensor("m", dims=("row", "col"), shape=(3, 3)),
    "r": px.xtensor("r", dims="row", shape=(3,)),
    "c": px.xtensor("c", dims="col", shape=(3,)),
    "k": px.xtensor("k", dims="tap", shape=(2,)),
    "q": px.xtensor("q", dims=("a", "b", "d"), shape=(3, 4, 2)),
    "i": px.xtensor("i", dims="p", shape=(3,), dtype="int64"),
}
X, Y, Z, M, R, C, K, Q, I = LABELLED.values()
x, y, z, m, r, c, k, q, i = (each.values for each in LABELLED.values())
RC = ("row", "col")
S = px.math


def elementwise(name):
    """Operands that meet by names, and the same with axes put in place."""
    counts = {
        "where": 3,
        "switch": 3,
        "clip": 3,
        "betainc": 3,
        "betaincinv": 3,
        "hyp2f1": 4,
        "logaddexp": 2,
        "and_": 2,
        "or_": 2,
    }
    import inspect

    required = [
        p
        for p in inspect.signature(getattr(pt, name)).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    count = counts.get(name, len(required))
    operands, plain = [X, Y, Z, X][:count], [x, y, z.T, x][:count]
    if name in ("and_", "or_", "xor", "invert") or name.startswith("bitwise"):
        operands, plain = [each > 0.5 for each in operands], [each > 0.5 for each in plain]
    if name in ("where", "switch"):
        operands[0], plain[0] = X > 0.5, x > 0.5
    if name == "polygamma":
        operands[0], plain[0] = px.as_xtensor(1), 1
    return lambda: getattr(px.math, name)(*operands), lambda: getattr(pt, name)(*plain)


def both(labelled, plain):
    return (lambda: labelled), (lambda: plain)


REDUCTIONS = {
    name: both(getattr(px.reduction, name)(X, "b"), getattr(pt, name)(x, axis=1))
    for name in "sum prod mean var std min max all any argmax argmin cumsum cumprod".split()
}
SHARES = pt.searchsorted(np.array(COORDS["b"]), np.array(15.0))

# By module and name: a labelled expression, and the same without names.
CASES = {
    **{f"math.{name}": elementwise(name) for name in px.math._ELEMENTWISE},
    **{f"reduction.{name}": case for name, case in REDUCTIONS.items()},
    "math.cast": both(S.cast(X, "float32"), pt.cast(x, "float32")),
    "math.identity": both(S.identity(X) + 1, x + 1),
    "math.dot": both(S.dot(X, Z, "b"), pt.einsum("ab,ba->a", x, z)),
    "math.logsumexp": both(S.logsumexp(X, "b"), pt.logsumexp(x, axis=[1])),
    "math.softmax": both(S.softmax(X, "a"), pt.softmax(x, axis=[0])),
    "math.log_softmax": both(S.log_softmax(X, "a"), pt.log_softmax(x, axis=[0])),
    "shape.transpose": both(X.transpose("b", "a") * Z, x.T * z),
    "shape.squeeze": both((X * px.shape.squeeze(px.shape.expand_dims(Y, "one"), "one")), x * y),
    "shape.expand_dims": both(px.shape.expand_dims(Y, n=2) * 2, pt.broadcast_to(y[None, :], (2, y.shape[0])) * 2),
    "shape.rename": both(px.shape.rename(X, a="n") + Y, x + y),
    "shape.stack": both(px.shape.stack(Q, n=("d", "a")), q.transpose(1, 2, 0).reshape((4, 6))),
    "shape.unstack": both(px.shape.unstack(Q, b={"e": 2, "f": 2}), q.transpose(0, 2, 1).reshape((3, 2, 2, 2))),
    "shape.concat": both(px.shape.concat([X, X * 2], "a"), pt.concatenate([x, x * 2], axis=0)),
    "shape.broadcast": both(px.shape.broadcast(Y, Z)[0] * 2, pt.broadcast_to(y[:, None], (4, 3)) * 2),
    "shape.full_like": both(px.shape.full_like(X, 2.0) * X, pt.full_like(x, 2.0) * x),
    "shape.ones_like": both(px.shape.ones_like(X) * X, pt.ones_like(x) * x),
    "shape.zeros_like": both(px.shape.zeros_like(X) + X, pt.zeros_like(x) + x),
    "shape.assign_coords": both(px.shape.assign_coords(Y, b=[1, 2, 3, 4]) * 2, y * 2),
    "shape.drop_coords": both(px.shape.drop_coords(X) * 2, x * 2),
    "linalg.cholesky": both(px.linalg.cholesky(M, dims=RC), pt.linalg.cholesky(m)),
    "linalg.inv": both(px.linalg.inv(M, dims=RC), pt.linalg.inv(m)),
    "linalg.pinv": both(px.linalg.pinv(M, dims=RC), pt.linalg.pinv(m)),
    "linalg.expm": both(px.linalg.expm(M, dims=RC), pt.linalg.expm(m)),
    "linalg.matrix_power": both(px.linalg.matrix_power(M, 3, dims=RC), pt.linalg.matrix_power(m, 3)),
    "linalg.det": both(px.linalg.det(M, dims=RC), pt.linalg.det(m)),
    "linalg.slogdet": both(px.linalg.slogdet(M, dims=RC)[1], pt.linalg.slogdet(m)[1]),
    "linalg.trace": both(px.linalg.trace(M, dims=RC), pt.trace(m)),
    "linalg.diagonal": both(px.linalg.diagonal(M, dims=RC), pt.diagonal(m)),
    "linalg.matrix_rank": both(px.linalg.matrix_rank(M, dims=RC), pt.linalg.matrix_rank(m)),
    "linalg.norm": both(px.linalg.norm(M, dims=RC), pt.linalg.norm(m, axis=(0, 1))),
    "linalg.eigh": both(px.linalg.eigh(M, dims=RC)[0], pt.linalg.eigh(m)[0]),
    "linalg.eigvalsh": both(px.linalg.eigvalsh(M, dims=RC), pt.linalg.eigvalsh(m, None)),
    "linalg.eig": both(S.abs(px.linalg.eig(M, dims=RC)[0]), abs(pt.linalg.eig(m)[0])),
    "linalg.eigvals": both(S.abs(px.linalg.eigvals(M, dims=RC)), abs(pt.linalg.eigvals(m))),
    "linalg.svd": both(px.linalg.svd(M, dims=RC)[1], pt.linalg.svd(m, full_matrices=False)[1]),
    "linalg.svdvals": both(px.linalg.svdvals(M, dims=RC), pt.linalg.svdvals(m)),
    "linalg.qr": both(px.linalg.qr(M, dims=RC)[1], pt.linalg.qr(m, mode="reduced")[1]),
    "linalg.lu": both(px.linalg.lu(M, dims=RC)[2], pt.linalg.lu(m)[2]),
    "linalg.lu_factor": both(px.linalg.lu_factor(M, dims=RC)[0], pt.linalg.lu_factor(m)[0]),
    "linalg.pivot_to_permutation": both(
        px.linalg.pivot_to_permutation(px.linalg.lu_factor(M, dims=RC)[1], dims="row"), pt.linalg.pivot_to_permutation(pt.linalg.lu_factor(m)[1])
    ),
    "linalg.schur": both(px.linalg.schur(M, dims=RC)[0], pt.linalg.schur(m)[0]),
    "linalg.qz": both(px.linalg.qz(M, 2 * M, dims=RC)[0], pt.linalg.qz(m, 2 * m)[0]),
    "linalg.solve": both(px.linalg.solve(M, C, dims=RC), pt.linalg.solve(m, c, b_ndim=1)),
    "linalg.solve_triangular": both(px.linalg.solve_triangular(M, C, dims=RC, lower=True), pt.linalg.solve_triangular(m, c, lower=True, b_ndim=1)),
    "linalg.cho_solve": both(px.linalg.cho_solve((M, True), R, dims=RC), pt.linalg.cho_solve((m, True), r, b_ndim=1)),
    "linalg.lu_solve": both(px.linalg.lu_solve(px.linalg.lu_factor(M, dims=RC), R, dims=RC), pt.linalg.lu_solve(pt.linalg.lu_factor(m), r, b_ndim=1)),
    "linalg.lstsq": both(px.linalg.lstsq(M, R, dims=RC)[0], pt.linalg.lstsq(m, r)[0]),
    "signal.convolve1d": both(px.signal.convolve1d(X, K, "valid", dims=("b", "tap")), pt.signal.convolve1d(x, k, mode="valid")),
    "selection.isel": both(px.selection.isel(X, a=0, b=slice(1, None)), x[0, 1:]),
    "selection.head": both(px.selection.head(X, a=2), x[:2]),
    "selection.tail": both(px.selection.tail(X, b=2), x[:, -2:]),
    "selection.thin": both(px.selection.thin(X, b=2), x[:, ::2]),
    "selection.sel": both(px.selection.sel(X, b=slice(15.0, 45.0)), x[:, 1:3]),
    "selection.Locations": both(X.loc[:, 20.0], x[:, 1]),
    "windows.roll": both(px.windows.roll(X, b=1), pt.roll(x, 1, axis=1)),
    "windows.diff": both(px.windows.diff(X, "b"), x[:, 1:] - x[:, :-1]),
    "windows.vectorize_graph": both(px.vectorize_graph((Y * Y).sum(), {Y: X.drop_coords()}), (x * x).sum(axis=1)),
    "scan": both(
        px.scan(lambda now, s: s * now, X, Y[0] * px.ones_like(X.isel(b=0)), dim="b", return_updates=False),
        bt.scan(lambda now, s: s * now, x.T, y[0] * pt.ones_like(x[:, 0]), return_updates=False),
    ),
}  # fmt: skip

# Compared with xarray alone: the same without names would be what the library composes.
ONLY_XARRAY = {
    "windows.groupby",
    "windows.GroupBy",
    "windows.rolling",
    "windows.Rolling",
    "windows.shift",
    "windows.interp",
}
# Draws of every distribution are compared with those of tensors in test_blockwise; the others make functions.
OTHERS = {"math.labelled", *(f"random.{name}" for name in px.random.__all__)}
MODULES = ("math", "reduction", "shape", "linalg", "signal", "selection", "windows", "random")


def test_every_name_has_a_case():
    names = {f"{module}.{name}" for module in MODULES for name in getattr(px, module).__all__}
    assert names - CASES.keys() - ONLY_XARRAY - OTHERS == set()
    assert (CASES.keys() | ONLY_XARRAY | OTHERS) - names == {"scan"}


def compiled(outputs):
    return bt.function(
        [each.values for each in LABELLED.values()], outputs, on_unused_input="ignore"
    )


def with_gradients(found):
    """The expressions, and the gradients of the sum of all that are real numbers."""
    tensors = [each.values if isinstance(each, px.XTensorVariable) else each for each in found]
    smooth = [each for each in tensors if each.dtype in ("float64", "float32")]
    wrt = [each.values for each in LABELLED.values() if each.dtype == "float64"]
    gradients = []
    for each in smooth:
        try:
            gradients += bt.grad(each.sum(), wrt, disconnected_inputs="ignore")
        except bt.NullTypeGradError:  # of a function that has no gradient: both have none
            gradients.append(pt.constant(0.0))
    return tensors + gradients


@pytest.mark.parametrize("name", CASES)
def test_programs_and_gradients_are_those_without_names(name):
    labelled, plain = (with_gradients([case()]) for case in CASES[name])
    f, g = compiled(labelled), compiled(plain)
    given = list(VALUES.values())
    for mine, theirs in zip(f(*given), g(*given)):
        np.testing.assert_array_equal(mine, theirs)
    assert f.dprint("program", file="str") == g.dprint("program", file="str")


# Methods, each of which is the function of its name; those of PyTensor and xarray that are something of their own.
METHODS = {
    "astype": both(X.astype("float32"), x.astype("float32")), "broadcast_like": both(Y.broadcast_like(Z) * 2, pt.broadcast_to(y[:, None], (4, 3)) * 2),
    "clip": both(X.clip(0.3, 0.6), pt.clip(x, 0.3, 0.6)), "conj": both(X.conj() * 2, pt.conj(x) * 2), "conjugate": both(X.conjugate() * 2, pt.conj(x) * 2),
    "copy": both(X.copy() * 2, x * 2), "count": both(X.count("b"), pt.sum(pt.cast(pt.logical_not(pt.isnan(x)), "int64"), axis=1)),
    "dot": both(X.dot(Z, "b"), pt.einsum("ab,ba->a", x, z)), "fillna": both(X.fillna(0.5), pt.where(pt.isnan(x), 0.5, x)),
    "isnull": both(X.isnull(), pt.isnan(x)), "notnull": both(X.notnull(), pt.logical_not(pt.isnan(x))), "item": both(X[0, 0].item(), x[0, 0]),
    "pipe": both(X.pipe(S.exp), pt.exp(x)), "round": both(X.round(1), pt.round(x * 10.0) / 10.0), "where": both(X.where(X > 0.5, 0.1), pt.where(x > 0.5, x, 0.1)),
    "T": both(X.T * 2, x.T * 2), "real": both(X.real * 2, pt.real(x) * 2), "imag": both(X.imag + 1, pt.imag(x) + 1),
    "set": both(X[0].set(Y), pt.set_subtensor(x[0], y)), "inc": both(X[0].inc(Y), pt.inc_subtensor(x[0], y)), "with_values": both(X.with_values(x * 2), x * 2),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_those_of_tensors(name):
    labelled, plain = (with_gradients([case()]) for case in METHODS[name])
    f, g = compiled(labelled), compiled(plain)
    given = list(VALUES.values())
    for mine, theirs in zip(f(*given), g(*given)):
        np.testing.assert_array_equal(mine, theirs)
    assert f.dprint("program", file="str") == g.dprint("program", file="str")


def test_every_method_has_a_case():
    """Methods are functions of the modules, cases above, or described here."""
    functions = {name for module in MODULES for name in getattr(px, module).__all__} | {"loc"}
    about = set(
        "as_numpy coords dims dimensions dtype name ndim shape size sizes static_shape type values".split()
    )  # what a variable is
    as_tensors = set(
        "auto_name broadcastable clone get_parents index owner owner_op owner_op_and_inputs tag".split()
    )  # those of `values`
    other = set(
        "dprint eval get_axis_num get_value set_value drop_vars".split()
    )  # test_basics, test_labelled_inputs
    public = {name for name in dir(px.XTensorVariable) if not name.startswith("_")}
    assert public - functions - METHODS.keys() - about - as_tensors - other == set()
