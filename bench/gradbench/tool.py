#!/usr/bin/env python3
"""GradBench's evals in Bitale's Python, as a tool of their protocol: messages on standard input, replies on standard output."""

from evals import EVALS
from protocol import serve

if __name__ == "__main__":
    serve("bitale", EVALS)
