"""Names of pytensor.tensor that are missing here, and functions whose arguments have other names, as far as that is known:
tests/python/test_api.py fails for others."""

import re

# Of variables: dmatrix, lvectors, tensor4s, ...
constructors = r"[bwilfdcz]?(scalar|vector|matrix|row|col|tensor[3-7])s?|[ilfd]?matrices"

_missing = {
    r"[cz](scalar|vector|matrix|row|col|tensor[3-7])|complex.*": "there are no complex numbers yet",
    r"NoneConst|NoneSliceConst|make_slice|slicetype|none_type_t": "slices and None are no values of graphs here",
    r"hyp2f1": "the hypergeometric function is not there yet",
    r"values_eq_approx_always_true": "types compare values by themselves",
    r"special\.[A-Z]\w+|special\.vectorize_softmax_node": "a formula here, not an op class",
}  # fmt: skip


def reason_missing(name: str) -> str | None:
    for pattern, reason in _missing.items():
        if re.fullmatch(pattern, name):
            return reason
    return None


_more = "the same by position, and more behind them"
_spelled = "the same, with each keyword that counts named; unknown ones are errors"

# By function: how its arguments differ from PyTensor's. All take PyTensor's in its order when given by position, as far as
# there are any.
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
    "scalar": _more,
    "std": _more,
    "var": _more,
    "specify_shape": "the lengths may be given one by one",
}  # fmt: skip
