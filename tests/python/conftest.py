"""Every test with an argument `mode` runs with the interpreter and with native code. Compiled code is stored in a
temporary directory, not in the user's."""

import os
import tempfile

import pytest

_compiled = tempfile.TemporaryDirectory(prefix="bitale-test-")
os.environ["BITALE_FLAGS"] = os.environ.get("BITALE_FLAGS", "") + ",base_compiledir=" + _compiled.name


@pytest.fixture(params=["FAST_COMPILE", "FAST_RUN"])
def mode(request):
    return request.param
