"""What Python computes at once and never hands to the graph: comparisons by `==`, conditions, loops, membership. Each
has the right answer or raises an error that names what to write instead; none is a silent wrong number."""

import copy
import math
import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _core

X = np.array([-1.0, 0.0, 2.0])


# ---- `==` with a value is elementwise --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other", [0, 2, 2.0, 2j, np.float64(2), np.int8(2), np.array([2.0, 0, 2]), np.array(2), [2.0, 0.0, 2.0], (0, 0, 2), np.bool_(True)],
    ids=repr,
)  # fmt: skip
def test_equality_with_a_value_is_elementwise(other):
    x = pt.dvector("x")
    for symbolic, numpy in [
        (x == other, X == np.asarray(other)),
        (other == x, np.asarray(other) == X),
        (x != other, X != np.asarray(other)),
        (other != x, np.asarray(other) != X),
    ]:
        assert isinstance(symbolic, pt.TensorVariable) and symbolic.dtype == "bool"
        assert symbolic.eval({x: X}).tolist() == numpy.tolist()


def test_the_three_classical_traps():
    x = pt.dvector("x")
    with np.errstate(divide="ignore"):
        assert pt.switch(x != 0, pt.log(x * x), 0).eval({x: X}).tolist() == [0, 0, np.log(4.0)]
    assert (x * (x == 2)).eval({x: X}).tolist() == [0, 0, 2]
    assert x[x != 0].eval({x: X}).tolist() == [-1, 2]
    assert (~(x == 2)).eval({x: X}).tolist() == [True, True, False]
    assert ((x == 2) | (x == 0)).eval({x: X}).tolist() == [False, True, True]
    assert (x == 2).sum().eval({x: X}) == 1
    assert pt.stack([x == 0, x == 2]).eval({x: X}).tolist() == [
        [False, True, False],
        [False, False, True],
    ]
    assert x[x == 0].set(7).eval({x: X}).tolist() == [-1, 7, 2]


def test_a_comparison_with_a_value_is_no_condition():
    x, y = pt.dscalars("x", "y")
    for use in [
        lambda: 1 if x == 2 else 0,
        lambda: not x == 2,
        lambda: (x != 0) and y,
        lambda: (x == 0) or y,
        lambda: 0 == x == y,
        lambda: x in [2, y],
        lambda: [2, x].index(x),
    ]:
        with pytest.raises(TypeError, match=r"condition.*pt\.switch"):
            use()
    with pytest.raises(TypeError, match="condition"):
        assert x == 2


# ---- `==` of two variables is identity, as containers need it --------------------------------------------------------


def test_equality_of_variables_is_identity():
    x, y, c = pt.dvector("x"), pt.dvector("y"), pt.constant(2.0)
    assert x == x and not x == y and x != y and not x != x and c == c and c != x
    assert (
        (x == x) == True and (x == y) == False and (x == y) == (y == x) and repr(x == y) == "False"
    )  # noqa: E712
    assert (
        x in [y, x]
        and x not in [y]
        and x in (None, "x", y, x)
        and [y, x].index(x) == 1
        and [x, y, x].count(x) == 2
    )
    numbered = {x: 1, y: 2}
    assert (
        numbered[x] == 1
        and numbered[y] == 2
        and c not in numbered
        and {x, y} == {y, x}
        and len({x, x, y}) == 2
    )
    rest = [y, x]
    rest.remove(x)
    assert rest == [y] and (x, 1) == (x, 1) and (x, y) != (y, x)
    assert hash(x) == hash(x) and x in bt.graph.traversal.ancestors([x + y])
    z = x + y
    assert z.owner.inputs[0] == x and z == z.owner.outputs[0]
    many = {pt.dscalar(): i for i in range(1000)}
    assert [many[v] for v in many] == list(range(1000))


@pytest.mark.parametrize(
    "other", [None, "x", object(), {}, pt, float, pt.dvector], ids=lambda o: type(o).__name__
)
def test_other_objects_differ_from_a_variable(other):
    x = pt.dvector("x")
    assert (x == other) is False and (x != other) is True and x not in [other] and other not in [x]


def test_variables_of_other_types_are_compared_by_identity():
    x, r, s = (
        pt.dvector("x"),
        bt.shared(np.random.default_rng(1)),
        bt.shared(np.random.default_rng(1)),
    )
    assert r == r and r != s and r != x and x != r and r in [x, s, r] and s not in [x, r]


def test_subclasses_and_copies_keep_hash_and_identity():
    x = pt.dvector("x")
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert hash(twin) == hash(twin) and twin in {twin} and (twin is x or twin != x)
    s = bt.shared(X, name="s")
    assert s == s and s in {s} and (s == 2).eval().tolist() == [False, False, True]


def identity_tests():
    x, y = pt.dvector("x"), pt.dvector("y")
    return {"==": x == y, "!=": x != y, "is itself": x == x}


@pytest.mark.parametrize("which", ["==", "!=", "is itself"])
def test_the_identity_of_variables_is_no_operand(which):
    x, test = pt.dvector("x"), identity_tests()[which]
    uses = [
        lambda: ~test, lambda: -test, lambda: test * 1.0, lambda: 1 - test, lambda: test + test, lambda: test & test,
        lambda: test | (x > 0), lambda: (x > 0) & test, lambda: x * test, lambda: test * x, lambda: np.ones(2) * test,
        lambda: test * np.ones(2), lambda: float(test), lambda: int(test), lambda: [1, 2][test], lambda: sum([test, test]),
        lambda: test < 1, lambda: np.where(test, x, 0), lambda: pt.stack([test, test]), lambda: pt.all([test, test]),
        lambda: pt.as_tensor_variable([[test]]), lambda: x[test], lambda: x[test, :], lambda: math.sqrt(test),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(TypeError, match=r"pt\.eq|pt\.neq"):
            use()
    with pytest.raises(AttributeError, match=r"pt\.eq|pt\.neq"):
        test.sum()


# ---- a Python bool is no operand -------------------------------------------------------------------------------------

_operand = {
    "x": lambda: pt.dvector("x"),
    "A": lambda: pt.dmatrix("A"),
    "a": lambda: pt.dvector("a"),
}


def truth_values():
    x, y = pt.dvector("x"), pt.dvector("y")
    return {
        "True": True,
        "False": False,
        "not": not x == y,
        "in": x in [y],
        "is": x is y,
        "None": x == None,
        "==": x == y,
    }  # noqa: E711


@pytest.mark.parametrize("which", truth_values())
def test_elementwise_functions_refuse_truth_values(which):
    truth = truth_values()[which]
    x = pt.dvector("x")
    for name, arity in _core.elementwise_functions():
        function = getattr(pt, name, None) or getattr(_core, name)
        for position in range(arity):
            operands = [x] * arity
            operands[position] = truth
            with pytest.raises(TypeError, match=r"pt\.eq|pt\.neq"):
                function(*operands)
                pytest.fail(f"{name}, operand {position}")


@pytest.mark.parametrize("which", truth_values())
def test_nothing_takes_a_truth_value_for_an_operand(which):
    truth = truth_values()[which]
    x, m, s = pt.dvector("x"), pt.dmatrix("m"), bt.shared(X)
    flag = bt.shared(np.True_)
    uses = {
        "+": lambda: x + truth, "r+": lambda: truth + x, "*": lambda: x * truth, "/": lambda: truth / x,
        "**": lambda: x**truth, "&": lambda: (x > 0) & truth, "|": lambda: truth | (x > 0), "^": lambda: (x > 0) ^ truth,
        "<": lambda: x < truth, ">=": lambda: truth >= x, "@": lambda: m @ truth, "divmod": lambda: divmod(x, truth),
        "==": lambda: (x > 0) == (truth if isinstance(truth, bool) else [truth]),
        "switch": lambda: pt.switch(truth, x, 0), "where": lambda: pt.where(truth, x, 0), "np.where": lambda: np.where(truth, x, 0),
        "switch then": lambda: pt.switch(x > 0, truth, x), "ifelse": lambda: bt.ifelse(truth, x, x),
        "ifelse then": lambda: bt.ifelse(x[0] > 0, truth, x[0]), "index": lambda: x[truth], "index pair": lambda: m[truth, 0],
        "slice": lambda: x[truth:], "set": lambda: x[0].set(truth), "inc": lambda: x[0].inc(truth),
        "set_subtensor": lambda: pt.set_subtensor(x[:2], truth), "inc_subtensor": lambda: pt.inc_subtensor(x[:2], truth),
        "take": lambda: pt.take(x, truth), "compress": lambda: pt.compress(truth, x), "sum": lambda: pt.sum(truth),
        "all": lambda: pt.all(truth), "any": lambda: pt.any(truth), "stack": lambda: pt.stack([x[0] > 0, truth]),
        "concatenate": lambda: pt.concatenate([x, truth]), "list": lambda: pt.as_tensor_variable([x[0], truth]),
        "as_tensor_variable": lambda: pt.as_tensor_variable(truth), "as_tensor": lambda: pt.as_tensor(truth),
        "alloc": lambda: pt.alloc(truth, 3), "full_like": lambda: pt.full_like(x, truth), "clip": lambda: pt.clip(x, truth, 1),
        "axis": lambda: pt.sum(m, axis=truth), "axes": lambda: pt.sum(m, axis=(truth,)), "cumsum axis": lambda: pt.cumsum(m, axis=truth),
        "shape": lambda: pt.zeros(truth), "shapes": lambda: pt.zeros((2, truth)), "reshape": lambda: x.reshape((truth,)),
        "arange": lambda: pt.arange(truth), "dot": lambda: pt.dot(m, truth), "eye": lambda: pt.eye(truth), "repeat": lambda: pt.repeat(x, truth),
        "grad": lambda: bt.grad(truth, x), "updates": lambda: bt.function([], [], updates={s: truth}),
        "updates of a flag": lambda: bt.function([], [], updates=[(flag, truth)]), "givens": lambda: bt.function([], flag + 1, givens={flag: truth}),
        "clone_replace": lambda: bt.clone_replace(x + 1, {x: truth}), "function": lambda: bt.function([], truth), "function list": lambda: bt.function([x], [x, truth]),
        "scan": lambda: bt.scan(lambda a: a + 1, outputs_info=[truth], n_steps=2), "scan steps": lambda: bt.scan(lambda a: a + 1, outputs_info=[x], n_steps=truth),
        "scan result": lambda: bt.scan(lambda a: truth, sequences=[x]), "scan sequence": lambda: bt.scan(lambda a: a, sequences=[truth]),
        "random": lambda: pt.random.normal(truth, 1), "bernoulli": lambda: pt.random.bernoulli(truth), "assert": lambda: bt.raise_op.assert_op(x, truth),
        "solve": lambda: pt.linalg.solve(m, truth), "einsum": lambda: pt.einsum("i,->i", x, truth), "isclose": lambda: pt.isclose(x, truth),
        "softmax": lambda: pt.special.softmax(truth), "np.add": lambda: np.add(x, truth),
    }  # fmt: skip
    accepted = []
    for name, use in uses.items():
        try:
            use()
        except TypeError as error:
            if name not in (
                "axis",
                "axes",
                "cumsum axis",
                "slice",
                "shape",
                "grad",
                "function",
                "function list",
                "scan result",
                "scan sequence",
                "scan steps",
            ):
                assert "pt.eq" in str(error) or "pt.neq" in str(error), f"{name}: {error}"
        else:
            accepted.append(name)
    assert not accepted


def test_constants_of_bool_are_said_explicitly():
    x, mask = pt.dvector("x"), np.array([True, False, True])
    for constant in (
        pt.constant(True),
        np.True_,
        np.array(True),
        pt.as_tensor_variable(np.True_),
        bt.shared(True),
    ):
        assert (x * constant).eval({x: X}).tolist() == X.tolist()
        assert pt.switch(constant, x, 0).eval({x: X}).tolist() == X.tolist()
        assert bt.ifelse(constant, x, -x).eval({x: X}).tolist() == X.tolist()
    for constant in (
        mask,
        mask.tolist(),
        pt.constant(mask.tolist()),
        pt.as_tensor_variable([True, False, True]),
    ):
        assert pt.switch(constant, x, 0).eval({x: X}).tolist() == [-1, 0, 2]
        assert x[constant].eval({x: X}).tolist() == [-1, 2]
        assert x[constant].set(0).eval({x: X}).tolist() == [0, 0, 0]
    assert pt.constant(True).dtype == "bool" and pt.constant([True, False]).eval().tolist() == [
        True,
        False,
    ]
    assert x[np.True_].eval({x: X}).shape == (1, 3)
    assert pt.full((2,), np.False_).eval().tolist() == [False, False]


def test_bools_as_options_and_values_are_no_operands():
    x, b = pt.dmatrix("x"), pt.TensorType("bool", ())("b")
    f = bt.function(
        [x, bt.In(b, value=True)],
        pt.switch(b, x, -x).sum(axis=1, keepdims=True),
        allow_input_downcast=False,
    )
    assert f(np.ones((2, 3))).tolist() == [[3], [3]] and f(np.ones((2, 3)), False).tolist() == [
        [-3],
        [-3],
    ]
    assert b.eval({b: True}) and not (~b).eval({b: True})
    flag = bt.shared(True, name="flag")
    g = bt.function([], flag, updates={flag: ~flag})
    assert [bool(g()), bool(g())] == [True, False] and g() is not None
    flag.set_value(False)
    assert not flag.get_value() and flag.dtype == "bool"
    assert (
        bt.function([], flag, updates={flag: pt.constant(True)})().dtype == bool
        and flag.get_value()
    )
    assert (
        pt.isclose(x, x, equal_nan=True).dtype == "bool" and pt.any(x > 0, keepdims=True).ndim == 2
    )


# ---- conditions, loops, membership, conversions ----------------------------------------------------------------------


def test_conditions_are_refused_with_what_to_write():
    x, y = pt.dscalars("x", "y")
    v = pt.vector("v", shape=(3,))
    uses = [
        lambda: bool(x), lambda: not x, lambda: x and y, lambda: x or y, lambda: 0 < x < 1, lambda: x if x > 0 else -x,
        lambda: max(x, y), lambda: min(x, y), lambda: max(v), lambda: sorted([x, y]), lambda: any([x > 0, y > 0]),
        lambda: all([x > 0, y > 0]), lambda: [a for a in [1] if x > 0], lambda: bool(pt.eq(x, y)), lambda: list(filter(lambda a: a > 0, v)),
        lambda: next(a for a in v if a > 0),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(TypeError, match=r"condition.*pt\.switch.*pt\.maximum"):
            use()
    with pytest.raises(TypeError, match="condition"):
        assert pt.eq(x, y)
    with pytest.raises(TypeError, match="condition"):
        while x > 0:
            pass


def test_lengths():
    assert (
        len(pt.vector("v", shape=(3,))) == 3
        and len(pt.constant([1, 2])) == 2
        and len(pt.dmatrix("m").shape) == 2
    )
    assert [len(row) for row in pt.matrix("m", shape=(2, 4))] == [4, 4]
    assert [a.eval() for a in reversed(pt.constant([1, 2, 3]))] == [3, 2, 1]
    with pytest.raises(TypeError, match=r"x\.shape\[0\]"):
        len(pt.dvector("x"))
    with pytest.raises(TypeError, match="scalar"):
        len(pt.dscalar("x"))


def test_iteration():
    a, b = pt.vector("v", shape=(2,))
    assert a.ndim == b.ndim == 0
    rows, columns = pt.dmatrix("m").shape
    assert rows.dtype == columns.dtype == "int64"
    assert sum(pt.constant([1, 2, 3])).eval() == 6
    x = pt.dvector("x")
    for use in [
        lambda: list(x),
        lambda: [*x],
        lambda: sum(x),
        lambda: dict(zip(x, x)),
        lambda: tuple(enumerate(x)),
        lambda: max(x),
    ]:
        with pytest.raises(TypeError, match=r"can't iterate.*scan"):
            use()
    with pytest.raises(TypeError, match="scalar"):
        list(pt.dscalar())


def test_membership():
    x, v = pt.dscalar("x"), pt.vector("v", shape=(2,))
    for use in [
        lambda: 2 in v,
        lambda: x in v,
        lambda: x not in v,
        lambda: 2 in pt.dvector(),
        lambda: 1 in pt.dmatrix().shape,
    ]:
        with pytest.raises(TypeError, match=r"pt\.any\(pt\.eq\("):
            use()


def test_conversions():
    x = pt.dscalar("x")
    with pytest.raises(TypeError, match=r"pt\.exp"):
        math.exp(x)
    for convert in (float, complex, int, math.floor)[:3]:
        with pytest.raises(TypeError, match="eval"):
            convert(x)
    for use in [lambda: range(x), lambda: [1, 2][x], lambda: "a" * x, lambda: np.arange(3)[x]]:
        with pytest.raises(TypeError, match=r"has no value yet"):
            use()
    for use in [
        lambda: f"{x:.2f}",
        lambda: "{:d}".format(x),
        lambda: format(x, "e"),
        lambda: "%f" % x,
        lambda: x.__format__("d"),
    ]:
        with pytest.raises(TypeError, match="has no value yet"):
            use()
    assert (
        f"{x}" == "x"
        and "%s" % x == "x"
        and f"{x!r}" == "x"
        and f"{x!s:>3}" == "  x"
        and f"{x:>3}" == "  x"
    )
    assert round(x).eval({x: 2.5}) == 2 and math.floor(x).eval({x: 2.5}) == 2
    assert round(x, 1).eval({x: 2.25}) == 2.2


def test_augmented_assignment_gives_a_new_variable():
    x = pt.dvector("x")
    y = x
    y += 1
    y *= 2
    y -= x
    assert y is not x and y.eval({x: X}).tolist() == ((X + 1) * 2 - X).tolist()
    for use in ["x[0] = 1", "x[0] += 1", "del x[0]"]:
        with pytest.raises(TypeError, match=r"\.set\(|deleted"):
            exec(use, {"x": x})
    array = np.zeros(3)
    with pytest.raises(TypeError, match="symbolic"):
        array += x


def test_numpy_functions_of_variables():
    x = pt.dvector("x")
    assert np.exp(x).eval({x: X}).tolist() == np.exp(X).tolist()
    assert np.maximum(x, 1).eval({x: X}).tolist() == [1, 1, 2]
    assert np.equal(x, 2).eval({x: X}).tolist() == [False, False, True]
    assert np.logical_and(x > 0, x < 3).eval({x: X}).tolist() == [False, False, True]
    for use in [
        lambda: np.array(x),
        lambda: np.array([x, x]),
        lambda: np.zeros(3)[x > 0],
        lambda: np.random.normal(x),
        lambda: np.zeros(x.shape),
    ]:
        with pytest.raises(TypeError, match="has no value yet|symbolic"):
            use()


def test_a_list_that_contains_itself():
    endless = [pt.scalar("x")]
    endless.append(endless)
    for use in [
        pt.stacklists,
        pt.stack,
        pt.concatenate,
        pt.as_tensor,
        lambda given: pt.scalar("y") + given,
    ]:
        with pytest.raises((RecursionError, TypeError)):
            use(endless)


def test_axes_and_lengths_that_no_int64_holds():
    """The error names the argument, as for those that are too large by less."""
    x = pt.dmatrix("x")
    for big in (2**31, 2**63, -(2**63) - 1, 10**30):
        for call in (
            lambda axis: pt.sum(x, axis=axis),
            lambda axis: pt.sum(x, axis=(0, axis)),
            lambda axis: x.max(axis=axis),
            lambda axis: pt.argmax(x, axis=axis),
            lambda axis: pt.sort(x, axis=axis),
            lambda axis: pt.cumsum(x, axis=axis),
            lambda axis: pt.take(x, [0], axis=axis),
            lambda axis: pt.squeeze(x, axis=axis),
            lambda axis: pt.expand_dims(x, axis=axis),
            lambda axis: pt.median(x, axis=axis),
        ):
            with pytest.raises(ValueError, match=f"axis: .*{big}"):
                call(big)
        with pytest.raises(ValueError, match=f"transpose|axes: .*{big}"):
            pt.transpose(x, (0, big))
        with pytest.raises(ValueError, match=f"ndim.*{big}"):
            pt.as_tensor_variable(x, ndim=big)
    for length in (2**63, -(2**63) - 1, 10**30):
        with pytest.raises(ValueError, match=f"shape: .*{length}"):
            pt.tensor("t", dtype="float64", shape=(2, length))
    f = bt.function([x], [x + 1, x + 2])
    with pytest.raises((ValueError, IndexError, TypeError)):
        f([[1.0]], output_subset=[2**63])


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_lists_nested_too_deep(depth):
    from bitale import sparse

    nested = []
    for _ in range(depth):
        nested = [nested]
    for convert in (sparse.as_sparse_variable, sparse.constant):
        with pytest.raises(TypeError, match="expected .*sparse.*, got"):
            convert(nested)
    for convert in (pt.as_tensor_variable, sparse.as_sparse_or_tensor_variable):
        with pytest.raises(RecursionError, match="nested at most 200 deep"):
            convert(nested)
