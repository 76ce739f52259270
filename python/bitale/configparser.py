"""Flags of a program's own in bitale.config: `config.add(name, doc, param)`, where param says which values there are. Names are
those of pytensor.configparser; the library's own flags are declared where they are read, in C++."""

from __future__ import annotations

from bitale._geography import absent
from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "BoolParam",
    "ConfigAccessViolation",
    "ConfigParam",
    "EnumStr",
    "FloatParam",
    "IntParam",
    "StrParam",
]


class ConfigAccessViolation(AttributeError):
    """An attempt to change an immutable flag."""


class ConfigParam:
    """Which values a flag may have.

    default: a value, or a function that gives it. apply: converts the argument to the value that is
    kept. validate: whether a value is one; it returns False, or raises. mutable: False for a flag
    that keeps its default.
    """

    def __init__(
        self,
        default: Any,
        apply: Callable[[Any], Any] | None = None,
        validate: Callable[[Any], bool] | None = None,
        mutable: bool = True,
    ) -> None:
        self.default = default
        self.mutable = mutable
        self._apply = apply
        self._validate = validate
        self.name = "(a flag without a name)"

    def validate(self, value: Any) -> None:
        """ValueError for anything that is not a value of the flag."""
        if self._validate is not None and self._validate(value) is False:
            raise ValueError(f"{self.name}: {value!r} is not a valid value of this flag")

    def apply(self, value: Any) -> Any:
        """The value that is kept for the argument. ValueError for an argument that has none."""
        made = value if self._apply is None else self._apply(value)
        self.validate(made)
        return made

    def first(self) -> Any:
        """The default."""
        return self.apply(self.default() if callable(self.default) else self.default)


class StrParam(ConfigParam):
    """A text."""

    def __init__(
        self, default: Any, validate: Callable[[Any], bool] | None = None, mutable: bool = True
    ) -> None:
        super().__init__(default, str, validate, mutable)


class IntParam(ConfigParam):
    """An integer."""

    def __init__(
        self, default: Any, validate: Callable[[Any], bool] | None = None, mutable: bool = True
    ) -> None:
        super().__init__(default, int, validate, mutable)


class FloatParam(ConfigParam):
    """A number."""

    def __init__(
        self, default: Any, validate: Callable[[Any], bool] | None = None, mutable: bool = True
    ) -> None:
        super().__init__(default, float, validate, mutable)


class BoolParam(ConfigParam):
    """True or False, as such, as 0 or 1, or as a string."""

    def __init__(
        self, default: Any, validate: Callable[[Any], bool] | None = None, mutable: bool = True
    ) -> None:
        super().__init__(default, self._truth, validate, mutable)

    def _truth(self, value: Any) -> bool:
        for known, texts in (
            (True, (True, 1, "True", "true", "1")),
            (False, (False, 0, "False", "false", "0")),
        ):
            if value in texts:
                return known
        raise ValueError(f"{self.name}: expected True or False, got {value!r}")


class EnumStr(ConfigParam):
    """One of several strings: the default, or one of options."""

    def __init__(
        self,
        default: str,
        options: Sequence[str],
        validate: Callable[[Any], bool] | None = None,
        mutable: bool = True,
    ) -> None:
        self.all = {default, *options}
        super().__init__(default, self._one_of, validate, mutable)

    def _one_of(self, value: Any) -> str:
        if value not in self.all:
            raise ValueError(f"{self.name}: expected one of {sorted(self.all)}, got {value!r}")
        return str(value)


__getattr__ = absent(__name__)
