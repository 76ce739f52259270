// DebugMode: compiles functions whose every call checks itself. Each node is run by its perform and by native code,
// repeatedly, on memory of various layouts; its declared sharing and overwriting of memory is compared with the actual
// one; every replacement that rewriting made is computed before and after. Calls take some tens of times as long. Names
// and meanings are those of PyTensor's pytensor.compile.debug.debugmode.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitale/compile/mode.hpp"
#include "bitale/core/array.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// Options that are left out are taken from the flags DebugMode__*.
struct DebugModeOptions {
  std::string linker = {};  // linker that also runs the whole graph; "": config.linker
  std::string optimizer = "fast_run";
  std::optional<int> stability_patience = {};  // how often rewriting is done, to check that it is deterministic
  std::optional<bool> check_c_code = {};       // run each node's native code as well (linkers jit and c)
  std::optional<bool> check_py_code = {};      // check perform: aliasing, repetition, memory of its results
  std::optional<bool> check_isfinite = {};     // nan and inf are illegal
  std::optional<bool> warn_input_not_reused = {};
  // Memory for results: initial, previous, c_contiguous, f_contiguous, strided, wrong_size, ALL; separated by colons.
  std::optional<std::string> check_preallocated_output = {};
  std::optional<int> check_preallocated_output_ndim = {};  // dimensions that strides and sizes are varied along
  std::vector<std::string> native_linkers = {"jit", "c"};  // linkers that compile a node's native code
  bool operator==(const DebugModeOptions&) const = default;
};

// ValueError for an unknown linker, optimizer or kind of memory, or a patience below 1.
Mode debug_mode(const DebugModeOptions& options = {});
// The options of such a mode; nullopt for another mode.
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
  std::string thunk1;  // what computed val1
  Array val1;
  std::string thunk2;
  Array val2;
  std::vector<Array> inputs_val;
};

// The result of a rewrite has another value than what it replaced.
class BadOptimization final : public DebugModeError {
 public:
  BadOptimization(Variable old_r, Variable new_r, Array old_r_val, Array new_r_val, std::string reason);
  Variable old_r, new_r;
  Array old_r_val, new_r_val;
  std::string reason;                // the rewrite's name
  std::string old_graph, new_graph;  // as dprint shows them
};

// An op overwrote an input that it does not declare to destroy.
class BadDestroyMap final : public DebugModeError {
 public:
  BadDestroyMap(Apply node, int idx, Array old_val, Array new_val, std::string perform);
  Apply node;
  int idx;
  Array old_val, new_val;
  std::string perform;  // what overwrote it
};

// An output shares memory with an input, or with another output, without a declaration by the op.
class BadViewMap final : public DebugModeError {
 public:
  BadViewMap(Apply node, int output_idx, Array out_storage, std::vector<int> in_alias_idx,
             std::vector<int> out_alias_idx);
  Apply node;
  int output_idx;
  Array out_storage;
  std::vector<int> in_alias_idx, out_alias_idx;
};

// Rewriting the same graph again took a different course.
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
