"""Shared setup of the tests of the PyTensor bridge. They are skipped if PyMC is not installed; `./dev setup pymc`
creates an environment that has it."""

import pytest

pytest.importorskip("pytensor", reason="needs PyTensor: ./dev setup pymc")
pytest.importorskip("pymc", reason="needs PyMC: ./dev setup pymc")
