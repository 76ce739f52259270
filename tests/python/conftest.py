"""Every test that takes `mode` runs with the interpreter and with native code. Compiled code is kept in a directory of
this run, not in the user's."""

import os
import tempfile

import pytest

_compiled = tempfile.TemporaryDirectory(prefix="bitale-test-")
os.environ["BITALE_FLAGS"] = os.environ.get("BITALE_FLAGS", "") + ",base_compiledir=" + _compiled.name


@pytest.fixture(params=["FAST_COMPILE", "FAST_RUN"])
def mode(request):
    return request.param
