#include "compile/preallocated.hpp"

#include <algorithm>
#include <cstring>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

constexpr std::string_view kinds_known[] = {"initial", "previous",   "c_contiguous", "f_contiguous",
                                            "strided", "wrong_size", "ALL"};
constexpr unsigned char garbage = 0xA5;

void fill(const Array& memory) {
  if (memory.nbytes()) std::memset(memory.mutable_data(), garbage, std::size_t(memory.nbytes()));
}
bool is_filled(const Array& memory) {
  const auto* bytes = static_cast<const unsigned char*>(memory.data());
  return std::all_of(bytes, bytes + memory.nbytes(), [](unsigned char byte) { return byte == garbage; });
}

// Bool bytes other than 0 and 1 are not valid values: code that reads them would not be at fault.
Array fresh(DType dtype, const Dims& shape) {
  if (dtype == DType::Bool) return Array::zeros(dtype, shape);
  const Array out = Array::empty(dtype, shape);
  fill(out);
  return out;
}

using Make = Array (*)(const Array& value, Array& around);

Array initial(const Array& value, Array& around) { return around = Array::zeros(value.dtype(), value.shape()); }
Array previous(const Array& value, Array& around) { return around = value.copy(); }
Array c_contiguous(const Array& value, Array& around) { return around = fresh(value.dtype(), value.shape()); }
Array f_contiguous(const Array& value, Array& around) {
  Dims shape = value.shape();
  std::reverse(shape.begin(), shape.end());
  return (around = fresh(value.dtype(), shape)).transpose();
}

Array strided(const Array& value, const std::vector<int>& steps, Array& around) {
  Dims shape = value.shape();
  for (std::size_t axis = 0; axis < steps.size() && axis < shape.size(); ++axis) shape[axis] *= std::abs(steps[axis]);
  Array out = around = fresh(value.dtype(), shape);
  for (int axis = 0; axis < out.ndim() && axis < int(steps.size()); ++axis) {
    const std::int64_t count = value.shape(axis), step = steps[std::size_t(axis)];
    if (count > 0) out = out.slice(axis, step < 0 ? -step * (count - 1) : 0, count, step);
  }
  return out;
}

Array wrong_size(const Array& value, const std::vector<int>& more, Array& around) {
  Dims shape = value.shape();
  for (std::size_t axis = 0; axis < more.size() && axis < shape.size(); ++axis)
    shape[axis] = std::max<std::int64_t>(0, shape[axis] + more[axis]);
  return around = fresh(value.dtype(), shape);
}

// All lists of `count` elements of the choices.
std::vector<std::vector<int>> combinations(int count, const std::vector<int>& choices) {
  std::vector<std::vector<int>> out{{}};
  for (int k = 0; k < count; ++k) {
    std::vector<std::vector<int>> longer;
    for (auto& list : out)
      for (int choice : choices) {
        longer.push_back(list);
        longer.back().push_back(choice);
      }
    out = std::move(longer);
  }
  return out;
}

template <class MakeOne>
Preallocated made(std::string name, const std::vector<Array>& values, MakeOne&& make) {
  Preallocated out{std::move(name), {}, true, {}};
  for (auto& value : values) {
    Array around;
    out.targets.push_back(make(value, around));
    out.fits &= out.targets.back().shape() == value.shape();
    out.around.push_back(std::move(around));
  }
  return out;
}

std::string list_text(const std::vector<int>& list) {
  return tuple_text(std::vector<std::int64_t>(list.begin(), list.end()));
}

}  // namespace

std::vector<std::string> memory_kinds(std::string_view colon_list) {
  const std::vector<std::string> known(std::begin(kinds_known), std::end(kinds_known));
  std::vector<std::string> out;
  for (std::size_t at = 0; at < colon_list.size();) {
    const std::size_t end = std::min(colon_list.find(':', at), colon_list.size());
    const std::string kind(colon_list.substr(at, end - at));
    at = end + 1;
    if (kind.empty()) continue;
    if (std::find(known.begin(), known.end(), kind) == known.end()) {
      const std::string near = closest(kind, known);
      throw ValueError(cat("DebugMode: check_preallocated_output: there is no `", kind, "`; known are ",
                           join(known, ", "), near.empty() ? "" : cat("; did you mean `", near, "`?")));
    }
    out.push_back(kind);
  }
  if (std::find(out.begin(), out.end(), "ALL") != out.end()) return {known.begin(), known.end() - 1};
  return out;
}

std::optional<std::pair<Array, Array>> Preallocated::damage() const {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Array& memory = around[i];
    if (memory.size() == targets[i].size() || memory.dtype() == DType::Bool) continue;
    targets[i].assign(fresh(memory.dtype(), {}).broadcast_to(targets[i].shape()));
    if (!is_filled(memory)) return std::pair(fresh(memory.dtype(), memory.shape()), memory);
  }
  return std::nullopt;
}

std::vector<Preallocated> preallocated(const std::vector<Array>& values, const std::vector<std::string>& kinds,
                                       int ndim) {
  int most = 0;
  for (auto& value : values) most = std::max(most, value.ndim());
  most = std::min(most, ndim);
  std::vector<Preallocated> out;
  for (auto& kind : kinds) {
    const auto add = [&](Make make) {
      out.push_back(made(kind, values, [&](const Array& value, Array& around) { return make(value, around); }));
    };
    if (kind == "initial") add(initial);
    if (kind == "previous") add(previous);
    if (kind == "c_contiguous") add(c_contiguous);
    if (kind == "f_contiguous") add(f_contiguous);
    if (kind == "strided")
      for (int size : {1, 2})
        for (auto& steps : combinations(most, {size, -size}))
          out.push_back(made(cat("strided ", list_text(steps)), values,
                             [&](const Array& value, Array& around) { return strided(value, steps, around); }));
    if (kind == "wrong_size")
      for (auto& more : combinations(most, {-1, 0, 1}))
        if (std::any_of(more.begin(), more.end(), [](int each) { return each != 0; }))
          out.push_back(made(cat("wrong_size ", list_text(more)), values,
                             [&](const Array& value, Array& around) { return wrong_size(value, more, around); }));
  }
  return out;
}

}  // namespace bitale
