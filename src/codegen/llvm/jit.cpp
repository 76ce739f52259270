// From a Program to callable machine code: IR, a few passes, an object file, linked into this process.
#include <cstring>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/code.hpp"
#include "codegen/llvm/emit.hpp"
#include "runtime/symbols.hpp"

namespace bitale::codegen {

namespace {

// Expressions are emitted hoisted and shared; what is left to do is variables into registers and tidying.
constexpr const char* passes = "function(mem2reg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";
constexpr const char* entry_name = "bitale_entry";

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
    const auto has = [&](std::string_view feature) { return h.info.features.find(feature) != std::string::npos; };
    h.info.vector_bytes = has("+avx512vl") && has("+avx512dq") && has("+avx512bw") ? 64 : has("+avx2") ? 32 : 16;
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

LLVMTargetMachineRef make_machine() {
  const Host& h = host();
  // The small, position-independent model: the default of a JIT, the large one, costs speed and compile time.
  return llvm().CreateTargetMachine(h.target, h.info.triple.c_str(), h.info.cpu.c_str(), h.info.features.c_str(),
                                    LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
}

class LlvmCode final : public Code {
 public:
  explicit LlvmCode(const program::Program& program) {
    const LlvmApi& l = llvm();
    Context context(l.ContextCreate());
    Module module(l.ModuleCreateWithNameInContext(program.name.c_str(), context.get()));
    Machine machine(make_machine());
    LLVMTargetDataRef layout = l.CreateTargetDataLayout(machine.get());
    l.SetModuleDataLayout(module.get(), layout);
    l.DisposeTargetData(layout);
    l.SetTarget(module.get(), host().info.triple.c_str());
    Emitter(program, context.get(), module.get(), host().info).emit_function(entry_name);
    check(module.get());
    optimise(module.get(), machine.get());
    text_ = take(l.PrintModuleToString(module.get()));
    link(machine.get(), module.get());
  }
  ~LlvmCode() override {
    if (jit_) llvm().OrcDisposeLLJIT(jit_);
  }

  runtime::Entry entry() const override { return entry_; }
  std::string text() const override { return text_; }

 private:
  static void check(LLVMModuleRef module) {
    char* message = nullptr;
    if (llvm().VerifyModule(module, LLVMReturnStatusAction, &message))
      throw InternalError(cat("LLVM refuses the code generated for a program: ", take(message), "\n",
                              take(llvm().PrintModuleToString(module))));
    llvm().DisposeMessage(message);
  }

  static void optimise(LLVMModuleRef module, LLVMTargetMachineRef machine) {
    const LlvmApi& l = llvm();
    LLVMPassBuilderOptionsRef options = l.CreatePassBuilderOptions();
    LLVMErrorRef error = l.RunPasses(module, passes, machine, options);
    l.DisposePassBuilderOptions(options);
    require_ok(error, "running passes");
  }

  void link(LLVMTargetMachineRef machine, LLVMModuleRef module) {
    const LlvmApi& l = llvm();
    char* message = nullptr;
    LLVMMemoryBufferRef object = nullptr;
    if (l.TargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
      throw InternalError(cat("LLVM, generating machine code: ", take(message)));
    require_ok(l.OrcCreateLLJIT(&jit_, nullptr), "starting the JIT");
    LLVMOrcJITDylibRef library = l.OrcLLJITGetMainJITDylib(jit_);
    define_symbols(library);
    require_ok(l.OrcLLJITAddObjectFile(jit_, library, object), "adding machine code");
    LLVMOrcExecutorAddress address = 0;
    require_ok(l.OrcLLJITLookup(jit_, &address, entry_name), "linking");
    entry_ = reinterpret_cast<runtime::Entry>(address);
  }

  void define_symbols(LLVMOrcJITDylibRef library) const {
    const LlvmApi& l = llvm();
    std::vector<LLVMOrcCSymbolMapPair> pairs;
    for (auto& symbol : runtime::all_symbols()) {
      LLVMOrcCSymbolMapPair pair{};
      pair.Name = l.OrcLLJITMangleAndIntern(jit_, std::string(symbol.name).c_str());
      pair.Sym.Address = reinterpret_cast<LLVMOrcExecutorAddress>(symbol.address);
      pair.Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
      pairs.push_back(pair);
    }
    require_ok(l.OrcJITDylibDefine(library, l.OrcAbsoluteSymbols(pairs.data(), pairs.size())), "defining symbols");
    // Code generation itself may call the C library (memset, fmod).
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    require_ok(
        l.OrcCreateDynamicLibrarySearchGeneratorForProcess(&process, l.OrcLLJITGetGlobalPrefix(jit_), nullptr, nullptr),
        "searching the process");
    l.OrcJITDylibAddGenerator(library, process);
  }

  LLVMOrcLLJITRef jit_ = nullptr;
  runtime::Entry entry_ = nullptr;
  std::string text_;
};

}  // namespace

std::unique_ptr<Code> compile_with_llvm(const program::Program& program) { return std::make_unique<LlvmCode>(program); }

}  // namespace bitale::codegen
