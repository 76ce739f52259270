"""PyTensor's module for the configuration."""

from bitale._geography import absent
from bitale.configuration import config

__all__ = ["config"]

__getattr__ = absent(__name__)
