"""What users note on variables: ``variable.tag.test_value = 3.0``, ``variable.tag.anything``."""

from __future__ import annotations

from typing import Any

from bitale import _core


class Scratchpad:
    """The attributes of one variable. They last as long as the variable, whatever object stands for it.

    Three names mean something to the library. ``test_value``: the value on which expressions are
    evaluated as they are built (compute_test_value). ``nan_guard_mode_check``: False for a variable
    that NanGuardMode skips. ``trace``: the lines of Python that made the variable, as
    ``[traceback.StackSummary]``, the outermost first, as many as config.traceback__limit keeps;
    absent where nothing is kept.
    """

    __slots__ = ("_variable",)

    def __init__(self, variable: _core.Variable):
        object.__setattr__(self, "_variable", variable)

    def __getattr__(self, name: str) -> Any:
        if name == "test_value":
            value = _core.test_value(self._variable)
            if value is not None:
                return value
        elif not name.startswith("__"):
            notes = _core.tag_notes(self._variable)
            if name in notes:
                return notes[name]
            if name == "trace" and (lines := _core.creation_trace(self._variable)):
                import traceback  # few programs need it

                return [
                    traceback.StackSummary.from_list(
                        [traceback.FrameSummary(*line) for line in lines]
                    )
                ]
        raise AttributeError(f"the tag of {self._variable!r} has no attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "test_value":
            _core.set_test_value(self._variable, value)
        else:
            _core.tag_notes(self._variable)[name] = value
        if name == "nan_guard_mode_check":
            _core.set_nan_guarded(self._variable, bool(value))

    def __delattr__(self, name: str) -> None:
        getattr(self, name)
        if name == "test_value":
            _core.set_test_value(self._variable, None)
        else:
            del _core.tag_notes(self._variable)[name]
        if name == "nan_guard_mode_check":
            _core.set_nan_guarded(self._variable, True)

    def __dir__(self) -> list[str]:
        names = sorted(_core.tag_notes(self._variable))
        return names if _core.test_value(self._variable) is None else [*names, "test_value"]

    def clear(self) -> None:
        """Forgets everything."""
        _core.set_test_value(self._variable, None)
        _core.set_nan_guarded(self._variable, True)
        _core.tag_notes(self._variable).clear()

    def info(self) -> None:
        """Prints what is noted."""
        for name in dir(self):
            print(f"{name}: {getattr(self, name)}")

    def __repr__(self) -> str:
        return f"<tag of {self._variable!r}: {', '.join(dir(self)) or 'nothing'}>"


def get_test_value(variable: Any) -> Any:
    """The value on which expressions are evaluated as they are built: a constant's, a shared variable's, or ``variable.tag.test_value``.

    Raises AttributeError when there is none. Source: Theano's ``gof.op.get_test_value``.
    """
    variable = (
        _core.as_tensor_variable(variable) if not isinstance(variable, _core.Variable) else variable
    )
    value = _core.test_value(variable)
    if value is None:
        raise AttributeError(f"{variable!r} has no test value")
    return value
