"""Rewriting of tensors, under PyTensor's names."""

from bitale import _geography as _geography

_geography.add_modules(__name__)
