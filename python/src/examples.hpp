// Examples for the docstrings of bound functions, by name: text that doctest runs with `bt`, `pt` and `np`.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bitale::python {

using Examples = std::map<std::string_view, std::string_view>;

const Examples& elementwise_examples();
const Examples& tensors_examples();
const Examples& linalg_examples();

// The documentation, followed by the example of that name if there is one.
std::string with_example(std::string_view name, std::string_view documentation);

}  // namespace bitale::python
