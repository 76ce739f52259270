"""A package that extends Bitale from outside: an op with a gradient, rewriters at three positions of the pipeline
and one after them, a feature, and a linker. A program only has to import it."""

from smoothing.feature import LeftOver
from smoothing.linker import TextLinker
from smoothing.op import Smooth
from smoothing.rewriters import left_over

__all__ = ["LeftOver", "Smooth", "TextLinker", "left_over"]
