"""``bitale export``: a function as C code, an object file, a WebAssembly or a StableHLO module, for programs without Bitale."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale.cli.view import find


def add(verbs: Any, common: Any) -> None:
    parser = verbs.add_parser(
        "export",
        parents=[common],
        help="write a function as C code, an object file, a WebAssembly or a StableHLO module, which run without Bitale",
    )
    parser.add_argument(
        "target",
        help="package.module:name or script.py:name of a function, or the file of a pickled one; a script is run",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="output folder; default: the function's name"
    )
    parser.add_argument("--name", help="name of the C function; default: the function's name")
    parser.add_argument(
        "--object", action="store_true", help="native code, NAME.o and NAME.h, instead of C"
    )
    parser.add_argument(
        "--wasm",
        action="store_true",
        help="a WebAssembly module with its JavaScript loader, NAME.wasm, NAME.js and NAME.d.ts; needs clang and wasm-ld",
    )
    parser.add_argument(
        "--stablehlo", action="store_true", help="a StableHLO module, NAME.mlir, for XLA"
    )
    parser.add_argument(
        "--shape",
        action="append",
        metavar="N,N,..",
        help='with --stablehlo: lengths of an input, once per input in order ("" of a scalar); default: those of the types',
    )
    parser.add_argument(
        "--platform",
        choices=["cpu", "gpu", "cuda", "rocm", "tpu"],
        help="with --stablehlo: platform whose library calls the module may contain (cpu: LAPACK); default: none, "
        "for any platform",
    )
    parser.add_argument(
        "--for",
        dest="processors",
        choices=[
            "native",
            "native-128",
            "native-256",
            "native-512",
            "x86-64",
            "x86-64-v2",
            "x86-64-v3",
            "x86-64-v4",
            "aarch64",
        ],
        help="with --object: target processors; default: config.target",
    )
    parser.set_defaults(run=run, show=lambda result: "\n".join(result["files"]))


def run(options: Any) -> dict[str, Any]:
    function, name = find(options.target)
    if not isinstance(function, _core.Function):
        raise TypeError(
            f"export: expected a function, but {options.target} is {type(function).__name__}"
        )
    if options.processors and not options.object:
        raise ValueError("export: --for goes with --object; C code is for any processor")
    if options.shape and not options.stablehlo:
        raise ValueError("export: --shape goes with --stablehlo; other code is for any lengths")
    if options.platform and not options.stablehlo:
        raise ValueError("export: --platform goes with --stablehlo; other code is for processors")
    kinds = [kind for kind in ("object", "wasm", "stablehlo") if getattr(options, kind)]
    if len(kinds) > 1:
        raise ValueError(
            f"export: --{kinds[0]} and --{kinds[1]} are two kinds of output: choose one"
        )
    folder = options.output or name
    if options.stablehlo:
        shapes = options.shape and [
            [int(n) for n in text.split(",") if n] for text in options.shape
        ]
        return {
            "files": [
                function.export_stablehlo(folder, shapes, options.name, platform=options.platform)
            ]
        }
    if options.wasm:
        return {"files": function.export_wasm(folder, options.name)}
    if options.object:
        return {"files": function.export_object(folder, options.name, options.processors)}
    return {"files": function.export_c(folder, options.name)}
