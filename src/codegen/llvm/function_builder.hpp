// FunctionBuilder: LLVM's instruction builder, with what every emitter of code needs: types and constants by dtype,
// vectors of lanes, conversions, memory of variables, blocks, counting loops. It does not use any Program.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "bitale/core/dtype.hpp"
#include "bitale/program/expr.hpp"
#include "codegen/llvm/api.hpp"

namespace bitale::codegen {

struct TargetInfo {
  std::string triple, cpu, features;
  int vector_bytes = 16;
  bool is_x86 = true;
  bool avx_512 = false;          // may be used at any width of vectors
  bool slow_gathers = false;     // loads of single elements are faster
  bool checks_memory = false;    // functions are instrumented by AddressSanitizer's pass
  bool memory_is_given = false;  // a call's frame has all memory from the beginning, the spill area included
};

class FunctionBuilder {
 public:
  using Value = LLVMValueRef;

  FunctionBuilder(LLVMContextRef context, LLVMModuleRef module, const TargetInfo& target);
  ~FunctionBuilder();
  FunctionBuilder(const FunctionBuilder&) = delete;
  FunctionBuilder& operator=(const FunctionBuilder&) = delete;

  const LlvmApi& api() const { return l_; }
  LLVMBuilderRef builder() const { return builder_; }
  LLVMContextRef context() const { return context_; }
  LLVMModuleRef module() const { return module_; }
  const TargetInfo& target() const { return target_; }

  // ---- types and constants ----
  LLVMTypeRef type(DType dtype, int lanes = 1);         // in registers: bool is i1
  LLVMTypeRef memory_type(DType dtype, int lanes = 1);  // in memory: bool is i8
  LLVMTypeRef vector_of(LLVMTypeRef element, int lanes);
  Value int64(std::int64_t v);
  Value constant(DType dtype, std::int64_t payload, int lanes);
  Value iota(int lanes);
  Value full_mask(int lanes);

  // ---- lanes ----
  int lanes_in(Value v) const;  // 1: a scalar
  Value splat(Value scalar, int lanes);
  Value shuffled(Value a, Value b, const std::vector<int>& lanes);
  Value resized(Value v, int from, int to);
  Value some_lanes(Value v, int from, int count);  // a scalar when count is 1
  Value any_lane(Value mask);                      // whether one is set
  std::vector<Value> transposed(std::vector<Value> rows);

  // ---- arithmetic ----
  Value compare(program::Code code, DType dtype, Value a, Value b);
  Value combine(program::Combiner combiner, DType dtype, Value a, Value b, bool reassociate);
  Value build_cast(Value v, DType from, DType to);
  Value intrinsic(const char* name, std::initializer_list<LLVMTypeRef> types, std::vector<Value> arguments);
  // One that reads or writes elements by the pointer, or vector of pointers, at index `pointer` of its arguments. LLVM
  // 19 takes the alignment as the argument after it, LLVM 23 as an attribute of the pointer.
  Value masked_intrinsic(const char* name, std::initializer_list<LLVMTypeRef> types, std::vector<Value> arguments,
                         std::size_t pointer, DType dtype);

  // ---- memory ----
  Value from_memory(DType dtype, Value v);  // i8 to i1
  Value to_memory(DType dtype, Value v);
  Value frame_field(int field);
  Value local(DType dtype, int lanes, const char* name);  // memory of a variable, in the entry block
  Value words(std::int64_t count, const char* name);      // on the stack, in the entry block
  Value word(Value words, std::int64_t at);               // the address of one of them
  void prefetch(Value address);
  void fence();  // orders non-temporal stores before what follows

  // ---- blocks and functions ----
  Value begin_function(const std::string& name, LLVMTypeRef type);  // an empty function, with the builder in it
  LLVMBasicBlockRef block(const char* name);
  void resume(LLVMBasicBlockRef at);                 // at its end, or before its terminator
  void in_entry(const std::function<void()>& emit);  // code of the entry block
  // Code that is inserted into a finished block can't branch.
  bool is_in_finished_block() const { return l_.GetBasicBlockTerminator(l_.GetInsertBlock(builder_)) != nullptr; }
  void mark_unlikely(Value branch);  // its first target
  // A value that is computed as usual, unless a condition that seldom holds selects another computation, in a block of
  // that name.
  Value unless(Value condition, Value usual, const char* name, const std::function<Value()>& rare);
  // for (i = from; i < until; i += step) body(i, block before the loop)
  // With `stops`: the loop ends after an iteration in which the body has set it to true.
  void count_up(Value from, Value until, std::int64_t step, const std::function<void(Value, LLVMBasicBlockRef)>& body,
                const Value* stops = nullptr);
  void fail_unless(Value ok, Value code);                          // the function returns `code`
  void call_host(int field, std::vector<std::int64_t> arguments);  // a function of the Frame; fails if that fails

 protected:
  const LlvmApi& l_;
  LLVMContextRef context_;
  LLVMModuleRef module_;
  LLVMBuilderRef builder_;
  const TargetInfo& target_;
  LLVMValueRef function_ = nullptr;
  LLVMBasicBlockRef entry_ = nullptr;

 private:
  Value reordered(Value v, bool reassociate);
  Value float_to_int(Value v, DType from, DType to);
};

}  // namespace bitale::codegen
