"""PyTensor's module for the type of lists."""

from bitale.typed_list.basic import TypedListType

__all__ = ["TypedListType"]
