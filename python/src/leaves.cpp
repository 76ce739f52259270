// The walk through nested lists, tuples and dictionaries.
#include "leaves.hpp"

#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "instance.hpp"

namespace bitale::python {

namespace {

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }
bool is_inner(nb::handle object) { return is_list(object) || PyDict_Check(object.ptr()); }

// The items of a list or tuple, or the values of a dictionary.
std::vector<nb::object> children(nb::handle form) {
  std::vector<nb::object> out;
  if (is_list(form))
    for (nb::handle each : form) out.push_back(nb::borrow(each));
  else
    for (auto [key, value] : nb::borrow<nb::dict>(form)) out.push_back(nb::borrow(value));
  return out;
}

std::string key_text(nb::handle key) { return nb::cast<std::string>(nb::repr(key)); }

// The children of `tree` in the order of those of `form`, with their paths.
std::vector<Leaf> children_as(nb::handle form, nb::handle tree, const std::string& path) {
  std::vector<Leaf> out;
  if (is_list(form)) {
    if (!is_list(tree)) throw TypeError(cat(path, ": expected a list or tuple, got ", shown(tree)));
    if (nb::len(tree) != nb::len(form))
      throw ValueError(cat(path, ": expected ", nb::len(form), " items, got ", nb::len(tree)));
    for (nb::handle each : tree) out.push_back({nb::borrow(each), cat(path, "[", out.size(), "]")});
    return out;
  }
  if (!PyDict_Check(tree.ptr())) throw TypeError(cat(path, ": expected a dictionary, got ", shown(tree)));
  const nb::dict given = nb::borrow<nb::dict>(tree), wanted = nb::borrow<nb::dict>(form);
  for (auto [key, value] : given)
    if (!wanted.contains(key)) throw ValueError(cat(path, ": unexpected key ", key_text(key)));
  for (auto [key, value] : wanted) {
    if (!given.contains(key)) throw ValueError(cat(path, ": key ", key_text(key), " is missing"));
    out.push_back({nb::object(given[key]), cat(path, "[", key_text(key), "]")});
  }
  return out;
}

nb::object rebuilt(nb::handle form, const std::vector<nb::object>& items) {
  if (PyDict_Check(form.ptr())) {
    nb::dict out;
    std::size_t at = 0;
    for (auto [key, value] : nb::borrow<nb::dict>(form)) out[key] = items[at++];
    return out;
  }
  nb::list out;
  for (const nb::object& each : items) out.append(each);
  if (PyList_Check(form.ptr())) return out;
  if (nb::hasattr(form, "_fields")) return form.type()(*out);  // a named tuple takes its items one by one
  return nb::tuple(out);
}

}  // namespace

std::vector<Leaf> leaves_as(nb::handle form, nb::handle tree, const std::string& what) {
  std::vector<Leaf> out;
  std::vector<std::pair<nb::object, Leaf>> pending;
  pending.push_back({nb::borrow(form), {nb::borrow(tree), what}});
  while (!pending.empty()) {
    auto [wanted, given] = std::move(pending.back());
    pending.pop_back();
    if (!is_inner(wanted)) {
      if (is_inner(given.value)) throw TypeError(cat(given.path, ": expected one tensor, got ", shown(given.value)));
      out.push_back(std::move(given));
      continue;
    }
    std::vector<nb::object> forms = children(wanted);
    std::vector<Leaf> each = children_as(wanted, given.value, given.path);
    for (std::size_t i = each.size(); i-- > 0;) pending.push_back({std::move(forms[i]), std::move(each[i])});
  }
  return out;
}

nb::object with_leaves(nb::handle form, const std::function<nb::object(std::size_t)>& value) {
  struct Level {
    nb::object form;
    std::vector<nb::object> forms, made;
  };
  std::vector<Level> open;
  std::size_t count = 0;
  nb::object next = nb::borrow(form);
  for (;;) {
    if (is_inner(next)) {
      std::vector<nb::object> forms = children(next);
      open.push_back({std::move(next), std::move(forms), {}});
    } else {
      next = value(count++);
      if (open.empty()) return next;
      open.back().made.push_back(std::move(next));
    }
    while (open.back().made.size() == open.back().forms.size()) {
      nb::object made = rebuilt(open.back().form, open.back().made);
      open.pop_back();
      if (open.empty()) return made;
      open.back().made.push_back(std::move(made));
    }
    next = open.back().forms[open.back().made.size()];
  }
}

}  // namespace bitale::python
