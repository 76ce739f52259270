// Runs one node of a graph in all available ways: by perform on copies, by perform again on the values with their
// original layout, by native code, and into memory of various layouts. All results must agree; nothing may be shared or
// overwritten undeclared.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bitale/compile/debug_mode.hpp"
#include "link/node_code.hpp"

namespace bitale {

// What is checked; all flags are resolved.
struct DebugChecks {
  bool perform, native, finite, warn_input_not_reused;
  std::vector<std::string> memory_kinds;
  int memory_ndim;
  std::vector<std::string> linkers;
};

// Throws an InvalidValueError, naming the source, unless the value is one of the variable's type, and finite if that is
// checked.
void require_valid(const Variable& variable, const Array& value, const DebugChecks& checks, const std::string& source);

// The native code of a single node.
struct CompiledNode {
  std::string linker;
  link::NodeCode code;
};

class NodeCheck {
 public:
  NodeCheck(Apply node, const DebugChecks& checks, std::vector<std::shared_ptr<const CompiledNode>> code);
  // Returns the values of the outputs. Throws what the op throws, with the node's context, and DebugModeErrors.
  std::vector<Array> run(std::span<const Array> in) const;

 private:
  std::vector<Array> perform_on_copies(std::span<const Array> in) const;
  void check_aliasing(std::span<const Array> in, std::span<const Array> out) const;
  void perform_again(std::span<const Array> in, std::span<const Array> expected) const;
  void perform_into_memory(std::span<const Array> in, const std::vector<Array>& expected) const;
  void run_code(const CompiledNode& compiled, std::span<const Array> in, const std::vector<Array>& expected) const;
  void compare(const std::string& first, std::span<const Array> expected, const std::string& second,
               std::span<const Array> got, std::span<const Array> in) const;
  void run_code_into(const CompiledNode& compiled, std::span<const View> given, std::span<const Array> targets) const;

  const Apply node_;
  const DebugChecks& checks_;
  const std::vector<std::shared_ptr<const CompiledNode>> code_;
  std::vector<const TensorType*> input_types_, output_types_;
};

// Compiles single nodes; equal nodes on inputs of equal types share one function.
class NodeCompiler {
 public:
  explicit NodeCompiler(const std::vector<std::string>& linkers) : linkers_(linkers) {}
  // One for each linker that has code for the node.
  std::vector<std::shared_ptr<const CompiledNode>> compile(const Apply& node);

 private:
  struct Known {
    Apply node;
    std::vector<std::shared_ptr<const CompiledNode>> code;
  };
  const std::vector<std::string> linkers_;
  std::unordered_multimap<std::size_t, Known> known_;  // by the op's hash
};

}  // namespace bitale
