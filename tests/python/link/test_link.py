"""Linkers, and wrappers around the execution of nodes."""

import copy
import pickle
import re

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def compiled(linker, optimizer="None"):
    x = pt.dvector("x")
    return bt.function([x], pt.exp(x).sum(), mode=bt.Mode(linker, optimizer))


def run_first(fgraph, i, node, *thunks):
    thunks[0]()


def test_wrapper():
    seen = []

    def wrapper(fgraph, i, node, thunk):
        assert node in fgraph.apply_nodes
        assert thunk.outputs == []
        thunk()
        seen.append((i, node.op.name, [cell[0].tolist() for cell in thunk.inputs + thunk.outputs]))

    f = compiled(bt.link.WrapLinker(["vm"], wrapper))
    assert f([0.0, 0.0]) == 2.0
    assert seen == [(0, "Exp", [[0.0, 0.0], [1.0, 1.0]]), (1, "Sum{axes=None}", [[1.0, 1.0], 2.0])]


def test_wrapper_of_two_linkers():
    def wrapper(fgraph, i, node, first, second):
        second()
        first()
        np.testing.assert_allclose(first.outputs[0][0], second.outputs[0][0])

    assert compiled(bt.link.WrapLinker(["vm", bt.link.Linker("jit")], wrapper))([0.0]) == 1.0


def test_several_wrappers():
    calls = []
    f = compiled(
        bt.link.WrapLinkerMany(["vm"], [run_first, lambda fgraph, i, node, thunk: calls.append(i)])
    )
    assert f([0.0]) == 1.0
    assert calls == [0, 1]


def test_options_of_the_virtual_machine():
    assert compiled(bt.link.VMLinker(c_thunks=True, use_cloop=True, lazy=True))([0.0]) == 1.0
    assert compiled(bt.link.VMLinker(lazy=False))([0.0]) == 1.0


def test_wrapper_raises():
    def wrapper(fgraph, i, node, thunk):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        compiled(bt.link.WrapLinker(["vm"], wrapper))([0.0])
    with pytest.raises(ValueError, match="has not run a node"):
        compiled(bt.link.WrapLinker(["vm"], lambda *_: None))([0.0])


def test_thunks_are_valid_during_the_call_only():
    kept = []

    def wrapper(fgraph, i, node, thunk):
        thunk()
        kept.append((fgraph, thunk, thunk.outputs))

    compiled(bt.link.WrapLinker(["vm"], wrapper))([0.0])
    fgraph, thunk, outputs = kept[0]
    assert outputs[0][0] == [1.0]
    assert len(fgraph.apply_nodes) == 2
    with pytest.raises(ValueError, match="only until the wrapper"):
        thunk()
    with pytest.raises(ValueError, match="only until the wrapper"):
        thunk.outputs


def test_callbacks_of_the_virtual_machine():
    after, inputs = [], []

    def callback(node, thunk, storage_map, compute_map):
        assert compute_map[node.outputs[0]] == [True]
        after.append(storage_map[node.outputs[0]][0].tolist())

    f = compiled(
        bt.link.VMLinker(
            callback=callback, callback_input=lambda variable, value: inputs.append(value.tolist())
        )
    )
    f([0.0])
    assert after == [[1.0], 1.0]
    assert inputs == [[0.0]]


def test_names():
    for name in [*bt.link.linker_names(), "c|py", "cvm", "py", "vm_nogc", "c|py_nogc"]:
        assert compiled(name)([0.0]) == 1.0, name
    with pytest.raises(ValueError, match="did you mean `wrap`"):
        bt.Mode(linker="wrp")
    with pytest.raises(TypeError, match="expected a name or a Linker"):
        bt.Mode(linker=3)
    with pytest.raises(ValueError, match="one linker or more"):
        bt.link.WrapLinker("vm", run_first)
    with pytest.raises(TypeError, match="expected a function"):
        bt.link.WrapLinker(["vm"], 3)


@pytest.mark.parametrize("mode", ["C", "VM", "CVM"])
def test_modes(mode):
    x = pt.dvector("x")
    assert bt.function([x], pt.exp(x).sum(), mode=mode)([0.0]) == 1.0


def test_pickle():
    linker = pickle.loads(pickle.dumps(bt.link.WrapLinker(["vm", "jit"], run_first)))
    assert linker.name == "wrap" and linker.node_linkers == ["vm", "jit"]
    f = compiled(linker)
    assert pickle.loads(pickle.dumps(f))([0.0]) == 1.0
    assert copy.copy(f)([0.0]) == 1.0


def never(first, second):
    return False


def test_dual_in_pickles():
    x = pt.dvector("x")
    for linker in (bt.link.DualLinker(), bt.link.Linker("dual")):
        f = bt.function([x], pt.exp(x).sum(), mode=bt.Mode(pickle.loads(pickle.dumps(linker))))
        assert pickle.loads(pickle.dumps(f))([0.0]) == 1.0
    strict = pickle.loads(pickle.dumps(bt.link.DualLinker("vm", "opwise", never)))
    assert strict.name == "dual" and strict.node_linkers == ["vm", "opwise"]
    with pytest.raises(bt.link.DualLinkerError):
        compiled(strict)([0.0])


def test_dual():
    x = pt.dvector("x")
    dual = bt.Mode(bt.link.DualLinker())
    assert bt.function([x], pt.exp(x).sum(), mode=dual)([0.0]) == 1.0
    suspicious = bt.Mode(bt.link.DualLinker(checker=lambda a, b: not (a > 2).any()), "None")
    with pytest.raises(bt.link.DualLinkerError) as caught:
        bt.function([x], pt.exp(x + 1).sum(), mode=suspicious)([0.5])
    text = str(caught.value)
    assert (
        "Exp(" in text
        and re.search(r"input 0 +\[1.5\]", text)
        and re.search(r"second +\[4.48168907\]", text)
        and "test_link.py" in text
    )


def test_opwise():
    x = pt.dvector("x")
    f = bt.function([x], [pt.sort(pt.exp(x)), x[::-1]], mode=bt.Mode("c|py"))
    assert f.mode.linker == "opwise"
    np.testing.assert_array_equal(f([0.0, -np.inf])[0], [0.0, 1.0])
    assert "(perform)" in bt.dprint(f, file="str")


@pytest.mark.parametrize("linker", bt.link.linker_names())
def test_output_subset(linker):
    x, state = pt.dvector("x"), bt.shared(0.0)
    outputs = {"a": x + 1, "b": pt.exp(x), "c": x * 2}
    options = dict(mode=bt.Mode(linker), updates={state: state + 1})
    f = bt.function([x], list(outputs.values()), **options)
    assert [each.tolist() for each in f([0.0], output_subset=[2, 0])] == [[0.0], [1.0]]
    assert f(x=[0.0], output_subset=[]) == []
    assert [each.tolist() for each in f([0.0], output_subset=None)] == [[1.0], [1.0], [0.0]]
    assert state.get_value() == 3.0
    named = bt.function([x], outputs, **options)
    assert {key: value.tolist() for key, value in named([0.0], output_subset=["b"]).items()} == {
        "b": [1.0]
    }
    single = bt.function([x], x + 1, mode=bt.Mode(linker))
    assert single([0.0], output_subset=[0]).tolist() == [1.0]
    with pytest.raises(IndexError, match="no output 3 among 3"):
        f([0.0], output_subset=[3])
    with pytest.raises(ValueError, match="requested twice"):
        f([0.0], output_subset=[1, 1])
    with pytest.raises(TypeError, match="there is no output 'z'"):
        named([0.0], output_subset=["z"])
    with pytest.raises(TypeError, match="expected a list"):
        f([0.0], output_subset=1)
    with pytest.raises(TypeError, match="can't be combined"):
        f([0.0], output_subset=[0], out=[None, None, None])


def test_partial_evaluation_runs_only_the_needed_nodes():
    x, seen = pt.dvector("x"), []
    linker = bt.link.VMLinker(callback=lambda node, **_: seen.append(node.op.name))
    f = bt.function(
        [x], [pt.exp(x), pt.log(pt.exp(x) + 1), pt.sin(x)], mode=bt.Mode(linker, "None")
    )
    f([1.0], output_subset=[2])
    assert seen == ["Sin"]
    seen.clear()
    f([1.0], output_subset=[1])
    assert sorted(seen) == ["Add", "Exp", "ExpandDims{axis=0}", "Log"]


def test_values_may_be_kept_between_calls():
    x = pt.dvector("x")
    for linker in [bt.link.VMLinker(allow_gc=False), bt.link.OpWiseCLinker(allow_gc=False)]:
        f = bt.function([x], [pt.exp(x) + 1, (pt.exp(x) * 2).sum()], mode=bt.Mode(linker))
        first = f([0.0, 0.0])
        kept = first[0].copy()
        assert f([1.0])[1] == pytest.approx(2 * np.e)
        np.testing.assert_array_equal(first[0], kept)
        f.free()
        assert f([0.0])[1] == 2.0
    with bt.config.change_flags(allow_gc=False):
        assert bt.function([x], pt.exp(x), mode=bt.Mode("vm"))([0.0]).tolist() == [1.0]
