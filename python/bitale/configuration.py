"""Configuration flags as attributes: ``config.floatX``, ``config.mode = "FAST_COMPILE"``."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any, Mapping

from bitale import _core
from bitale.configparser import ConfigAccessViolation, ConfigParam

_types: dict[str, str] = {flag["name"]: flag["type"] for flag in _core.config_flags()}
_parsers: dict[str, Any] = {"bool": lambda text: text == "True", "int": int, "float": float}


# PyTensor's flags that have no effect here: they keep the value that they are given, and `config.note(name)` explains
# why.
_profile = "profiles have their own format (docs/profiling.md)"
_c = 'no C compiler is used unless the linker is "c"'
_without_effect: dict[str, tuple[Any, str]] = {
    "DebugMode__check_strides": (0, "outputs are always C-contiguous"),
    "blas__check_openmp": (True, "no OpenMP is used"),
    "blas__ldflags": ("", "the flag blas__library names the library"),
    "check_input": (True, "inputs are always checked"),
    "check_stack_trace": ("off", "every new node inherits the line of what it replaces"),
    "cmodule__age_thresh_use": (
        2073600,
        "the flag cache__size says how much compiled code is kept",
    ),
    "cmodule__compilation_warning": (False, _c),
    "cmodule__debug": (False, _c),
    "cmodule__preload_cache": (False, _c),
    "cmodule__remove_gxx_opt": (False, _c),
    "cmodule__warn_no_version": (False, _c),
    "compile__timeout": (
        120,
        "a process that needs code that another one is compiling waits for it",
    ),
    "compile__wait": (5, "a process that needs code that another one is compiling waits for it"),
    "compiledir_format": ("", "the flag compiledir names the directory"),
    "compiler_verbose": (False, _c),
    "cycle_detection": ("regular", "there is one way to find cycles"),
    "gcc_version_str": ("", _c),
    "generated_src_dir": ("", 'f.dprint("llvm") shows generated code'),
    "lib__amdlibm": (False, "elementary functions are implemented by the library"),
    "nocleanup": (False, _c),
    "numba__cache": (True, "Numba is not used"),
    "numba__fastmath": (False, "arithmetic is strict IEEE"),
    "on_shape_error": ("raise", "an error while lengths are inferred is always raised"),
    "openmp": (False, "the flag num_threads says how many threads work"),
    "openmp_elemwise_minsize": (200000, "the flag num_threads says how many threads work"),
    "optdb__position_cutoff": (float("inf"), "a query of a mode says which rewrites run"),
    "print_global_stats": (False, _profile),
    "profile_memory": (False, _profile),
    "profile_optimizer": (False, _profile),
    "profiling__debugprint": (False, _profile),
    "profiling__ignore_first_call": (False, _profile),
    "profiling__min_memory_size": (1024, _profile),
    "profiling__min_peak_memory": (False, _profile),
    "profiling__n_apply": (20, _profile),
    "profiling__output_line_width": (512, _profile),
    "profiling__time_thunks": (True, _profile),
    "scan__allow_gc": (False, "memory is planned when a function is compiled"),
    "scan__allow_output_prealloc": (True, "outputs of scans are always allocated before the loop"),
    "tensor__cmp_sloppy": (0, "comparisons have their tolerance as arguments"),
    "tensor__insert_inplace_optimizer_validate_nb": (-1, "every replacement is checked"),
    "traceback__compile_limit": (0, "a variable keeps one line"),
    "vm__lazy": (None, "branches are lazy in every linker"),
}
# The accepted values of text flags among them; other text flags take any text.
_choices: dict[str, tuple[str, ...]] = {
    "check_stack_trace": ("off", "log", "warn", "raise"),
    "cycle_detection": ("regular", "fast"),
    "on_shape_error": ("warn", "raise"),
}
_kept: dict[str, Any] = {}

# Flags that programs have added, as (possible values, documentation, value).
_added: dict[str, list[Any]] = {}


def _get(name: str) -> Any:
    if name in _added:
        return _added[name][2]
    if name in _without_effect:
        return _kept.get(name, _without_effect[name][0])
    if name == "mode" and (mode := _core.default_mode()) is not None:
        return mode
    return _core.config_get(name)


def _accepted(name: str, value: Any) -> Any:
    """The value of a flag without effect, of the kind of its default. ValueError for others."""
    kind = type(_without_effect[name][0])
    if kind is bool:
        found = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower())
        if found is None:
            raise ValueError(f"{name}: expected True or False, got {value!r}")
        return found
    if kind in (int, float):
        try:
            return kind(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}: expected {'an integer' if kind is int else 'a number'}, got {value!r}"
            ) from None
    if name in _choices and value not in _choices[name]:
        raise ValueError(f"{name}: expected one of {', '.join(_choices[name])}, got {value!r}")
    return value


def _set(name: str, value: Any) -> None:
    if name in _added:
        param = _added[name][0]
        if not param.mutable:
            raise ConfigAccessViolation(f"{name}: the flag can't be changed")
        _added[name][2] = param.apply(value)
    elif name in _without_effect:
        _kept[name] = _accepted(name, value)
    elif name == "mode" and value is not None and not isinstance(value, str):
        _core.set_default_mode(value)
    else:
        _core.config_set(name, str(value))
        if name == "mode":
            _core.set_default_mode(None)  # the one that the name says


class _Change(ContextDecorator):
    """Changes flags for a ``with`` block, or for each call of a decorated function."""

    def __init__(self, changes: dict[str, Any]):
        for name in changes:
            _get(name)  # KeyError for an unknown one
        self._changes = changes
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        before: dict[str, Any] = {}
        self._before.append(before)
        try:
            for name, value in self._changes.items():
                before[name] = _get(name)
                _set(name, value)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exception: Any) -> None:
        for name, value in self._before.pop().items():
            if value != _get(name):
                _set(name, value)


class Config:
    """All flags. ``print(config)`` shows them with their documentation."""

    def __getattr__(self, name: str) -> Any:
        if name not in _types and name not in _without_effect and name not in _added:
            if name.startswith("__"):
                raise AttributeError(name)
            try:
                _core.config_get(name)
            except KeyError as error:
                raise AttributeError(error.args[0]) from None
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self.set(name, value)
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_types, *_added]

    def get(self, name: str) -> Any:
        """A flag's value; KeyError for an unknown one."""
        value = _get(name)
        if name not in _types or not isinstance(value, str):
            return value
        return _parsers.get(_types[name], str)(value)

    def set(self, name: str, value: Any) -> None:
        """Changes a flag; KeyError, ValueError or TypeError if that is not possible."""
        _set(name, value)

    def add(self, name: str, doc: str, configparam: ConfigParam, in_c_key: bool = True) -> None:
        """Adds a flag for a program; bitale.configparser has the kinds of values. AttributeError for a name that is in use.

        It starts with its default, whatever the environment says. in_c_key is accepted without
        effect: compiled code does not depend on flags.

        >>> from bitale.configparser import IntParam
        >>> bt.config.add("example__steps", "How many steps to make.", IntParam(10, lambda n: n > 0))
        >>> with bt.config.change_flags(example__steps=20):
        ...     bt.config.example__steps
        20
        """
        if name in _types or name in _without_effect or name in _added:
            raise AttributeError(f"config.add: there is a flag {name} already")
        if not isinstance(configparam, ConfigParam):
            raise TypeError(
                f"config.add: expected a parameter such as configparser.IntParam(1), got {configparam!r}"
            )
        configparam.name = name
        _added[name] = [configparam, doc, configparam.first()]

    def change_flags(self, changes: Mapping[str, Any] | None = None, **more: Any) -> _Change:
        """Changes flags for a ``with`` block or, as a decorator, for the calls of a function.

        >>> with bt.config.change_flags(floatX="float32"):
        ...     pt.vector("x").dtype
        'float32'
        """
        return _Change({**(changes or {}), **more})

    def note(self, name: str) -> str | None:
        """Why a flag of PyTensor's has no effect here; None for a flag that has one."""
        return _without_effect[name][1] if name in _without_effect else None

    def config_print(self) -> str:
        """All flags with their documentation."""
        return str(self)

    def get_config_hash(self) -> str:
        """A string that changes when a flag of the library changes."""
        flags = sorted((name, str(_core.config_get(name))) for name in _types)
        import hashlib  # which few programs need

        return hashlib.sha256(repr(flags).encode()).hexdigest()

    def __str__(self) -> str:
        added = [f"\n{name} = {value!r}\n    {doc}" for name, (_, doc, value) in _added.items()]
        if (mode := _core.default_mode()) is not None:
            added.append(
                f"\nmode = {mode!r}\n    A Mode, which is in place of the one that is named above."
            )
        return _core.config_describe() + "".join(added)

    def __repr__(self) -> str:
        return (
            "<bitale configuration: "
            + ", ".join(f"{name}={self.get(name)!r}" for name in _types)
            + ">"
        )


config = Config()
