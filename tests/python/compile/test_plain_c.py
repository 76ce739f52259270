"""A compiled function called from plain C99 code, which receives only its address: gradient descent from many points in
several threads."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import bitale
from bitale import tensor as pt

PROGRAM = """
#include <pthread.h>
#include <stddef.h>

typedef int value_and_grad(size_t n, const double *x, double *grad, double *value, const void *user);

enum { max_threads = 8, longest = 64 };

struct job {
  value_and_grad *f;
  size_t n, first, count;
  double *points, *values, rate;
  int steps, failures;
};

static void *run(void *argument) {
  struct job *job = argument;
  double grad[longest] = {0}; /* a failed call writes nothing */
  for (size_t k = job->first; k < job->first + job->count; ++k) {
    double *x = job->points + k * job->n;
    for (int step = 0; step <= job->steps; ++step) {
      job->failures += job->f(job->n, x, grad, &job->values[k], NULL) != 0;
      if (step == job->steps) break;
      for (size_t i = 0; i < job->n; ++i) {
        const double change = job->rate * grad[i];
        x[i] -= change;
      }
    }
  }
  return NULL;
}

/* Descends from each of count points; returns how many calls failed, or -1. */
int descend(value_and_grad *f, size_t n, size_t count, double *points, double *values, double rate, int steps,
            int threads);

int descend(value_and_grad *f, size_t n, size_t count, double *points, double *values, double rate, int steps,
            int threads) {
  pthread_t ids[max_threads];
  struct job jobs[max_threads];
  int failures = 0;
  if (threads < 1 || threads > max_threads || n > longest) return -1;
  for (int t = 0; t < threads; ++t) {
    const size_t first = count * (size_t)t / (size_t)threads, last = count * (size_t)(t + 1) / (size_t)threads;
    const struct job job = {f, n, first, last - first, points, values, rate, steps, 0};
    jobs[t] = job;
    if (pthread_create(&ids[t], NULL, run, &jobs[t]) != 0) return -1;
  }
  for (int t = 0; t < threads; ++t) {
    if (pthread_join(ids[t], NULL) != 0) return -1;
    failures += jobs[t].failures;
  }
  return failures;
}
"""


@pytest.fixture(scope="module", params=["cc", "gcc", "clang"])
def descend(request, tmp_path_factory):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path_factory.mktemp("plain_c")
    (folder / "descend.c").write_text(PROGRAM)
    flags = [
        "-std=c99",
        "-D_POSIX_C_SOURCE=200112L",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-O2",
        "-pthread",
    ]
    made = subprocess.run(
        [request.param, *flags, "-shared", "-fPIC", "descend.c", "-o", "libdescend.so"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    function = ctypes.CDLL(str(folder / "libdescend.so")).descend
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    function.argtypes = [
        pointer,
        size,
        size,
        pointer,
        pointer,
        ctypes.c_double,
        ctypes.c_int,
        ctypes.c_int,
    ]
    return function


def rosenbrock():
    x = pt.dvector("x")
    value = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    return bitale.function([x], [value, bitale.grad(value, x)], name="rosenbrock")


def descents(f, points, rate, steps):
    points = points.copy()
    for x in points:
        for _ in range(steps):
            x -= rate * f(x)[1]
    return points, np.array([f(x)[0] for x in points])


@pytest.mark.parametrize("threads", [1, 4, 8])
def test_gradient_descent_in_plain_c(descend, threads):
    f = rosenbrock()
    points = np.random.default_rng(3).normal(size=(23, 7)) / 2
    values, rate, steps = np.empty(23), 2e-4, 300
    at, reached = descents(f, points, rate, steps)
    failures = descend(
        f.address("value_and_grad"),
        7,
        23,
        points.ctypes.data,
        values.ctypes.data,
        rate,
        steps,
        threads,
    )
    assert failures == 0
    np.testing.assert_array_equal(points, at)
    np.testing.assert_array_equal(values, reached)
    assert (values < 10).all()


def test_failed_calls_return_an_error_and_write_nothing(descend):
    x = pt.tensor("x", dtype="float64", shape=(3,))
    value = (x**2).sum()
    f = bitale.function([x], [value, bitale.grad(value, x)])
    points, values = np.ones((5, 4)), np.full(5, 7.0)
    failures = descend(
        f.address("value_and_grad"), 4, 5, points.ctypes.data, values.ctypes.data, 0.0, 1, 2
    )
    assert failures == 10
    assert (points == 1).all() and (values == 7).all()
