"""Functions that convert what a compiled function of tensors takes and returns: everything else is that function's own."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["WrappedFunction"]

Self = TypeVar("Self", bound="WrappedFunction")


class WrappedFunction:
    """What functions of labelled tensors and of sparse matrices have in common: `function` is the function of their tensors.

    Attributes that are not its own are read from `function` and set there, as ``f.trust_input = True``."""

    function: Any
    _own: tuple[str, ...] = ()  # what a subclass stores

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "function" or name in type(self)._own:
            raise AttributeError(name)
        return getattr(self.function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "function" or name in type(self)._own:
            object.__setattr__(self, name, value)
        else:
            setattr(self.function, name, value)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.function)})

    def _swapped(self, swap: Any) -> Any:
        """The pairs of `copy`'s swap as those of tensors."""
        return swap

    def _wrapping(self: Self, function: Any, swap: Any = None) -> Self:
        """The same with another function of the tensors."""
        out = object.__new__(type(self))
        for name in type(self)._own:
            object.__setattr__(out, name, getattr(self, name))
        object.__setattr__(out, "function", function)
        return out

    def copy(
        self: Self,
        share_memory: bool = False,
        swap: Any = None,
        delete_updates: bool = False,
        name: str | None = None,
        profile: bool | str | None = None,
    ) -> Self:
        """Another function of the same expressions; arguments are those of `Function.copy`."""
        return self._wrapping(
            self.function.copy(share_memory, self._swapped(swap), delete_updates, name, profile),
            swap,
        )

    def __copy__(self: Self) -> Self:
        return self.copy()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.function!r}>"
