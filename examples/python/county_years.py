"""Radon in houses of several counties and years: a hierarchical model with named dimensions, fitted by its gradient.

Levels are a table over (county, year), from which houses select by their county and year; the table
of estimates has the names of the counties. The same model without names follows: its numbers and
its code are the same.
"""

import os

import numpy as np
import scipy.optimize

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

rng = np.random.default_rng(2)
quick = bool(os.environ.get("BITALE_EXAMPLE_QUICK"))
names, years = [f"county {letter}" for letter in "ABCDEFGHIJKL"], np.arange(1985, 1995)
houses = 150 if quick else 1500
county_of, year_of = rng.integers(len(names), size=houses), rng.integers(len(years), size=houses)
true_level = (
    1.3 + rng.normal(0, 0.4, len(names))[:, None] + np.cumsum(rng.normal(-0.05, 0.05, len(years)))
)
data = true_level[county_of, year_of] + rng.normal(0, 0.5, houses)

# The model with names.
county, year, house = (
    px.Dim("county", coords=names),
    px.Dim("year", coords=years),
    px.Dim("house", houses),
)
by_county, by_year = px.xtensor("by_county", dims=county), px.xtensor("by_year", dims=year)
mean, log_spread = pt.dscalar("mean"), pt.dscalar("log_spread")
radon = px.xtensor("radon", dims=house)

level = mean + by_county + by_year
expected = level.isel(
    county=px.as_xtensor(county_of, dims=house), year=px.as_xtensor(year_of, dims=house)
)
loss = (
    2 * ((radon - expected) ** 2).sum()
    + 0.5 * px.math.exp(-2 * log_spread) * (by_county**2).sum()
    + len(names) * log_spread
    + 0.5 * log_spread**2
    + 50 * (by_year.diff("year") ** 2).sum()
    + 0.5 * by_year.isel(year=0) ** 2
)
parameters = [mean, log_spread, by_county, by_year]
objective = bt.function([*parameters, radon], [loss, *bt.grad(loss, parameters)])
table = bt.function(parameters, level, on_unused_input="ignore")

# The same without names.
b_county, b_year = by_county.values, by_year.values
plain_level = (mean + b_county)[:, None] + b_year
plain = (
    2 * ((radon.values - plain_level[county_of, year_of]) ** 2).sum()
    + 0.5 * pt.exp(-2 * log_spread) * (b_county**2).sum()
    + len(names) * log_spread
    + 0.5 * log_spread**2
    + 50 * ((b_year[1:] - b_year[:-1]) ** 2).sum()
    + 0.5 * b_year[0] ** 2
)
plain_parameters = [mean, log_spread, b_county, b_year]
plain_objective = bt.function(
    [*plain_parameters, radon.values], [plain, *bt.grad(plain, plain_parameters)]
)

sizes = np.cumsum([1, 1, len(names)])


def unpacked(flat):
    m, s, c, y = np.split(flat, sizes)
    return m[0], s[0], c, y


def value_and_slope(function):
    def of(flat):
        value, *slopes = function(*unpacked(flat), data)
        return float(value), np.concatenate([np.ravel(each) for each in slopes])

    return of


start = np.zeros(2 + len(names) + len(years))
for one, other in zip(value_and_slope(objective)(start), value_and_slope(plain_objective)(start)):
    np.testing.assert_allclose(one, other, rtol=1e-12)
fit = scipy.optimize.minimize(value_and_slope(objective), start, jac=True, method="L-BFGS-B")
found = table(*unpacked(fit.x))
error = np.abs(np.asarray(found) - true_level).mean()
print(
    f"{fit.nfev} evaluations, mean error of a level {error:.3f}, spread of counties {np.exp(fit.x[1]):.2f}"
)
if hasattr(found, "sel"):  # xarray is installed
    print(found.sel(county="county C").round(2).to_series().to_string())
assert fit.success and error < (0.25 if quick else 0.12)
