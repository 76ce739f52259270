"""The command line ``bitale``: one module per verb, each with `add` (its arguments), `run` (what it finds or does, as plain
data) and `show` (the same for people). ``--json`` prints the data instead."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Sequence

import bitale
from bitale.cli import bench, cache, config, doctor, export, view

_verbs = (cache, config, doctor, view, export, bench)


class _Completion(argparse.Action):
    """Prints the script that teaches a shell to complete the command line."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("--completion needs the package shtab: pip install 'bitale[completion]'")
        print(shtab.complete(parser, shell=values))
        parser.exit(0)


class _CmakeFolder(argparse.Action):
    """Prints the folder for CMake's bitale_DIR and ends."""

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        folder = Path(bitale.__file__).resolve().parent / "cmake"
        if not folder.is_dir():
            parser.error(
                "--cmake-dir: an installed Bitale has a CMake package, a checkout has none; cmake --install makes one"
            )
        print(folder)
        parser.exit(0)


def parser() -> argparse.ArgumentParser:
    """The arguments of all verbs."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print the result as JSON")
    top = argparse.ArgumentParser(
        prog="bitale", description="Manages the cache, flags and installation of Bitale."
    )
    top.add_argument("--version", action="version", version=f"bitale {bitale.__version__}")
    top.add_argument(
        "--completion",
        action=_Completion,
        choices=("bash", "zsh", "tcsh"),
        help="print completions for a shell",
    )
    top.add_argument(
        "--cmake-dir",
        action=_CmakeFolder,
        nargs=0,
        help="print the folder of the CMake package, for -Dbitale_DIR= in a C++ project",
    )
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in _verbs:
        verb.add(verbs, common)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status is 0, 1 when something failed, or 2 for invalid arguments."""
    options = parser().parse_args(arguments)
    try:
        result = options.run(options)
    except (bitale.InternalError, ArithmeticError, AssertionError):
        raise  # an internal error: with the traceback
    except (
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ImportError,
        NotImplementedError,
    ) as error:
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"bitale: error: {message}", file=sys.stderr)
        return 1
    print(json.dumps(result, indent=2) if options.json else options.show(result))
    return 1 if isinstance(result, dict) and result.get("ok") is False else 0
