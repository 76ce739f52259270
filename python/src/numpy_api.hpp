// NumPy's C API, for the few files that use it. One of them, numpy_bridge.cpp, defines and fills its table of
// functions.
#pragma once

#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL bitale_numpy_api
#ifndef BITALE_HOLDS_NUMPY_API
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <cstdint>

static_assert(sizeof(npy_intp) == sizeof(std::int64_t));
