"""bitale.checkpoint: what is saved comes back; a process that is killed loses only the steps since; damage is noticed.

Several processes are in tests/xla/test_cluster.py.
"""

import contextlib
import itertools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pytest

import bitale as bt
from bitale import checkpoint
from bitale._checkpoint_values import _assembled


@pytest.fixture
def open_folder():
    """A folder that other users see, in memory where there is such a file system: waiting for a disk takes most of the time."""
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    ) as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def a_state():
    return {
        "weights": bt.shared(np.arange(6.0).reshape(2, 3), "weights"),
        "count": bt.shared(np.int64(3), "count"),
        "rng": bt.shared(bt.random.stream(7), "rng"),
        "numpy": bt.shared(np.random.default_rng(1), "numpy"),
        "mask": np.array([True, False]),
        "z": np.zeros((0, 2), "complex64"),
        "big-endian": np.array([1, 2], ">i4"),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "rate": 0.5,
        "file": np.float16(2),
    }


def test_all_kinds_of_values(tmp_path):
    state = a_state()
    state["rng"].set_value(bt.random.Stream(7, 5))
    checkpoint.save(tmp_path, 4, state)
    expected = state["numpy"].get_value().normal(size=3)
    fresh = a_state()
    fresh["weights"].set_value(np.zeros((2, 3)))
    fresh["count"].set_value(np.int64(0))
    fresh["numpy"].set_value(np.random.default_rng(2))
    step, values = checkpoint.restore(tmp_path, fresh | {"rate": 0.0})
    assert step == 4 and values.keys() == state.keys()
    np.testing.assert_array_equal(fresh["weights"].get_value(), np.arange(6.0).reshape(2, 3))
    assert fresh["count"].get_value() == 3 and fresh["rng"].get_value() == bt.random.Stream(7, 5)
    np.testing.assert_array_equal(fresh["numpy"].get_value().normal(size=3), expected)
    for name in ("mask", "z", "big-endian", "transposed"):
        np.testing.assert_array_equal(values[name], state[name], strict=name != "big-endian")
    assert values["rate"] == 0.5 and values["file"] == 2 and values["file"].dtype == "float16"


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_generators_of_numpy(tmp_path, kind):
    given = np.random.Generator(getattr(np.random, kind)(3))
    given.normal(size=5)
    given.integers(7, size=3, dtype="int32")
    checkpoint.save(tmp_path, 0, {"g": given})
    _, values = checkpoint.restore(tmp_path, {"g": np.random.default_rng()})
    np.testing.assert_array_equal(
        values["g"].integers(1 << 30, size=9, dtype="int32"),
        given.integers(1 << 30, size=9, dtype="int32"),
    )


def test_the_newest_is_restored_and_old_ones_are_deleted(tmp_path):
    x, folder = bt.shared(np.float64(0), "x"), tmp_path / "new" / "folder"
    assert checkpoint.restore(folder, {"x": x}) is None and checkpoint.steps(folder) == []
    for step in range(8, 12):
        x.set_value(np.float64(step))
        checkpoint.save(folder, step, {"x": x}, keep=3)
    assert checkpoint.steps(folder) == [9, 10, 11]
    x.set_value(np.float64(0))
    assert checkpoint.restore(folder, {"x": x}).step == 11 and x.get_value() == 11
    assert sorted(os.listdir(folder)) == ["step-10", "step-11", "step-9"]


def test_other_values_are_refused(tmp_path):
    for value in (
        "text",
        None,
        np.array(["a"]),
        np.array([None]),
        np.array("2020", "datetime64[D]"),
    ):
        with pytest.raises(TypeError, match="checkpoint: expected .*`x`.*, got"):
            checkpoint.save(tmp_path, 0, {"x": value})
    with pytest.raises(TypeError, match="`x`, got a masked array, whose mask would be lost"):
        checkpoint.save(tmp_path, 1, {"x": np.ma.array([1.0, 2.0], mask=[False, True])})
    for state in ([1], None, "x", {"x"}):
        with pytest.raises(TypeError, match="checkpoint.save: expected a dict of values by name"):
            checkpoint.save(tmp_path, 1, state)
    with pytest.raises(TypeError, match="names that are strings, got 3"):
        checkpoint.save(tmp_path, 0, {3: 1.0})
    assert os.listdir(tmp_path) == []


def test_a_state_that_does_not_fit_changes_nothing(tmp_path):
    x, y = bt.shared(np.zeros(3), "x"), bt.shared(np.zeros(3), "y")
    checkpoint.save(tmp_path, 1, {"x": np.ones(3), "y": np.ones(3)})
    for state, error, words in (
        ({"x": x}, ValueError, r"expected a state of x, y, as it was saved, got x$"),
        ({"x": x, "y": y, "w": y}, ValueError, "of x, y, as it was saved, got w, x, y"),
        ({}, ValueError, "got nothing"),
        (
            {"x": x, "y": np.zeros(4)},
            ValueError,
            r"expected an array of float64 of shape \(3,\) for `y`.*got an array of float64 of shape \(4,\)",
        ),
        ({"x": x, "y": np.zeros(3, "float32")}, ValueError, "got an array of float32"),
        (
            {"x": x, "y": bt.shared(np.zeros((3, 1)))},
            ValueError,
            r"got an array of float64 of shape \(3, 1\)",
        ),
        (
            {"x": x, "y": bt.shared(np.zeros(4))},
            ValueError,
            r"got an array of float64 of shape \(4,\)",
        ),
        ({"x": x, "y": bt.random.stream(1)}, TypeError, "expected an array .* got a stream"),
        ({"x": x, "y": "text"}, TypeError, "got str"),
    ):
        with pytest.raises(error, match=words):
            checkpoint.restore(tmp_path, state)
    assert not x.get_value().any()
    assert (
        checkpoint.restore(tmp_path, {"x": x, "y": y}).step == 1
        and x.get_value().all()
        and y.get_value().all()
    )


def test_bad_arguments(tmp_path):
    for keep in (0, 1.5, True, None):
        with pytest.raises(ValueError, match="expected an integer of 1 or more for keep, got"):
            checkpoint.save(tmp_path, 1, {}, keep=keep)
    for step in (-1, 2.0, False, "1"):
        with pytest.raises(ValueError, match="expected an integer of 0 or more for step, got"):
            checkpoint.save(tmp_path, step, {})
    assert os.listdir(tmp_path) == []


def test_a_run_that_does_not_restore_leaves_the_folder_alone(tmp_path):
    checkpoint.save(tmp_path, 8, {"x": 1.0})
    for step in (1, 8):
        with pytest.raises(ValueError, match=f"one of step 8, got {step}: restore it first"):
            checkpoint.save(tmp_path, step, {"x": 2.0})
    assert checkpoint.restore(tmp_path, {"x": 0.0}) == (8, {"x": 1.0}) and os.listdir(tmp_path) == [
        "step-8"
    ]
    checkpoint.save(tmp_path, 9, {"x": 2.0})
    assert checkpoint.steps(tmp_path) == [8, 9]


@pytest.mark.parametrize(
    "cuts",
    [([0, 6], [0, 5]), ([0, 2, 6], [0, 5]), ([0, 3, 4, 6], [0, 1, 3, 5]), ([0, 6], [0, 0, 5])],
)
def test_pieces_are_put_together(cuts):
    """Whatever the pieces that were saved and those that are wanted."""
    whole = np.arange(30.0).reshape(6, 5)
    boxes = [
        [list(rows), list(columns)]
        for rows in itertools.pairwise(cuts[0])
        for columns in itertools.pairwise(cuts[1])
    ]
    pieces = [(box, lambda box=box: whole[slice(*box[0]), slice(*box[1])]) for box in boxes]
    for wanted in itertools.product(
        itertools.combinations_with_replacement(range(7), 2),
        itertools.combinations_with_replacement(range(6), 2),
    ):
        np.testing.assert_array_equal(
            _assembled(wanted, "f8", pieces),
            whole[slice(*wanted[0]), slice(*wanted[1])],
            strict=True,
        )


def the_file(folder, step):
    return folder / f"step-{step}" / "part-0-of-1.npz"


@pytest.mark.parametrize("damage", ["truncated", "a bit", "empty", "no file", "text"])
def test_damage_is_noticed(tmp_path, damage):
    for step in (1, 2):
        checkpoint.save(tmp_path, step, {"x": np.arange(50.0) * step})
    path = the_file(tmp_path, 2)
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    if damage == "no file":
        path.unlink()
    else:
        path.write_bytes(
            {
                "truncated": path.read_bytes()[:-40],
                "empty": b"",
                "text": b"abc" * 100,
                "a bit": bytes(data),
            }[damage]
        )
    with pytest.warns(
        UserWarning, match="step 2 is passed over.*(is damaged|lacks part-0-of-1.npz)"
    ):
        step, values = checkpoint.restore(tmp_path, {"x": np.zeros(50)})
    assert step == 1 and np.array_equal(values["x"], np.arange(50.0))
    checkpoint.save(tmp_path, 2, {"x": np.zeros(50)})  # replaces the damaged one
    assert (
        checkpoint.steps(tmp_path) == [1, 2]
        and not checkpoint.restore(tmp_path, {"x": np.ones(50)}).values["x"].any()
    )


def test_only_damaged_ones_are_an_error(tmp_path):
    for step in (1, 2):
        checkpoint.save(tmp_path, step, {"x": 1.0})
        the_file(tmp_path, step).write_bytes(b"")
    with (
        pytest.warns(UserWarning),
        pytest.raises(
            ValueError, match="expected an undamaged checkpoint in .*got none: .*step-2.*; .*step-1"
        ),
    ):
        checkpoint.restore(tmp_path, {"x": 0.0})


def test_no_bit_changes_a_value_silently(open_folder):
    """A bit of each byte of the file in turn: an error, or a value that is not affected."""
    state = {"x": np.arange(3.0), "rng": bt.random.Stream(3, 4)}
    checkpoint.save(open_folder, 1, state)
    path = the_file(open_folder, 1)
    data, noticed = path.read_bytes(), 0
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _, values = checkpoint.restore(open_folder, state)
            except ValueError as error:
                assert "is damaged" in str(error)
                noticed += 1
                continue
        assert np.array_equal(values["x"], state["x"]) and values["rng"] == state["rng"], place
    assert noticed > len(data) * 0.7  # the others are times of members, and the like


def test_another_format(tmp_path):
    checkpoint.save(tmp_path, 1, {"x": 1.0})
    with np.load(the_file(tmp_path, 1)) as file:
        members = dict(file)
    about = json.loads(bytes(members["description"]))
    assert about["format"] == checkpoint.FORMAT
    about["format"] = checkpoint.FORMAT + 1
    members["description"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(the_file(tmp_path, 1), **members)
    with pytest.raises(
        ValueError, match="expected format 1 in .*step-1, got 2, of another version of Bitale"
    ):
        checkpoint.restore(tmp_path, {"x": 0.0})


@contextlib.contextmanager
def as_nobody():
    """The superuser may write anywhere; other users are not affected."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_no_right_to_write(open_folder):
    checkpoint.save(open_folder, 1, {"x": np.ones(3)})
    open_folder.chmod(0o555)
    with as_nobody(), pytest.raises(PermissionError, match="step-2|writing-2"):
        checkpoint.save(open_folder, 2, {"x": np.zeros(3)})
    assert os.listdir(open_folder) == ["step-1"]
    with as_nobody():
        assert checkpoint.restore(open_folder, {"x": np.zeros(3)}).values["x"].all()
    open_folder.chmod(0o755)


def test_no_right_to_read(open_folder):
    """Which is no damage: the checkpoint before would be older than need be."""
    for step in (1, 2):
        checkpoint.save(open_folder, step, {"x": 1.0})
    the_file(open_folder, 2).chmod(0)
    with as_nobody(), pytest.raises(PermissionError, match="step-2"):
        checkpoint.restore(open_folder, {"x": 0.0})


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    for call in (
        lambda: checkpoint.save(tmp_path / "file", 1, {}),
        lambda: checkpoint.restore(tmp_path / "file", {}),
    ):
        with pytest.raises(NotADirectoryError):
            call()


def test_a_disk_without_space_leaves_the_earlier_checkpoint(tmp_path):
    checkpoint.save(tmp_path, 1, {"x": np.ones(3)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            checkpoint.save(tmp_path, 2, {"x": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["step-1"]
    assert checkpoint.restore(tmp_path, {"x": np.zeros(3)}).values["x"].all()


@pytest.mark.parametrize(
    "what, words", [("moments", "different steps"), ("operations", "killed at")]
)
def test_killed(open_folder, what, words):
    """At random moments many times; and before each change of the file system, and in the middle of a file."""
    script = pathlib.Path(__file__).with_name("killed_loops.py")
    done = subprocess.run(
        [sys.executable, script, what, open_folder], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and words in done.stdout, done.stdout + done.stderr


def test_sparse_and_labelled_shared_variables(tmp_path):
    sp = pytest.importorskip("scipy.sparse")
    pytest.importorskip("xarray")
    from bitale import sparse
    from bitale import xtensor as px

    value, labels = sp.csr_array([[0.0, 2.0], [1.0, 3.0]]), px.Dim("t", coords=["a", "b"])
    state = {
        "A": sparse.shared(value, "A"),
        "x": px.xtensor_shared(np.array([1.0, 2.0]), dims=labels),
    }
    checkpoint.save(tmp_path, 1, state)
    state["A"].set_value(value * 5)
    state["x"].set_value(np.zeros(2))
    assert checkpoint.restore(tmp_path, state).step == 1
    np.testing.assert_array_equal(state["A"].get_value().toarray(), value.toarray())
    np.testing.assert_array_equal(state["x"].get_value(), [1.0, 2.0])
    for other in (
        sp.csr_array([[5.0, 0.0], [8.0, 9.0]]),
        sp.csc_array(value),
        value.astype("float32"),
        sp.csr_array([[0.0, 2.0, 0.0], [1.0, 3.0, 0.0]]),
    ):
        with pytest.raises(ValueError, match="expected a csr matrix of float64"):
            checkpoint.restore(tmp_path, {**state, "A": sparse.shared(other)})
    with pytest.raises(TypeError, match="expected a csr matrix"):
        checkpoint.restore(tmp_path, {**state, "A": bt.shared(np.ones(3))})
