"""Functions as WebAssembly: in Node.js they compute what native code does, and fail with what is wrong; the page about them, and its
demos in Chromium."""

import functools
import http.server
import importlib
import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import bitale
from bitale import tensor as pt

ROOT = Path(__file__).resolve().parents[3]


CLANG = any(shutil.which(f"clang{end}") for end in ("", *(f"-{n}" for n in range(12, 26))))
needs_clang = pytest.mark.skipif(not CLANG, reason="no clang is installed")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="no Node.js is installed")


def run_node(folder, script):
    """What the script prints, as JSON, a line each."""
    (folder / "run.mjs").write_text(script)
    run = subprocess.run(
        ["node", "run.mjs"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@needs_clang
@needs_node
def test_values_shapes_and_dtypes(tmp_path):
    m, k, b = pt.dmatrix("m"), pt.lscalar("k"), pt.bvector("b")
    f = bitale.function(
        [m, k, b],
        [pt.dot(m, m.T) * k, m.sum() > 3, pt.arange(k), pt.exp(b.astype("float32"))],
        name="several",
    )
    files = f.export_wasm(tmp_path)
    assert [Path(file).name for file in files] == ["several.wasm", "several.js", "several.d.ts"]
    got = run_node(
        tmp_path,
        """
import { load } from "./several.js";
const f = await load();
const shown = (x) => typeof x === "bigint" ? Number(x) : x?.shape ? { kind: x.constructor.name, shape: x.shape, of: Array.from(x, Number) } : x;
for (const k of [2, 5n]) console.log(JSON.stringify(f([[1, 2], [3, 4], [5, 6]], k, [0, 1]).map(shown)));
const m = Object.assign(new Float64Array([1, 2, 3]), { shape: [3, 1] });
console.log(JSON.stringify(f(m, 1, new Int8Array([-1])).map(shown)));
""",
    )
    rows = np.array([[1.0, 2], [3, 4], [5, 6]])
    for values, k in zip(got, (2, 5), strict=False):
        assert values[0] == {
            "kind": "Float64Array",
            "shape": [3, 3],
            "of": (rows @ rows.T * k).ravel().tolist(),
        }
        assert values[1] is True
        assert values[2] == {"kind": "BigInt64Array", "shape": [k], "of": list(range(k))}
        assert values[3]["kind"] == "Float32Array" and values[3]["shape"] == [2]
        np.testing.assert_allclose(values[3]["of"], np.exp([0, 1]), rtol=1e-6)
    assert got[2][0]["of"] == [1, 2, 3, 2, 4, 6, 3, 6, 9]


@needs_clang
@needs_node
def test_prepared_calls_and_errors(tmp_path):
    x, y, n = pt.dvector("x"), pt.dvector("y"), pt.lscalar("n")
    bitale.function([x, y], [(x * y).sum(), x - y], name="pair").export_wasm(tmp_path)
    bitale.function([n], pt.zeros(n) + 1, name="ones").export_wasm(tmp_path)
    got = run_node(
        tmp_path,
        """
import { load, FunctionError } from "./pair.js";
import { load as loadOnes } from "./ones.js";
const f = await load(), ones = await loadOnes();
const call = f.prepare([1, 2, 3], [4, 5, 6]);
call.run();
console.log(JSON.stringify([call.outputs[0][0], ...call.outputs[1]]));
call.inputs[0][2] = 10;
call.run();
console.log(JSON.stringify([call.outputs[0][0], ...call.outputs[1]]));
const big = new Float64Array(1000000).fill(1);
console.log(JSON.stringify(f(big, big)[0]));
const fixed = ones.prepare(3);
fixed.inputs[0] = 4n;
for (const wrong of [() => f([1, 2], [1, 2, 3]), () => f([1]), () => f(1, [1]), () => f([[1], [2]], [1]), () => ones(-1), () => fixed.run()])
  try { wrong(); console.log('"no error"'); } catch (error) { console.log(JSON.stringify([error.name, error.message, error instanceof FunctionError])); }
""",
    )
    assert got[:3] == [[32, -3, -3, -3], [74, -3, -3, 4], 1000000]
    kinds, messages = [row[0] for row in got[3:]], [row[1] for row in got[3:]]
    assert kinds == ["FunctionError", *3 * ["TypeError"], "FunctionError", "RangeError"]
    assert "pair: " in messages[0]
    assert messages[1] == "pair: expected 2 arguments, got 1"
    assert messages[2] == "pair: x must have 1 dimension(s) of float64, and has 0"
    assert messages[3] == "pair: x must have 1 dimension(s) of float64, and has 2"
    assert messages[4] == "ones: alloc: negative length of dimension 0"


UNARY = {
    "exp": (-700, 700),
    "exp2": (-1000, 1000),
    "expm1": (-30, 700),
    "log": (1e-300, 1e300),
    "log2": (1e-5, 1e5),
    "log10": (1e-5, 1e5),
    "log1p": (-0.999, 100),
    "sin": (-100, 100),
    "cos": (-100, 100),
    "tan": (-100, 100),
    "arcsin": (-1, 1),
    "arccos": (-1, 1),
    "arctan": (-50, 50),
    "sinh": (-50, 50),
    "cosh": (-50, 50),
    "tanh": (-20, 20),
    "arcsinh": (-1e3, 1e3),
    "arccosh": (1, 1e3),
    "arctanh": (-1, 1),
    "cbrt": (-1e9, 1e9),
    "erf": (-6, 6),
    "erfc": (-5, 25),
    "erfcx": (-20, 1e6),
    "erfinv": (-1, 1),
    "erfcinv": (1e-300, 2),
    "gamma": (0.01, 170),
    "gammaln": (0.01, 1e6),
    "psi": (0.01, 1e4),
    "tri_gamma": (0.01, 1e4),
    "sigmoid": (-700, 700),
    "softplus": (-700, 700),
    "log1mexp": (-700, -1e-8),
}
# Units in the last place between results of fused operations and of operations that round twice.
BOUND = {"float64": 3, "float32": 4}


def points(name, dtype, count=20_000):
    """Even points, and points of all magnitudes near the bounds, around 1 and 0."""
    low, high = UNARY[name]
    rng = np.random.default_rng(7)
    if dtype == "float32":
        low, high = max(low, -85), min(high, 85) if high in (700, 1000) else high
        low, high = (1e-37, 1e37) if name == "log" else (low, high)
        if name in ("gamma",):
            high = 34
        if name == "erfc":
            high = 9
        if name == "erfcx":
            low = -8
        if name == "erfcinv":
            low = 1e-37
    small = 10.0 ** rng.uniform(-12 if dtype == "float64" else -6, 0, count)
    parts = [rng.uniform(low, high, count), low + (high - low) * small, high - (high - low) * small]
    parts += [1 + 0.1 * rng.uniform(-1, 1, count), 3 * small, -3 * small]
    x = np.concatenate(parts).astype(dtype)
    return x[(x > low) & (x < high)]


def ulps(a, b):
    """How many floats lie between."""
    integers = {"float64": np.int64, "float32": np.int32}[str(a.dtype)]
    a, b = (
        np.where(v.view(integers) < 0, np.iinfo(integers).min - v.view(integers), v.view(integers))
        for v in (a, b)
    )
    return np.abs(a - b)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_without_fused_operations(tmp_path, dtype):
    """The form of exported code for processors that round products, compiled for this one."""
    import ctypes

    x = pt.vector("x", dtype=dtype)
    functions = {
        name: bitale.function([x], getattr(pt, name)(x), name=f"f_{name}") for name in UNARY
    }
    sources = [f.export_c(tmp_path)[0] for f in functions.values()]
    library = tmp_path / "libf.so"
    flags = ["-O2", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-DBITALE_NO_FMA"]
    subprocess.run(
        ["cc", "-std=c99", *flags, "-shared", "-fPIC", *sources, "-lm", "-o", library], check=True
    )
    loaded = ctypes.CDLL(str(library))
    worst = {}
    for name, f in functions.items():
        at = points(name, dtype)
        expected, got = f(at), np.empty_like(at)
        code = loaded[f"f_{name}"](
            at.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(len(at)),
            got.ctypes.data_as(ctypes.c_void_p),
            None,
        )
        assert code == 0
        assert (np.isnan(got) == np.isnan(expected)).all(), name
        there = np.isfinite(expected)
        distance = ulps(got[there], expected[there])
        worst[name] = (int(distance.max()), float(at[there][distance.argmax()]))
    too_far = {name: found for name, found in worst.items() if found[0] > BOUND[dtype]}
    assert not too_far, (too_far, worst)


@needs_clang
@needs_node
def test_page(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "browser.md").read_text()
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.S | re.M):
        exec(compile(block, "browser.md", "exec"), names)
    script = "\n".join(re.findall(r"^```javascript\n(.*?)^```", page, re.S | re.M))
    assert run_node(tmp_path / "site", script) == [5, [2, 0, -4], 13]


def test_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    x = pt.dvector("x")
    with pytest.raises(
        NotImplementedError, match=r"needs clang and wasm-ld.*apt install clang lld"
    ):
        bitale.function([x], pt.exp(x)).export_wasm(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@needs_clang
def test_demos_run_in_chromium(tmp_path, monkeypatch):
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (./dev setup browser)"
    )
    program = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if program is None:
        pytest.skip("no Chromium is installed (./dev setup browser)")
    monkeypatch.syspath_prepend(ROOT / "docs" / "site")
    importlib.import_module("browser").write(tmp_path / "demos")
    sys.modules.pop("functions", None)
    places = "".join(f'<div data-demo="{n}"></div>' for n in ("gp", "arm", "schools", "curve"))
    (tmp_path / "index.html").write_text(
        f'<!DOCTYPE html>{places}<script defer src="demos/demos.js"></script>'
    )
    handler = functools.partial(QuietHandler, directory=tmp_path)
    with (
        http.server.ThreadingHTTPServer(("localhost", 0), handler) as server,
        playwright.sync_playwright() as driver,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chromium = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 900, "height": 2400})
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"http://localhost:{server.server_port}/index.html")
        page.wait_for_selector('[data-demo="curve"][data-state="running"]')
        page.wait_for_function("document.querySelector('[data-demo=schools]').dataset.draws > 200")
        data = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('[data-demo]')].map(e => [e.dataset.demo, {...e.dataset}]))"
        )
        chromium.close()
        server.shutdown()
    assert wrong == [] and {each["state"] for each in data.values()} == {"running"}
    assert -3 < float(data["gp"]["value"]) < 0
    assert float(data["arm"]["distance"]) < 0.5
    assert 0.6 < float(data["schools"]["accepted"]) <= 1
    assert abs(float(data["curve"]["slope"]) - 3) < 1e-12


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass
