"""Several processes joined by jax.distributed: arrays of which each holds a part, and bytes exchanged among all."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from bitale.jax.linker import jax_package

SIZE = 256  # bytes of a description


def gathered(own: bytes) -> list[bytes]:
    """These bytes of each process, as many in each, by the number of the process. All call it together."""
    jax_package()
    from jax.experimental import multihost_utils

    return [
        bytes(row)
        for row in np.asarray(multihost_utils.process_allgather(np.frombuffer(own, np.uint8)))
    ]


def from_processes(own: Any, mesh: Any, spec: Any) -> Any:
    """Make an array over a mesh of which each process holds a part.

    The parts are in the order of the processes, which call this together; with one process, the
    part is the whole. ``jax.make_array_from_process_local_data``, which makes the array, assumes
    that the parts match; otherwise each process would compute with a different array.

    Parameters
    ----------
    own : array
        The part of this process or, if the spec divides nothing, the whole array, which every process has.
    mesh : jax.sharding.Mesh
        Devices of all processes.
    spec : jax.sharding.PartitionSpec
        Axis of the mesh that divides each dimension.

    Returns
    -------
    jax.Array
        The whole array.

    Raises
    ------
    ValueError
        In every process, if dtypes or shapes of the parts differ, or elements of an array that
        every process has; or if the local devices do not divide a length.
    """
    jax = jax_package()
    own, sharding = np.asarray(own), jax.sharding.NamedSharding(mesh, spec)
    if jax.process_count() > 1:
        _require_equal_parts(own, spec)
    with jax.enable_x64(True):
        return jax.make_array_from_process_local_data(sharding, own)


def _require_equal_parts(own: np.ndarray, spec: Any) -> None:
    is_whole = not any(spec)
    check = zlib.crc32(own.tobytes()) if is_whole else 0
    text = f"{check:8x} {own.dtype} of shape {own.shape}".encode()[:SIZE]
    texts = [each.decode() for each in gathered(text.ljust(SIZE))]
    if len(set(texts)) == 1:
        return
    kinds = [each[9:].strip() for each in texts]
    parts = ", ".join(f"process {process} has {kind}" for process, kind in enumerate(kinds))
    if len(set(kinds)) == 1:
        raise ValueError(
            f"from_processes: expected equal elements in all processes of what {spec} does not divide, got others; {parts}"
        )
    raise ValueError(
        f"from_processes: expected equal dtypes and shapes of the parts of an array in all processes, with {spec}, got others; {parts}. "
        "Pad the shorter parts, with rows of weight 0 say"
    )
