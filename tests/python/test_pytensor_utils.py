"""Small helpers by PyTensor's names: bitale.utils, npy_2_compat, misc.pkl_utils, sparse.utils."""

import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import utils
from bitale.misc.pkl_utils import StripPickler
from bitale.npy_2_compat import old_np_unique

x = pt.dvector("x")


def test_lists():
    assert utils.uniq([1, 2, 1, [3], [3]]) == [1, 2, [3]]
    assert utils.difference([1, 2, 3, 2], [2]) == [1, 3]
    assert utils.difference([[1], [2]], [[2]]) == [[1]]
    assert utils.flatten([1, (2, [3]), {4}]) == [1, 2, 3, 4]
    assert utils.to_return_values([1]) == 1 and utils.to_return_values([1, 2]) == [1, 2]
    assert utils.from_return_values(1) == [1] and utils.from_return_values((1, 2)) == (1, 2)
    assert utils.unzip([(1, 2), (3, 4)], 2) == ((1, 3), (2, 4)) and utils.unzip([], 2) == ((), ())
    with pytest.raises(ValueError, match="different lengths"):
        utils.unzip([(1, 2), (3,)], 2, strict=True)


def test_functions_of_several_arguments():
    upper = utils.apply_across_args(str.upper)
    assert upper("a") == "A" and upper("a", "b") == ["A", "B"] == upper("ab")
    upper, lower = utils.apply_across_args(str.upper, str.lower)
    assert upper("a", "b") == ["A", "B"] and lower("A", "B") == ["a", "b"]
    make = utils.apply_across_args(lambda name=None: name)
    assert make(1) is None and make(2) == [None, None]


def test_keys_and_sizes():
    assert utils.hash_from_code("abc") == utils.hash_from_code(b"abc")
    assert utils.hash_from_code("abc").isidentifier() and utils.LOCAL_BITWIDTH in (32, 64)
    assert utils.PYTHON_INT_BITWIDTH in (32, 64)

    class One(utils.Singleton):
        pass

    class Two(utils.Singleton):
        pass

    assert One() is One() and One() != Two() and {One(): 1}[One()] == 1 and str(One()) == "One"


def test_commands():
    out, err, status = utils.output_subprocess_Popen([sys.executable, "-c", "print('a')"])
    assert out.split() == [b"a"] and err == b"" and status == 0
    assert utils.call_subprocess_Popen([sys.executable, "-c", "raise SystemExit(3)"]) == 3
    with pytest.raises(TypeError, match="stdout"):
        utils.call_subprocess_Popen(["x"], stdout=subprocess.PIPE)
    done = utils.subprocess_Popen([sys.executable, "-c", "input()"], stderr=subprocess.DEVNULL)
    assert done.wait() == 1  # there is no input


def test_folders_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_PATHS", "/a")
    utils.maybe_add_to_os_environ_pathlist("SOME_PATHS", tmp_path)
    utils.maybe_add_to_os_environ_pathlist("SOME_PATHS", tmp_path)
    utils.maybe_add_to_os_environ_pathlist("SOME_PATHS", tmp_path / "none")
    assert os.environ["SOME_PATHS"].split(os.pathsep) == [str(tmp_path), "/a"]
    with pytest.raises(ValueError, match="absolute"):
        utils.maybe_add_to_os_environ_pathlist("SOME_PATHS", "b")


def test_modules_that_are_imported_later():
    assert utils.lazy_scipy_module("special").expit(0.0) == 0.5


def test_exceptions_that_nobody_catches(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "excepthook", lambda *of: seen.append("before"))
    utils.add_excepthook(lambda kind, *of: seen.append(kind))
    sys.excepthook(ValueError, ValueError(), None)
    assert seen == ["before", ValueError]


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_unique_as_in_numpy_1(shape):
    values = np.array([3, 1, 2, 3, 1, 1]).reshape(shape)
    unique, first, inverse, counts = old_np_unique(values, True, True, True)
    assert inverse.ndim == 1 and (unique[inverse] == values.ravel()).all()
    assert first.tolist() == [1, 2, 0] and counts.tolist() == [3, 1, 2]
    assert old_np_unique(values).tolist() == [1, 2, 3]


def test_pickles_without_lines():
    file = io.BytesIO()
    pickler = StripPickler(file, protocol=-1, extra_tag_to_remove="note")
    pickler.dump(pt.exp(x))
    assert pickler.tag_to_remove == ["trace", "note"]
    assert bt.pprint(pickle.loads(file.getvalue())) == "exp(x)"


def test_keys_of_sparse_matrices():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    from bitale.sparse.utils import hash_from_sparse

    matrix = scipy_sparse.csr_array(np.eye(3))
    assert hash_from_sparse(matrix) == hash_from_sparse(matrix.copy())
    others = [matrix.tocsc(), matrix * 2, matrix.astype("float32"), scipy_sparse.csr_array((3, 3))]
    assert len({hash_from_sparse(each) for each in (matrix, *others)}) == 5


def test_dtypes_of_numbers():
    from bitale.scalar.basic import (
        ComplexError,
        IntegerDivisionError,
        NumpyAutocaster,
        autocast_float,
        autocast_int,
        mod_check,
    )

    assert [str(autocast_int(n).dtype) for n in (3, 300, 70000, 2**40)] == [
        "int8",
        "int16",
        "int32",
        "int64",
    ]
    assert autocast_float(0.1).dtype == bt.config.floatX
    assert NumpyAutocaster(("int8", "float32"))(0.1).dtype == "float32"
    assert autocast_int(np.int16(3)).dtype == "int16"
    with pytest.raises(TypeError, match="expected a number"):
        autocast_int([1, 2])
    assert issubclass(ComplexError, NotImplementedError) and issubclass(
        IntegerDivisionError, Exception
    )
    assert mod_check(7, 4).eval() == 3
    with pytest.raises(TypeError):
        mod_check(1j, 2)
