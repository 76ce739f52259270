"""Ops made from functions, under PyTensor's name for this module."""

from bitale.graph.op import FromFunctionOp, as_op, wrap_py

__all__ = ["FromFunctionOp", "as_op", "wrap_py"]
