// From a Program to an object file: IR, a few passes, machine code.
#include "codegen/generate.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/code.hpp"
#include "codegen/llvm/emit.hpp"

namespace bitale::codegen {

namespace {

// Expressions are emitted hoisted and shared; what is left to do is variables into registers and tidying.
constexpr const char* passes = "function(mem2reg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

void require_ok(LLVMErrorRef error, std::string_view doing) {
  if (!error) return;
  char* message = llvm().GetErrorMessage(error);
  std::string text = cat("LLVM, ", doing, ": ", message);
  llvm().DisposeErrorMessage(message);
  throw InternalError(text);
}

std::string take(char* message) {
  std::string text = message;
  llvm().DisposeMessage(message);
  return text;
}

struct Host {
  TargetInfo info;
  LLVMTargetRef target = nullptr;
};

const Host& host() {
  static const Host found = [] {
    const LlvmApi& l = llvm();
    l.InitializeX86TargetInfo();
    l.InitializeX86Target();
    l.InitializeX86TargetMC();
    l.InitializeX86AsmPrinter();
    Host h;
    h.info.triple = take(l.GetDefaultTargetTriple());
    h.info.cpu = take(l.GetHostCPUName());
    h.info.features = take(l.GetHostCPUFeatures());
    char* message = nullptr;
    if (l.GetTargetFromTriple(h.info.triple.c_str(), &h.target, &message))
      throw NotImplementedError(cat("LLVM knows no code generator for ", h.info.triple, ": ", take(message)));
    return h;
  }();
  return found;
}

// Owners of LLVM objects: an exception on the way must not leak them.
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
using Context = Owned<LLVMContextRef, &LlvmApi::ContextDispose>;
using Module = Owned<LLVMModuleRef, &LlvmApi::DisposeModule>;
using Machine = Owned<LLVMTargetMachineRef, &LlvmApi::DisposeTargetMachine>;
using Memory = Owned<LLVMMemoryBufferRef, &LlvmApi::DisposeMemoryBuffer>;

TargetInfo info_of(const Target& target) {
  TargetInfo info = host().info;
  info.vector_bytes = target.vector_bytes;
  if (target.level != "native") {
    info.cpu = target.level;  // LLVM knows these levels by the names of the ABI
    info.features.clear();
  }
  return info;
}

LLVMTargetMachineRef make_machine(const TargetInfo& info, LLVMCodeGenOptLevel effort = LLVMCodeGenLevelDefault) {
  // The small, position-independent model: the default of a JIT, the large one, costs speed and compile time.
  return llvm().CreateTargetMachine(host().target, info.triple.c_str(), info.cpu.c_str(), info.features.c_str(), effort,
                                    LLVMRelocPIC, LLVMCodeModelSmall);
}

// The IR of a Program, optimised.
class Generated {
 public:
  Generated(const program::Program& program, const Target& target)
      : context_(llvm().ContextCreate()),
        module_(llvm().ModuleCreateWithNameInContext(program.name.c_str(), context_.get())),
        info_(info_of(target)),
        machine_(make_machine(info_)) {
    const LlvmApi& l = llvm();
    LLVMTargetDataRef layout = l.CreateTargetDataLayout(machine_.get());
    l.SetModuleDataLayout(module_.get(), layout);
    l.DisposeTargetData(layout);
    l.SetTarget(module_.get(), info_.triple.c_str());
    Emitter emitter(program, context_.get(), module_.get(), info_);
    emitter.emit_program(entry_name);
    is_huge_ = emitter.is_huge();
#ifndef NDEBUG
    check();
#endif
    optimise();
  }

  std::string text() const { return take(llvm().PrintModuleToString(module_.get())); }

  std::string object() const {
    const LlvmApi& l = llvm();
    char* message = nullptr;
    LLVMMemoryBufferRef buffer = nullptr;
    const Machine quick(is_huge_ ? make_machine(info_, LLVMCodeGenLevelNone) : nullptr);
    const Machine& machine = is_huge_ ? quick : machine_;
    if (l.TargetMachineEmitToMemoryBuffer(machine.get(), module_.get(), LLVMObjectFile, &message, &buffer))
      throw InternalError(cat("LLVM, generating machine code: ", take(message)));
    const Memory owner(buffer);
    return std::string(l.GetBufferStart(buffer), l.GetBufferSize(buffer));
  }

 private:
  [[maybe_unused]] void check() const {
    char* message = nullptr;
    if (llvm().VerifyModule(module_.get(), LLVMReturnStatusAction, &message))
      throw InternalError(cat("LLVM refuses the code generated for a program: ", take(message), "\n", text()));
    llvm().DisposeMessage(message);
  }

  void optimise() const {
    const LlvmApi& l = llvm();
    LLVMPassBuilderOptionsRef options = l.CreatePassBuilderOptions();
    LLVMErrorRef error = l.RunPasses(module_.get(), passes, machine_.get(), options);
    l.DisposePassBuilderOptions(options);
    require_ok(error, "running passes");
  }

  Context context_;
  Module module_;
  TargetInfo info_;
  Machine machine_;
  bool is_huge_ = false;
};

}  // namespace

const Generator& llvm_generator() {
  static constexpr Generator it{
      "jit", [] { return std::string(); },
      [](const program::Program& program, const Target& target) { return Generated(program, target).object(); }};
  return it;
}

std::string llvm_text(const program::Program& program, const Target& target) {
  return Generated(program, target).text();
}

}  // namespace bitale::codegen
