"""Profiles: measured quantities, ways to enable profiling, the page in a real browser, and the output at exit."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.cli import main
from test_page import browser  # noqa: F401


def logistic(**options):
    X, w = pt.dmatrix("X"), pt.dvector("w")
    loss = pt.log1p(pt.exp(-(X @ w))).mean()
    return bt.function([X, w], [loss, bt.grad(loss, w)], name="logistic", **options)


DATA = np.random.default_rng(0).normal(size=(300, 20)), np.ones(20)


def test_fields():
    f = logistic(profile=True)
    assert f.profile.fct_callcount == 0 and f.profile.fct_call_time == 0
    for _ in range(5):
        f(*DATA)
    profile = f.profile
    assert profile.message == "logistic" and repr(profile) == "<ProfileStats of logistic, 5 calls>"
    assert profile.fct_callcount == 5
    assert profile.fct_call_time >= profile.vm_call_time > 0
    assert profile.compile_time >= profile.rewriting_time + profile.linker_time > 0
    assert profile.nb_nodes == len(f.fgraph.apply_nodes)
    assert profile.code in ("generated", "store", "memory")
    assert profile.rewriter_profile.uses == f.rewrite_report.uses
    assert profile.peak_results == 8 + 20 * 8 and profile.peak_temporaries >= 0
    assert profile.limits.threads == 1 and profile.limits.flops > 0
    loops = [part for part in profile.parts if part.kind == "loop"]
    assert loops and all(part.counted and part.calls == 5 and part.bytes > 0 for part in loops)
    assert any(part.flops64 > 0 and part.share_of_flops > 0 for part in loops)
    found = {node for part in profile.parts for node in part.nodes}
    assert found == set(f.fgraph.apply_nodes)
    with pytest.raises(KeyError, match="there are building, rewriting"):
        profile.compiling["fusing"]
    f(*DATA)
    assert profile.fct_callcount == 6  # the profile is updated by later calls


def test_summaries(capsys):
    f = logistic(profile=True)
    assert "has not been called" in str(f.profile)
    f(*DATA)
    f.profile.summary()
    captured = capsys.readouterr()
    assert captured.out == "" and "Parts of the code" in captured.err and "softplus" in captured.err
    f.profile.summary_memory(sys.stdout)
    assert capsys.readouterr().out.startswith("Memory")
    assert bt.printing.profile(f, "str").startswith("Function profiling")
    vm = logistic(profile=True, mode=bt.Mode("vm", "fast_run"))
    vm(*DATA)
    assert "Elemwise" in vm.profile.summary_class("str")
    assert "Dot" in vm.profile.summary_ops("str")
    assert "test_profile.py" in vm.profile.summary_nodes("str")
    assert "interpreter" in vm.profile.print_tips("str")
    assert sum(vm.profile.apply_time.values()) <= vm.profile.vm_call_time
    assert set(vm.profile.apply_callcount.values()) == {1}


def test_ways_to_enable_profiling():
    x = pt.dvector("x")
    assert bt.function([x], x * 2).profile is None
    assert bt.function([x], x * 2, profile=False).profile is None
    assert bt.function([x], x * 2, profile="doubles").profile.message == "doubles"
    assert bt.function([x], x * 2, profile="doubles", name="f").profile.message == "f"
    with bt.config.change_flags(profile=True, profiling__destination=os.devnull):
        f = bt.function([x], x * 2)
        assert f.profile is not None
        assert bt.function([x], x * 2, profile=False).profile is None
        bt.profile.print_profiles()
    profiled = bt.function([x], x * 2, profile=True)
    assert pickle.loads(pickle.dumps(profiled)).profile.fct_callcount == 0
    assert profiled.copy().profile is None and profiled.copy(profile=True).profile is not None
    with pytest.raises(TypeError, match="profile must be True, False, None or a string"):
        bt.function([x], x * 2, profile=1)
    with pytest.raises(ValueError, match="compiled without a profile"):
        bt.printing.profile(bt.function([x], x * 2))
    with pytest.raises(TypeError, match="expected a function"):
        bt.printing.profile_html(x)
    with pytest.raises(ValueError, match="1 to 1024"):
        bt.profile.machine_limits(0)


@pytest.mark.parametrize("linker", ["jit", "c", "vm"])
def test_results_are_the_same(linker):
    mode = bt.Mode(linker, "fast_run")
    try:
        plain, profiled = logistic(mode=mode), logistic(mode=mode, profile=True)
    except NotImplementedError:
        pytest.skip("no compiler")
    out = np.empty(20)
    for data in (DATA, (np.asfortranarray(DATA[0]), DATA[1]), (DATA[0][::2, ::2], DATA[1][::2])):
        for a, b in zip(plain(*data), profiled(*data)):
            np.testing.assert_array_equal(a, b)
    value, gradient = profiled(*DATA, out=[None, out]) if linker == "jit" else profiled(*DATA)
    np.testing.assert_array_equal(gradient, plain(*DATA)[1])
    assert profiled.profile.fct_callcount == 4


def test_shared_variables_and_threads():
    x, total = pt.dvector("x"), bt.shared(0.0, "total")
    f = bt.function([x], x * 2, updates={total: total + x.sum()}, profile=True, threads=2)
    threads = [
        threading.Thread(target=lambda: [f(np.ones(100)) for _ in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert f.profile.fct_callcount == 200
    assert all(part.calls == 200 for part in f.profile.parts)


def test_printed_at_exit(tmp_path):
    script = """
import bitale as bt, bitale.tensor as pt
x = pt.dvector("x")
kept = bt.function([x], pt.exp(x), name="kept")
kept([1.0])
bt.function([x], pt.tanh(x), name="gone")([1.0])
"""
    flags = os.environ.get("BITALE_FLAGS", "") + ",profile=True,profiling__n_ops=1"
    folder = os.pathsep.join(
        filter(None, [os.path.dirname(os.path.dirname(bt.__file__)), os.environ.get("PYTHONPATH")])
    )

    def run(more):
        environment = dict(
            os.environ, BITALE_FLAGS=flags + more, PYTHONPATH=folder, HOME=str(tmp_path / "home")
        )
        return subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )

    done = run("")
    assert done.stdout == "" and "Message: kept" in done.stderr and "Message: gone" in done.stderr
    done = run(",profiling__destination=profiles.txt")
    assert (
        done.stdout == done.stderr == ""
        and "Message: kept" in (tmp_path / "profiles.txt").read_text()
    )
    assert "Message: kept" in run(",profiling__destination=stdout").stdout
    (tmp_path / "home").mkdir()
    run(",profiling__destination=~/profiles.txt")
    assert "Message: kept" in (tmp_path / "home" / "profiles.txt").read_text()


def test_view_by_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(
        "import bitale as bt, bitale.tensor as pt\n"
        "x = pt.dvector('x')\n"
        "f = bt.function([x], pt.sigmoid(x).sum(), name='predict')\n"
        "f([1.0, 2.0])\n"
    )
    assert main(["view", "--profile", "model.py:f"]) == 0
    assert "1 call" in (tmp_path / "f.html").read_text()
    assert main(["view", "--profile", "model.py:x"]) != 0
    assert "expected a function" in capsys.readouterr().err


def test_page_in_a_browser(browser, tmp_path):  # noqa: F811
    f = logistic(profile=True)
    for _ in range(3):
        f(*DATA)
    bt.printing.profile_html(f, tmp_path / "profile.html")
    complaints = []
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: request.url.startswith("file://") or complaints.append(request.url),
    )
    page.goto((tmp_path / "profile.html").as_uri())
    assert page.locator(".chart").count() == 2
    calls = page.locator(".chart").first
    assert calls.locator(".bar").first.inner_text() == "3 calls"
    loop = calls.locator(".bar.loop").first
    width = loop.bounding_box()["width"]
    loop.click()
    chosen = calls.locator(".bar.chosen")
    assert chosen.count() == 1 and chosen.bounding_box()["width"] > max(width, 1300)
    facts = page.locator("dl").first.inner_text()
    assert "GB/s" in facts and "for i in" in facts
    calls.locator(".bar.around").first.click()
    assert calls.locator(".bar.chosen").inner_text() == "3 calls"
    page.locator("input").fill("softplus")
    assert (
        page.locator(".bar.found").count() >= 1
        and "compiling" in page.locator("output").inner_text()
    )
    assert "Parts of the code" in page.locator("pre").inner_text()
    page.close()
    assert complaints == []
