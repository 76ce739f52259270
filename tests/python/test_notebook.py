"""What cells of notebooks show: short mathematics, values of shared variables, types."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px


def math(variable):
    text = variable._repr_latex_()
    assert (
        text.startswith("$\\displaystyle ")
        and text.endswith("$")
        and text.count("{") == text.count("}")
    )
    return text[len("$\\displaystyle ") : -1]


CALLS = {
    "logsumexp": lambda x: pt.logsumexp(x, axis=1),
    "softmax": lambda x: pt.softmax(x, axis=0),
    "log_softmax": lambda x: pt.log_softmax(x, axis=-1),
    "mean": lambda x: pt.mean(x, axis=0),
    "var": lambda x: pt.var(x, axis=1),
    "std": lambda x: pt.std(x, axis=0),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_composed_functions_are_shown_as_calls(name, dtype):
    x = pt.matrix("x", dtype=dtype)
    axis = {"logsumexp": 1, "softmax": 0, "log_softmax": 1, "mean": 0, "var": 1, "std": 0}[name]
    shown = name.replace("_", "\\_")
    assert (
        math(CALLS[name](x)) == rf"\operatorname{{{shown}}}\left(x,\,\mathrm{{axis}}={axis}\right)"
    )


def test_settings_of_calls():
    x, t = pt.dmatrix("x"), pt.dtensor3("t")
    assert math(pt.logsumexp(x)) == r"\operatorname{logsumexp}\left(x\right)"
    assert math(pt.var(x, ddof=1)) == r"\operatorname{var}\left(x,\,\mathrm{ddof}=1\right)"
    assert "keepdims" in math(pt.mean(x, axis=0, keepdims=True))
    assert "axis" in math(pt.std(t, axis=(0, 2))) and "0,\\,2" in math(pt.std(t, axis=(0, 2)))


def test_calls_within_calls_and_expressions():
    x = pt.dmatrix("x")
    assert math(pt.logsumexp(pt.logsumexp(x, axis=0))).count("logsumexp") == 2
    assert (
        math(pt.exp(pt.softmax(2 * x)) + 1)
        == r"\exp\left(\operatorname{softmax}\left(2 \cdot x\right)\right) + 1"
    )


def test_what_only_looks_like_a_call_is_not_shown_as_one():
    """A wrong axis, another shift, another number: nothing but the composition itself is recognised."""
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    e = pt.exp(x - pt.max(x, axis=1, keepdims=True))
    for other in (
        e / e.sum(axis=0, keepdims=True),
        pt.exp(x) / pt.exp(y).sum(axis=1, keepdims=True),
        x.sum(axis=0) / x.shape[1],
        pt.log(pt.exp(x).sum()),
    ):
        assert (
            "softmax" not in math(other)
            and "mean" not in math(other)
            and "logsumexp" not in math(other)
        )


def test_parts_with_names_are_defined():
    x, w = pt.dvector("x"), pt.dvector("w")
    p = pt.sigmoid(x * w)
    p.name = "p"
    loss = -(p * pt.log(p)).sum()
    text = math(loss)
    assert text.startswith("\\begin{aligned}&-") and text.endswith("\\end{aligned}")
    assert text.count("sigmoid") == 1 and r"\\ p &= \operatorname{sigmoid}" in text
    loss.name = "loss"
    assert math(loss).startswith(r"\begin{aligned}\mathrm{loss} &= ")
    assert math(p) == r"p = \operatorname{sigmoid}\left(x \cdot w\right)"
    assert bt.pprint(loss).count("sigmoid") == 2  # the text stays whole


def test_many_names_are_bounded():
    y = pt.dvector("x")
    for k in range(1000):
        y = pt.sin(y)
        y.name = f"y_{k}"
    assert len(math(y)) < 2000 and "y_{\\mathrm{999}}" in math(y)


def test_shared_variables_show_their_values():
    w = bt.shared(np.arange(6.0).reshape(2, 3), "w<1>")
    html = w._repr_html_()
    assert (
        "w&lt;1&gt;" in html
        and "float64" in html
        and "2 × 3" in html
        and "[3. 4. 5.]" in html
        and "TensorType" in html
    )
    assert len(bt.shared(np.zeros((1000, 1000)))._repr_html_()) < 2000
    assert (w + 1)._repr_html_() is None and pt.dvector()._repr_html_() is None
    assert "scalar" in bt.shared(2.0)._repr_html_()
    assert bt.shared(np.random.default_rng(1))._repr_html_() is None


def test_types_say_what_they_are():
    assert "<b>matrix</b> of float32, 3 × ?" in pt.TensorType("float32", (3, None))._repr_html_()
    assert "<b>scalar</b> of int64:" in pt.TensorType("int64", ())._repr_html_()
    assert "4 dimensions" in pt.dtensor4().type._repr_html_()


def test_labelled_variables_show_their_dimensions():
    x = px.xtensor("x", dims=("time_step", "year"), shape=(5, None))
    assert x.mean("year")._repr_latex_().endswith(r"\quad[\mathrm{time\_step: 5}]$")
    assert x._repr_html_() is None
    pytest.importorskip("xarray")
    assert "xarray" in px.xtensor_shared(np.ones(2), dims="year")._repr_html_()
    assert bt.function([x], x + 1)._repr_html_().startswith("<iframe")
