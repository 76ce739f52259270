// What the record of an elementwise function says about its parameters, result, errors and derivatives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/reference.hpp"

namespace bitale::python {

// An entry of a section: a parameter, a result or an error.
struct DocItem {
  std::string name, type, text;
};

// All of these are empty, or add nothing, for a name that no elementwise function has.
std::string_view elementwise_doc(std::string_view name);
std::vector<DocItem> elementwise_parameters(std::string_view name);
void elementwise_results(std::string_view name, std::vector<DocItem>& results);
void elementwise_errors(std::string_view name, std::vector<DocItem>& errors);
void elementwise_notes(std::string_view name, std::vector<std::string>& notes);

}  // namespace bitale::python
