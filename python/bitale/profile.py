"""Profiles: ``f = function(..., profile=True)`` measures compilation and calls, and ``f.profile`` reports the times.

>>> import bitale as bt, bitale.tensor as pt
>>> x = pt.dvector("x")
>>> f = bt.function([x], pt.exp(x).sum(), profile=True)
>>> f([0.0, 0.0])
array(2.)
>>> f.profile.fct_callcount
1
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from bitale import _core
from bitale._picture import _write

__all__ = [
    "MachineLimits",
    "Part",
    "Phase",
    "ProfileStats",
    "VectorWidth",
    "machine_limits",
    "measure_vector_width",
    "print_profiles",
    "profile",
    "profile_html",
]

print_profiles = _core.print_profiles


@dataclasses.dataclass(frozen=True)
class MachineLimits:
    """Limits of the processor and its memory: bytes read and operations on float64 per second; 0: not known.

    For float32, twice as many operations.
    """

    read_bandwidth: float
    flops: float
    threads: int


@dataclasses.dataclass(frozen=True)
class VectorWidth:
    """The number of bits of vectors with which native code is fastest on this machine.

    times: of each width that was compared, nanoseconds of processor time per element of float64, of a loop over
    exp(-x**2) * tanh(y) and of one over x * y + x; empty where there is one width only. is_kept: whether the compile
    directory has it, for processes to come.
    """

    bits: int
    times: dict[int, tuple[float, float]]
    is_kept: bool


@dataclasses.dataclass(frozen=True)
class Phase:
    """A phase of compiling: its seconds, and the phases and rules that it is made of."""

    name: str
    seconds: float
    note: str
    parts: list[Phase]

    def __getitem__(self, name: str) -> Phase:
        for part in self.parts:
            if part.name == name:
                return part
        raise KeyError(
            f"{self.name}: has no phase {name}; there are {', '.join(part.name for part in self.parts)}"
        )


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of calls that is timed by itself: of native code a loop or call, of the interpreter a node.

    kind: loop, fill, call (of the runtime, such as a product of matrices), perform (of an op
    without native code), memory (for arrays), scalars (what is between these), node. text: the
    steps of the program. nodes: of the graph after rewriting, that it computes. other_strides: it
    belongs to the code for inputs that are not C-contiguous. seconds, bytes, flops64, flops32: over
    all calls; what is moved and computed is estimated where `counted`. steps, trace_bytes: of a
    loop whose steps follow one another, such as a scan's (else 0): how many there were, and the
    size of the arrays of which each step stores its row; over all calls. share_of_bandwidth,
    share_of_flops: the time that the machine would need for that at its limits, divided by the time
    it took.
    """

    kind: str
    text: str
    nodes: list[_core.Apply]
    other_strides: bool
    calls: int
    seconds: float
    counted: bool
    bytes: float
    flops64: float
    flops32: float
    steps: float
    trace_bytes: float
    share_of_bandwidth: float
    share_of_flops: float


def _phase(stored: dict[str, Any]) -> Phase:
    return Phase(
        stored["name"],
        stored["seconds"],
        stored["note"],
        [_phase(part) for part in stored["parts"]],
    )


class ProfileStats:
    """Times of compiling and calling a function, with PyTensor's names; all times are in seconds.

    Everything is read on demand. Native code combines many nodes into loops: `parts` describes
    loops, `apply_time` the nodes that are timed individually, which are all nodes in the
    interpreter.
    """

    def __init__(self, function: _core.Function):
        self._function = function
        self._now()

    def _now(self) -> dict[str, Any]:
        return _core.profile_dict(self._function)

    @property
    def message(self) -> str:
        """The function's name."""
        return str(self._now()["name"])

    @property
    def compiling(self) -> Phase:
        """The phases of compiling: building, rewriting (by phase and rule), lowering, code generation, linking."""
        return _phase(self._now()["compiling"])

    @property
    def compile_time(self) -> float:
        """Total compile time."""
        return float(self._now()["compiling"]["seconds"])

    @property
    def rewriting_time(self) -> float:
        """Time of rewriting the graph."""
        return self.compiling["rewriting"].seconds

    @property
    def linker_time(self) -> float:
        """Compile time after rewriting."""
        phases = self.compiling
        return phases.seconds - phases["building"].seconds - phases["rewriting"].seconds

    @property
    def rewriter_profile(self) -> _core.RewriteReport:
        """Report of rewriting, rule by rule."""
        return self._function.rewrite_report

    @property
    def code(self) -> str:
        """Where native code came from: "generated", "store" (the compiledir), "memory" (of this process), or ""."""
        return str(self._now()["code"])

    @property
    def nb_nodes(self) -> int:
        """Nodes after rewriting."""
        return int(self._now()["nodes_after"])

    @property
    def fct_callcount(self) -> int:
        """Calls that succeeded."""
        return int(self._now()["calls"])

    @property
    def fct_call_time(self) -> float:
        """Time in calls, without the conversion of arguments."""
        return float(self._now()["call_seconds"])

    @property
    def vm_call_time(self) -> float:
        """The share of this time in linked code."""
        return float(self._now()["linked_seconds"])

    @property
    def parts(self) -> list[Part]:
        """The parts, in the order in which they run."""
        return [Part(**part) for part in self._now()["parts"]]

    @property
    def apply_time(self) -> dict[_core.Apply, float]:
        """Time of the nodes that are timed individually, over all calls."""
        return {part.nodes[0]: part.seconds for part in self.parts if len(part.nodes) == 1}

    @property
    def apply_callcount(self) -> dict[_core.Apply, int]:
        """Calls of these nodes."""
        return {part.nodes[0]: part.calls for part in self.parts if len(part.nodes) == 1}

    @property
    def peak_temporaries(self) -> int:
        """Maximum number of bytes for temporaries in a call."""
        return int(self._now()["temporaries"])

    @property
    def peak_results(self) -> int:
        """Maximum number of bytes for the results of a call."""
        return int(self._now()["results"])

    @property
    def limits(self) -> MachineLimits:
        """Limits of this machine, measured when the first function with a profile was compiled."""
        return MachineLimits(**self._now()["limits"])

    def _print(self, file: Any, sections: list[str], rows: int) -> str | None:
        text = _core.profile_text(self._function, sections, rows)
        if file == "str":
            return text
        (sys.stderr if file is None else file).write(text)
        return None

    def summary(self, file: Any = None, n_ops_to_print: int = 20) -> str | None:
        """Prints all tables, to stderr unless `file` is given; "str" returns the text."""
        return self._print(file, [], n_ops_to_print)

    def summary_function(self, file: Any = None) -> str | None:
        """Prints calls and their time."""
        return self._print(file, ["function"], 0)

    def summary_compiling(self, file: Any = None, N: int = 20) -> str | None:
        """Prints the phases of compiling."""
        return self._print(file, ["compiling"], N)

    def summary_parts(self, file: Any = None, N: int = 20) -> str | None:
        """Prints the loops and calls of native code, the slowest first, with the machine's limits."""
        return self._print(file, ["parts"], N)

    def summary_class(self, file: Any = None, N: int = 20) -> str | None:
        """Prints times by class of op, for nodes that are timed individually."""
        return self._print(file, ["class"], N)

    def summary_ops(self, file: Any = None, N: int = 20) -> str | None:
        """Prints times by op, for nodes that are timed individually."""
        return self._print(file, ["ops"], N)

    def summary_nodes(self, file: Any = None, N: int = 20) -> str | None:
        """Prints times by node, for nodes that are timed individually."""
        return self._print(file, ["nodes"], N)

    def summary_memory(self, file: Any = None) -> str | None:
        """Prints the maximum memory used by a call."""
        return self._print(file, ["memory"], 0)

    def print_tips(self, file: Any = None) -> str | None:
        """Prints suggestions."""
        return self._print(file, ["tips"], 0)

    def html(self, outfile: Any = None) -> str:
        """See `profile_html`."""
        return profile_html(self._function, outfile)

    def __str__(self) -> str:
        return self.summary(file="str") or ""

    def __repr__(self) -> str:
        return f"<ProfileStats of {self.message or 'a function'}, {self.fct_callcount} calls>"


def _require_profile(function: Any, who: str) -> ProfileStats:
    if not isinstance(function, _core.Function):
        raise TypeError(f"{who}: expected a function, got {function!r}")
    return ProfileStats(function)


def profile(function: _core.Function, file: Any = None) -> str | None:
    """Print the profile of a function.

    Parameters
    ----------
    function : Function
        Function that was compiled with a profile.
    file : file or 'str', optional
        Where to print; by default stderr. ``'str'`` returns the text.

    Returns
    -------
    str or None
        The text, if `file` is 'str'.

    Raises
    ------
    ValueError
        If the function was compiled without a profile.

    See Also
    --------
    profile_html
    """
    return _require_profile(function, "profile").summary(file)


def profile_html(function: _core.Function, outfile: Any = None) -> str:
    """Write the profile of a function as a page.

    The width of a bar is proportional to its time. A click on a bar describes it; a search sums the
    times of its matches. The page loads nothing from the network.

    Parameters
    ----------
    function : Function
        Function that was compiled with a profile.
    outfile : path, optional
        Where to write the page.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ValueError
        If the function was compiled without a profile.

    See Also
    --------
    profile
    """
    _require_profile(function, "profile_html")
    page = _core.profile_html(function)
    if outfile is not None:
        _write(outfile, page.encode())
    return page


def machine_limits(threads: int = 1) -> MachineLimits:
    """Limits of this machine, with the given number of threads.

    They are measured on first use, in a few tenths of a second, with a sum over an array four times
    as large as the caches (64 to 128 MiB), and with fused multiply-adds of numbers in the nearest
    caches. ValueError unless threads is from 1 to 1024.
    """
    return MachineLimits(**_core.machine_limits(threads))


def measure_vector_width() -> VectorWidth:
    """Compares the possible vector widths on this machine, and stores the best one in the compile directory.

    This takes a few hundredths of a second. The widest is chosen unless another is faster by a
    twentieth. From now on, the flag target=native means that width, in this process and in those
    that find the record in the compile directory; functions compiled again may add in a different
    order. Raises the errors that compiling raises.
    """
    return VectorWidth(**_core.measure_vector_width())
