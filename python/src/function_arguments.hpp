// The arguments of function(), checked and in one form: what a function is made of, and what pickle stores of it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bitale/compile/function.hpp"
#include "input_output.hpp"

namespace bitale::python {

// As Python gives them.
struct GivenArguments {
  nb::handle inputs, outputs, mode, updates, givens, no_default_updates, name, allow_input_downcast, profile,
      on_unused_input, trust_input, threads;
};

// What a call gives: a value for each argument, which has one variable, or several in a form. Leaves are counted
// through all arguments.
struct CallForm {
  struct Argument {
    std::string name;  // "" if it is positional only
    Tree form;
    std::size_t first = 0;  // leaf
  };
  std::vector<Argument> arguments;                        // none: an argument for each input
  std::vector<std::pair<std::size_t, std::size_t>> same;  // leaves that have to equal an earlier one, and that one
  std::vector<std::string> paths;                         // of the leaves
};

struct FunctionArguments {
  std::vector<InObject> inputs;  // one for each variable, with containers
  std::vector<int> same_as;      // of each the earlier input of the same variable, or -1
  Tree input_form;               // of the list of inputs; its leaves are:
  std::vector<InObject> given_inputs;
  std::vector<OutObject> outputs;  // one for each variable
  Tree form;                       // of these
  Tree output_form;                // with leaves:
  std::vector<OutObject> given_outputs;
  nb::object mode = nb::none();  // a Mode; None: the default mode when the function is made
  Replacements updates, givens;  // default updates are among the updates
  std::optional<std::string> name;
  std::optional<bool> allow_input_downcast, profile;
  std::string on_unused_input;  // "": as the config says
  bool trust_input = false;
  std::optional<int> threads;

  Variables expressions() const;  // of the outputs
  nb::object outputs_in_form() const;
  // function(**keywords()) makes the function again.
  nb::dict keywords() const;
  // What the library's maker takes. The values of inputs that calls can't give are among the replacements.
  FunctionOptions options() const;
  Variables explicit_inputs() const;
  bool is_explicit(std::size_t input) const { return !inputs[input].is_implicit && same_as[input] < 0; }
  // TypeError for a tree of which a call gives a part only.
  CallForm call_form() const;
};

// TypeError or ValueError for arguments that function() does not take, with its message.
FunctionArguments parse_arguments(const GivenArguments& given);
// NotImplementedError for an option that is asked for but not there.
void refuse_option(const char* name, nb::handle value);
// None, True or False; a text counts as True. TypeError otherwise.
std::optional<bool> wants_profile(nb::handle profile);
// The mode of that name, config.mode for None, or the mode itself.
nb::object mode_object(nb::handle mode);
// The same, but for None what config.mode was set to where that is a Mode, and else None.
nb::object mode_or_default(nb::handle mode);

}  // namespace bitale::python
