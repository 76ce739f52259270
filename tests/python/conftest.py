"""Every test that takes `mode` runs with the interpreter and with native code."""

import pytest


@pytest.fixture(params=["FAST_COMPILE", "FAST_RUN"])
def mode(request):
    return request.param
