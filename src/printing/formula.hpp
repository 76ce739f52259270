// Shared by formulas in different notations: each node's text is built once from its inputs' texts, only for the nodes
// nearest to the root. A notation defines how nodes and leaves are written.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bitale/graph/variable.hpp"
#include "bitale/printing/printing.hpp"
#include "ops/reductions/recognise.hpp"

namespace bitale {

// Binding strengths besides those of ScalarOp::precedence (which are Python's, from 1 up).
constexpr int binds_loosest = 0, binds_as_sign = 7, binds_as_atom = 1000;

struct FormulaPiece {
  std::string text;
  int precedence = binds_as_atom;
};

struct Notation {
  FormulaPiece (*node)(const Apply& node, std::span<const FormulaPiece> inputs);
  FormulaPiece (*leaf)(const Variable& leaf);
  std::string (*output)(const FormulaPiece& piece, int index);  // of a node with several outputs
  std::string left_out;                                         // in place of parts that are too deep or too long
  // A call of a function that is composed of others, to be shown instead of its nodes. Null: nodes are shown.
  FormulaPiece (*call)(const StatisticCall& call, const FormulaPiece& x) = nullptr;
};

std::string write_formula(const Variable& root, const Notation& notation, const PprintOptions& options);
// Variables with names, other than the root, are written as their names. They are added to `named`, in order.
std::string write_formula_by_names(const Variable& root, const Notation& notation, const PprintOptions& options,
                                   Variables& named);

// "sum" and {"axis=1"} of "Sum{axis=1}".
struct LabelParts {
  std::string function;
  std::vector<std::string> settings;
};
LabelParts split_label(const std::string& label);

}  // namespace bitale
