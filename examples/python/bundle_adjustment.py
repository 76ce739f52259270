"""Bundle adjustment: cameras and landmarks of a plane are found from the angles at which the cameras see the landmarks.

Each measurement depends on one camera and one landmark only. The derivatives by these five numbers, two products with the Jacobian, are exact, and the
normal equations are a sparse matrix with a fixed pattern, of which each step of Levenberg and Marquardt takes a Cholesky factor.
"""

import os

import numpy as np
import scipy.sparse

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

rng = np.random.default_rng(2)
cameras, landmarks, share = (6, 15, 0.9) if os.environ.get("BITALE_EXAMPLE_QUICK") else (40, 400, 0.3)
angle = np.linspace(0, 2 * np.pi, cameras, endpoint=False)
true_pose = np.column_stack([6 * np.cos(angle), 6 * np.sin(angle), angle + np.pi])  # x, y and direction
true_place = rng.uniform(-3, 3, (landmarks, 2))
camera, landmark = (each.ravel() for each in np.mgrid[:cameras, :landmarks])
seen_here = rng.random(camera.size) < share
camera, landmark = camera[seen_here], landmark[seen_here]
size = 3 * cameras + 2 * landmarks


def angles(unknowns):
    """What each camera measures, relative to its direction."""
    pose, place = unknowns[: 3 * cameras].reshape((cameras, 3))[camera], unknowns[3 * cameras :].reshape((landmarks, 2))[landmark]
    return pt.arctan2(place[:, 1] - pose[:, 1], place[:, 0] - pose[:, 0]) - pose[:, 2]


unknowns, measured = pt.tensor("unknowns", dtype="float64", shape=(size,)), pt.dvector("measured")
difference = angles(unknowns) - measured
residual = pt.arctan2(pt.sin(difference), pt.cos(difference))  # between -pi and pi

# Each row of the Jacobian has five elements: a product with a vector that is 1 at every camera's x, for example, gives all derivatives by an x.
columns = np.stack([*(3 * camera + k for k in range(3)), *(3 * cameras + 2 * landmark + k for k in range(2))])
seeds = [np.isin(np.arange(size), each).astype(float) for each in columns]
elements = pt.stack([bt.pushforward(residual, unknowns, pt.constant(each)) for each in seeds])

# J.T @ J has an element for each pair of the five, and the damping is on its diagonal.
first, second = (each.ravel() for each in np.mgrid[:5, :5])
rows, cols = columns[first].ravel(), columns[second].ravel()
template = scipy.sparse.csc_array((np.ones(rows.size), (rows, cols)), shape=(size, size)) + scipy.sparse.identity(size, format="csc")
template.sort_indices()
key = {pair: k for k, pair in enumerate(zip(template.indices, np.repeat(np.arange(size), np.diff(template.indptr))))}
slot = np.array([key[pair] for pair in zip(rows, cols)])
diagonal = np.array([key[k, k] for k in range(size)])
damping = pt.dscalar("damping")
data = pt.zeros(template.nnz)[slot].inc((elements[first] * elements[second]).ravel())
data = data[diagonal].inc(damping)
normal = sparse.constant(template).with_data(data)
gradient = bt.grad(0.5 * (residual**2).sum(), unknowns)
step = bt.function([unknowns, measured, damping], unknowns - sparse.linalg.cholesky(normal).solve(gradient))
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
print(f"the root mean square of the residuals fell from {np.sqrt(start / camera.size):.4f} to {np.sqrt(cost(found, given) / camera.size):.5f}; the noise is 0.001")
assert cost(found, given) / camera.size < 1.5e-6
