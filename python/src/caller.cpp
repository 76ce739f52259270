// Walks the Python stack outwards, skipping Bitale's own frames. This happens for every node that is built, so the
// files and lines of a stack are looked up once and memoized by its code objects and the positions in them.
#include "caller.hpp"

#include <Python.h>
#include <nanobind/nanobind.h>

#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/small_vector.hpp"

namespace bitale::python {

namespace nb = nanobind;

namespace {

std::string& package_folder() {
  static auto& folder = *new std::string;
  return folder;
}

std::string_view text_of(PyObject* string) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(string, &size);
  if (!text) {
    PyErr_Clear();
    return {};
  }
  return {text, std::size_t(size)};
}

constexpr std::string_view of_a_module = "<module>";

bool is_of_a_module(PyCodeObject* code) { return text_of(code->co_name) == of_a_module; }
// Whether the file is the package's, or functools.py, whose wrappers (singledispatch) surround some of its functions.
bool is_own(PyCodeObject* code) {
  const std::string& folder = package_folder();
  const std::string_view file = text_of(code->co_filename);
  return (!folder.empty() && file.starts_with(folder)) || file.ends_with("/functools.py");
}

std::string_view function_name(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  std::string_view name = text_of(code->co_qualname);
#else
  std::string_view name = text_of(code->co_name);
#endif
  return name == of_a_module ? std::string_view() : name;
}

// The position of a frame: for one code object, different lines have different positions.
int offset_in(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return PyFrame_GetLineNumber(frame);
#endif
}

struct Spot {
  PyCodeObject* code;
  int offset;
  bool operator==(const Spot&) const = default;
};
using Spots = SmallVector<Spot, 8>;  // the innermost first

// Calls visit(frame, code) from the innermost frame outwards, until it returns true.
template <class Visit>
void visit_frames(Visit&& visit) {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(reinterpret_cast<PyObject*>(frame));
  while (frame) {
    nb::object held_frame = nb::steal(reinterpret_cast<PyObject*>(frame));
    PyCodeObject* code = PyFrame_GetCode(frame);
    nb::object held_code = nb::steal(reinterpret_cast<PyObject*>(code));
    if (visit(frame, code)) return;
    frame = PyFrame_GetBack(frame);
  }
}

// Up to `limit` frames that are not Bitale's; a frame of a module is the last one: the frames that run it are not
// relevant.
template <class Visit>
void visit_users_frames(std::size_t limit, Visit&& visit) {
  std::size_t count = 0;
  visit_frames([&](PyFrameObject* frame, PyCodeObject* code) {
    if (is_own(code)) return false;
    visit(frame, code);
    return ++count == limit || is_of_a_module(code);
  });
}

// The flag traceback__limit.
std::size_t frame_limit() {
  static std::uint64_t known_at = std::numeric_limits<std::uint64_t>::max();
  static std::size_t limit = 0;
  const std::uint64_t now = config::change_count();
  if (now == known_at) return limit;
  const std::int64_t flag = config::get_int("traceback__limit");
  limit = flag < 0 ? std::numeric_limits<std::size_t>::max() : std::size_t(flag);
  known_at = now;
  return limit;
}

// An installed package that has called the user's code, such as a test runner or a notebook kernel.
bool is_of_a_package(const Location& line) {
  const std::string_view file = line.file;
  return file.find("/site-packages/") != file.npos || file.find("/dist-packages/") != file.npos;
}

Location location_of(std::size_t limit) {
  std::vector<Location> lines;
  visit_users_frames(limit, [&](PyFrameObject* frame, PyCodeObject* code) {
    lines.push_back(Location::interned(text_of(code->co_filename), std::uint32_t(PyFrame_GetLineNumber(frame)),
                                       function_name(code)));
  });
  while (lines.size() > 1 && is_of_a_package(lines.back())) lines.pop_back();
  Location out;
  for (std::size_t i = lines.size(); i-- > 0;) out = lines[i].called_from(out);
  return out;
}

// Recent stacks, by hash. An entry keeps its code objects alive, so that their addresses stay valid as keys.
class KnownStacks {
 public:
  Location location(std::size_t limit) {
    Spots spots;
    std::size_t hash = 0;
    visit_users_frames(limit, [&](PyFrameObject* frame, PyCodeObject* code) {
      spots.push_back({code, offset_in(frame)});
      hash = (hash ^ hash >> 29 ^ reinterpret_cast<std::uintptr_t>(code) ^ std::size_t(spots.back().offset) << 48) *
             0x9E3779B97F4A7C15u;
    });
    Entry& entry = entries_[hash >> 54];
    if (entry.spots != spots) replace(entry, spots, location_of(limit));
    return entry.where;
  }

 private:
  struct Entry {
    Spots spots;
    Location where;
  };

  static void replace(Entry& entry, const Spots& spots, const Location& where) {
    for (auto& spot : spots) Py_INCREF(reinterpret_cast<PyObject*>(spot.code));
    const Spots before = std::move(entry.spots);
    entry.spots = spots;
    entry.where = where;
    for (auto& spot : before) Py_DECREF(reinterpret_cast<PyObject*>(spot.code));
  }

  std::array<Entry, 1024> entries_;
};

}  // namespace

void set_package_folder(std::string folder) { package_folder() = std::move(folder) + "/"; }

Location caller_location() {
  static auto& known = *new KnownStacks;
  const std::size_t limit = frame_limit();
  return limit ? known.location(limit) : Location::unnoted();
}

}  // namespace bitale::python
