"""PyTensor's module for the configuration."""

from bitale.configuration import config

__all__ = ["config"]
