"""dprint, pprint, pictures."""

import io
import shutil

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def test_dprint(capsys):
    x = pt.dmatrix("x")
    y = pt.exp(x) + pt.exp(x).sum()
    bt.dprint(y)
    printed = capsys.readouterr().out
    assert printed == bt.dprint(y, file="str") == bt.debugprint(y, file="str")
    stream = io.StringIO()
    assert y.dprint(file=stream) is None and stream.getvalue() == printed
    assert "Matrix(float64" in bt.dprint(y, print_type=True, file="str")
    assert len(bt.dprint(y, depth=1, file="str").splitlines()) < len(printed.splitlines())
    assert "[id" not in bt.dprint(y, id_type="", file="str")
    assert y.owner.dprint(file="str") and bt.dprint([x, y], file="str").startswith("x [id A]")
    with pytest.raises(ValueError):
        bt.dprint(y, id_type="roman", file="str")
    with pytest.raises(TypeError):
        bt.dprint(3)


def test_dprint_of_functions(capsys):
    x = pt.dvector("x")
    f = bt.function([x], (x * 2).sum(), mode="FAST_RUN")
    f.dprint()
    assert "[id A]" in capsys.readouterr().out
    assert "Scalar(float64" in bt.dprint(f, print_type=True, file="str")
    assert bt.dprint(f, file="str") and f.dprint(file="str") and f.maker.fgraph.dprint(file="str")
    assert "program" in f.dprint("program", file="str")
    with pytest.raises(ValueError):
        f.dprint("nothing")


def test_pprint():
    a = pt.dvector("a")
    assert bt.pp(a + a**10) == bt.pprint(a + a**10) and "a" in bt.pp(a + a**10)


def test_arrays_and_functions_print_plainly():
    x = pt.dscalar("x")
    assert str(bt.function([x], x + 1)(1.0)) == "2.0"


def test_pictures(tmp_path, capsys):
    x = pt.dvector("x")
    y = pt.exp(x) * 2
    y.name = 'a "quoted" name'
    for graph in (y, [y, x], bt.function([x], y), bt.FunctionGraph(outputs=[y])):
        bt.printing.pydotprint(graph, tmp_path / "graph.dot")
        text = (tmp_path / "graph.dot").read_text()
        assert text.startswith("digraph") and "exp" in text.lower()
    if shutil.which("dot"):
        bt.printing.pydotprint(y, tmp_path / "graph.png")
        assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
        assert bt.printing.pydotprint(y, return_image=True).startswith(b"\x89PNG")
    else:
        with pytest.raises(RuntimeError, match="Graphviz"):
            bt.printing.pydotprint(y, tmp_path / "graph.png")
    with pytest.raises(TypeError):
        bt.printing.pydotprint(3, tmp_path / "graph.dot")
