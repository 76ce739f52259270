// Writes a FunctionGraph as one StableHLO module, for inputs of given lengths. Lengths are constants in a module; what
// the graph computes from lengths and constants alone is computed while the module is written.
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
    Apply node;           // that requires it
    std::string message;  // what is wrong where the outcome is false
  };
  std::vector<Check> checks;
  // The elements of an argument must be in least..end - 1, which the caller checks.
  struct RangeCheck {
    std::size_t input;
    std::int64_t least, end;
    Check check;
  };
  std::vector<RangeCheck> range_checks;
  // Those of ModuleOptions::updates that have the dtype and lengths of the input that they replace.
  std::vector<std::pair<std::size_t, std::size_t>> in_place;
};

struct ModuleOptions {
  std::string name = "bitale";
  // The XLA platform of the module, by JAX's name. "cpu": with calls of LAPACK, which only CPUs have. "cuda":
  // with those of cuSOLVER. "": for any platform.
  std::string platform = {};
  // Results that replace inputs (result, input), whose memory they may then take. Where a check fails, such a result is
  // the input.
  std::vector<std::pair<std::size_t, std::size_t>> updates = {};
  // The inputs, by number, whose elements the caller can read and checks (Module::range_checks).
  std::vector<std::size_t> on_host = {};
  bool with_checks = true;  // without them positions out of range are clamped, and statements about values not checked
};

// Throws NotImplementedError naming the node that can't be expressed in StableHLO, and why; ShapeError for lengths that
// don't fit.
Module write_module(const FunctionGraph& graph, std::span<const Dims> input_lengths, const ModuleOptions& options = {});

}  // namespace bitale::stablehlo
