// The main types of Bitale by name alone, for headers that only mention them in pointers, references and declarations
// of functions: it includes nothing of the library. The definitions are in the headers that each group names.
#pragma once

#include <cstdint>

namespace bitale {

template <class T>
class Ref;  // core/ref.hpp

// core/
class Array;                      // core/array.hpp
class HostObject;                 // core/array.hpp
enum class DType : std::uint8_t;  // core/dtype.hpp
class Half;                       // core/half.hpp
class Error;                      // core/error.hpp
struct Location;                  // core/location.hpp
class Receiver;                   // core/receiver.hpp
struct View;                      // core/view.hpp

// graph/
class Variable;                    // graph/variable.hpp
class Apply;                       // graph/variable.hpp
class Op;                          // graph/op.hpp
using OpRef = Ref<const Op>;       // graph/variable.hpp
class TypeBase;                    // graph/type.hpp
class TensorType;                  // graph/type.hpp
using Type = Ref<const TypeBase>;  // graph/type.hpp
class FunctionGraph;               // graph/function_graph.hpp
class Feature;                     // graph/function_graph.hpp
class InnerGraph;                  // graph/inner_graph.hpp

// ops/
class Operand;    // ops/operand.hpp
class Operands;   // ops/operand.hpp
class Axes;       // ops/ops.hpp
class IndexItem;  // ops/ops.hpp

// compile/
class Function;          // compile/function.hpp
struct FunctionOptions;  // compile/function.hpp
class Results;           // compile/function.hpp
class Mode;              // compile/mode.hpp
class FunctionMaker;     // compile/maker.hpp
struct Profile;          // compile/profile.hpp
template <class Signature>
class TypedFunction;  // compile/typed.hpp

// others
struct GradOptions;    // autodiff/gradient.hpp
struct RewriteQuery;   // rewriting/rewriting.hpp
struct RewriteReport;  // rewriting/rewriting.hpp
struct DprintOptions;  // printing/printing.hpp

}  // namespace bitale
