// LLVMRunPasses for the passes that Bitale names. LLVM's own function looks a pass up among all there are, and so links
// all of them and what they need: a quarter of the library. The text has LLVM's syntax; a pass that is not in the table
// is an error, as there.
#include <llvm-c/Transforms/PassBuilder.h>

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/StackSafetyAnalysis.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Support/CBindingWrapping.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/ElimAvailExtern.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <map>
#include <set>

using namespace llvm;

namespace {

// "name<parameters>", and what is behind it.
struct Named {
  StringRef name, parameters, rest;
};

// The first element of a list; commas in parameters and in parentheses do not end it.
Named first_of(StringRef list) {
  std::size_t depth = 0, end = 0;
  for (; end < list.size() && (depth > 0 || list[end] != ','); ++end) {
    if (list[end] == '<' || list[end] == '(') ++depth;
    if (list[end] == '>' || list[end] == ')') --depth;
  }
  const StringRef element = list.take_front(end);
  const std::size_t open = element.find_first_of("<(");
  if (open == StringRef::npos) return {element, {}, list.drop_front(end).ltrim(',')};
  return {element.take_front(open), element.substr(open + 1).drop_back(), list.drop_front(end).ltrim(',')};
}

Error unknown(const Twine& name) {
  return createStringError(inconvertibleErrorCode(), "libbitale_llvm was built without the pass '%s'",
                           name.str().c_str());
}

template <class Manager, class Add>
Error add_each(StringRef list, const std::map<StringRef, Add>& table, Manager& manager) {
  while (!list.empty()) {
    const Named pass = first_of(list);
    const auto found = table.find(pass.name);
    if (found == table.end()) return unknown(pass.name);
    if (Error error = found->second(pass.parameters, manager)) return error;
    list = pass.rest;
  }
  return Error::success();
}

// A pass without parameters.
template <class Pass, class Manager>
Error add(StringRef parameters, Manager& manager) {
  if (!parameters.empty()) return unknown("<" + parameters + ">");
  manager.addPass(Pass());
  return Error::success();
}

Error add_instcombine(StringRef parameters, FunctionPassManager& manager) {
  if (parameters != "no-verify-fixpoint") return unknown("instcombine<" + parameters + ">");
  manager.addPass(InstCombinePass(InstCombineOptions().setVerifyFixpoint(false)));
  return Error::success();
}

using AddToFunctions = Error (*)(StringRef, FunctionPassManager&);
const std::map<StringRef, AddToFunctions>& function_passes() {
  static const std::map<StringRef, AddToFunctions> table{{"mem2reg", add<PromotePass>},
                                                         {"early-cse", add<EarlyCSEPass>},
                                                         {"instcombine", add_instcombine},
                                                         {"simplifycfg", add<SimplifyCFGPass>}};
  return table;
}

Error add_function_passes(StringRef list, ModulePassManager& manager) {
  FunctionPassManager functions;
  if (Error error = add_each(list, function_passes(), functions)) return error;
  manager.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  return Error::success();
}

// "preserve-gv=a;preserve-gv=b": only these names are visible from outside.
Error add_internalize(StringRef parameters, ModulePassManager& manager) {
  std::set<std::string> kept;
  while (!parameters.empty()) {
    auto [one, rest] = parameters.split(';');
    if (!one.consume_front("preserve-gv=")) return unknown("internalize<" + one + ">");
    kept.insert(one.str());
    parameters = rest;
  }
  manager.addPass(InternalizePass([kept](const GlobalValue& value) { return kept.count(value.getName().str()) > 0; }));
  return Error::success();
}

// Instruments loads and stores; checks of stack safety leave out those that can't fail.
Error add_address_sanitizer(StringRef parameters, ModulePassManager& manager) {
  if (!parameters.empty()) return unknown("asan<" + parameters + ">");
  manager.addPass(AddressSanitizerPass(AddressSanitizerOptions()));
  return Error::success();
}

using AddToModule = Error (*)(StringRef, ModulePassManager&);
const std::map<StringRef, AddToModule>& module_passes() {
  static const std::map<StringRef, AddToModule> table{{"function", add_function_passes},
                                                      {"internalize", add_internalize},
                                                      {"elim-avail-extern", add<EliminateAvailableExternallyPass>},
                                                      {"globaldce", add<GlobalDCEPass>},
                                                      {"asan", add_address_sanitizer}};
  return table;
}

// Every analysis for which these passes ask, and those for which these analyses ask: a manager does not check that it
// has one. Aliases are found as by LLVM's default pipeline.
void add_analyses(FunctionAnalysisManager& functions, TargetMachine& machine) {
  functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
  functions.registerPass([] {
    AAManager aliases;
    aliases.registerFunctionAnalysis<BasicAA>();
    aliases.registerFunctionAnalysis<ScopedNoAliasAA>();
    aliases.registerFunctionAnalysis<TypeBasedAA>();
    return aliases;
  });
  functions.registerPass([] { return BasicAA(); });
  functions.registerPass([] { return ScopedNoAliasAA(); });
  functions.registerPass([] { return TypeBasedAA(); });
  functions.registerPass([] { return AssumptionAnalysis(); });
  functions.registerPass([] { return BlockFrequencyAnalysis(); });
  functions.registerPass([] { return BranchProbabilityAnalysis(); });
  functions.registerPass([] { return DominatorTreeAnalysis(); });
  functions.registerPass([] { return LoopAnalysis(); });
  functions.registerPass([] { return OptimizationRemarkEmitterAnalysis(); });
  functions.registerPass([] { return PassInstrumentationAnalysis(); });
  functions.registerPass([] { return PostDominatorTreeAnalysis(); });
  functions.registerPass([] { return ScalarEvolutionAnalysis(); });
  functions.registerPass([] { return StackSafetyAnalysis(); });
  functions.registerPass([] { return TargetLibraryAnalysis(); });
}

}  // namespace

// The options of the C functions change nothing here: there is one set of them.
struct LLVMOpaquePassBuilderOptions {};

extern "C" LLVMPassBuilderOptionsRef LLVMCreatePassBuilderOptions() { return new LLVMOpaquePassBuilderOptions; }

extern "C" void LLVMDisposePassBuilderOptions(LLVMPassBuilderOptionsRef options) { delete options; }

extern "C" LLVMErrorRef LLVMRunPasses(LLVMModuleRef module, const char* passes, LLVMTargetMachineRef machine,
                                      LLVMPassBuilderOptionsRef) {
  FunctionAnalysisManager functions;
  ModuleAnalysisManager modules;
  add_analyses(functions, *reinterpret_cast<TargetMachine*>(machine));
  functions.registerPass([&] { return ModuleAnalysisManagerFunctionProxy(modules); });
  modules.registerPass([&] { return FunctionAnalysisManagerModuleProxy(functions); });
  modules.registerPass([] { return PassInstrumentationAnalysis(); });
  modules.registerPass([] { return ProfileSummaryAnalysis(); });
  modules.registerPass([] { return StackSafetyGlobalAnalysis(); });

  ModulePassManager manager;
  if (Error error = add_each(StringRef(passes), module_passes(), manager)) return wrap(std::move(error));
  manager.run(*unwrap(module), modules);
  return LLVMErrorSuccess;
}
