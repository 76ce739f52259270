// Functions of labelled tensors, whose descriptions follow from their records and from those of tensor functions.
#include <string>

#include "bitale/core/text.hpp"
#include "reference/reference.hpp"
#include "xtensor/labelled_function.hpp"

namespace bitale::python {

namespace {

using namespace xtensor;

std::string core_text(const CoreDims& dims) {
  return dims.empty() ? "no core dimension" : cat("the core dimensions (", join(dims, ", "), ")");
}

void describe_core(std::string& out, const LabelledFunction& function) {
  const CoreSignature& signature = *function.signature;
  out += cat("The function of tensors of the name ``", function.name, "``, of labelled ones.\n");
  std::size_t operand = 0;
  for (const auto& [name, initial, is_keyword, is_ignored, positions, kinds, parts] : function.parameters) {
    if (is_ignored || kinds[0] == ArgumentKind::Core || !parts.empty()) continue;
    if (kinds[0] == ArgumentKind::Operand)
      out += cat(name, " (XTensorVariable): Tensor with ", core_text(signature.operands[operand++]), ".\n");
    if (kinds[0] == ArgumentKind::Dim) out += cat(name, " (str or Dim): The new dimension of results.\n");
  }
  out += cat("dims (sequence of str): The dimensions ", join(signature.given, ", "),
             "; all others are batches, which meet by names.\n");
  const bool are_described = function.lines.find("-> ") != std::string_view::npos;
  for (std::size_t k = 0; !are_described && k < signature.results.size(); ++k) {
    const bool is_alone = signature.results.size() == 1;
    const std::string name = is_alone ? "" : cat(signature.result_names[k], " (XTensorVariable): ");
    out += cat("-> ", name, "Tensor with the batches and ", core_text(signature.results[k]), ".\n");
  }
  out += "! ValueError: for another number of core dimensions, and names that are not there.\n";
}

std::string labelled() {
  std::string out;
  for (const auto& [name, function] : labelled_functions()) {
    out += cat("\n= xtensor_", name, '\n');
    if (function.signature) out += cat("< ", name, '\n');
    out += cat(function.lines, '\n');
    if (function.signature)
      describe_core(out, function);
    else
      out +=
          "x (XTensorVariable): Labelled tensor.\n"
          "dim (str, Dim or sequence of them): The dimensions, by default all.\n"
          "ddof: The number of elements less this divides sums of squares.\n"
          "-> With the other dimensions; functions along dimensions keep them.\n"
          "! ValueError: for names that are not there.\n";
  }
  return out;
}

}  // namespace

static const RegisterDescriptions descriptions(labelled);

}  // namespace bitale::python
