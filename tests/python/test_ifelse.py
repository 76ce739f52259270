"""ifelse: values, laziness, gradients, errors."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.ifelse import ifelse


@pytest.fixture
def abc():
    return pt.dscalar("c"), pt.dvector("a"), pt.dvector("b")


def test_values(mode, abc):
    c, a, b = abc
    f = bt.function([c, a, b], ifelse(c > 0, a + b, pt.exp(a)), mode=mode)
    assert f(1.0, [1.0], [2.0]).tolist() == [3.0]
    assert f(0.0, [0.0, 0.0], [2.0, 3.0, 4.0]).tolist() == [1.0, 1.0]
    with pytest.raises(bt.ShapeError):
        f(1.0, [0.0, 0.0], [2.0, 3.0, 4.0])


def test_lists_and_names(mode, abc):
    c, a, b = abc
    out = bt.ifelse(c, [a, c], (b, c + 1), name="choice")
    assert [v.name for v in out] == ["choice{0}", "choice{1}"]
    assert bt.ifelse(c, a, b, name="one").name == "one"
    f = bt.function([c, a, b], out, mode=mode)
    assert [v.tolist() for v in f(0.0, [1.0], [2.0, 3.0])] == [[2.0, 3.0], 1.0]
    assert bt.function([c], ifelse(c, 1.0, 2.0), mode=mode)(np.nan) == 1.0


def test_one_branch_runs(abc):
    c, a, b = abc
    seen = []
    linker = bt.link.VMLinker(callback=lambda node, **_: seen.append(node.op.name))
    f = bt.function([c, a, b], ifelse(c, pt.exp(a), pt.sin(b)), mode=bt.Mode(linker))
    f(1.0, [1.0], [1.0])
    assert seen == ["Exp", "IfElse"]
    for side, is_native in [
        (pt.exp(a), True),
        (pt.cumsum(a)[:3], True),
        (bt.printing.Print("a")(a), False),
    ]:
        printed = bt.dprint(bt.function([c, a, b], ifelse(c, side, pt.sin(b))), file="str")
        assert ("host callback" in printed) != is_native


def test_gradient(mode, abc):
    c, a, b = abc
    gradients = bt.grad(ifelse(c > 0, (a * b).sum(), (a**2).sum()), [a, b])
    f = bt.function([c, a, b], gradients, mode=mode)
    assert [v.tolist() for v in f(1.0, [3.0], [5.0])] == [[5.0], [3.0]]
    assert [v.tolist() for v in f(0.0, [3.0], [5.0])] == [[6.0], [0.0]]


def test_errors(abc):
    c, a, b = abc
    with pytest.raises(TypeError, match="scalar condition"):
        ifelse(a, a, b)
    with pytest.raises(
        TypeError, match=r"output 1 have different dtypes: .*float64.* if true \(`a`\), .*int32"
    ):
        ifelse(c, [a, a], [b, pt.ivector("i")])
    with pytest.raises(TypeError, match="numbers of dimensions"):
        ifelse(c, a, c)
    with pytest.raises(ValueError, match="expected 1 values, got 2"):
        ifelse(c, [a], [a, b])


def test_errors_name_variables(abc):
    c, a, b = abc
    f = bt.function([c, a, b], [ifelse(c, pt.exp(a) + b, b), pt.exp(a)])
    with pytest.raises(bt.ShapeError, match=r"Add\(Exp.0, b\)(.|\n)*IfElse\("):
        f(1.0, [1.0], [2.0, 3.0])


def test_storing_and_export(abc, tmp_path):
    c, a, b = abc
    f = bt.function([c, a, b], ifelse(c, pt.exp(a), b))
    assert pickle.loads(pickle.dumps(f))(0.0, [1.0], [2.0]).tolist() == [2.0]
    assert f.export_c(tmp_path)
    shown = bt.function([c, a, b], ifelse(c, bt.printing.Print("a")(a), b))
    with pytest.raises(NotImplementedError, match="ifelse whose sides call functions of the host"):
        shown.export_c(tmp_path)
    assert bt.function([c], ifelse(c, c + 1, c * 2), name="g").export_c(tmp_path)


def test_constant_branch(mode):
    c, x, side = pt.bscalar("c"), pt.dvector("x"), pt.constant(np.array([7.0]))
    f = bt.function(
        [c, x], [pt.as_tensor(each) for each in bt.ifelse(c, [side, x], [x, side])], mode=mode
    )
    assert [each.tolist() for each in f(1, [1.0, 2.0])] == [[7.0], [1.0, 2.0]]
    assert [each.tolist() for each in f(0, [1.0, 2.0])] == [[1.0, 2.0], [7.0]]


@pytest.mark.parametrize("linker", ["vm", "jit", "c"])
def test_branches_are_native(linker):
    """Branches with loops, reductions, calls and nested branches, of different lengths; only the selected branch is
    evaluated."""
    c, d = pt.iscalars("c", "d")
    x, y = pt.dmatrix("x"), pt.dvector("y")
    inner = ifelse(d > 0, pt.tanh(x).sum(axis=1), pt.sort(y)[::-1])
    chosen = ifelse(
        c, [pt.exp(inner) + 1, x.sum(), x[0]], [y, pt.prod(y), pt.linalg.solve(x[:2, :2], y[:2])]
    )
    f = bt.function([c, d, x, y], [*chosen, chosen[0].sum() * chosen[1]], mode=bt.Mode(linker))
    values, v = np.arange(12.0).reshape(4, 3) / 7 - 0.5, np.array([0.5, -1.0, 3.0])
    for which, nested in [(1, 1), (1, 0), (0, 1), (0, 0)]:
        within = np.tanh(values).sum(axis=1) if nested > 0 else np.sort(v)[::-1]
        expected = (
            [np.exp(within) + 1, values.sum(), values[0]]
            if which
            else [v, v.prod(), np.linalg.solve(values[:2, :2], v[:2])]
        )
        got = f(which, nested, values, v)
        for a, b in zip(got, [*expected, expected[0].sum() * expected[1]]):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    assert f(1, 1, values[:, :0], v)[0].tolist() == [2.0] * 4
    assert f(1, 0, np.zeros((2, 2)), v)[1] == 0  # the singular matrix is in the other branch
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f(0, 0, np.zeros((2, 2)), v)
    with pytest.raises(IndexError, match="out of bounds"):
        f(1, 0, np.zeros((0, 2)), v)


@pytest.mark.parametrize("linker", ["jit", "c"])
def test_gradients_through_native_branches(linker):
    c, x = pt.bscalar("c"), pt.dvector("x")
    cost = ifelse(c, pt.sqr(pt.cumsum(x)).sum(), pt.sin(x).prod())
    f = bt.function([c, x], bt.grad(cost, x), mode=bt.Mode(linker))
    v = np.array([0.3, 0.7, -0.2])
    sums = np.cumsum(v)
    np.testing.assert_allclose(f(1, v), [2 * sums[i:].sum() for i in range(3)])
    np.testing.assert_allclose(f(0, v), np.cos(v) * np.sin(v).prod() / np.sin(v))


def test_deeply_nested_branches():
    c, x = pt.iscalar("c"), pt.dvector("x")
    out = x
    for depth in range(40):
        out = ifelse(pt.eq(c, depth), pt.cumsum(out) + depth, pt.exp(out * 0.01))
    f = bt.function([c, x], out)
    expected = v = np.array([1.0, 2.0])
    for depth in range(40):
        expected = np.cumsum(expected) + depth if depth == 7 else np.exp(expected * 0.01)
    np.testing.assert_allclose(f(7, v), expected)


def test_gradient_of_a_chain_of_branches():
    """Each cotangent is read by one side of two choices with the same condition: it is needed in any case."""
    x = pt.dmatrix("x")
    out = x
    for _ in range(30):
        out = ifelse(out.sum() > 4, out * 0.5, out + 1)
    f = bt.function([x], [out, bt.grad((out**2).sum(), x)], mode=bt.Mode("jit"))
    v = np.array([[0.25, 0.5], [1.0, -0.5]])
    expected, slope = v, 1.0
    for _ in range(30):
        expected, slope = (
            (expected * 0.5, slope * 0.5) if expected.sum() > 4 else (expected + 1, slope)
        )
    np.testing.assert_allclose(f(v)[0], expected)
    np.testing.assert_allclose(f(v)[1], 2 * expected * slope)
    assert f.dprint("program", file="str").count("else:") <= 60


def test_branches_of_different_conditions_that_share_nodes(tmp_path):
    """Written out, the sides would have 2**40 nodes."""
    c, x = pt.dvector("c"), pt.dvector("x")
    out = x
    for k in range(40):
        out = ifelse(c[2 * k] > 0, pt.exp(-out), x) + ifelse(
            c[2 * k + 1] > 0, pt.cumsum(out) * 0.25, x * k
        )
    f = bt.function([c, x], out)
    rng = np.random.default_rng(1)
    for _ in range(3):
        choices, v = rng.normal(size=80), rng.uniform(size=3)
        expected = v
        for a, b, k in zip(choices[::2], choices[1::2], range(40)):
            expected = (np.exp(-expected) if a > 0 else v) + (
                np.cumsum(expected) * 0.25 if b > 0 else v * k
            )
        np.testing.assert_allclose(f(choices, v), expected)
    with pytest.raises(NotImplementedError, match="too many further choices"):
        f.export_c(tmp_path, name="choices")


def test_lengths_that_both_sides_have_do_not_need_the_choice():
    c, x, y = pt.iscalar("c"), pt.dmatrix("x"), pt.dmatrix("y")
    same, other = ifelse(c, pt.exp(x) + 1, x * 2), ifelse(c, x, y)
    f, g = (
        bt.function([c, x], same.shape, on_unused_input="ignore"),
        bt.function([c, x, y], other.shape),
    )
    assert "IfElse" not in f.dprint(file="str") and "IfElse" in g.dprint(file="str")
    a, b = np.ones((2, 3)), np.ones((4, 5))
    assert f(0, a).tolist() == g(1, a, b).tolist() == [2, 3] and g(0, a, b).tolist() == [4, 5]


def chosen_by_elements():
    """A vector that loops compute, and its element by which results of different lengths are chosen."""
    x, m = pt.dvector("x"), pt.dmatrix("m")
    square = pt.broadcast_to(x, (3, 3))
    for text, p in {
        "rows": square.prod(axis=1),
        "columns": (square * square.T).sum(axis=0),
        "cumulative": pt.cumsum(x) * x,
        "product": pt.dot(m, pt.dot(m.T, x)),
        "nested": pt.exp(square).sum(axis=1) - pt.exp(square).max(axis=1),
        "scan": bt.scan(
            lambda each, s: s + each, sequences=[x], outputs_info=[x[0]], return_updates=False
        ),
    }.items():
        yield text, x, m, pt.sin(p)


@pytest.mark.parametrize("index", [0, 1, -1])
def test_lengths_may_depend_on_elements_that_a_loop_computes(index):
    values, matrix = np.array([0.3, 0.7, 0.9]), np.arange(6.0).reshape(3, 2)
    for text, x, m, p in chosen_by_elements():
        for sign in (1, -1):
            chosen = bt.ifelse(sign * p[index] > 0.1, pt.broadcast_to(x, (2, 3)), pt.dot(m, m.T))
            outputs = [chosen, p, chosen.sum(axis=0) * p]
            expected = bt.function([x, m], outputs, mode="FAST_COMPILE")(values, matrix)
            for order in ([0, 1, 2], [2, 1, 0], [0], [2]):
                got = bt.function([x, m], [outputs[k] for k in order])(values, matrix)
                for each, k in zip(got, order):
                    np.testing.assert_allclose(each, expected[k], rtol=1e-12, err_msg=text)
