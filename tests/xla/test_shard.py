"""shard: eight devices in one process, and two processes connected by jax.distributed."""

import pathlib
import socket
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec as P

import bitale as bt
import bitale.jax
import bitale.tensor as pt

rng = np.random.default_rng(1)
X, Y, W = rng.normal(size=(64, 5)), rng.integers(0, 2, size=64), rng.normal(size=5)


def log_density():
    x, y, w = pt.dmatrix("x"), pt.lvector("y"), pt.dvector("w")
    logits = x @ w
    value = (y * logits - pt.softplus(logits)).sum() - 0.5 * (w**2).sum()
    return bt.function([x, y, w], [value, bt.grad(value, w)])


def mesh_of(*lengths, names):
    return Mesh(np.array(jax.devices("cpu")[: int(np.prod(lengths))]).reshape(lengths), names)


def test_rows_of_a_log_density_over_devices():
    f = log_density()
    g = bitale.jax.shard(
        f, mesh_of(8, names=("rows",)), [P("rows", None), P("rows"), P()], [P(), P()]
    )
    for expected, got in zip(f(X, Y, W), g(X, Y, W)):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert "all-reduce" in g.lower(X, Y, W).compile().as_text()


def test_a_layer_divided_by_batch_and_by_columns():
    x, a, b = pt.fmatrix("x"), pt.fmatrix("a"), pt.fmatrix("b")
    f = bt.function([x, a, b], pt.softmax(pt.tanh(x @ a) @ b, axis=1))
    specs = [P("batch", None), P(None, "model"), P("model", None)]
    g = bitale.jax.shard(f, mesh_of(4, 2, names=("batch", "model")), specs, P("batch", None))
    values = [rng.normal(size=shape).astype("float32") for shape in ((16, 6), (6, 8), (8, 3))]
    np.testing.assert_allclose(g(*values), f(*values), rtol=2e-5)
    assert len(g(*values).sharding.device_set) == 8


def test_chains_of_a_sampler():
    x, eps = pt.dmatrix("x"), pt.dmatrix("eps")  # shape [chain, dimension]
    step = 0.1
    f = bt.function([x, eps], x + step * bt.grad(-0.5 * (x**2).sum(), x) + np.sqrt(2 * step) * eps)
    g = bitale.jax.shard(
        f, mesh_of(8, names=("chain",)), [P("chain", None), P("chain", None)], P("chain", None)
    )
    a, e = rng.normal(size=(16, 3)), rng.normal(size=(16, 3))
    np.testing.assert_allclose(g(g(a, e), e), f(f(a, e), e), rtol=1e-12)


def test_refusals():
    f, mesh = log_density(), mesh_of(8, names=("rows",))
    with pytest.raises(ValueError, match="3 in_specs"):
        bitale.jax.shard(f, mesh, [P()], [P(), P()])
    with pytest.raises(ValueError, match="2 out_specs"):
        bitale.jax.shard(f, mesh, [P(), P(), P()], [P()])
    with pytest.raises(ValueError, match="columns"):
        bitale.jax.shard(f, mesh, [P("columns"), P(), P()], [P(), P()])
    with pytest.raises(ValueError, match="divisible|divide"):
        bitale.jax.shard(f, mesh, [P("rows", None), P("rows"), P()], [P(), P()])(X[:10], Y[:10], W)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_two_processes():
    script, port = pathlib.Path(__file__).with_name("two_processes.py"), free_port()
    started = [
        subprocess.Popen(
            [sys.executable, script, str(k), str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for k in range(2)
    ]
    texts = [process.communicate(timeout=240)[0] for process in started]
    for process, text in zip(started, texts):
        assert process.returncode == 0 and "equal" in text, text
