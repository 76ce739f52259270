"""Every view of a derivative agrees with every other: of random programs of static and unknown lengths, with ops whose
derivatives users define, by inputs and by values on the way."""

import pytest

from fuzz import views


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_views_of_derivatives(seed):
    assert views.check(seed, is_changed=False)


@pytest.mark.parametrize("seed", range(1, 41, 2))
def test_views_of_changed_gradients(seed):
    assert views.check(seed, is_changed=True)
