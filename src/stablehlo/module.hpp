// A FunctionGraph as one StableHLO module, for inputs of given lengths. Lengths are numbers in a module; what the graph
// computes of lengths and constants alone is computed while the module is written.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale::stablehlo {

struct Module {
  std::string text;
  // The function `main` has the graph's inputs as arguments. Its results are the graph's outputs, then, where there are
  // checks, one tensor<?xi1> with the outcome of each.
  struct Result {
    DType dtype;
    Dims lengths;
  };
  std::vector<Result> results;
  struct Check {
    Apply node;           // that asked for it
    std::string message;  // what is wrong where the outcome is false
  };
  std::vector<Check> checks;
  // Which of ModuleOptions::updates have the dtype and lengths of the input whose place they take.
  std::vector<std::pair<std::size_t, std::size_t>> in_place;
};

struct ModuleOptions {
  std::string name = "bitale";
  // The platform of XLA that it is for, as JAX names it. "cpu": with calls of LAPACK, which only processors have. "":
  // for any of them.
  std::string platform = {};
  // Results that replace inputs (result, input), whose memory they may then have: where a check fails, such a result is
  // that input.
  std::vector<std::pair<std::size_t, std::size_t>> updates = {};
  bool with_checks = true;  // without them positions out of range are clamped, and statements about values not checked
};

// NotImplementedError naming the node that can't be said in StableHLO, and why; ShapeError for lengths that don't fit.
Module write_module(const FunctionGraph& graph, std::span<const Dims> input_lengths, const ModuleOptions& options = {});

}  // namespace bitale::stablehlo
