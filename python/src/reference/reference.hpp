// The reference of the functions that are bound: a description each, from which their docstrings are composed with
// numpydoc's sections. What a signature or a record already says (names, types and defaults of parameters, dtypes of
// elementwise functions, summaries of related functions) is generated; a description has the rest, in this form:
//
//   = NAME ...                 begins a description; of several names, $ in its text stands for each
//   Summary.                   one line
//   name (type): Text.         a parameter; the type only where the annotation does not tell, the line only where the
//                              glossary of parameters does not have the text
//   -> name (type): Text.      a result; name and type are optional
//   ! Error: Text.             an error
//   ~ name, name               related functions
//   * Text.                    a note
//   < name                     what is not said here is as of that function, or of the family of a name that begins
//                              with a star: summary, parameters, results, errors, notes and related functions
//   @ def name(...) -> ...     a signature for type checkers, where the result depends on the arguments
//   @ name: type -> type       the same, in what it differs from the binding's signature; `-> type + updates` stands
//   for
//                              two: with updates, and without them where return_updates is False
//
// Any other line is a further paragraph after the summary. The doc of an elementwise function's record has the same
// form.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitale::python {

// Registers the descriptions in a text that lives as long as the program. They are parsed when one is first asked for.
struct RegisterDescriptions {
  explicit RegisterDescriptions(std::string_view text);
  explicit RegisterDescriptions(std::string (*made)());  // of what is registered elsewhere
};

// A parameter as the signature has it.
struct Parameter {
  std::string name;           // without stars
  std::string annotation;     // "" if there is none
  std::string default_value;  // as Python writes it; "" if there is none
  int stars = 0;
  bool keyword_only = false;
};

// Whether there is a description of the function.
bool is_described(std::string_view name);
// The docstring of a function with these parameters, or "" if it is not described. `example`: what doctest runs, for
// functions that the tables of examples do not have.
std::string docstring(std::string_view name, std::span<const Parameter> parameters, std::string_view result,
                      std::string_view example);
// How many results the description has.
std::size_t result_count(std::string_view name);
// Signatures for type checkers, in place of the binding's, as the description has them.
std::vector<std::string> typed_overloads(std::string_view name);
// Names of all descriptions, without those of elementwise functions.
std::vector<std::string> described_names();

// The name of a function in its own module. In the module of all bound functions, "xtensor_", "loop_" or "tree_"
// precedes it.
std::string_view own_name(std::string_view name);

// How the qualified names of methods of labelled tensors begin.
inline constexpr std::string_view methods_of_labelled = "XTensorVariable.";

}  // namespace bitale::python
