"""Checkpoints of training and sampling loops: shared variables, random states and arrays, saved and restored together.

>>> state = {"weights": weights, "rng": rng}  # shared variables
>>> found = bt.checkpoint.restore("run", state)
>>> for step in range(found.step if found else 0, 1000):
...     train()
...     bt.checkpoint.save("run", step + 1, state)

A checkpoint is a folder `step-N` with one `.npz` file per process. It is written under another
name, and renamed when all files are on disk, so a process may be killed at any moment. See
docs/checkpoint.md.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import operator
import os
import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any, Callable, Mapping, NamedTuple, TypeVar, Union

import numpy as np

from bitale._checkpoint_values import (
    digest,
    in_forms,
    is_shared,
    named_leaves,
    put_together,
    taken_apart,
)

__all__ = ["Restored", "restore", "save", "steps"]

FORMAT = 1  # of the description in a file
NAME = re.compile(r"step-(0|[1-9][0-9]*)")

Folder = Union[str, "os.PathLike[str]"]
Result = TypeVar("Result")


class Restored(NamedTuple):
    """Content of a checkpoint.

    Parameters
    ----------
    step : int
        Step at which it was saved.
    values : dict
        The saved values, by name.
    """

    step: int
    values: dict[str, Any]


def save(folder: Folder, step: int, state: Mapping[str, Any], keep: int = 2) -> None:
    """Save a checkpoint.

    The checkpoint is complete when the call returns, and does not exist if the process is killed
    before; older ones are deleted afterwards. Processes joined by ``jax.distributed.initialize``
    call it together: each writes the parts it holds of JAX arrays that are divided among them, and
    the first writes everything else.

    Parameters
    ----------
    folder : path
        Folder for the checkpoints of the loop, shared by all its processes and used by no other
        loop. It is created if it does not exist.
    step : int
        Number of steps completed, larger than that of earlier checkpoints.
    state : dict
        Shared variables (including sparse and labelled ones), NumPy and JAX arrays, numbers,
        streams and NumPy generators, and trees of these, by name.
    keep : int
        Number of checkpoints to keep.

    Raises
    ------
    ValueError
        If the folder already has a checkpoint of this step or a later one, or if the states of
        processes differ in names, dtypes or shapes.
    TypeError
        If a value is of another kind.
    OSError
        If the checkpoint cannot be written. Earlier checkpoints are not affected.
    RuntimeError
        If another process could not do its part.
    """
    folder, step, keep = Path(folder), _counted("step", step, 0), _counted("keep", keep, 1)
    index, count = _processes()
    described, pieces = _together(lambda: taken_apart(named_leaves(state, "save")[0]))
    common = [each for each in pieces if each.is_common]
    if count > 1 and len(set(_from_all(digest([step, described], common)))) > 1:
        raise ValueError(
            "checkpoint.save: expected the same step and state in all processes, except for divided JAX arrays, got others: names, "
            "dtypes, shapes or values differ (random states of processes of their own are children of one stream, by Stream.fold)"
        )
    own = pieces if index == 0 else [each for each in pieces if not each.is_common]
    about = {
        "format": FORMAT,
        "step": step,
        "values": described,
        "pieces": [[each.name, each.bounds] for each in own],
    }
    unfinished = folder / f"writing-{step}"

    def write() -> None:
        if index == 0:
            _require_no_later(folder, step)
        unfinished.mkdir(parents=True, exist_ok=True)
        _write(unfinished / _file_name(index, count), about, [each.elements for each in own])

    def finish() -> None:
        expected = {_file_name(other, count) for other in range(count)}
        for name in (
            set(os.listdir(unfinished)) - expected
        ):  # left by a run of another number of processes that was killed
            os.unlink(unfinished / name)
        if lacking := expected - set(os.listdir(unfinished)):
            raise FileNotFoundError(
                f"checkpoint.save: {unfinished} lacks {min(lacking)}; do all processes see the same folder?"
            )
        _sync(unfinished)
        for other in [
            each for each in steps(folder) if each >= step
        ]:  # damaged, since _require_no_later let them pass
            _delete(_path(folder, other))
        os.rename(unfinished, _path(folder, step))
        _sync(folder)
        for other in steps(folder)[:-keep]:
            _delete(_path(folder, other))
        for name in os.listdir(folder):  # of runs that were killed
            if name.startswith(("writing-", "deleting-")):
                shutil.rmtree(folder / name, ignore_errors=True)

    try:
        _together(write)
        _together(lambda: finish() if index == 0 else None)
    except Exception:
        if index == 0:
            shutil.rmtree(unfinished, ignore_errors=True)
        raise


def restore(folder: Folder, state: Mapping[str, Any]) -> Restored | None:
    """Restore the newest checkpoint.

    Shared variables get the saved values; all values are also returned. A damaged checkpoint is
    skipped with a warning, and the previous one is used. Nothing is changed unless everything can
    be restored. Processes joined by ``jax.distributed.initialize`` call it together; their number
    may differ from that of the processes that saved.

    Parameters
    ----------
    folder : path
        Folder of the loop's checkpoints.
    state : dict
        The saved variables and values, by name, with the saved dtypes and shapes. For a JAX array,
        or a ``jax.ShapeDtypeStruct`` with a sharding, the restored value is an array with that
        sharding, which may differ from the saved one.

    Returns
    -------
    Restored or None
        The step and the values; None if the folder has no checkpoint.

    Raises
    ------
    ValueError
        If names, dtypes or shapes differ from those in the checkpoint, if another version of Bitale
        wrote it in a format that this one does not know, or if all checkpoints are damaged.
    TypeError
        If a value is of another kind than the saved one.
    OSError
        If a file cannot be read.
    RuntimeError
        If another process could not do its part.
    """
    folder, index, count = Path(folder), *_processes()
    older, damages = None, []

    def newest() -> int:
        return max((each for each in steps(folder) if older is None or each < older), default=-1)

    while (step := _from_all(_together(newest))[0]) >= 0:
        older, path = step, _path(folder, step)
        damage = _together(functools.partial(_damage, path, index, count))
        noticed = _from_all(bool(damage))
        if any(noticed):
            damages.append(damage or f"process {noticed.index(1)} finds damage in {path}")
            warnings.warn(
                f"checkpoint.restore: the checkpoint of step {step} is passed over: {damages[-1]}",
                stacklevel=2,
            )
            continue
        named, forms = _together(functools.partial(named_leaves, state, "restore"))
        values = _together(functools.partial(_read, path, named))
        for name, template in named.items():
            if is_shared(template):
                template.set_value(values[name])
        return Restored(step, in_forms(values, forms))
    if damages:
        raise ValueError(
            f"checkpoint.restore: expected an undamaged checkpoint in {folder}, got none: {'; '.join(damages)}"
        )
    return None


def steps(folder: Folder) -> list[int]:
    """List the checkpoints of a folder.

    Parameters
    ----------
    folder : path
        Folder of a loop's checkpoints.

    Returns
    -------
    list of int
        Their steps, in increasing order.
    """
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted(int(found[1]) for each in names if (found := NAME.fullmatch(each)))


def _counted(name: str, number: int, least: int) -> int:
    try:
        if not isinstance(number, bool) and operator.index(number) >= least:
            return operator.index(number)
    except TypeError:
        pass
    raise ValueError(
        f"checkpoint.save: expected an integer of {least} or more for {name}, got {number!r}"
    )


# ---- files -------------------------------------------------------------------------------------------------------------


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step}"


def _file_name(index: int, count: int) -> str:
    return f"part-{index}-of-{count}.npz"


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("part-*.npz"))


def _sync(path: Path) -> None:
    """What was written to a file, or the names in a folder, survive if the machine stops."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _write(path: Path, about: dict[str, Any], arrays: list[Any]) -> None:
    text = json.dumps(about, default=lambda each: each.tolist()).encode()
    with open(path, "wb") as file:
        np.savez(
            file,
            description=np.frombuffer(text, np.uint8),
            **{f"{number}": each for number, each in enumerate(arrays)},
        )
    _sync(path)


def _about(part: Any) -> Any:
    return json.loads(bytes(part["description"]))


def _read(path: Path, state: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an undamaged checkpoint."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(np.load(each, allow_pickle=False)) for each in _files(path)]
        abouts = [_about(file) for file in files]
        if (found := abouts[0]["format"]) != FORMAT:
            raise ValueError(
                f"checkpoint.restore: expected format {FORMAT} in {path}, got {found}, of another version of Bitale: restore it with that one"
            )
        pieces = [
            (name, bounds, functools.partial(file.__getitem__, f"{number}"))
            for file, about in zip(files, abouts)
            for number, (name, bounds) in enumerate(about["pieces"])
        ]
        return put_together(abouts[0]["values"], pieces, state)


def _delete(path: Path) -> None:
    """Under another name, so that a process that is killed meanwhile leaves no half of a checkpoint."""
    doomed = path.with_name(f"deleting-{path.name}")
    shutil.rmtree(doomed, ignore_errors=True)
    os.rename(path, doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def _damage(path: Path, index: int = 0, count: int = 1) -> str:
    """What is wrong with a checkpoint, or an empty text. Each of `count` processes looks into its share of the files."""
    files = _files(path)
    expected = max(len(files), 1)
    lacking = {_file_name(part, expected) for part in range(expected)} - {
        each.name for each in files
    }
    if lacking:
        return f"{path} lacks {min(lacking)} or another part, having {', '.join(each.name for each in files) or 'none'}"
    return "; ".join(f"{each} is damaged" for each in files[index::count] if not _is_sound(each))


def _is_sound(path: Path) -> bool:
    """By the check sums of a zip file's members, and their number, which has none."""
    with open(path, "rb") as file:
        try:
            with np.load(file, allow_pickle=False) as part:
                about = _about(part)
                return part.zip.testzip() is None and (
                    about["format"] != FORMAT or len(part.files) == 1 + len(about["pieces"])
                )
        except MemoryError:
            raise
        except (
            Exception
        ) as error:  # of many classes, since zipfile interprets whatever bytes there are
            if (
                isinstance(error, OSError) and error.errno != errno.EINVAL
            ):  # which a seek to an offset before the file raises
                raise
            return False


def _require_no_later(folder: Path, step: int) -> None:
    for other in steps(folder):
        if other >= step and not _damage(_path(folder, other)):
            raise ValueError(
                f"checkpoint.save: expected a step after those of the checkpoints in {folder}, which has one of step {other}, got {step}: "
                "restore it first, or use another folder"
            )


# ---- processes ---------------------------------------------------------------------------------------------------------


def _processes() -> tuple[int, int]:
    """This one's number, and how many there are."""
    jax = sys.modules.get("jax")
    return (
        (jax.process_index(), jax.process_count())
        if jax is not None and jax.distributed.is_initialized()
        else (0, 1)
    )


def _from_all(number: int) -> list[int]:
    """The number of each process."""
    if _processes()[1] == 1:
        return [number]
    from bitale.jax.processes import gathered

    return [
        int.from_bytes(each, "little", signed=True)
        for each in gathered(int(number).to_bytes(8, "little", signed=True))
    ]


def _together(own: Callable[[], Result]) -> Result:
    """The result of that in each process. If it fails in one it raises in all, so that none waits for another in vain."""
    problem: Exception | None = None
    try:
        result = own()
    except Exception as error:
        problem = error
    failed = [index for index, is_good in enumerate(_from_all(problem is None)) if not is_good]
    if problem is not None:
        raise problem
    if failed:
        raise RuntimeError(
            f"checkpoint: process {failed[0]} could not do its part, and has raised the error that says why"
        )
    return result
