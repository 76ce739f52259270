"""The Kalman filter of the local level model on the Nile series, its variances found by Newton's method.

The observations are y_t = level_t + noise, and the level is a random walk. Durbin and Koopman, Time
Series Analysis by State Space Methods (2012), section 2.10, give the variances 15099 and 1469.1.
"""

import numpy as np

import bitale as bt
import bitale.tensor as pt

# Flow of the Nile at Aswan, 1871 to 1970, in 1e8 cubic metres a year (Cobb 1978).
nile = np.array([
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140, 1100, 1210,
    1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702,
    1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771,
    676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901,
    1170, 912, 746, 919, 718, 714, 740,
], dtype=float)  # fmt: skip

y, log_variances = (
    pt.dvector("y"),
    pt.dvector("log_variances"),
)  # of the noise, of the level's steps
noise, walk = pt.exp(log_variances[0]), pt.exp(log_variances[1])


def step(y_t, level, variance):
    """level, variance: what is known of the level before y_t is seen."""
    error, spread = y_t - level, variance + noise
    gain = variance / spread
    term = -0.5 * (pt.log(2 * np.pi * spread) + error**2 / spread)
    return level + gain * error, variance * (1 - gain) + walk, term


# The first observation says where the level is: the likelihood is that of the others.
levels, _, terms = bt.scan(step, y[1:], [y[0], noise + walk, None], return_updates=False)
likelihood = terms.sum()
f = bt.function(
    [y, log_variances],
    [likelihood, bt.grad(likelihood, log_variances), bt.hessian(likelihood, log_variances)],
)
filtered = bt.function([y, log_variances], levels)


def written_out(y, log_variances):
    noise, walk = np.exp(log_variances)
    level, variance, total, levels = y[0], noise + walk, 0.0, []
    for each in y[1:]:
        error, spread = each - level, variance + noise
        total -= 0.5 * (np.log(2 * np.pi * spread) + error**2 / spread)
        gain = variance / spread
        level, variance = level + gain * error, variance * (1 - gain) + walk
        levels.append(level)
    return total, np.array(levels)


at = np.log([10000.0, 1000.0])
value, gradient, _ = f(nile, at)
np.testing.assert_allclose(value, written_out(nile, at)[0], rtol=1e-12)
for k in range(2):
    move = np.eye(2)[k] * 1e-5
    numeric = (written_out(nile, at + move)[0] - written_out(nile, at - move)[0]) / 2e-5
    np.testing.assert_allclose(gradient[k], numeric, rtol=1e-6)

for _ in range(20):
    value, gradient, hessian = f(nile, at)
    at = at - np.linalg.solve(hessian, gradient)
    if np.abs(gradient).max() < 1e-9:
        break
found = np.exp(at)
np.testing.assert_allclose(found, [15099, 1469.1], rtol=1e-3)
np.testing.assert_allclose(filtered(nile, at), written_out(nile, at)[1], rtol=1e-12)
print(f"Nile: variances {found[0]:.0f} and {found[1]:.1f}, log likelihood {value:.3f}")
