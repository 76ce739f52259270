"""dprint, pprint, graph drawings."""

import io
import os
import shutil
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.tensor.basic import MakeVectorPrinter
from bitale.tensor.elemwise import DimShufflePrinter
from bitale.tensor.subtensor import (
    AdvancedIncSubtensorPrinter,
    AdvancedSubtensorPrinter,
    IncSubtensorPrinter,
    SubtensorPrinter,
)


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


def test_dprint_calls_that_share_ids():
    x = pt.dvector("x")
    e = pt.exp(x)
    used_ids, done = {}, {}
    first = bt.dprint(e, file="str", used_ids=used_ids, done=done)
    assert (
        first == "Exp [id A]\n └─ x [id B]\n"
        and used_ids == {e.owner: "[id A]", x: "[id B]"}
        and done == {e.owner: "[id A]"}
    )
    second = bt.dprint(pt.log(x) * e, file="str", used_ids=used_ids, done=done).splitlines()
    assert second[1:4] == [" ├─ Log [id D]", " │  └─ x [id B]", " └─ Exp [id A]"] and second[
        4
    ].endswith("···")
    again = bt.dprint(e, file="str", used_ids=used_ids)
    assert again == first and len(used_ids) == 4
    with pytest.raises(TypeError, match="a dict as used_ids"):
        bt.dprint(e, file="str", used_ids=[])
    with pytest.raises(TypeError, match="as keys of done"):
        bt.dprint(e, file="str", done={3: "[id A]"})


def test_dprint_with_details_of_nodes_and_leaves():
    x, w = pt.dmatrix("x"), bt.shared(np.array([1.0, 2.0]), name="w")
    f = bt.function([x], (x @ w).sum())
    text = bt.dprint(f, file="str", print_storage=True)
    assert "array([1., 2.])" in text
    w.set_value([5.0, 6.0])
    assert "array([5., 6.])" in bt.dprint(f, file="str", print_storage=True)
    assert "array" not in bt.dprint(f, file="str")
    assert "ndim=1" in bt.dprint(x.reshape((-1,)), file="str", print_op_info=True)
    matrix = pt.assume(pt.dmatrix("m"), symmetric=True)
    assert "<sym" in bt.dprint(matrix, file="str", print_assumptions=True)
    address = bt.dprint(x, file="str", id_type="id").split("[id ")[1]
    assert (
        address.rstrip("]\n").isdigit()
        and address == bt.dprint(x, file="str", id_type="id").split("[id ")[1]
    )


def _labels(tree):
    from rich.text import Text

    texts = [Text.from_markup(child.label) for child in tree.children]
    return [
        (text.plain, [str(span.style) for span in text.spans], _labels(child))
        for text, child in zip(texts, tree.children)
    ]


def test_dprint_as_a_rich_tree():
    pytest.importorskip("rich")
    x = pt.dvector("x[a]")
    y = pt.exp(x)
    tree = bt.dprint(y + y, file="rich")
    once = ("Exp [id B]", ["blue"], [("x[a] [id C]", [], [])])
    again = ("Exp [id B]", ["blue"], [("···", [], [])])
    assert _labels(tree) == [("Add [id A]", [], [once, again])]
    two = bt.dprint([x, pt.sin(x)], file="rich", id_type="")
    assert _labels(two) == [("x[a]", [], []), ("Sin", [], [("x[a]", [], [])])]
    inner = bt.compile.OpFromGraph([x], [y * 2], inline=False)
    labels = _labels(bt.dprint(inner(x), file="rich"))
    assert "Inner graphs:" in [label for label, _, _ in labels] and "Exp" in str(labels)
    from rich.console import Console

    with open(os.devnull, "w") as nowhere:
        Console(file=nowhere).print(tree)


def test_verbose_strings_have_values_of_constants():
    x = pt.dvector("x")
    assert bt.printing.min_informative_str(x + 1) == "A. Add\n B. x\n C. ExpandDims{axis=0}\n  D. 1"


def test_dprint_explains_how_to_install_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.tree", None)
    with pytest.raises(ImportError, match="pip install rich"):
        bt.dprint(pt.dvector("x"), file="rich")


def test_match_statements_on_variables():
    x = pt.dvector("x")
    y = pt.exp(x)
    assert x.owner_op is None and x.owner_op_and_inputs == (None,)
    assert y.owner_op == pt.exp and y.owner_op_and_inputs[1] is x
    match y.owner_op_and_inputs:
        case (op, argument) if op == pt.exp:
            assert argument is x
        case _:
            raise AssertionError
    names = {x.auto_name, y.auto_name, pt.dvector().auto_name}
    assert (
        len(names) == 3 and x.auto_name in names and all(name.startswith("auto_") for name in names)
    )


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
    y.name = 'a "quoted" <name> & more'
    for graph in (y, [y, x], bt.function([x], y), bt.FunctionGraph(outputs=[y]), y.owner):
        bt.printing.pydotprint(graph, tmp_path / "graph.dot")
        text = (tmp_path / "graph.dot").read_text()
        assert text.startswith("digraph") and "exp" in text.lower()
    if shutil.which("dot"):
        for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
            bt.printing.pydotprint(y, tmp_path / f"graph.{ending}")
            assert (tmp_path / f"graph.{ending}").read_bytes().startswith(start)
        assert bt.printing.pydotprint(y, return_image=True).startswith(b"\x89PNG")
        assert b"&lt;name&gt; &amp; more" in bt.printing.pydotprint(
            y, format="svg", return_image=True
        )
        for name in (" ", "a\x01b", "\n", "…é😀", "&amp;", "[x] {y} | z", "\\N \\"):
            for structure in (False, True):
                assert b"<svg" in bt.printing.pydotprint(
                    pt.exp(pt.dvector(name)),
                    format="svg",
                    return_image=True,
                    structure=structure,
                    var_with_name_simple=True,
                )
        with pytest.raises(ValueError, match="nonsense"):
            bt.printing.pydotprint(y, format="nonsense", return_image=True)
    else:
        with pytest.raises(NotImplementedError, match="Graphviz"):
            bt.printing.pydotprint(y, tmp_path / "graph.png")
    with pytest.raises(TypeError):
        bt.printing.pydotprint(3, tmp_path / "graph.dot")


def test_a_picture_without_graphviz(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    y = pt.exp(pt.dvector("x"))
    with pytest.raises(NotImplementedError, match="graphviz"):
        bt.printing.pydotprint(y, tmp_path / "graph.svg")
    assert y.owner._repr_svg_() is None
    bt.printing.pydotprint(y, tmp_path / "graph.dot")
    assert "<svg" not in bt.printing.html(y) and "</html>" in bt.printing.html(y)


def test_options_of_pictures():
    x, y = pt.dvector("x"), pt.dvector("y")
    z = pt.exp(x) * 2.0 + y
    text = bt.printing.dot_text(z)
    for colour in ("#c3d9f4", "#f9cdcb", "#bfe5bd"):  # Apply nodes, variables, ops
        assert colour in text
    assert "#7339ab" in text  # types
    assert text.count("shape=box") < bt.printing.dot_text(z, compact=False).count("shape=box")
    assert "fillcolor" not in bt.printing.dot_text(z, high_contrast=False)
    assert "0: " in bt.printing.dot_text(z, with_ids=True)
    structure = bt.printing.dot_text(pt.dmatrix("x") + pt.dmatrix("y"), structure=True)
    assert structure.count("shape=ellipse") == 1 and structure.count("label=type") == 3
    assert "Vector(float64" not in bt.printing.dot_text(x, var_with_name_simple=True)
    long = pt.dvector("a" * 200)
    assert "a" * 200 not in bt.printing.dot_text(long) and "a" * 200 in bt.printing.dot_text(
        long, max_label_size=None
    )
    coloured = bt.printing.dot_text(z, color_codes={"Elemwise": "gold"})
    assert 'fillcolor="gold"' in coloured
    chosen = pt.switch(x > 0, pt.exp(y), pt.log(x))
    framed = bt.printing.dot_text(chosen, condition=chosen.owner)
    assert "seagreen" in framed and "deeppink" in framed
    with pytest.warns(UserWarning, match="IfElse"):
        bt.printing.pydotprint(z, format="dot", cond_highlight=True, return_image=True)
    with pytest.raises(ValueError, match="two sides"):
        bt.printing.dot_text(z, condition=pt.exp(x).owner)


def test_pictures_name_updates():
    w = bt.shared(np.zeros(3), name="w")
    f = bt.function([], [], updates=[(w, w + 1.0)])
    assert "update of w" in bt.printing.dot_text(f) and "update of w" in bt.printing.html(f)


def test_pages(tmp_path):
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x), name="f")
    page = bt.printing.html(f, tmp_path / "pages" / "f.html")
    assert (tmp_path / "pages" / "f.html").read_text() == page
    assert (
        "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page
    )
    for graph in (x, [x, pt.exp(x)], f.fgraph):
        assert '"l":"x"' in bt.printing.html(graph)
    with pytest.raises(TypeError):
        bt.printing.html(3)
    with pytest.raises(TypeError, match="Apply"):
        bt.printing.html(f, times={x: 1.0})


def test_a_page_of_a_long_chain():
    x = pt.dvector("x")
    y = x
    for _ in range(20_000):
        y = -y
    assert bt.printing.html(y).count('"l":"Neg"') == 20_000


def test_notebooks():
    x = pt.dvector("x")
    y = pt.exp(x)
    if shutil.which("dot"):
        assert "<svg" in y.owner._repr_svg_()
    f = bt.function([x], y)
    assert f._repr_html_().startswith("<iframe") and f.fgraph._repr_html_().startswith("<iframe")
    for _ in range(300):
        y = pt.sin(y)
    assert y.owner._repr_svg_() is None


def test_times_of_nodes():
    x, w = pt.dmatrix("x"), bt.shared(np.ones(3), name="w")
    f = bt.function([x], pt.exp(x @ w).sum(), updates=[(w, w + 1.0)], name="f")
    times = bt.printing.node_times(f, [[1.0, 2.0, 3.0]])
    assert set(times) == set(f.fgraph.toposort()) and all(
        seconds >= 0 for seconds in times.values()
    )
    np.testing.assert_array_equal(w.get_value(), 1.0)
    assert '"s":' in bt.printing.html(f, times=times)
    with pytest.raises(ValueError, match="1 inputs, got 0"):
        bt.printing.node_times(f)
    with pytest.raises(ValueError, match="runs"):
        bt.printing.node_times(f, np.ones((2, 3)), runs=0)
    with pytest.raises(TypeError, match="x"):
        bt.printing.node_times(f, np.ones(3))
    with pytest.raises(bt.ShapeError):
        bt.printing.node_times(f, np.ones((2, 4)))


# ---- printers --------------------------------------------------------------------------------------------------------


def test_printers():
    from bitale.printing import (
        FunctionPrinter,
        IgnorePrinter,
        OperatorPrinter,
        PatternPrinter,
        PPrinter,
        pprint,
    )

    x, y = pt.dscalars("x", "y")
    p = PPrinter()
    assert p(x + y * 2) == pprint(x + y * 2) == "x + y * 2" and p(x) == "x"
    p.assign(pt.sigmoid, FunctionPrinter("s"))
    p.assign(pt.log, "ln")
    assert p(2 * pt.sigmoid(x + pt.log(y))) == "2 * s(x + ln(y))" and pprint(pt.log(y)) == "log(y)"
    q = p.clone_assign(pt.abs, PatternPrinter("|%(0)s|"))
    assert q(pt.abs(x + y) ** 2) == "|x + y| ** 2" and "|" not in p(pt.abs(x))
    q.assign(pt.exp, IgnorePrinter())
    assert q(pt.exp(x) + y) == "x + y"
    r = PPrinter()
    r.assign(pt.add, OperatorPrinter("⊕", 1))
    r.assign(pt.mul, OperatorPrinter("⊗", 2))
    r.assign(pt.neg, OperatorPrinter("-", 3))
    assert (
        r((x + y) * (x * y)) == "(x ⊕ y) ⊗ (x ⊗ y)"
        and r(x + y + x * y) == "x ⊕ y ⊕ x ⊗ y"
        and r(-(x + y)) == "-(x ⊕ y)"
    )
    assert r(pt.sin(x + y)).startswith("sin(") and "x ⊕ y" in r(pt.sin(x + y))
    assert r(pt.sin(x) + (x - y)) == "sin(x) ⊕ (x - y)"

    class Greek(bt.printing.Printer):
        def process(self, var, pstate):
            return "ψ"

    r.assign(lambda pstate, v: v is y, Greek())
    assert r(x + y) == "x ⊕ ψ"
    with pytest.raises(ValueError, match="assoc"):
        OperatorPrinter("+", 1, "up")


def test_printers_of_user_defined_ops_and_graphs():
    from bitale.printing import (
        FunctionPrinter,
        PPrinter,
        PrinterState,
        constant_printer,
        default_printer,
        leaf_printer,
        set_precedence,
    )

    class Twice(bt.Op):
        __props__ = ("factor",)
        itypes = otypes = [pt.dscalar]

        def __init__(self, factor):
            self.factor = factor

        def make_node(self, x):
            return bt.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0] * self.factor

    x = pt.dscalar("x")
    p = PPrinter()
    p.assign(Twice, FunctionPrinter("twice", ["factor"]))
    s = bt.shared(1.0, "s")
    y = Twice(2)(x + 1)
    assert (
        p(y) == "twice(x + 1, factor=2)" and p(pt.sqrt(y) * s) == "sqrt(twice(x + 1, factor=2)) * s"
    )
    assert p.process_graph([x], [y], {s: s + 1}, display_inputs=True).splitlines() == [
        "inputs: x",
        "twice(x + 1, factor=2)",
        "s <- s + 1",
    ]
    assert p([x], [y]) == p(y)
    state = PrinterState(pprinter=p)
    with set_precedence(state, 5):
        assert state.precedence == 5
    assert state.precedence < 0
    assert (
        leaf_printer.process(x, state) == "x"
        and constant_printer.process(pt.constant(2), state) == "2"
    )
    assert (
        default_printer.process(pt.exp(x + 1), state) == "Exp(x + 1)"
        and default_printer.process(x, state) == "x"
    )
    with pytest.raises(NotImplementedError):
        bt.printing.Printer().process(x, state)


def test_transfers_can_be_added():
    from bitale.tensor import transfers
    from bitale.tensor.basic import register_transfer

    x = pt.dvector("x")
    with pytest.raises(ValueError, match="expected the target"):
        x.transfer("twice")
    before = list(transfers._transfers)
    try:
        register_transfer(lambda v, target: v * 2 if target == "twice" else None)
        assert x.transfer("twice").eval({x: [1.5]}).tolist() == [3.0] and x.transfer("cpu") is x
        with pytest.raises(ValueError, match="expected the target"):
            pt.transfer(x, "thrice")
        with pytest.raises(TypeError, match="a function"):
            register_transfer("twice")
    finally:
        transfers._transfers[:] = before


def test_hash_of_the_configuration():
    before = bt.config.get_config_hash()
    with bt.config.change_flags(floatX="float32"):
        assert bt.config.get_config_hash() != before
    assert bt.config.get_config_hash() == before


def test_clones_of_leaves_with_values():
    s = bt.shared(np.array([1.0, 2.0]), "s")
    clone = s.clone(name="other")
    assert clone is not s and clone.name == "other" and type(clone) is type(s)
    clone.set_value([5.0])
    assert s.get_value().tolist() == [5.0]
    f = bt.function([], [s * 2, clone], updates={s: s + 1})
    assert [each.tolist() for each in f()] == [[10.0], [5.0]] and clone.get_value().tolist() == [
        6.0
    ]
    generator = pt.random.shared_rng(seed=1)
    assert (
        generator.clone().get_value().bit_generator.state
        == generator.get_value().bit_generator.state
    )
    constant, x = pt.constant([1.0, 2.0]), pt.dvector("x")
    assert constant.clone() is constant and constant.clone("c").data.tolist() == [1.0, 2.0]
    assert x.clone() is not x and x.clone().owner is None and (x + 1).clone().owner is None
    narrow = bt.shared(np.ones((1, 3)), broadcastable=(True, False))
    assert narrow.type.shape == (1, None)
    with pytest.raises(TypeError):
        bt.shared(np.ones((2, 3)), broadcastable=(True, False))


def test_printers_of_ops_of_tensors():
    m, x, i = pt.dmatrix("m"), pt.dvector("x"), pt.lscalar("i")
    own = bt.printing.PPrinter()
    own.assign(pt.exp, "EXP")
    state = bt.printing.PrinterState(pprinter=own)
    large = pt.exp(m)
    for printer, variable, text in (
        (SubtensorPrinter(), large[i, 1:], "EXP(m)[i, 1:]"),
        (AdvancedSubtensorPrinter(), large[[0, 2]], "EXP(m)[[0 2]]"),
        (IncSubtensorPrinter(), m[i].set(pt.exp(x)), "set_subtensor(m[i], EXP(x))"),
        (AdvancedIncSubtensorPrinter(), m[i].inc(1.0), "inc_subtensor(m[i], 1.0)"),
        (MakeVectorPrinter(), pt.stack([i, i * 2]), "[i, i * 2]"),
        (DimShufflePrinter(), large.T, "EXP(m).T"),
    ):
        assert printer.process(variable, state) == text
        with pytest.raises(TypeError, match=type(printer).__name__):
            printer.process(x, state)

    class Brackets(SubtensorPrinter):
        def process(self, output, pstate):
            return f"<{super().process(output, pstate)}>"

    own.assign(bt.tensor.subtensor.Subtensor, Brackets())
    assert own(2 * large[0]) == "2 * <EXP(m)[0]>"


def test_graphs_as_records():
    x = pt.dscalar("x")
    e = pt.exp(x)
    total = e + e
    records = list(bt.printing.iter_graph_nodes(total))
    assert [(r.key, r.owner_key, r.is_repeat) for r in records] == [
        ("n0", "a0", False),
        ("n1", "a1", False),
        ("n2", None, False),
        ("n1", "a1", False),
        ("n1", "a1", True),
    ]
    assert records[3].is_already_done and not records[1].is_already_done
    assert records[3].is_last_child and not records[1].is_last_child
    assert records[2].ancestor_is_last == [True, False] and records[2].parent_node == e.owner
    assert records[2].is_leaf and records[1].node == e.owner and records[1].output_idx == ""
    assert [r.var for r in bt.printing.iter_graph_nodes(total, depth=1)] == [total]
    e.name = "e"
    stopped = list(bt.printing.iter_graph_nodes(total, stop_on_name=True))
    assert x not in [r.var for r in stopped] and stopped[2].is_repeat
    q = pt.linalg.qr(pt.dmatrix("m"))[1]
    assert next(bt.printing.iter_graph_nodes(q)).output_idx == ".1"


def test_graphs_as_trees():
    x, y = pt.dscalars("x", "y")
    half = bt.compile.builders.OpFromGraph([x], [x / 2], name="Half")
    result = half(y) + y
    model = bt.printing.build_graph_model(result)
    (root,) = model.roots
    lines = bt.dprint(result, file="str").split("\n")
    assert [root.label, root.children[1].label] == [lines[0], lines[3].split("─ ")[1]]
    assert [child.kind for child in root.children] == ["node", "leaf"]
    assert root.children[1].is_reference and root.meta["op"] == "Add" and root.meta["shape"] == []
    (inner,) = model.inner_graphs
    assert inner.meta["outer_node"] == root.children[0].key and "Half" in inner.label
    assert inner.children[0].meta["op"] == "True_div"
    flat = model.flattened()
    assert flat["n0"]["children"] == ["n1", "n2"] and flat["n2"]["name"] == "y"
    keys = {}
    bt.printing.build_graph_model([y, result.owner], node_keys=keys)
    again = bt.printing.build_graph_model(result, node_keys=keys, with_meta=False)
    assert again.roots[0].children[1].key == "n0" and again.roots[0].meta == {}
    with pytest.raises(TypeError):
        bt.printing.build_graph_model([3])
    with pytest.raises(ValueError, match="orders"):
        bt.printing.build_graph_model(result, topo_orders=[])
    long = x
    for _ in range(3000):
        long = pt.sin(long)
    assert len(bt.printing.build_graph_model(long, with_meta=False).flattened()) == 3001


def test_records_of_a_deep_graph_share_their_levels():
    """With a list of levels each, they would take 20 gigabytes."""
    x = y = pt.dscalar("x")
    depth = 70_000
    for _ in range(depth):
        y = pt.exp(y)
    records = list(bt.printing.iter_graph_nodes(y))
    assert len(records) == depth + 1 and records[-1].var is x
    assert len(records[-1].ancestor_is_last) == depth
    assert all(records[-1].ancestor_is_last) and records[1].ancestor_is_last == [True]
    assert len(bt.printing.build_graph_model(y, with_meta=False).flattened()) == depth + 1
