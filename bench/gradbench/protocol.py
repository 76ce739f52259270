"""GradBench's protocol: a tool reads messages and writes replies, each a line of JSON. This part knows no library: evals are names and
functions, so that Bitale's tool and those it is measured beside are the same but for their evals."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import numpy as np


class InputError(ValueError):
    """An input that a function can't take: the reply says why."""


@dataclass(frozen=True)
class Prepared:
    """What is left to do after an input was read and its expression compiled: `run` is what is timed."""

    run: Callable[[], Any]
    to_json: Callable[[Any], Any]


Evals = Mapping[str, Mapping[str, Callable[[Any], Prepared]]]


# ---- fields of inputs -----------------------------------------------------------------------------------------------


def field(input: Any, name: str) -> Any:
    if not isinstance(input, dict):
        raise InputError("expected an object as input")
    if name not in input:
        raise InputError(f"the input has no field `{name}`")
    return input[name]


def count(input: Any, name: str) -> int:
    value = field(input, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"`{name}` must be an integer from 1")
    return value


def numbers(input: Any, name: str, shape: tuple[int | None, ...], kinds: str) -> np.ndarray:
    value = field(input, name)
    try:
        array = np.array(value)
    except ValueError:
        raise InputError(f"`{name}` must be lists of the same length") from None
    if array.size == 0:
        array = (
            np.zeros(tuple(0 if length is None else length for length in shape))
            if 0 in shape or None in shape
            else array
        )
    elif array.dtype.kind not in kinds:
        raise InputError(f"`{name}` must be {'numbers' if 'f' in kinds else 'integers'}")
    if array.ndim != len(shape) or any(
        length not in (None, actual) for length, actual in zip(shape, array.shape)
    ):
        expected = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"`{name}` must be of shape ({expected}), got {array.shape}")
    return array


def floats(input: Any, name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """The field as float64; a length of None is any."""
    return numbers(input, name, shape, "iuf").astype(np.float64)


def positions(
    input: Any, name: str, shape: tuple[int | None, ...], end: int, least: int = 0
) -> np.ndarray:
    """The field as integers from `least`, below `end`."""
    array = numbers(input, name, shape, "iu").astype(np.int64)
    if array.size and not (least <= array.min() and array.max() < end):
        raise InputError(f"`{name}` must be integers from {least} below {end}")
    return array


# ---- messages -------------------------------------------------------------------------------------------------------


def found(table: Mapping[str, Any], what: str, name: Any) -> Any:
    if not isinstance(name, str) or name not in table:
        raise InputError(f"there is no {what} `{name}`; there are: {', '.join(table)}")
    return table[name]


def evaluated(prepare: Callable[[Any], Prepared], input: Any) -> dict[str, Any]:
    given = input if isinstance(input, dict) else {}
    runs, seconds = given.get("min_runs", 1), given.get("min_seconds", 0)
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise InputError("`min_runs` must be an integer from 1")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
        raise InputError("`min_seconds` must be a number from 0")
    begin = time.perf_counter_ns()
    prepared = prepare(input)
    timings = [{"name": "prepare", "nanoseconds": time.perf_counter_ns() - begin}]
    spent = made = 0
    while made < runs or spent < seconds * 1e9:
        start = time.perf_counter_ns()
        result = prepared.run()
        took = time.perf_counter_ns() - start
        timings.append({"name": "evaluate", "nanoseconds": took})
        spent, made = spent + took, made + 1
    return {"success": True, "output": prepared.to_json(result), "timings": timings}


def reply_to(message: Any, tool: str, evals: Evals) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise InputError("expected an object as message")
    kind = message.get("kind")
    if kind == "start":
        return {"tool": tool}
    if kind in ("define", "evaluate"):
        functions = found(evals, "eval", message.get("module"))
        if kind == "define":
            return {"success": True}
        prepare = found(functions, f"function of {message['module']}", message.get("function"))
        if "input" not in message:
            raise InputError("the message has no `input`")
        return evaluated(prepare, message["input"])
    if not isinstance(kind, str):
        raise InputError("the message has no text `kind`")
    return {}  # the protocol wants an answer to kinds that are not for tools, too


def parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"the message is not JSON: {error}") from None


def reply_to_line(line: str, tool: str, evals: Evals) -> dict[str, Any]:
    number = None
    try:
        message = parsed(line)
        if isinstance(message, dict) and isinstance(message.get("id"), (int, str)):
            number = message["id"]
        reply = reply_to(message, tool, evals)
    except Exception as error:  # whatever it is, the next message is answered
        reply = {"success": False, "error": f"{type(error).__name__}: {error}"}
    return {"id": number, **reply}


def serve(
    tool: str, evals: Evals, messages: TextIO = sys.stdin, replies: TextIO = sys.stdout
) -> None:
    """Answers each line of `messages` by a line of `replies`. A message that can't be answered gets a reply with an `error`."""
    for line in messages:
        print(json.dumps(reply_to_line(line, tool, evals)), file=replies, flush=True)
