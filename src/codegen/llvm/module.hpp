// Module: LLVM's objects for one unit of code (context, module, machine), from IR to an object file for a target.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codegen/llvm/api.hpp"
#include "codegen/llvm/emit.hpp"
#include "codegen/target.hpp"

namespace bitale::codegen {

// Owners of LLVM objects, so that exceptions don't leak them.
template <class T, auto Dispose>
class Owned {
 public:
  explicit Owned(T object) : object_(object) {}
  ~Owned() {
    if (object_) (llvm().*Dispose)(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T get() const { return object_; }

 private:
  T object_;
};

class Module {
 public:
  // Throws NotImplementedError when the LLVM library that was found has no code generator for the target's processor.
  Module(const std::string& name, const Target& target);
  // A copy of the module `like`, read from its bitcode, in a context of its own.
  Module(const Module& like, std::string_view bitcode);

  // Adds the function of a Program, under the name `entry`.
  void add(const program::Program& program, const std::string& entry);
  // Adds code that is given as LLVM IR; declarations are linked with the definitions.
  void add(const std::string& text);
  void optimise(const std::string& passes);

  // Bytes of the spill area, for the Program that was added last.
  std::int64_t spill_bytes() const { return spill_bytes_; }
  // From now on, code that is added finds all memory in its frame and requests none.
  void memory_is_given() { info_.memory_is_given = true; }

  std::string text() const;
  // Whether machine code is always made at the lowest level of effort.
  bool is_huge() const { return is_huge_; }
  std::string object() const;

  // ---- pieces (pieces.hpp) ----
  struct Function {
    std::string name;
    std::size_t instructions;
  };
  std::vector<Function> functions() const;  // that it defines
  std::size_t instruction_count() const;
  // Makes functions callable from other pieces of the module, and from nowhere else.
  void share_functions();
  std::string bitcode() const;
  // Only those functions are compiled: `dropping_passes` reduce others to what is needed to call them.
  void keep(const std::unordered_set<std::string>& names);
  static constexpr std::string_view dropping_passes = "elim-avail-extern,globaldce";

 private:
  template <class Visit>
  void for_each_definition(Visit visit) const;
  void set_target(LLVMModuleRef module) const;
  void check() const;

  Target target_;
  TargetInfo info_;
  Owned<LLVMContextRef, &LlvmApi::ContextDispose> context_;
  Owned<LLVMModuleRef, &LlvmApi::DisposeModule> module_;
  Owned<LLVMTargetMachineRef, &LlvmApi::DisposeTargetMachine> machine_;
  bool is_huge_ = false;
  std::size_t built_ = 0;  // expressions
  std::int64_t spill_bytes_ = 0;
};

// Expressions are emitted hoisted and shared, so that passes need only promote variables to registers and clean up.
inline constexpr const char* function_passes =
    "function(mem2reg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

}  // namespace bitale::codegen
