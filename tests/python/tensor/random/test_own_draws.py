"""Distributions that a program writes as ops, by PyTensor's names for their parts, and the helpers for shapes of draws."""

import copy
import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.tensor.random.op import RandomVariable, RNGConsumerOp
from bitale.tensor.random.utils import (
    broadcast_params,
    compute_batch_shape,
    custom_rng_deepcopy,
    explicit_expand_dims,
    normalize_size_param,
    params_broadcast_shapes,
    supp_shape_from_ref_param_shape,
)
from bitale.tensor.type_other import NoneTypeT


class Pair(RandomVariable):
    """Two numbers around a mean, of a length that no parameter has."""

    name, signature, dtype = "pair", "(),(k)->(2)", "float64"

    def rng_fn(self, rng, mean, weights, size):
        shape = np.shape(mean) if size is None else size
        return np.asarray(mean)[..., None] + weights.sum(-1)[..., None] * rng.random((*shape, 2))


class Shuffled(RandomVariable):
    name, signature, dtype = "shuffled", "(k)->(k)", "float64"

    def rng_fn(self, rng, values, size):
        shape = values.shape if size is None else (*size, values.shape[-1])
        return rng.permuted(np.broadcast_to(values, shape), axis=-1)


def generator(seed=3):
    return np.random.default_rng(seed)


def test_parts_of_a_node():
    rng = pt.random.rng("rng")
    node = Pair().make_node(rng, (4, 3), 0.0, [1.0, 2.0])
    op = node.op
    assert isinstance(op, RNGConsumerOp) and op.ndim_supp == 1 and list(op.ndims_params) == [0, 1]
    assert op.rng_param(node) is rng and op.size_param(node).type.shape == (2,)
    assert [each.ndim for each in op.dist_params(node)] == [0, 1] and op.batch_ndim(node) == 2
    assert op.update(node) == {rng: node.outputs[0]}
    assert node.outputs[1].type.shape == (4, 3, 2)
    assert str(op) == 'pair_rv{"(),(k)->(2)"}' and op.output_sig == ("2",)
    assert isinstance(Pair().make_node(rng, None, 0.0, [1.0]).inputs[1].type, NoneTypeT)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM", "DebugMode"])
def test_draws_in_all_modes(mode):
    rng = pt.random.rng("rng")
    mean, weights, n = pt.dvector("mean"), pt.dvector("weights"), pt.lscalar("n")
    after, sized = Pair()(mean, weights, size=(n, 2), rng=rng, return_next_rng=True)
    unsized = Pair()(mean, weights, rng=after, name="unsized")
    f = bt.function([rng, mean, weights, n], [sized, sized.shape, unsized], mode=mode)
    first, shape, second = f(generator(), [0.0, 10.0], [1.0, 2.0], 3)
    own = generator()
    np.testing.assert_array_equal(first, np.array([0.0, 10.0])[:, None] + 3 * own.random((3, 2, 2)))
    np.testing.assert_array_equal(second, np.array([0.0, 10.0])[:, None] + 3 * own.random((2, 2)))
    assert tuple(shape) == (3, 2, 2) and unsized.name == "unsized"


def test_batches_of_draws():
    rng, values, batch = pt.random.rng("rng"), pt.dvector("values"), pt.dmatrix("batch")
    for size, shape in ((None, (5, 4)), ((3,), (5, 3, 4))):
        drawn = Shuffled()(values, size=size, rng=rng)
        [batched] = bt.vectorize_graph([drawn], {values: batch})
        got = bt.function([rng, batch], batched)(generator(), np.arange(20.0).reshape(5, 4))
        assert got.shape == shape
        expected = np.sort(
            np.broadcast_to(np.arange(20.0).reshape(5, *(1,) * (len(shape) - 2), 4), shape)
        )
        np.testing.assert_array_equal(np.sort(got), expected)
    mean, weights = pt.dvector("mean"), pt.dvector("weights")
    means, many = pt.dmatrix("means"), pt.dtensor3("many")
    drawn = Pair()(mean, weights, rng=rng)
    [batched] = bt.vectorize_graph([drawn], {mean: means, weights: many})
    f = bt.function([rng, means, many], batched)
    got = f(generator(), np.arange(6.0).reshape(3, 2), np.zeros((5, 3, 4)))
    np.testing.assert_array_equal(
        got[..., 0], np.broadcast_to(np.arange(6.0).reshape(3, 2), (5, 3, 2))
    )
    with pytest.raises(NotImplementedError, match="a batch of sizes"):
        size = pt.lvector(shape=(1,))
        drawn = Shuffled()(values, size=size, rng=rng)
        bt.vectorize_graph([drawn], {size: pt.lmatrix(shape=(2, 1))})


def test_lengths_of_draws_without_the_draw():
    values, rng = pt.dvector("values"), pt.random.rng("rng")
    drawn = Shuffled()(values, size=(2, 3), rng=rng)
    f = bt.function([rng, values], drawn.shape)
    assert f(generator(), [1.0, 2.0]).tolist() == [2, 3, 2]
    assert "shuffled" not in f.dprint(file="str")


def test_equality_and_copies():
    assert Pair() == Pair() and Pair() != Pair(dtype="float32") and hash(Pair()) == hash(Pair())
    assert Pair(inplace=True).inplace and Pair(inplace=True) != Pair()
    for op in (copy.copy(Pair()), pickle.loads(pickle.dumps(Pair(name="other")))):
        assert isinstance(op, Pair) and op.ndim_supp == 1
    rng = bt.shared(generator())
    f = bt.function([], Pair()(0.0, [1.0], rng=rng))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(), f())


def test_a_generators_own_method():
    class Wald(RandomVariable):
        name, signature, dtype = "wald", "(),()->()", "float64"

    rng = pt.random.rng("rng")
    f = bt.function([rng], Wald()(1.0, [1.0, 2.0], size=(3, 2), rng=rng))
    np.testing.assert_array_equal(f(generator()), generator().wald(1.0, [1.0, 2.0], (3, 2)))


def test_what_is_wrong_with_a_draw():
    class Nothing(RandomVariable):
        name, signature = "nothing", "()->()"

    class Unknown(RandomVariable):
        name, signature = "unknown", "(k)->(n)"

    class Flat(RandomVariable):
        name, signature, dtype = "flat", "()->()", "float64"

        def rng_fn(self, rng, a, size):
            return np.zeros(3)

    rng = pt.random.rng("rng")
    with pytest.raises(NotImplementedError, match="no rng_fn"):
        bt.function([rng], Nothing()(1.0, rng=rng))(generator())
    with pytest.raises(NotImplementedError, match="'n' of the draw"):
        Unknown()([1.0], rng=rng)
    with pytest.raises(ValueError, match="rng_fn gave 1 dimensions, expected 0"):
        bt.function([rng], Flat()(1.0, rng=rng))(generator())
    with pytest.raises(ValueError, match="expected a signature"):
        Pair(signature="()->(),()")
    with pytest.raises(ValueError, match="the signature says 1"):
        Shuffled()(1.0, rng=rng)


def test_sizes():
    n, lengths = pt.lscalar("n"), pt.lvector("lengths")
    assert normalize_size_param(3).eval().tolist() == [3]
    assert normalize_size_param((2, n)).eval({n: 4}).tolist() == [2, 4]
    assert normalize_size_param(n).type.shape == (1,) and normalize_size_param(()).type.shape == (
        0,
    )
    assert normalize_size_param(np.array([2, 3], "int32")).dtype == "int64"
    none = normalize_size_param(None)
    assert isinstance(none.type, NoneTypeT) and normalize_size_param(none) is none
    for wrong in ("abc", 2.5, [1.5], [[1]]):
        with pytest.raises(TypeError, match="size"):
            normalize_size_param(wrong)
    with pytest.raises(ValueError, match="length is not known"):
        normalize_size_param(lengths)


def test_shapes_of_parameters():
    mean, cov = pt.dvector("mean"), pt.dtensor3("cov")
    expanded = explicit_expand_dims([mean, cov], [1, 2])
    assert [each.ndim for each in expanded] == [2, 3]
    assert [each.ndim for each in explicit_expand_dims([mean, cov], [1, 2], 3)] == [4, 5]
    values = {mean: np.zeros(2), cov: np.zeros((4, 2, 2))}
    assert compute_batch_shape([mean, cov], [1, 2]).eval(values).tolist() == [4]
    same = broadcast_params([mean, cov], [1, 2])
    assert [each.eval(values, on_unused_input="ignore").shape for each in same] == [
        (4, 2),
        (4, 2, 2),
    ]
    arrays = broadcast_params([np.zeros(2), np.zeros((4, 2, 2))], [1, 2])
    assert [each.shape for each in arrays] == [(4, 2), (4, 2, 2)]
    assert params_broadcast_shapes([(1, 2), (3, 1, 5)], [1, 1], False) == [(3, 1, 2), (3, 1, 5)]
    lengths = supp_shape_from_ref_param_shape(ndim_supp=1, dist_params=[mean, cov], ref_param_idx=0)
    assert [length.eval({mean: np.zeros(2)}) for length in lengths] == [2]
    known = supp_shape_from_ref_param_shape(
        ndim_supp=2, dist_params=[mean, cov], param_shapes=[(2,), (4, 2, 3)], ref_param_idx=1
    )
    assert known == (2, 3)
    for wrong in (0, 2):
        with pytest.raises(ValueError, match="ndim_supp|dimensions or more"):
            supp_shape_from_ref_param_shape(ndim_supp=wrong, dist_params=[mean], ref_param_idx=0)
    first = generator()
    second = custom_rng_deepcopy(first)
    assert first.random() == second.random() and first is not second
