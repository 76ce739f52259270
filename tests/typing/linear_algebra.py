"""Decompositions return as many variables as they are asked for."""

from __future__ import annotations

import bitale.tensor as pt
from bitale.tensor import TensorVariable


def decompositions(a: TensorVariable) -> list[TensorVariable]:
    q, r = pt.linalg.qr(a)
    only_r = pt.linalg.qr(a, mode="r")
    u, s, vt = pt.linalg.svd(a)
    values = pt.linalg.svd(a, compute_uv=False)
    w, v = pt.linalg.eigh(a)
    sign, logdet = pt.linalg.slogdet(a)
    p, lower, upper = pt.linalg.lu(a)
    return [
        q,
        r,
        only_r,
        u,
        s,
        vt,
        values,
        w,
        v,
        sign,
        logdet,
        p,
        lower,
        upper,
        pt.linalg.cholesky(a),
        pt.linalg.solve(a, a),
    ]


def shapes(x: TensorVariable) -> TensorVariable:
    rows, columns = x.shape[0], x.shape[1]
    indices = pt.nonzero(x)
    stacked = pt.stack([x.sum(axis=0), x.mean(axis=0)])
    return stacked.reshape((2, columns)) + pt.zeros((2, columns)) + indices[0].sum() + rows
