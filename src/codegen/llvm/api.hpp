// LLVM's C API, loaded from a shared library when first needed, so that programs that never compile never pay for it.
// `llvm().BuildAdd(...)` is LLVMBuildAdd(...). cmake/Llvm.cmake reads the names, and links a library of these
// functions.
#pragma once

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <string>

namespace bitale::codegen {

// clang-format off
#define BITALE_LLVM_FUNCTIONS(X)                                                                                     \
  /* modules, types */                                                                                               \
  X(ContextCreate) X(ContextDispose) X(ModuleCreateWithNameInContext) X(DisposeModule) X(PrintModuleToString)        \
  X(DisposeMessage) X(VerifyModule) X(SetTarget) X(SetModuleDataLayout) X(CreateTargetDataLayout)                    \
  X(DisposeTargetData) X(Int1TypeInContext) X(Int8TypeInContext) X(Int16TypeInContext) X(Int32TypeInContext)         \
  X(Int64TypeInContext) X(FloatTypeInContext) X(DoubleTypeInContext) X(VoidTypeInContext) X(PointerTypeInContext)    \
  X(IntTypeInContext) X(VectorType) X(FunctionType) X(TypeOf) X(GetTypeKind) X(GetVectorSize)                                      \
  /* functions, blocks */                                                                                            \
  X(AddFunction) X(GetParam) X(GetNamedFunction) X(AppendBasicBlockInContext) X(GetBasicBlockTerminator)             \
  X(CreateBuilderInContext) X(DisposeBuilder) X(PositionBuilderAtEnd) X(PositionBuilderBefore) X(GetInsertBlock)     \
  X(CreateStringAttribute) X(AddAttributeAtIndex) X(SetAlignment) X(LookupIntrinsicID)                               \
  X(GetIntrinsicDeclaration) X(IntrinsicGetType) X(CountParamTypes) X(GetEnumAttributeKindForName)                    \
  X(CreateEnumAttribute) X(AddCallSiteAttribute)                                                                     \
  /* constants */                                                                                                    \
  X(ConstInt) X(ConstReal) X(ConstNull) X(ConstVector) X(GetPoison) X(AddGlobal) X(SetInitializer)                   \
  X(SetGlobalConstant) X(ConstStringInContext)                                                                                               \
  /* instructions */                                                                                                 \
  X(BuildAdd) X(BuildSub) X(BuildMul) X(BuildSDiv) X(BuildUDiv) X(BuildSRem) X(BuildURem) X(BuildFAdd)               \
  X(BuildFSub) X(BuildFMul) X(BuildFDiv) X(BuildFRem) X(BuildNeg) X(BuildFNeg) X(BuildNot) X(BuildAnd) X(BuildOr)    \
  X(BuildXor) X(BuildShl) X(BuildLShr) X(BuildAShr) X(BuildICmp) X(BuildFCmp) X(BuildSelect) X(BuildFreeze) X(BuildZExt)            \
  X(BuildSExt) X(BuildTrunc) X(BuildFPToSI) X(BuildSIToFP) X(BuildUIToFP) X(BuildFPExt) X(BuildFPTrunc)              \
  X(BuildBitCast) X(BuildLoad2) X(BuildStore) X(BuildGEP2) X(BuildAlloca) X(BuildArrayAlloca) X(BuildCall2)                              \
  X(BuildBr) X(BuildCondBr) X(BuildRet) X(BuildPhi) X(AddIncoming) X(BuildInsertElement) X(BuildExtractElement)      \
  X(BuildShuffleVector) X(SetFastMathFlags) X(CanValueUseFastMathFlags)                                              \
  /* targets, passes */                                                                                              \
  X(GetDefaultTargetTriple) X(GetHostCPUName) X(GetHostCPUFeatures) X(GetTargetFromTriple) X(CreateTargetMachine)    \
  X(DisposeTargetMachine) X(TargetMachineEmitToMemoryBuffer) X(CreatePassBuilderOptions)                             \
  X(DisposePassBuilderOptions) X(RunPasses) X(ParseIRInContext) X(LinkModules2) X(ParseCommandLineOptions)           \
  X(CreateMemoryBufferWithMemoryRangeCopy)                                                                           \
  /* pieces */                                                                                                       \
  X(GetFirstFunction) X(GetNextFunction) X(GetValueName2) X(GetFirstBasicBlock) X(GetNextBasicBlock)                 \
  X(GetFirstInstruction) X(IsDeclaration) X(SetVisibility) X(WriteBitcodeToMemoryBuffer)                             \
  /* parts */                                                                                                         \
  X(GetNextInstruction) X(ReplaceAllUsesWith) X(InstructionEraseFromParent) X(IsAInstruction) X(IsAPHINode)          \
  X(SetLinkage) X(SetValueName2) X(GlobalGetValueType) X(BuildRetVoid)                                               \
  /* metadata */                                                                                                     \
  X(GetMDKindIDInContext) X(MDNodeInContext2) X(MDStringInContext2) X(ValueAsMetadata) X(MetadataAsValue)            \
  X(SetMetadata) X(BuildPtrToInt)                                                                                    \
  /* errors, memory */                                                                                               \
  X(GetErrorMessage) X(DisposeErrorMessage) X(GetBufferStart) X(GetBufferSize) X(DisposeMemoryBuffer)
// clang-format on

struct LlvmApi {
#define X(name) decltype(&::LLVM##name) name;
  BITALE_LLVM_FUNCTIONS(X)
#undef X
};

// Loads the library at the first call. Throws MissingGenerator, with what was looked for, when there is none or it is
// too old. Thread-safe.
const LlvmApi& llvm();

// A function that not every build of the library has; nullptr when it is missing.
void* llvm_symbol(const std::string& name);

}  // namespace bitale::codegen
