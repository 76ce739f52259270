#!/usr/bin/env python3
"""Compiles Stan programs to shared libraries (stan_model.cpp), by the compiler and headers that PyPI's httpstan carries.

Usage: compile_stan.py HTTPSTAN PROGRAMS OUT NAME...

HTTPSTAN is the folder `httpstan` of its wheel, PROGRAMS that of the files NAME.stan; OUT gets NAME.so. One takes a minute."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

FLAGS = [
    "-O3",
    "-march=native",
    "-std=c++17",
    "-w",
    "-fPIC",
    "-D_REENTRANT",
    "-DBOOST_DISABLE_ASSERTS",
    "-DBOOST_PHOENIX_NO_VARIADIC_EXPRESSION",
]
LIBRARIES = [
    "-lsundials_cvodes",
    "-lsundials_idas",
    "-lsundials_kinsol",
    "-lsundials_nvecserial",
    "-l:libtbb.so.2",
]


def compile_program(httpstan: Path, program: Path, out: Path) -> Path:
    header, precompiled = "stan/model/model_header.hpp", out / "precompiled"
    include = ["-I", precompiled, "-I", httpstan / "include"]
    if not (precompiled / f"{header}.gch").is_file():
        (precompiled / header).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(
            httpstan / "include" / header, precompiled / header
        )  # what the program includes again
        subprocess.run(
            [
                "g++",
                *FLAGS,
                *include,
                "-x",
                "c++-header",
                httpstan / "include" / header,
                "-o",
                precompiled / f"{header}.gch",
            ],
            check=True,
        )
    model, library = out.resolve() / f"{program.stem}.cpp", out / f"{program.stem}.so"
    subprocess.run([httpstan / "stanc", f"--o={model}", "--O1", program], check=True)
    source = Path(__file__).with_name("stan_model.cpp")
    linked = ["-L", httpstan / "lib", f"-Wl,-rpath,{(httpstan / 'lib').resolve()}", *LIBRARIES]
    subprocess.run(
        ["g++", *FLAGS, "-shared", *include, f'-DMODEL="{model}"', source, "-o", library, *linked],
        check=True,
    )
    return library


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("httpstan", type=Path)
    parser.add_argument("programs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="+")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        print(
            compile_program(arguments.httpstan, arguments.programs / f"{name}.stan", arguments.out),
            flush=True,
        )


if __name__ == "__main__":
    main()
