"""Bundle adjustment: the positions of cameras and landmarks in a plane, from the angles at which the cameras see the landmarks.

Each measurement depends on only one camera and one landmark, so the Jacobian and the normal
equations are sparse. Each Levenberg-Marquardt step takes a Cholesky factor of the latter.
"""

import os

import numpy as np
import scipy.sparse

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

rng = np.random.default_rng(2)
cameras, landmarks, share = (
    (6, 15, 0.9) if os.environ.get("BITALE_EXAMPLE_QUICK") else (40, 400, 0.3)
)
angle = np.linspace(0, 2 * np.pi, cameras, endpoint=False)
true_pose = np.column_stack(
    [6 * np.cos(angle), 6 * np.sin(angle), angle + np.pi]
)  # x, y and direction
true_place = rng.uniform(-3, 3, (landmarks, 2))
camera, landmark = (each.ravel() for each in np.mgrid[:cameras, :landmarks])
seen_here = rng.random(camera.size) < share
camera, landmark = camera[seen_here], landmark[seen_here]
size = 3 * cameras + 2 * landmarks


def angles(unknowns):
    """What each camera measures, relative to its direction."""
    pose, place = (
        unknowns[: 3 * cameras].reshape((cameras, 3))[camera],
        unknowns[3 * cameras :].reshape((landmarks, 2))[landmark],
    )
    return pt.arctan2(place[:, 1] - pose[:, 1], place[:, 0] - pose[:, 0]) - pose[:, 2]


unknowns, measured = pt.tensor("unknowns", dtype="float64", shape=(size,)), pt.dvector("measured")
difference = angles(unknowns) - measured
residual = pt.arctan2(pt.sin(difference), pt.cos(difference))  # between -pi and pi

# Each row of the Jacobian has five elements. Where they are is found in the graph, and so are columns that share no row: those of all cameras' x,
# for example, are computed by one product.
J = bt.jacobian(residual, unknowns, sparse=True)
damping = pt.dscalar("damping")
normal = J.T @ J + sparse.constant(scipy.sparse.identity(size, format="csc")) * damping
step = bt.function(
    [unknowns, measured, damping], unknowns - sparse.linalg.cholesky(normal).solve(J.T @ residual)
)
cost = bt.function([unknowns, measured], (residual**2).sum())

truth = np.concatenate([true_pose.ravel(), true_place.ravel()])
given = bt.function([unknowns], angles(unknowns))(truth) + rng.normal(0, 1e-3, camera.size)
found = at_start = truth + rng.normal(0, 0.1, size)
start, weight = cost(found, given), 1e-3
for _ in range(30):
    trial = step(found, given, weight)
    if cost(trial, given) < cost(found, given):
        found, weight = trial, weight / 3
    else:
        weight *= 5
print(f"{cameras} cameras, {landmarks} landmarks, {camera.size} angles: {size} unknowns")
print(
    f"the root mean square of the residuals fell from {np.sqrt(start / camera.size):.4f} to {np.sqrt(cost(found, given) / camera.size):.5f}; the noise is 0.001"
)
assert cost(found, given) / camera.size < 1.5e-6
