"""Small tables of public data, which the pages and examples read. They come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_HERE = Path(__file__).resolve().parent
# Next to an installed package, and in a checkout.
_FOLDERS = (_HERE / "data", _HERE.parents[1] / "examples" / "data")

NAMES = ("digits", "mauna_loa")


def load(name: str) -> np.ndarray[Any, Any]:
    """Read one of the tables.

    Parameters
    ----------
    name : {'digits', 'mauna_loa'}
        ``digits`` has 1,797 handwritten digits in 65 columns: 64 pixels, row
        by row, from 0 to 16, and the digit. ``mauna_loa`` has 521 months in 3
        columns: year, month, and the carbon dioxide in the air in parts per
        million.

    Returns
    -------
    ndarray of float64
        A row of the table per row.

    Raises
    ------
    ValueError
        If there is no table of that name.

    Notes
    -----
    ``examples/data/README.md`` has sources and licences.

    Examples
    --------
    >>> bt.datasets.load("mauna_loa").shape
    (521, 3)
    """
    if name not in NAMES:
        raise ValueError(f"datasets.load: expected one of {', '.join(NAMES)}, got {name!r}")
    file = next((found for folder in _FOLDERS if (found := folder / f"{name}.csv").is_file()), None)
    if file is None:
        raise FileNotFoundError(
            f"datasets.load: {name}.csv is not in {_FOLDERS[0]}: the package is incomplete"
        )
    return np.loadtxt(file, delimiter=",", skiprows=1)
