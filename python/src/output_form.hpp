// The form in which a function returns its results, which is the form in which its outputs were given.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "input_output.hpp"

namespace bitale::python {

struct OutputForm {
  enum class Kind { Single, List, Dict, None };
  Kind kind = Kind::None;
  std::vector<nb::object> keys;  // of Kind::Dict
};

// Anything with an item per output, in the form.
template <class Item>
nb::object in_form(const OutputForm& form, std::size_t count, Item&& item) {
  switch (form.kind) {
    case OutputForm::Kind::Single: return item(0);
    case OutputForm::Kind::None: return nb::none();
    case OutputForm::Kind::Dict: {
      nb::dict out;
      for (std::size_t i = 0; i < form.keys.size(); ++i) out[form.keys[i]] = item(i);
      return out;
    }
    case OutputForm::Kind::List: break;
  }
  nb::list out;
  for (std::size_t i = 0; i < count; ++i) out.append(item(i));
  return out;
}

}  // namespace bitale::python
