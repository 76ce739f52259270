#include "codegen/llvm/module.hpp"

#include <dlfcn.h>

#include <iterator>
#include <map>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/schedule.hpp"
#include "core/address_space.hpp"

namespace bitale::codegen {

namespace {

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

// LLVM's names for kinds of processors: the prefix of their initialization functions, and the triple.
struct Kind {
  std::string_view name, triple;
};
constexpr Kind known_kinds[] = {{"X86", "x86_64-unknown-linux-gnu"}, {"AArch64", "aarch64-unknown-linux-gnu"}};

const Kind& kind_of(Processor processor) {
  if (processor == Processor::other) throw NotImplementedError("native code is not implemented for this processor");
  return known_kinds[std::size_t(processor)];
}

LLVMTargetRef make_known(Processor processor, const std::string& triple) {
  const Kind& kind = kind_of(processor);
  for (const std::string_view part : {"TargetInfo", "Target", "TargetMC", "AsmPrinter"}) {
    using Initialize = void (*)();
    const auto initialize = reinterpret_cast<Initialize>(llvm_symbol(cat("LLVMInitialize", kind.name, part)));
    if (!initialize)
      throw NotImplementedError(cat("the LLVM library that was found has no code generator for ", kind.name,
                                    " (LLVMInitialize", kind.name, part, " is missing)"));
    initialize();
  }
  LLVMTargetRef target = nullptr;
  char* message = nullptr;
  if (llvm().GetTargetFromTriple(triple.c_str(), &target, &message))
    throw NotImplementedError(cat("LLVM knows no code generator for ", triple, ": ", take(message)));
  return target;
}

struct Known {
  std::string triple;
  LLVMTargetRef target = nullptr;
};

const Known& known(Processor processor) {
  static std::mutex mutex;
  static std::map<Processor, Known> all;
  const std::lock_guard lock(mutex);
  if (const auto found = all.find(processor); found != all.end()) return found->second;
  Known it;
  it.triple =
      processor == this_processor() ? take(llvm().GetDefaultTargetTriple()) : std::string(kind_of(processor).triple);
  it.target = make_known(processor, it.triple);
  return all.emplace(processor, it).first->second;
}

TargetInfo info_of(const Target& target) {
  struct Native {
    std::string cpu, features;
  };
  TargetInfo info;
  info.triple = known(target.processor()).triple;
  info.vector_bytes = target.vector_bytes;
  info.avx_512 = target.avx_512;
  info.slow_gathers = target.slow_gathers;
  info.checks_memory = target.checks_memory;
  info.is_x86 = target.processor() == Processor::x86_64;
  if (target.level == "native") {
    static const Native native{take(llvm().GetHostCPUName()), take(llvm().GetHostCPUFeatures())};
    info.cpu = native.cpu;
    info.features = native.features;
  } else {
    info.cpu = info.is_x86 ? target.level : "generic";  // LLVM knows the levels of x86-64 by the names of the ABI
  }
  return info;
}

LLVMTargetMachineRef make_machine(const Target& target, const TargetInfo& info, LLVMCodeGenOptLevel effort) {
  // The small, position-independent model: the default of a JIT, the large one, costs speed and compile time.
  return llvm().CreateTargetMachine(known(target.processor()).target, info.triple.c_str(), info.cpu.c_str(),
                                    info.features.c_str(), effort, LLVMRelocPIC, LLVMCodeModelSmall);
}

// The pass that makes AddressSanitizer test every load and store. The library can't provide its runtime: a sanitizer
// has to be present before the first allocation. Constants get no red zones, which a constructor of the module would
// register.
const char* checking_pass() {
  static const bool is_set_up = [] {
    if (!dlsym(RTLD_DEFAULT, "__asan_load8"))
      throw ValueError(
          "memory__check=True needs the runtime of AddressSanitizer in the process, which is not there; run a program "
          "that was built with -fsanitize=address, such as bitale_checked_tests (./dev test --memory)");
    const char* options[] = {"bitale", "-asan-globals=0", "-asan-constructor-kind=none",
                             "-asan-use-after-return=never"};
    llvm().ParseCommandLineOptions(int(std::size(options)), options, nullptr);
    return true;
  }();
  return is_set_up ? "asan" : "";
}

// Generous: 15,500 expressions took 16 MiB (30 November 2026).
void require_memory(std::size_t expressions) {
  constexpr std::size_t fixed = std::size_t(16) << 20, each = std::size_t(2) << 10;
  require_address_space(fixed + expressions * each, "compiling",
                        "run without native code: mode FAST_COMPILE, which is slower");
}

LLVMContextRef new_context() {
  require_memory(0);
  return llvm().ContextCreate();
}

}  // namespace

Module::Module(const std::string& name, const Target& target)
    : target_(target),
      info_(info_of(target)),
      context_(new_context()),
      module_(llvm().ModuleCreateWithNameInContext(name.c_str(), context_.get())),
      machine_(make_machine(target, info_, LLVMCodeGenLevelDefault)) {
  set_target(module_.get());
}

namespace {

// A buffer for LLVM's reader, which disposes of it.
LLVMMemoryBufferRef buffer_of(std::string_view content) {
  return llvm().CreateMemoryBufferWithMemoryRangeCopy(content.data(), content.size(), "module");
}

LLVMModuleRef parsed(LLVMContextRef context, std::string_view bitcode) {
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  if (llvm().ParseIRInContext(context, buffer_of(bitcode), &module, &message))
    throw InternalError(cat("LLVM refuses the bitcode of a module: ", take(message)));
  return module;
}

}  // namespace

Module::Module(const Module& like, std::string_view bitcode)
    : target_(like.target_),
      info_(like.info_),
      context_(new_context()),
      module_(parsed(context_.get(), bitcode)),
      machine_(make_machine(target_, info_, LLVMCodeGenLevelDefault)),
      is_huge_(like.is_huge_),
      built_(like.built_) {}

void Module::set_target(LLVMModuleRef module) const {
  const LlvmApi& l = llvm();
  LLVMTargetDataRef layout = l.CreateTargetDataLayout(machine_.get());
  l.SetModuleDataLayout(module, layout);
  l.DisposeTargetData(layout);
  l.SetTarget(module, info_.triple.c_str());
}

void Module::add(const program::Program& program, const std::string& entry) {
  const program::Program own = scheduled(program, target_.vector_bytes);
  Emitter emitter(own, context_.get(), module_.get(), info_);
  emitter.emit_program(entry);
  is_huge_ |= emitter.is_huge();
  built_ += emitter.built();
  spill_bytes_ = emitter.spill_bytes();
}

void Module::add(const std::string& text) {
  const LlvmApi& l = llvm();
  LLVMModuleRef parsed = nullptr;
  char* message = nullptr;
  if (l.ParseIRInContext(context_.get(), buffer_of(text), &parsed, &message))
    throw InternalError(cat("LLVM rejects hand-written IR: ", take(message), "\n", text));
  set_target(parsed);
  if (l.LinkModules2(module_.get(), parsed)) throw InternalError("LLVM: two modules are incompatible");  // takes it
}

void Module::optimise(const std::string& passes) {
  require_memory(built_);
#ifndef NDEBUG
  check();
#endif
  const LlvmApi& l = llvm();
  LLVMPassBuilderOptionsRef options = l.CreatePassBuilderOptions();
  const std::string all = target_.checks_memory ? cat(passes, ",", checking_pass()) : passes;
  LLVMErrorRef error = l.RunPasses(module_.get(), all.c_str(), machine_.get(), options);
  l.DisposePassBuilderOptions(options);
  require_ok(error, "running passes");
}

[[maybe_unused]] void Module::check() const {
  char* message = nullptr;
  if (llvm().VerifyModule(module_.get(), LLVMReturnStatusAction, &message))
    throw InternalError(cat("LLVM refuses the code generated for a program: ", take(message), "\n", text()));
  llvm().DisposeMessage(message);
}

template <class Visit>
void Module::for_each_definition(Visit visit) const {
  const LlvmApi& l = llvm();
  for (LLVMValueRef function = l.GetFirstFunction(module_.get()); function; function = l.GetNextFunction(function))
    if (!l.IsDeclaration(function)) {
      std::size_t length = 0;
      const char* name = l.GetValueName2(function, &length);
      visit(function, std::string(name, length));
    }
}

std::vector<Module::Function> Module::functions() const {
  const LlvmApi& l = llvm();
  std::vector<Function> out;
  for_each_definition([&](LLVMValueRef function, std::string name) {
    std::size_t count = 0;
    for (LLVMBasicBlockRef block = l.GetFirstBasicBlock(function); block; block = l.GetNextBasicBlock(block))
      for (LLVMValueRef each = l.GetFirstInstruction(block); each; each = l.GetNextInstruction(each)) ++count;
    out.push_back({std::move(name), count});
  });
  return out;
}

std::size_t Module::instruction_count() const {
  std::size_t all = 0;
  for (auto& function : functions()) all += function.instructions;
  return all;
}

void Module::share_functions() {
  for_each_definition([](LLVMValueRef function, const std::string&) {
    llvm().SetLinkage(function, LLVMExternalLinkage);
    llvm().SetVisibility(function, LLVMHiddenVisibility);
  });
}

std::string Module::bitcode() const {
  const LlvmApi& l = llvm();
  const Owned<LLVMMemoryBufferRef, &LlvmApi::DisposeMemoryBuffer> buffer(l.WriteBitcodeToMemoryBuffer(module_.get()));
  return std::string(l.GetBufferStart(buffer.get()), l.GetBufferSize(buffer.get()));
}

void Module::keep(const std::unordered_set<std::string>& names) {
  for_each_definition([&](LLVMValueRef function, const std::string& name) {
    if (!names.contains(name)) llvm().SetLinkage(function, LLVMAvailableExternallyLinkage);
  });
}

std::string Module::text() const { return take(llvm().PrintModuleToString(module_.get())); }

std::string Module::object() const {
  require_memory(built_);
  const LlvmApi& l = llvm();
  char* message = nullptr;
  LLVMMemoryBufferRef buffer = nullptr;
  using Machine = Owned<LLVMTargetMachineRef, &LlvmApi::DisposeTargetMachine>;
  // The instructions of a few loops are scheduled once more after register allocation; for much code that takes a tenth
  // of the time, and processors hardly gain from it.
  constexpr std::size_t much = 800;
  const bool less = is_huge_ || built_ > much;
  const Machine quick(less ? make_machine(target_, info_, is_huge_ ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess)
                           : nullptr);
  const Machine& machine = less ? quick : machine_;
  if (l.TargetMachineEmitToMemoryBuffer(machine.get(), module_.get(), LLVMObjectFile, &message, &buffer))
    throw InternalError(cat("LLVM, generating machine code: ", take(message)));
  const Owned<LLVMMemoryBufferRef, &LlvmApi::DisposeMemoryBuffer> owner(buffer);
  return std::string(l.GetBufferStart(buffer), l.GetBufferSize(buffer));
}

}  // namespace bitale::codegen
