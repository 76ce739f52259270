"""What kind of value a variable stands for."""

from bitale._core import Type

Type.__module__ = __name__
