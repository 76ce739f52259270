"""Databases of rewriters: those of a program's own, and optdb, whose phases are the library's."""

import importlib.util
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.mode import (
    AddDestroyHandler,
    AddFeatureOptimizer,
    PrintCurrentFunctionGraph,
    local_useless,
    optdb,
    predefined_optimizers,
    register_optimizer,
)
from bitale.graph import Apply, FunctionGraph, Op
from bitale.graph.features import DestroyHandler, Feature
from bitale.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    FromFunctionNodeRewriter,
    GraphRewriter,
    MergeOptimizer,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    graph_rewriter,
    in2out,
    node_rewriter,
)
from bitale.graph.rewriting.db import (
    EquilibriumDB,
    LocalGroupDB,
    ProxyDB,
    RewriteDatabase,
    RewriteDatabaseQuery,
    SequenceDB,
    TopoDB,
)
from bitale.graph.rewriting.utils import get_clients_at_depth, rewrite_graph, rewrite_subgraph
from bitale.tensor.rewriting.basic import (
    elemwise_of,
    infer_shape_db,
    register_canonicalize,
    register_infer_shape,
    register_specialize,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
)

MODES = ["FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM", "FAST_START"]
MODES += ["JAX"] if importlib.util.find_spec("jax") else []
v = pt.dvector("v")


class Made(Op):
    """An op that no rule of the library knows. Its name tells it from those of other tests."""

    __props__ = ("name_", "steps")

    def __init__(self, name, steps=0):
        self.name_ = name
        self.steps = steps

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * 1.0


def of(name):
    """A rewriter that turns the op of a name into a product by 2."""

    @node_rewriter([Made(name)])
    def double(fgraph, node):
        return [node.inputs[0] * 2.0]

    double.__name__ = f"double_{name}"
    return double


def applied(name, mode=None):
    """Whether what `of` has made was applied."""
    try:
        return bt.function([v], Made(name)(v), mode=mode)([1.0])[0] == 2
    except NotImplementedError as error:  # of mode JAX, which has no ops in Python
        assert "StableHLO" in str(error)
        return False


# ---- phases ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "register, phase",
    [(register_useless, "useless"), (register_canonicalize, "canonicalize"), (register_stabilize, "stabilize"),
     (register_specialize, "specialize"), (register_uncanonicalize, "uncanonicalize")],
)  # fmt: skip
def test_registered_rewriters_run_in_every_mode(register, phase, mode):
    name = f"{phase}_{mode}"
    rule = register(of(name))
    assert optdb[phase][rule.name] is rule
    in_fast_compile = phase == "canonicalize"
    assert applied(name, mode) == (mode != "FAST_COMPILE" or in_fast_compile)
    for tag in (rule.name, phase, "FromFunctionNodeRewriter"):
        assert not applied(name, bt.get_mode(mode).excluding(tag))
    assert applied(name, bt.Mode("vm", None).including(rule.name))


def test_rewriters_are_in_reports_and_provenance():
    register_specialize(of("reported"))
    f = bt.function([v], Made("reported")(v))
    assert f.rewrite_report.uses["double_reported"] == 1
    assert "double_reported" in f.explain() and "test_rewrite_databases.py" in f.explain()
    assert bt.rewrite.hits("double_reported") == 1
    assert "double_reported" in bt.rewrite.describe("+fast_run")
    assert "double_reported" in bt.rewrite.trace_text(Made("reported")(v))


def test_a_rewriter_in_two_phases():
    rule = register_canonicalize(register_specialize(of("twice")))
    assert optdb["canonicalize"]["double_twice"] is optdb["specialize"]["double_twice"] is rule
    described = {each.name: each.phases for each in bt.rewrite.rules()}
    assert described["double_twice"] == ["canonicalize", "specialize"]
    assert applied("twice", bt.get_mode("FAST_RUN").excluding("canonicalize"))
    with pytest.raises(ValueError, match="exists already"):
        register_canonicalize(rule)
    with pytest.raises(ValueError, match="exists already"):
        register_stabilize(of("twice"))
    other = register_stabilize(of("twice"), overwrite_existing=True)
    assert optdb["stabilize"]["double_twice"] is other
    assert "double_twice" not in optdb["specialize"]


def test_tags():
    register_specialize("mine", "opt_in")(of("opt_in"))
    register_specialize("mine")(of("tagged"))
    register_specialize(name="named_otherwise")(of("named"))
    assert not applied("opt_in") and applied("tagged") and applied("named")
    assert applied("opt_in", bt.get_mode("FAST_RUN").including("mine"))
    assert not applied("tagged", bt.get_mode("FAST_RUN").excluding("mine"))
    assert not applied("named", bt.get_mode("FAST_RUN").excluding("named_otherwise"))
    assert applied("tagged", bt.get_mode("FAST_RUN").requiring("mine"))
    assert not applied("named", bt.get_mode("FAST_RUN").requiring("mine"))
    optdb["specialize"].remove_tags("double_tagged", "fast_run", "specialize")
    assert not applied("tagged")
    optdb["specialize"].add_tags("double_tagged", "fast_run")
    assert applied("tagged")
    with pytest.raises(KeyError, match="double_nothing"):
        optdb["specialize"].add_tags("double_nothing", "fast_run")
    with pytest.raises(ValueError, match='did you mean "double_tagged"'):
        applied("tagged", bt.get_mode("FAST_RUN").excluding("double_taged"))
    optdb["specialize"].register("only_name", of("only_name"), use_db_name_as_tag=False)
    assert not applied("only_name") and applied(
        "only_name", bt.Mode("vm", None).including("only_name")
    )
    assert not applied("only_name", bt.Mode("vm", None).including("specialize"))


def test_errors_name_the_rewriter():
    @register_specialize("opt_in")
    @node_rewriter([Made("wrong")])
    def goes_wrong(fgraph, node):
        raise RuntimeError("on purpose")

    mode = bt.get_mode("FAST_RUN").including("goes_wrong")
    with bt.config.change_flags(on_opt_error="raise"):
        with pytest.raises(
            bt.InconsistencyError,
            match="(?s)`goes_wrong` failed.*on purpose.*test_rewrite_databases.py",
        ):
            applied("wrong", mode)
    with bt.config.change_flags(on_opt_error="ignore"):
        f = bt.function([v], Made("wrong")(v), mode=mode)
    assert "on purpose" in f.rewrite_report.errors[0] and f([1.0])[0] == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_no_failure(error):
    def ends(*given):
        raise error

    ending = FromFunctionNodeRewriter(ends, [Made("ends")])
    expression = Made("ends")(v)
    whole = graph_rewriter(ends)
    for rewriter in (ending, in2out(ending), whole, EquilibriumGraphRewriter([whole])):
        with pytest.raises(error):
            bt.function([v], expression, mode=bt.Mode("vm", None).register((rewriter, 1)))


def test_graph_rewriters_and_databases_in_a_phase():
    register_specialize(in2out(of("walked"), name="walked"), "some_tag")
    assert applied("walked") and not applied("walked", bt.get_mode("FAST_RUN").excluding("walked"))
    assert not applied("walked", bt.get_mode("FAST_RUN").excluding("some_tag"))
    group = LocalGroupDB()
    group.register("first", of("grouped"), "fast_run")
    optdb["specialize"].register("group", group, "fast_run")
    assert applied("grouped") and not applied("grouped", bt.get_mode("FAST_RUN").excluding("group"))
    assert not applied("grouped", bt.get_mode("FAST_RUN").excluding("first"))
    group.register("second", of("grouped_later"), "fast_run", "late_tag")
    assert applied("grouped_later")
    assert not applied("grouped_later", bt.get_mode("FAST_RUN").excluding("late_tag"))
    order = []
    final = graph_rewriter(lambda fgraph: order.append("last"))
    optdb["specialize"].register("noting", final, "noting_tag", final_rewriter=True)
    optdb["specialize"].register(
        "noting_first", graph_rewriter(lambda fgraph: order.append("first")), "noting_tag"
    )
    bt.function([v], v + 1, mode=bt.Mode("vm", None).including("noting_tag"))
    assert order == ["first", "last"]
    with pytest.raises(ValueError, match="not both"):
        optdb["specialize"].register("both", final, final_rewriter=True, cleanup=True)
    with pytest.raises(TypeError, match="expected a rewriter"):
        optdb["specialize"].register("function", len)


def test_equations_are_registered_by_the_same_functions():
    a = pt.dscalar("a")
    rule = bt.rewrite.equation("db_sinh_twice", pt.sinh(pt.sinh(a)), pt.cosh(a), register=False)
    assert register_specialize(rule, "opt_in") is rule
    assert "db_sinh_twice" in optdb["specialize"]
    assert isinstance(optdb["specialize"]["db_sinh_twice"], bt.rewrite.Rule)
    graph = FunctionGraph([a], [pt.sinh(pt.sinh(a))])
    in2out(rule).rewrite(graph)
    assert bt.pprint(graph.outputs[0]) == "cosh(a)"
    optdb["stabilize"].register(
        "db_tan_twice",
        other := bt.rewrite.equation("db_tan_twice", pt.tan(pt.tan(a)), pt.cos(a), register=False),
        "tan_tag",
    )
    assert bt.pprint(rewrite_graph(pt.tan(pt.tan(a)), include=["tan_tag"])) == "cos(a)"
    with pytest.raises(ValueError, match="can't be registered as"):
        optdb["stabilize"].register("another_name", other)


def test_stabilizing_rewriters_are_used_by_gradients():
    s = pt.dscalar("of_this_test")

    @register_stabilize
    @node_rewriter([pt.arctanh])
    def stable_arctanh(fgraph, node):
        inner = node.inputs[0].owner
        is_it = inner and inner.op == pt.tanh and inner.inputs[0].name == s.name
        return [inner.inputs[0]] if is_it else False

    assert bt.function([s], bt.grad(pt.arctanh(pt.tanh(s)), s))(50.0) == 1


def test_inner_graphs_are_rewritten_too():
    register_specialize(of("in_a_loop"))
    trace = bt.scan(
        lambda t: Made("in_a_loop")(t) + 1, outputs_info=[v], n_steps=3, return_updates=False
    )
    last = bt.function([v], trace[-1])
    np.testing.assert_array_equal(last([1.0]), [15.0])
    own = bt.compile.OpFromGraph([v], [Made("in_a_loop")(v)], inline=False)
    assert bt.function([v], own(v))([1.0])[0] == 2


# ---- positions -----------------------------------------------------------------------------------------------------------


def test_positions():
    order = []

    def noting(name):
        def note(fgraph):
            order.append((name, bt.pprint(fgraph.outputs[0])))

        return graph_rewriter(note)

    for position in (0.5, 1.7, 60):
        optdb.register(
            f"note_at_{position}", noting(position), "noting_positions", position=position
        )
    mode = bt.get_mode("FAST_RUN").including("noting_positions")
    bt.function([v], pt.log(1 + v * 1) ** 2, mode=mode)
    assert order == [(0.5, "log(1 + v * 1) ** 2"), (1.7, "log1p(v) ** 2"), (60, "sqr(log1p(v))")]
    names = [
        each.name if hasattr(each, "name") else ""
        for each in optdb.query("+fast_run", "+noting_positions")
    ]
    at = [
        names.index(each)
        for each in (
            "note_at_0.5",
            "canonicalize",
            "stabilize",
            "note_at_1.7",
            "specialize",
            "note_at_60",
        )
    ]
    assert at == sorted(at)
    order.clear()
    optdb.query("+noting_positions", position_cutoff=1.5).rewrite(FunctionGraph([v], [v + 1]))
    assert [each[0] for each in order] == [0.5]
    optdb.register("note_last", noting("last"), "noting_last")
    assert positions()["note_last"] == max(positions().values())
    with pytest.raises(ValueError, match="already"):
        optdb.register("note_last", noting("last"))
    optdb.register("note_last", noting("other"), "noting_last", overwrite_existing=True)
    order.clear()
    bt.function([v], v + 1, mode=bt.Mode("vm", None).including("noting_last"))
    assert [each[0] for each in order] == ["other"]
    with pytest.raises(TypeError, match="expected a number"):
        optdb.register("note_early", noting("early"), position="early")
    with pytest.raises(TypeError, match="register it in a phase"):
        optdb.register("node", of("node"), position=1)


def positions():
    out = io.StringIO()
    optdb.print_summary(out)
    lines = [line.split(":")[0].split() for line in out.getvalue().splitlines()[1:]]
    return {name: float(position) for position, name in lines}


def test_the_phases_are_where_pytensor_has_them():
    wanted = {
        "useless": 0.6,
        "canonicalize": 1,
        "stabilize": 1.5,
        "specialize": 2,
        "uncanonicalize": 3,
        "add_destroy_handler": 49.5,
    }
    assert {name: positions()[name] for name in wanted} == wanted
    assert "canonicalize" in optdb and "merge1" not in optdb
    assert isinstance(optdb["canonicalize"], EquilibriumDB) and isinstance(optdb, SequenceDB)
    assert optdb["specialize"] is optdb["specialize"] and local_useless.name == "useless"
    assert isinstance(optdb["expand"], GraphRewriter)
    with pytest.raises(KeyError, match="nowhere"):
        optdb["nowhere"]
    with pytest.raises(KeyError, match="nothing"):
        optdb["specialize"]["nothing"]
    optdb["stabilize"].print_summary(out := io.StringIO())
    assert "  log1p: " in out.getvalue()


def test_a_phase_of_ones_own():
    own = EquilibriumDB()
    optdb.register("own_phase", own, "fast_run", position=1.8)
    assert optdb["own_phase"] is own
    own.register("one", of("own_one"), "fast_run")
    assert applied("own_one")
    own.register("two", of("own_two"), "fast_run", "own_tag")
    assert applied("own_two")
    fast_run = bt.get_mode("FAST_RUN")
    assert not applied("own_two", fast_run.excluding("own_tag"))
    assert not applied("own_one", fast_run.excluding("own_phase"))
    assert applied("own_one", fast_run.excluding("two"))
    nested = SequenceDB()
    nested.register("walk", TopoDB(group := LocalGroupDB()), "fast_run", position=1)
    optdb.register("own_sequence", nested, "fast_run", position=1.9)
    group.register("three", of("own_three"), "fast_run")
    assert applied("own_three")
    optdb.register("own_proxy", ProxyDB(own), "own_again", position=2.5)
    assert applied("own_one", bt.Mode("vm", None).including("own_again", "fast_run"))


def test_the_result_of_a_query():
    a, b = pt.dvectors("a", "b")
    quotient = a * b / b
    graph = FunctionGraph([a, b], [quotient])
    found = optdb.query(RewriteDatabaseQuery(["fast_run"], exclude=["inplace"]))
    assert isinstance(found, SequentialGraphRewriter)
    found.rewrite(graph)
    assert graph.outputs[0] == graph.inputs[0]
    canonicalize = optdb["canonicalize"].query("+fast_run", "-cancelling")
    assert isinstance(canonicalize, EquilibriumGraphRewriter)
    graph = FunctionGraph([a, b], [quotient + 0])
    profile = canonicalize.rewrite(graph)
    assert bt.pprint(graph.outputs[0]) == "a * b / b" and "rewriting" in str(profile[1][0])
    assert list(optdb["canonicalize"].query("+log1p").get_node_rewriters()) == []
    names = {each.name for each in optdb["stabilize"].query("+log1p").get_node_rewriters()}
    assert names == {"log1p"}
    found.print_summary(out := io.StringIO())
    assert "EquilibriumGraphRewriter stabilize" in out.getvalue() and "Rule log1p" in out.getvalue()
    profile = found.rewrite(FunctionGraph([a, b], [pt.log(1 + a)]))
    SequentialGraphRewriter.print_profile(out := io.StringIO(), profile)
    assert "log1p" in out.getvalue() and "1 uses" in out.getvalue()


def test_subqueries():
    register_canonicalize(of("sub_canonical"), "sub_tag")
    register_specialize(of("sub_special"), "sub_tag")
    only = {"canonicalize": RewriteDatabaseQuery(["fast_compile"], exclude=["sub_tag"])}
    query = RewriteDatabaseQuery(["fast_run"], subquery=only)
    mode = bt.Mode("vm", query)
    assert not applied("sub_canonical", mode) and applied("sub_special", mode)
    with pytest.raises(ValueError, match="no rewrite is called"):
        applied(
            "sub_special",
            bt.Mode(
                "vm",
                RewriteDatabaseQuery(
                    ["fast_run"], subquery={"canonicalize": RewriteDatabaseQuery(["none_such"])}
                ),
            ),
        )


# ---- queries, and databases of a program's own -----------------------------------------------------------------------


def test_queries():
    query = RewriteDatabaseQuery(["a", "b", "a"], exclude=["c"])
    assert query.include == ("a", "b") and query.require == () and query.exclude == ("c",)
    more = query.including("d").requiring("e").excluding("f").register((len, 3))
    assert (more.include, more.require, more.exclude) == (("a", "b", "d"), ("e",), ("c", "f"))
    assert more.extra_rewrites == [(len, 3)] and query.extra_rewrites == []
    assert query == RewriteDatabaseQuery(["a", "b"], exclude=["c"]) and query != more
    assert repr(query) == "RewriteDatabaseQuery('+a', '+b', '-c')"
    assert query.selects(["a", "x"]) and not query.selects(["a", "c"]) and not query.selects(["x"])
    assert (
        predefined_optimizers["fast_run"].include == ("fast_run",)
        and predefined_optimizers[None].include == ()
    )
    assert bt.compile.OPT_STABILIZE.position_cutoff == pytest.approx(1.5, abs=0.1)
    assert bt.compile.mode.OPT_FAST_RUN.name == "OPT_FAST_RUN"
    assert bt.compile.OPT_UNSAFE.exclude == ("inplace",)


def test_a_database():
    db = RewriteDatabase()
    db.name = "own"
    a, b, c = of("a"), of("b"), of("c")
    db.register("a", a, "first", "common")
    db.register("b", b, "second", "common")
    db.register("c", c, "common", use_db_name_as_tag=False)
    assert db.query("+common") == [a, b, c] and db.query("+own") == [a, b]
    assert db.query("+common", "-second") == [a, c] and db.query("+common", "&first") == [a]
    assert db.query("+FromFunctionNodeRewriter") == [a, b, c] and db.query("+unknown") == []
    assert db["a"] is a and db["second"] is b and "common" in db and "d" not in db
    assert a.name == "a"
    with pytest.raises(ValueError, match="several"):
        db["common"]
    with pytest.raises(KeyError):
        db["d"]
    with pytest.raises(ValueError, match="already"):
        db.register("a", c)
    with pytest.raises(ValueError, match="is a tag"):
        db.register("first", c)
    with pytest.raises(ValueError, match="is the name"):
        db.add_tags("a", "b")
    with pytest.raises(TypeError, match="expected a rewriter"):
        db.register("d", "a")
    with pytest.raises(ValueError, match="expected tags such as"):
        db.query("common")
    with pytest.raises(TypeError, match="one RewriteDatabaseQuery"):
        db.query(RewriteDatabaseQuery(["common"]), "+common")
    db.register("a", d := of("d"), "common", overwrite_existing=True)
    assert db.query("+common") == [d, b, c] and db.query("+first") == []
    db.remove_tags("a", "common")
    assert db.query("+common") == [b, c]
    db.print_summary(out := io.StringIO())
    assert "b: FromFunctionNodeRewriter, second, common, own" in out.getvalue()


def test_databases_that_make_rewriters():
    sin, cos = SubstitutionNodeRewriter(pt.sin, pt.cos), SubstitutionNodeRewriter(pt.cos, pt.tan)
    s = pt.dscalar("s")

    def result(rewriter):
        graph = FunctionGraph([s], [pt.sin(s)])
        rewriter.rewrite(graph)
        return bt.pprint(graph.outputs[0])

    equilibrium = EquilibriumDB()
    equilibrium.register("sin", sin, "all")
    equilibrium.register("cos", cos, "all", "late")
    equilibrium.register("merge", MergeOptimizer(), "all", cleanup=True)
    assert isinstance(equilibrium.query("+all"), EquilibriumGraphRewriter)
    assert (
        result(equilibrium.query("+all")) == "tan(s)"
        and result(equilibrium.query("+all", "-late")) == "cos(s)"
    )
    with pytest.raises(ValueError, match="not both"):
        equilibrium.register("x", sin, cleanup=True, final_rewriter=True)

    sequence = SequenceDB()
    sequence.register("cos", in2out(cos), "all", position=1)
    sequence.register("sin", in2out(sin), "all", position=2)
    assert result(sequence.query("+all")) == "cos(s)"
    sequence.register("again", in2out(cos), "all")
    assert result(sequence.query("+all")) == "tan(s)"
    assert result(sequence.query("+all", position_cutoff=2)) == "cos(s)"
    extra = RewriteDatabaseQuery(["all"], exclude=["again"], extra_rewrites=[(in2out(cos), 2.5)])
    assert result(sequence.query(extra)) == "tan(s)"
    assert str(sequence).splitlines()[1:] == [
        f"  {position} {name}: WalkingGraphRewriter, all"
        for position, name in ((1, "cos"), (2, "sin"), (3, "again"))
    ]

    group = LocalGroupDB()
    group.register("sin", SubstitutionNodeRewriter(pt.sin, pt.cos), "all")
    assert isinstance(group.query("+all"), SequentialNodeRewriter)
    topo = TopoDB(group, order="out_to_in", ignore_newtrees=True)
    assert (
        isinstance(topo.query("+all"), WalkingGraphRewriter)
        and topo.query("+all").order == "out_to_in"
    )
    assert result(topo.query("+all")) == "cos(s)"
    assert result(ProxyDB(topo).query("+all")) == "cos(s)"
    with pytest.raises(TypeError, match="expected a RewriteDatabase"):
        ProxyDB(sin)

    outer = SequenceDB()
    outer.register("inner", equilibrium, "all")
    assert result(outer.query("+all")) == "tan(s)"
    assert result(outer.query("+all", inner=RewriteDatabaseQuery(["sin"]))) == "cos(s)"


# ---- modes --------------------------------------------------------------------------------------------------------------


def test_modes_of_queries():
    register_specialize(of("mode_query"), "mode_tag")
    assert applied("mode_query", bt.Mode("vm", RewriteDatabaseQuery(["mode_tag"])))
    mode = bt.Mode("jit", RewriteDatabaseQuery(["fast_run"]))
    assert applied("mode_query", mode) and not applied("mode_query", mode.excluding("mode_tag"))
    assert applied("mode_query", bt.Mode("vm", None).including("mode_tag"))
    assert not applied("mode_query", mode.requiring("inplace"))
    assert mode.excluding("mode_tag").provided_optimizer.exclude == ("mode_tag",)
    assert isinstance(mode.optimizer, SequentialGraphRewriter)
    graph = FunctionGraph([v], [Made("mode_query")(v)])
    mode.optimizer.rewrite(graph)
    assert graph.outputs[0].owner.op == pt.mul
    again = pickle.loads(pickle.dumps(mode.excluding("mode_tag")))
    assert again.provided_optimizer == mode.excluding("mode_tag").provided_optimizer
    subquery = RewriteDatabaseQuery(
        ["fast_run"], subquery={"useless": RewriteDatabaseQuery(["useless"])}
    )
    stored = pickle.loads(pickle.dumps(bt.Mode("vm", subquery))).provided_optimizer
    assert stored.subquery["useless"].include == ("useless",)
    with pytest.raises(NotImplementedError, match="can't be stored"):
        pickle.dumps(bt.Mode("vm", RewriteDatabaseQuery([], extra_rewrites=[(in2out(of("x")), 1)])))
    assert mode.clone(optimizer="None").provided_optimizer.include == ()
    assert mode.clone().provided_optimizer == mode.provided_optimizer
    assert bt.compile.DebugMode().clone(optimizer="None").provided_optimizer.include == ()
    with pytest.raises(TypeError, match="expected a name, a RewriteDatabaseQuery"):
        bt.Mode("vm", 3)


def test_modes_of_rewriters():
    mode = bt.Mode("vm", in2out(of("mode_walk")))
    assert applied("mode_walk", mode)
    f = bt.function([v], Made("mode_walk")(v) * 1, mode=mode)
    assert [node.op.name.rsplit(".")[-1] for node in f.maker.fgraph.toposort()].count("Mul") == 2
    assert applied("mode_extra", bt.get_mode("FAST_RUN").register((in2out(of("mode_extra")), 1.2)))
    assert applied("mode_node", bt.get_mode("FAST_RUN").register((of("mode_node"), 1.2)))
    [(rewriter, position)] = (
        bt.Mode("vm").register((each := in2out(of("x")), 2.5)).provided_optimizer.extra_rewrites
    )
    assert rewriter is each and position == 2.5


def test_a_mode_with_a_database_of_its_own():
    own = SequenceDB()
    own.register("walk", in2out(of("mode_db")), "mine", position=1)
    mode = bt.Mode("vm", RewriteDatabaseQuery(["mine"]), db=own)
    assert applied("mode_db", mode) and not applied("mode_db", mode.excluding("walk"))
    assert not applied("mode_db", bt.Mode("vm", "fast_run", db=own))
    assert mode.optdb is own and bt.Mode().optdb is optdb and own.__position__ == {"walk": 1}
    assert isinstance(mode.optimizer[0], WalkingGraphRewriter)
    with pytest.raises(NotImplementedError, match="can't be stored"):
        pickle.dumps(mode)


def test_optimizers_by_name():
    register_specialize(of("by_name"), "by_name_tag")
    register_optimizer("test_by_name", RewriteDatabaseQuery(["by_name_tag"]))
    register_optimizer("test_walk", in2out(of("by_walk")))
    assert applied("by_name", bt.Mode("vm", "test_by_name")) and applied(
        "by_walk", bt.Mode("vm", "test_walk")
    )
    assert "test_by_name" in bt.compile.mode.predefined_optimizers
    for name in ("test_by_name", "fast_run"):
        with pytest.raises(ValueError, match="already"):
            register_optimizer(name, RewriteDatabaseQuery([]))
    bt.compile.register_mode("TEST_BY_NAME", bt.Mode("vm", "test_by_name"))
    assert applied("by_name", "TEST_BY_NAME")


class Seen(Feature):
    imported = 0

    def on_import(self, fgraph, node, reason):
        self.imported += 1


def test_rewriters_of_the_pipeline(capsys):
    feature = Seen()
    printing = PrintCurrentFunctionGraph("here")
    mode = bt.get_mode("VM").register(
        (AddFeatureOptimizer(feature), 0.5), (printing, 1.4), (AddDestroyHandler(), 49.6)
    )
    f = bt.function([v], pt.log(1 + v) * 2, mode=mode)
    assert f([0.0])[0] == 0 and feature.imported > 0
    assert "PrintCurrentFunctionGraph: here" in capsys.readouterr().out
    graph = FunctionGraph([v], [pt.sin(v)])
    AddDestroyHandler().rewrite(graph)
    assert {type(each) for each in graph.features} >= {DestroyHandler}


# ---- by hand -----------------------------------------------------------------------------------------------------------


def test_rewrite_graph():
    a, b = pt.dvectors("a", "b")
    graph = FunctionGraph([a, b], [a * b / b])
    assert rewrite_graph(graph) is graph and graph.outputs[0] == graph.inputs[0]
    custom = in2out(SubstitutionNodeRewriter(pt.sin, pt.cos))
    assert bt.pprint(rewrite_graph(pt.sin(a) + 0, custom_rewrite=custom)) == "cos(a)"
    assert bt.pprint(rewrite_graph(a * b / b, exclude="cancelling")) == "a * b / b"
    assert rewrite_graph([a + 0, b * 1], include=["canonicalize"], require=["fast_run"]) == [a, b]
    calls = []
    rewrite_graph(a, include=[], custom_rewrite=calls.append)
    assert len(calls) == 1
    graph = FunctionGraph([a], [pt.sin(a)])
    rewrite_graph(graph, include=[], custom_rewrite=custom)
    assert bt.pprint(graph.outputs[0]) == "cos(a)"


def test_rewrite_subgraph():
    a, b = pt.dvectors("a", "b")
    hidden = a * 1
    [out] = rewrite_subgraph([hidden * 1 + b * 1], [hidden])
    assert bt.pprint(out) == "a * 1 + b" and out.owner.inputs[0] is hidden


def test_clients_at_a_depth():
    graph = FunctionGraph([v], [pt.exp(pt.sin(v)) + pt.cos(pt.sin(v))])
    sin = graph.toposort()[0]
    names = [
        [node.op.name for node in get_clients_at_depth(graph, sin, depth)] for depth in range(4)
    ]
    assert names == [["Sin"], ["Exp", "Cos"], ["Add", "Add"], []]


def test_lengths_have_a_database_that_no_phase_uses():
    rule = register_infer_shape(of("length"))
    assert list(infer_shape_db.query("+fast_run").get_node_rewriters()) == [rule]
    assert not applied("length")


def test_the_elementwise_ops_of_a_scalar_op():
    from bitale import scalar
    from bitale.tensor.rewriting.basic import constant_folding

    assert elemwise_of(scalar.Exp).match_op(pt.exp(v).owner.op)
    assert not elemwise_of(scalar.Exp).match_op(pt.sin(v).owner.op)
    assert constant_folding.name == "constant_folding"
    with pytest.raises(AttributeError, match="local_no_such_rewriter"):
        from bitale.tensor.rewriting import basic

        basic.local_no_such_rewriter


def test_nothing_of_it_is_imported_with_the_package():
    code = "import bitale, sys; print([m for m in sys.modules if 'rewriting' in m or m.endswith('rewriters')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = [
        each
        for each in eval(out.stdout)
        if sys.modules.get(each) is None or hasattr(sys.modules[each], "__file__")
    ]
    assert found == []


def test_rewriters_that_are_overwritten_are_let_go():
    import gc
    import weakref

    class Callback(FromFunctionNodeRewriter):
        pass

    rule = Callback(lambda fgraph, node: False)
    seen = weakref.ref(rule)
    optdb["specialize"].register("let_go", rule, "let_go_tag")
    bt.function([v], v + 1, mode=bt.Mode("vm", None).including("let_go_tag"))
    optdb["specialize"].register("let_go", of("let_go"), "let_go_tag", overwrite_existing=True)
    del rule
    gc.collect()
    assert seen() is None


def test_queries_may_name_every_rewriter_of_pytensor():
    mode = bt.get_mode("FAST_RUN").excluding("local_abs_lift", "local_dot_to_dot22", "merge1.2")
    assert bt.function([v], abs(v * 2), mode=mode)([-1.0])[0] == 2
    left = optdb["canonicalize"].query("+fast_run", "-local_abs_lift").get_node_rewriters()
    assert "abs_of_product" not in {each.name for each in left}
