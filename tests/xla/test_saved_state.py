"""bitale.checkpoint with JAX in one process: shared variables of mode JAX, arrays over devices, and what has no elements.

Several processes are in test_cluster.
"""

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import bitale as bt
import bitale.tensor as pt
from bitale import checkpoint


def sharding(devices, *spec):
    return NamedSharding(Mesh(np.array(jax.devices("cpu")[:devices]), ("rows",)), P(*spec))


def test_a_loop_of_mode_jax(tmp_path):
    def loop(steps, folder):
        weights, rng = bt.shared(np.zeros(3), "weights"), bt.shared(bt.random.stream(5), "rng")
        after, noise = pt.random.normal(size=(3,), rng=rng).owner.outputs
        step = bt.function([], [], updates={weights: 0.9 * weights + noise, rng: after}, mode="JAX")
        found = checkpoint.restore(folder, {"weights": weights, "rng": rng})
        for number in range(found.step if found else 0, steps):
            step()
            if number % 2:
                checkpoint.save(folder, number + 1, {"weights": weights, "rng": rng})
        return weights.get_value().tobytes(), rng.get_value()

    whole = loop(8, tmp_path / "whole")
    loop(3, tmp_path / "parts")
    assert checkpoint.steps(tmp_path / "parts") == [2]
    assert loop(8, tmp_path / "parts") == whole


@pytest.mark.parametrize("devices", [1, 2, 8])
def test_arrays_over_other_numbers_of_devices(tmp_path, devices):
    values = np.arange(32.0).reshape(16, 2)
    checkpoint.save(
        tmp_path,
        1,
        {
            "x": jax.device_put(values, sharding(4, "rows", None)),
            "half": jax.numpy.ones(3, "float32"),
        },
    )
    for template in (
        jax.device_put(np.zeros((16, 2)), sharding(devices, "rows")),
        jax.ShapeDtypeStruct((16, 2), "f8", sharding=sharding(devices, "rows")),
    ):
        _, found = checkpoint.restore(tmp_path, {"x": template, "half": np.zeros(3, "float32")})
        assert (
            found["x"].sharding == template.sharding
            and len(found["x"].sharding.device_set) == devices
        )
        np.testing.assert_array_equal(np.asarray(found["x"]), values, strict=True)
        assert isinstance(found["half"], np.ndarray) and found["half"].all()
    _, found = checkpoint.restore(
        tmp_path, {"x": jax.ShapeDtypeStruct((16, 2), "f8"), "half": np.zeros(3, "float32")}
    )
    assert isinstance(found["x"], np.ndarray)


def test_refusals(tmp_path):
    for value, words in (
        (jax.ShapeDtypeStruct((3,), "f8"), "expected elements for `x`, got a ShapeDtypeStruct"),
        (jax.numpy.ones(3, "bfloat16"), "numbers of NumPy's own dtypes, got bfloat16"),
        (jax.random.key(1), "numbers of NumPy's own dtypes, got key"),
    ):
        with pytest.raises(TypeError, match=words):
            checkpoint.save(tmp_path, 1, {"x": value})
    checkpoint.save(tmp_path, 1, {"x": np.ones(3)})
    with pytest.raises(
        ValueError,
        match=r"expected an array of float64 of shape \(3,\) for `x`.*got an array of float32 of shape \(3,\)",
    ):
        checkpoint.restore(tmp_path, {"x": jax.ShapeDtypeStruct((3,), "f4", sharding=sharding(1))})
