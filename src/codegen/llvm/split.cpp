#include "codegen/llvm/split.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/frame.hpp"

namespace bitale::codegen {

namespace {

using Value = LLVMValueRef;
using Block = LLVMBasicBlockRef;

constexpr std::uint64_t slot_alignment = 64;  // that of the widest vector

template <class Visit>
void for_each_instruction(Block block, Visit&& visit) {
  const LlvmApi& l = llvm();
  for (Value each = l.GetFirstInstruction(block); each;) {
    const Value next = l.GetNextInstruction(each);  // `each` may move
    visit(each);
    each = next;
  }
}

std::vector<Block> blocks_of(Value function) {
  std::vector<Block> out;
  for (Block b = llvm().GetFirstBasicBlock(function); b; b = llvm().GetNextBasicBlock(b)) out.push_back(b);
  return out;
}

// What can move into another function: everything between the phis and variables at its beginning and its end.
std::vector<Value> movable(Block block) {
  const LlvmApi& l = llvm();
  std::vector<Value> out;
  for_each_instruction(block, [&](Value each) {
    if (l.IsAAllocaInst(each) || l.IsAPHINode(each))
      out.clear();
    else if (!l.IsATerminatorInst(each))
      out.push_back(each);
  });
  return out;
}

class Splitter {
 public:
  Splitter(LLVMContextRef context, LLVMModuleRef module, Value entry, std::size_t most)
      : l_(llvm()),
        context_(context),
        module_(module),
        entry_(entry),
        most_(most),
        builder_(l_.CreateBuilderInContext(context)),
        pointer_(l_.PointerTypeInContext(context, 0)) {}
  ~Splitter() { l_.DisposeBuilder(builder_); }
  Splitter(const Splitter&) = delete;
  Splitter& operator=(const Splitter&) = delete;

  void run() {
    std::vector<std::vector<Value>> found;
    for (Block block : blocks_of(entry_))
      if (auto code = movable(block); code.size() > most_) found.push_back(std::move(code));
    if (found.empty()) return;
    body_ = make_body();
    for (auto& code : found) move_out(code);
    for (Value part : parts_) connect(part);
    for (Block block : blocks_of(body_)) connect_outside(block);
    finish_entry();
  }

 private:
  Value function(const std::string& name, LLVMTypeRef result) {
    LLVMTypeRef parameters[] = {pointer_, pointer_};  // the frame, the memory of crossing values
    Value made = l_.AddFunction(module_, name.c_str(), l_.FunctionType(result, parameters, 2, false));
    l_.SetLinkage(made, LLVMInternalLinkage);
    std::vector<LLVMAttributeRef> attributes(l_.GetAttributeCountAtIndex(entry_, LLVMAttributeFunctionIndex));
    l_.GetAttributesAtIndex(entry_, LLVMAttributeFunctionIndex, attributes.data());
    for (auto each : attributes) l_.AddAttributeAtIndex(made, LLVMAttributeFunctionIndex, each);
    return made;
  }

  // The entry's blocks in a function that is also given memory; the entry will call it.
  Value make_body() {
    const Value made = function("body", l_.Int32TypeInContext(context_));
    for (Block block : blocks_of(entry_)) {
      l_.RemoveBasicBlockFromParent(block);
      l_.AppendExistingBasicBlock(made, block);
    }
    l_.ReplaceAllUsesWith(l_.GetParam(entry_, 0), l_.GetParam(made, 0));
    return made;
  }

  // Each run of instructions becomes a part, and a call of it stands in its place.
  void move_out(const std::vector<Value>& code) {
    const std::size_t count = (code.size() + most_ - 1) / most_, length = (code.size() + count - 1) / count;
    const LLVMTypeRef nothing = l_.VoidTypeInContext(context_);
    LLVMTypeRef parameters[] = {pointer_, pointer_};
    const LLVMTypeRef type = l_.FunctionType(nothing, parameters, 2, false);
    for (std::size_t from = 0; from < code.size(); from += length) {
      const Value part = function("part" + std::to_string(parts_.size()), nothing);
      parts_.push_back(part);
      l_.PositionBuilderBefore(builder_, code[from]);
      Value arguments[] = {l_.GetParam(body_, 0), l_.GetParam(body_, 1)};
      const Value call = l_.BuildCall2(builder_, type, part, arguments, 2, "");
      const Block inside = l_.AppendBasicBlockInContext(context_, part, "");
      l_.PositionBuilderAtEnd(builder_, inside);
      for (std::size_t i = from; i < std::min(from + length, code.size()); ++i) {
        l_.InstructionRemoveFromParent(code[i]);
        l_.InsertIntoBuilder(builder_, code[i]);
        calls_[code[i]] = call;
        homes_[code[i]] = part;
      }
      l_.BuildRetVoid(builder_);
    }
  }

  Value home(Value instruction) const {
    const auto found = homes_.find(instruction);
    return found == homes_.end() ? body_ : found->second;
  }

  Value slot_address(Value function, std::uint64_t offset) {
    Value index = l_.ConstInt(l_.Int64TypeInContext(context_), offset, false);
    return l_.BuildGEP2(builder_, l_.Int8TypeInContext(context_), l_.GetParam(function, 1), &index, 1, "");
  }

  // Where a value crosses; it is stored as soon as it is known.
  std::uint64_t slot_of(Value value) {
    const auto [found, is_new] = slots_.try_emplace(value, size_);
    if (!is_new) return found->second;
    const std::uint64_t bytes = l_.ABISizeOfType(l_.GetModuleDataLayout(module_), l_.TypeOf(value));
    const std::uint64_t align =
        std::min<std::uint64_t>(slot_alignment, std::bit_ceil(std::max<std::uint64_t>(bytes, 8)));
    size_ = (size_ + align - 1) / align * align;
    const std::uint64_t offset = found->second = size_;
    size_ += bytes;
    Value next = l_.GetNextInstruction(value);
    while (l_.IsAPHINode(next)) next = l_.GetNextInstruction(next);
    l_.PositionBuilderBefore(builder_, next);
    const Value store = l_.BuildStore(builder_, value, slot_address(home(value), offset));
    l_.SetAlignment(store, unsigned(align));
    return offset;
  }

  Value load(Value function, Value value) {
    const std::uint64_t offset = slots_.at(value);
    return l_.BuildLoad2(builder_, l_.TypeOf(value), slot_address(function, offset), "");
  }

  template <class Replace>
  void for_each_foreign_operand(Value user, Value user_home, Replace&& replace) {
    for (int i = 0; i < l_.GetNumOperands(user); ++i) {
      const Value operand = l_.GetOperand(user, unsigned(i));
      if (l_.IsAInstruction(operand) && home(operand) != user_home) l_.SetOperand(user, unsigned(i), replace(operand));
    }
  }

  // What a part needs from elsewhere it loads at its beginning.
  void connect(Value part) {
    std::unordered_map<Value, Value> loaded;
    const Block block = l_.GetFirstBasicBlock(part);
    const Value first = l_.GetFirstInstruction(block);
    for_each_instruction(block, [&](Value each) {
      if (!homes_.count(each)) return;
      for (int i = 0; i < l_.GetNumOperands(each); ++i)
        for (unsigned k = 0; k < 2; ++k)
          if (l_.GetOperand(each, unsigned(i)) == l_.GetParam(body_, k))
            l_.SetOperand(each, unsigned(i), l_.GetParam(part, k));
      for_each_foreign_operand(each, part, [&](Value operand) {
        Value& known = loaded[operand];
        if (known) return known;
        slot_of(operand);
        l_.PositionBuilderBefore(builder_, first);
        known = load(part, operand);
        homes_[known] = part;
        return known;
      });
    });
  }

  // What the body needs from a part it loads after its call.
  void connect_outside(Block block) {
    for_each_instruction(block, [&](Value each) {
      for_each_foreign_operand(each, body_, [&](Value operand) {
        Value& known = reloaded_[operand];
        if (known) return known;
        slot_of(operand);
        l_.PositionBuilderBefore(builder_, l_.GetNextInstruction(calls_.at(operand)));
        return known = load(body_, operand);
      });
    });
  }

  void finish_entry() {
    const LLVMTypeRef word = l_.Int64TypeInContext(context_), status = l_.Int32TypeInContext(context_);
    const auto outside = [&](const char* name, LLVMTypeRef result, std::vector<LLVMTypeRef> types,
                             std::vector<Value> arguments) {
      const LLVMTypeRef type = l_.FunctionType(result, types.data(), unsigned(types.size()), false);
      Value callee = l_.GetNamedFunction(module_, name);
      if (!callee) callee = l_.AddFunction(module_, name, type);
      return l_.BuildCall2(builder_, type, callee, arguments.data(), unsigned(arguments.size()), "");
    };
    l_.PositionBuilderAtEnd(builder_, l_.AppendBasicBlockInContext(context_, entry_, ""));
    const std::uint64_t bytes =
        std::max(slot_alignment, (size_ + slot_alignment - 1) / slot_alignment * slot_alignment);
    const Value memory = outside("aligned_alloc", pointer_, {word, word},
                                 {l_.ConstInt(word, slot_alignment, false), l_.ConstInt(word, bytes, false)});
    const Block run = l_.AppendBasicBlockInContext(context_, entry_, ""),
                failed = l_.AppendBasicBlockInContext(context_, entry_, "");
    l_.BuildCondBr(builder_, l_.BuildICmp(builder_, LLVMIntEQ, memory, l_.ConstNull(pointer_), ""), failed, run);
    l_.PositionBuilderAtEnd(builder_, run);
    LLVMTypeRef parameters[] = {pointer_, pointer_};
    Value arguments[] = {l_.GetParam(entry_, 0), memory};
    const Value result =
        l_.BuildCall2(builder_, l_.FunctionType(status, parameters, 2, false), body_, arguments, 2, "");
    outside("free", l_.VoidTypeInContext(context_), {pointer_}, {memory});
    l_.BuildRet(builder_, result);
    l_.PositionBuilderAtEnd(builder_, failed);
    l_.BuildRet(builder_, l_.ConstInt(status, std::uint64_t(runtime::no_memory), true));
  }

  const LlvmApi& l_;
  LLVMContextRef context_;
  LLVMModuleRef module_;
  Value entry_, body_ = nullptr;
  std::size_t most_;
  LLVMBuilderRef builder_;
  LLVMTypeRef pointer_;
  std::vector<Value> parts_;
  std::unordered_map<Value, Value> homes_, calls_;  // of a moved instruction: its part, the call of it in the body
  std::unordered_map<Value, std::uint64_t> slots_;
  std::unordered_map<Value, Value> reloaded_;  // a part's value: as the body has it
  std::uint64_t size_ = 0;
};

}  // namespace

void split_long_blocks(LLVMContextRef context, LLVMModuleRef module, LLVMValueRef entry, std::size_t most) {
  Splitter(context, module, entry, most).run();
}

}  // namespace bitale::codegen
