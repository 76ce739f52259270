#include "notes.hpp"

#include <memory>

namespace bitale::python {

namespace {

// The variable may be destroyed in any thread.
struct Notes {
  nb::object dict;
  ~Notes() {
    if (!Py_IsInitialized()) {
      dict.release();
      return;
    }
    nb::gil_scoped_acquire locked;
    dict.reset();
  }
};

}  // namespace

nb::dict notes_of(const Variable& variable) {
  Tag& tag = variable.tag();
  if (!tag.notes) tag.notes = std::make_shared<Notes>(nb::dict());
  return nb::borrow<nb::dict>(static_cast<Notes*>(tag.notes.get())->dict);
}

nb::object note(const Variable& variable, const char* name) {
  const auto& tag = variable.node()->tag;
  if (!tag || !tag->notes) return {};
  return nb::borrow(PyDict_GetItemString(static_cast<Notes*>(tag->notes.get())->dict.ptr(), name));
}

}  // namespace bitale::python
