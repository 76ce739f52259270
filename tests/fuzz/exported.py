"""Functions exported as object files or as C, linked by the system's compiler and called through ctypes with the C
calling convention."""

from __future__ import annotations

import ctypes
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

import numpy as np

from .case import Case, build
from .compare import Ensemble
from .configurations import Configuration
from .data import dtypes

_bits = {"bool": "uint8", "float16": "uint16"}
_scalars = {name: np.ctypeslib.as_ctypes_type(_bits.get(name, name)) for name in dtypes}


class Exported(Configuration):
    """Runs a case as an exported function; `form` is "object" or "c"."""

    def __init__(self, form: str):
        super().__init__(f"exported as {form}", "")
        self.form = form

    @staticmethod
    def is_possible() -> bool:
        return shutil.which("cc") is not None

    def results(self, case: Case, bt: Any) -> dict[str, np.ndarray]:
        """The results; raises NotImplementedError if the function cannot be exported."""
        env = build(case, bt)
        function = self.compile(case, bt, env)
        shared = [given for given in case.inputs if given.shared]
        known = [each.name for each in function.get_shared()]
        shared = [given for name in known for given in shared if given.name == name]
        free = [given for given in case.inputs if not given.shared]
        with tempfile.TemporaryDirectory() as folder:
            library, header = self._linked(function, pathlib.Path(folder))
            return self._call(case, library, header, free + shared)

    def expected(self, case: Case) -> Any:
        """Arrays that have the dtypes and shapes of the results, by name."""
        return Ensemble(case).native

    def _linked(self, function: Any, folder: pathlib.Path) -> tuple[Any, str]:
        if self.form == "object":
            function.export_object(folder, name="fuzz")
            sources = [folder / "fuzz.o"]
        else:
            function.export_c(folder, name="fuzz")
            sources = ["-std=c99", "-O1", "-ffp-contract=off", folder / "fuzz.c"]
        target = folder / "fuzz.so"
        made = subprocess.run(
            ["cc", "-shared", "-fPIC", *sources, "-lm", "-o", target],
            capture_output=True,
            text=True,
        )
        if made.returncode:
            raise RuntimeError(f"cc: {made.stderr[:300]}")
        return ctypes.CDLL(str(target)), (folder / "fuzz.h").read_text()

    def _call(
        self, case: Case, library: Any, header: str, inputs: list[Any]
    ) -> dict[str, np.ndarray]:
        expected = self.expected(case)
        arguments: list[Any] = []
        held = []
        for given in inputs:
            value = np.ascontiguousarray(given.value)
            held.append(value)
            if value.dtype.kind == "c":  # complex numbers are passed as pairs of real numbers
                arguments.append(ctypes.c_void_p(value.ctypes.data))
                arguments += [ctypes.c_int64(n) for n in (*given.value.shape, 2)]
            elif given.value.ndim == 0:
                bits = given.value.view("uint16") if given.dtype == "float16" else given.value
                arguments.append(_scalars[given.dtype](bits.item()))
            else:
                arguments.append(ctypes.c_void_p(value.ctypes.data))
                arguments += [ctypes.c_int64(n) for n in given.value.shape]
        workspace, lengths = self._sizes(library, header, arguments)
        results = {}
        labels = list(case.outputs) + [f"{new} as {name}" for name, new in case.updates]
        fields = [f"out{i}" for i in range(len(case.outputs))] + [
            f"new_{name}" for name, _ in case.updates
        ]
        pointers = []
        for label, field in zip(labels, fields):
            right = expected[label.split(" ")[0]]
            shape = tuple(lengths.get(field, right.shape))
            if right.dtype.kind == "c":
                shape = shape[:-1] if field in lengths else shape
            memory = np.zeros(shape, right.dtype)
            held.append(memory)  # keeps the buffer alive if its variable is an output twice
            results[label] = memory
            pointers.append(ctypes.c_void_p(memory.ctypes.data))
        work = np.zeros(workspace // 16 + 1, np.complex128)
        library.fuzz.restype = ctypes.c_int
        code = library.fuzz(*arguments, *pointers, ctypes.c_void_p(work.ctypes.data))
        if code:
            library.fuzz_message.restype = ctypes.c_char_p
            raise ValueError(f"code {code}: {library.fuzz_message(code).decode()}")
        return results

    def _sizes(
        self, library: Any, header: str, arguments: list[Any]
    ) -> tuple[int, dict[str, list[int]]]:
        found = re.search(r"typedef struct fuzz_size \{(.*?)\}", header, re.S)
        if not found:
            return 0, {}
        fields = [
            (name, int(count or 1))
            for name, count in re.findall(r"int64_t (\w+)(?:\[(\d+)\])?;", found[1])
        ]
        values = (ctypes.c_int64 * sum(count for _, count in fields))()
        library.fuzz_sizes.restype = None
        library.fuzz_sizes(*arguments, ctypes.byref(values))
        out, at = {}, 0
        for name, count in fields:
            out[name] = list(values[at : at + count])
            at += count
        return out.pop("workspace", [0])[0], out


AS_OBJECT, AS_C = Exported("object"), Exported("c")
