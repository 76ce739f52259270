"""PyTensor's place for the configuration."""

from bitale.configuration import config

__all__ = ["config"]
