"""How to compile."""

from bitale._core import Mode, get_default_mode, get_mode, mode_names

Mode.__module__ = __name__
