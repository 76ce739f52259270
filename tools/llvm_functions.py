"""Which functions of LLVM run while Bitale compiles, a line for each, in cmake/llvm/functions.txt. The linker lays them side by side
(cmake/Llvm.cmake): a process then maps a third of the pages, since the system maps sixteen at once around each that is touched.

    PYTHONPATH=python .venv/bin/python tools/llvm_functions.py      compiles the graphs below under valgrind, and writes the file anew

The libraries must be those of the preset `dev`, which have their symbols."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "cmake" / "llvm" / "functions.txt"
LIBRARY = "libbitale_llvm.so"


def graphs():
    """Inputs and outputs of functions that together have all kinds of loops, calls and instructions."""
    import bitale as bt
    import bitale.tensor as pt

    for dtype in ("float64", "float32", "int64", "int32", "uint8"):
        x, y = pt.vector("x", dtype=dtype), pt.matrix("y", dtype=dtype)
        yield (
            [x],
            [
                x * 2 + x**2,
                abs(x),
                pt.where(x > 1, x, -x),
                pt.cast(x, "float32"),
                pt.cast(x, "int8"),
                x // 3,
                x % 3,
                pt.sign(x),
            ],
        )
        yield (
            [x],
            [
                x.sum(),
                x.prod(),
                x.max(),
                pt.argmax(x),
                pt.cumsum(x),
                pt.sort(x),
                (x > 0).any(),
                pt.eq(x, 1).all(),
            ],
        )
        yield (
            [x, y],
            [
                y.T + x,
                y.sum(axis=0),
                y.max(axis=1),
                pt.concatenate([x, y[0]]),
                y[:, ::-1],
                pt.set_subtensor(x[1:3], x[0]),
                y.ravel(),
            ],
        )
    x, y, i = pt.dvector("x"), pt.dmatrix("y"), pt.lvector("i")
    f, g = pt.fvector("f"), pt.fmatrix("g")
    names = (
        "exp",
        "log",
        "log1p",
        "expm1",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sqrt",
        "sigmoid",
        "softplus",
        "gammaln",
        "psi",
        "erf",
        "erfc",
        "arctan",
        "floor",
        "round",
    )
    for name in names:
        function = getattr(pt, name)
        yield [x], function(x)
        yield [f], function(f)
        yield [x], bt.grad(function(x).sum(), x)
    yield [x, i], [x[i], pt.inc_subtensor(x[i], 1.0), pt.bincount(i), x[x > 0]]
    yield (
        [y, x],
        [
            y @ x,
            y @ y.T,
            pt.linalg.cholesky(y),
            pt.linalg.solve(y, x),
            pt.softmax(y, axis=1),
            pt.logsumexp(y),
        ],
    )
    yield [g, f], [g @ f, pt.softmax(g, axis=1)]
    yield [x], bt.grad((pt.exp(-0.5 * ((x - x.mean()) / x.std()) ** 2) / (1 + x**2)).sum(), x)
    steps, _ = bt.scan(lambda e, s: pt.tanh(s * 0.5 + e), sequences=x, outputs_info=pt.zeros(()))
    yield [x], [steps, bt.grad(steps[-1], x)]
    state = bt.shared(0.0, "state")
    yield [x], [x + state, pt.switch(x.sum() > 0, x.sum(), state)]
    yield [x], bt.ifelse(x.sum() > 0, pt.exp(x), pt.log(x))


def compile_all():
    import bitale as bt

    with tempfile.TemporaryDirectory() as folder:
        for k, (inputs, outputs) in enumerate(graphs()):
            f = bt.function(inputs, outputs, on_unused_input="ignore")
            try:
                f.export_object(
                    f"{folder}/wide{k}", target="x86-64-v4"
                )  # valgrind's processor has no vectors of 512 bits
            except NotImplementedError:  # an object file can't contain this
                pass


def functions(profile):
    """The names of the library's functions in a profile of callgrind."""
    found, here = set(), False
    with open(profile) as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                here = value.endswith(LIBRARY)
            elif key == "fn" and here and not value.startswith(("0x", "(")):
                found.add(value.split("'")[0])  # a depth of recursion follows
    return found


def main():
    if sys.argv[1:] == ["--compile"]:
        compile_all()
        return
    with tempfile.TemporaryDirectory() as folder:
        profile = f"{folder}/profile"
        subprocess.run(
            [
                "valgrind",
                "--quiet",
                "--tool=callgrind",
                "--demangle=no",
                "--compress-strings=no",
                "--compress-pos=no",
                f"--callgrind-out-file={profile}",
                sys.executable,
                __file__,
                "--compile",
            ],
            check=True,
            env={**os.environ, "BITALE_FLAGS": f"base_compiledir={folder}"},
        )
        found = functions(profile)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("".join(f"{name}\n" for name in sorted(found)))
    print(f"{len(found)} functions")


main()
