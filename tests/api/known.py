"""Names of pytensor.tensor that are missing here, and functions whose arguments have other names, as far as that is known:
tests/python/test_api.py fails for others."""

import re

# Of variables: dmatrix, lvectors, tensor4s, ...
constructors = r"[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7])s?|[ilfd]?matrices"

_missing = {
    r"[cz](scalar|vector|matrix|row|col|tensor[3-7])|complex.*": "there are no complex numbers yet",
    r"NoneConst|NoneSliceConst|make_slice|slicetype|none_type_t": "slices and None are no values of graphs here",
    r"interp|interpolate1d": "interpolation comes with the linear algebra",
    r"hyp2f1": "the hypergeometric function is not there yet",
    r"values_eq_approx_always_true": "types compare values by themselves",
    r"special\.[A-Z]\w+|special\.vectorize_softmax_node": "a formula here, not an op class",
}  # fmt: skip


def reason_missing(name: str) -> str | None:
    for pattern, reason in _missing.items():
        if re.fullmatch(pattern, name):
            return reason
    return None


# All take PyTensor's arguments in its order when given by position, and more or fewer behind them.
other_arguments = {
    "as_tensor", "as_tensor_variable", "broadcast_shape", "cumprod", "cumsum", "extract_diag", "inc_subtensor", "isinf", "isnan",
    "largest", "logaddexp", "max", "mean", "median", "min", "prod", "ptp", "round", "scalar", "set_subtensor", "sgn", "smallest",
    "conj", "conjugate", "where", "special.log_softmax", "special.logaddexp", "special.softmax", "specify_shape", "std", "sum", "take", "tensor", "var",
}  # fmt: skip
