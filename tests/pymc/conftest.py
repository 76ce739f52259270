"""What tests of the bridge share. They are skipped where PyMC is absent: `./dev setup pymc` makes an environment that has it."""

import pytest

pytest.importorskip("pytensor", reason="needs PyTensor: ./dev setup pymc")
pytest.importorskip("pymc", reason="needs PyMC: ./dev setup pymc")
