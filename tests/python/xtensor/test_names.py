"""PyTensor's names of pytensor.xtensor (3.3.8) are there, or a reason is given. The lists are facts about that version."""

import importlib

import pytest

from bitale import xtensor as px

NAMES = {
    "": "as_xtensor broadcast concat dot full_like linalg math ones_like random signal where xtensor xtensor_constant zeros_like",
    "math": (
        "abs add and_ angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh betainc betaincinv bitwise_and bitwise_invert bitwise_not "
        "bitwise_or bitwise_xor cast ceil clip complex conj conjugate cos cosh deg2rad dot eq equal erf erfc erfcinv erfcx erfinv exp exp2 expit "
        "expm1 floor floor_div floor_divide gamma gammainc gammaincc gammainccinv gammaincinv gammal gammaln gammau ge greater greater_equal gt "
        "hyp2f1 i0 i1 identity imag int_div invert isinf isnan iv ive j0 j1 jv kve le less less_equal log log10 log1mexp log1p log2 logical_and "
        "logical_not logical_or logical_xor logsumexp lt maximum minimum mod mul multiply ndtri_exp neg negative neq not_equal or_ owens_t "
        "polygamma pow power psi rad2deg real reciprocal round second sigmoid sign sin sinh softmax softplus sqr sqrt square sub subtract switch "
        "tan tanh tri_gamma true_div true_divide trunc where xor"
    ),
    "reduction": "mean var std sum prod min max all any cumsum cumprod",
    "shape": "stack unstack transpose concat squeeze expand_dims broadcast full_like ones_like zeros_like",
    "linalg": "cholesky solve",
    "basic": "rename tensor_from_xtensor xtensor_from_tensor",
    "type": "XTensorType XTensorVariable as_xtensor xtensor xtensor_constant xtensor_shared",
    "vectorization": "vectorize_graph",
    "signal": "convolve1d",
    "random": (
        "bernoulli beta betabinom binomial categorical cauchy chisquare dirichlet exponential gamma gengamma geometric gumbel halfcauchy halfnormal "
        "hypergeometric integers invgamma laplace logistic lognormal multinomial multivariate_normal nbinom negative_binomial normal pareto poisson "
        "rayleigh rng shared_rng standard_normal t triangular truncexpon uniform vonmises wald weibull"
    ),
}
METHODS = (
    "T all any as_numpy astype broadcast_like broadcastable clip clone conj copy coords cumprod cumsum diff dims dot dprint dtype eval expand_dims get_parents "
    "head imag inc isel item loc max mean min ndim owner_op owner_op_and_inputs prod real rename sel set shape size sizes squeeze stack std sum tail thin transpose unstack values var where"
)
MISSING = {
    "XElemwise, XBlockwise, XRV, XReduce, XCumReduce, Dot, Index, IndexUpdate, Transpose, Concat, Squeeze, ExpandDims, Stack, UnStack, Broadcast, Rename, "
    "XTypeCastOp, TensorFromXTensor, XTensorFromTensor, RNGToXRNG, XRNGToRNG": "labels are resolved while expressions are built, so there are no ops for them",
    "XTensorConstant, XTensorSharedVariable, XRandomGeneratorVariable": "classes: one class of labelled variables has all methods",
    "as_xrv": "draw_function makes the function of a distribution",
}


@pytest.mark.parametrize("module", NAMES)
def test_names(module):
    place = importlib.import_module(f"bitale.xtensor.{module}") if module else px
    assert [name for name in NAMES[module].split() if not hasattr(place, name)] == []


def test_methods():
    assert [name for name in METHODS.split() if not hasattr(px.XTensorVariable, name)] == []


def test_reasons_are_for_names_that_are_missing():
    places = [
        px,
        px.XTensorVariable,
        *(importlib.import_module(f"bitale.xtensor.{module}") for module in NAMES if module),
    ]
    for names, reason in MISSING.items():
        assert reason
        assert [
            name for name in names.split(", ") if any(hasattr(place, name) for place in places)
        ] == []


def test_modules_list_their_names():
    for module in (
        px.math,
        px.reduction,
        px.shape,
        px.linalg,
        px.signal,
        px.random,
        px.selection,
        px.windows,
    ):
        assert all(
            hasattr(module, name) and getattr(module, name).__doc__ for name in module.__all__
        )
