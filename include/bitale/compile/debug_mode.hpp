// DebugMode: compiles so that every call checks itself. Each node is run by its perform and by native code, again and
// again, on memory of various layouts; what it declares to share and to overwrite is held against what it does; every
// replacement that rewriting made is computed before and after. Calls take some tens of times as long.
// Names and meanings are those of PyTensor's pytensor.compile.debug.debugmode.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitale/compile/mode.hpp"
#include "bitale/core/array.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// What is left out is as the flags DebugMode__* say.
struct DebugModeOptions {
  std::string linker = {};  // that the whole graph is run by as well; "": config.linker
  std::string optimizer = "fast_run";
  std::optional<int> stability_patience = {};  // how often rewriting is done, to see that it goes the same way
  std::optional<bool> check_c_code = {};       // run each node's native code as well (linkers jit and c)
  std::optional<bool> check_py_code = {};      // check perform: aliasing, repetition, memory of its results
  std::optional<bool> check_isfinite = {};     // nan and inf are illegal
  std::optional<bool> warn_input_not_reused = {};
  // Memory for results: initial, previous, c_contiguous, f_contiguous, strided, wrong_size, ALL; separated by colons.
  std::optional<std::string> check_preallocated_output = {};
  std::optional<int> check_preallocated_output_ndim = {};  // dimensions that strides and sizes are varied along
  std::vector<std::string> native_linkers = {"jit", "c"};  // by which a node's native code is made
  bool operator==(const DebugModeOptions&) const = default;
};

// ValueError for an unknown linker, optimizer or kind of memory, or a patience below 1.
Mode debug_mode(const DebugModeOptions& options = {});
// What such a mode was made with; none: another mode.
std::optional<DebugModeOptions> debug_options(const Mode& mode);

// ---- what can be found ----------------------------------------------------------------------------------------------

class DebugModeError : public Error {
 public:
  using Error::Error;
};

// Two ways to compute a value differ: perform, perform again, native code, other memory for the result.
class BadThunkOutput final : public DebugModeError {
 public:
  BadThunkOutput(Variable r, std::string thunk1, Array val1, std::string thunk2, Array val2,
                 std::vector<Array> inputs_val);
  Variable r;
  std::string thunk1;  // what gave val1
  Array val1;
  std::string thunk2;
  Array val2;
  std::vector<Array> inputs_val;
};

// A rewrite's result has another value than what it replaced.
class BadOptimization final : public DebugModeError {
 public:
  BadOptimization(Variable old_r, Variable new_r, Array old_r_val, Array new_r_val, std::string reason);
  Variable old_r, new_r;
  Array old_r_val, new_r_val;
  std::string reason;                // the rewrite's name
  std::string old_graph, new_graph;  // as dprint shows them
};

// An input was overwritten that the op does not declare to destroy.
class BadDestroyMap final : public DebugModeError {
 public:
  BadDestroyMap(Apply node, int idx, Array old_val, Array new_val, std::string perform);
  Apply node;
  int idx;
  Array old_val, new_val;
  std::string perform;  // what overwrote it
};

// An output shares memory with an input, or with another output, that the op does not declare.
class BadViewMap final : public DebugModeError {
 public:
  BadViewMap(Apply node, int output_idx, Array out_storage, std::vector<int> in_alias_idx,
             std::vector<int> out_alias_idx);
  Apply node;
  int output_idx;
  Array out_storage;
  std::vector<int> in_alias_idx, out_alias_idx;
};

// Rewriting the same graph again went another way.
class StochasticOrder final : public DebugModeError {
 public:
  using DebugModeError::DebugModeError;
};

// A value is not of its variable's type, or not finite.
class InvalidValueError final : public DebugModeError {
 public:
  InvalidValueError(Variable r, Array v, std::string hint, std::string specific_hint);
  Variable r;
  Array v;
  std::string hint, specific_hint;
};

}  // namespace bitale
