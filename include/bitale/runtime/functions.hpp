// The table of runtime functions: every function that generated code may call, with everything that other components
// need: address, parameters by name and kind, whether it can fail, its cost, and its text for exported code. Code
// generators, the lowering, estimates and the verifier read the table; names and orders of arguments are not known
// elsewhere. Each part of the runtime adds its rows with RegisterFunctions, next to the functions themselves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bitale::runtime {

enum class ParameterKind : std::uint8_t {
  scalar,   // by value
  in,       // memory that is read
  out,      // memory that is written: its previous contents do not matter
  in_out,   // memory that is read and written
  scratch,  // memory whose contents are meaningless before and after
};
struct Parameter {
  std::string_view name;
  ParameterKind kind;
};

enum class Result : std::uint8_t {
  nothing,
  value,   // of scalars: a mathematical function, which an expression may call
  status,  // int64: 0, or a failure, which `failure` describes
};

// Which product a function computes, as Programs can express it in loops (codegen/freestanding).
enum class ProductKind : std::uint8_t { none, matrix, matrix_vector, batched_matrix };

// factor / divisor times the product of the scalar parameters with these names; one may come more than once.
struct Flops {
  std::int64_t factor = 0;
  std::vector<std::string_view> of;
  std::int64_t divisor = 1;
};

struct RuntimeFunction {
  std::string_view name;  // this and all other texts live forever
  void* address = nullptr;
  std::vector<Parameter> parameters;
  Result result = Result::nothing;
  ProductKind product = ProductKind::none;
  std::string_view failure;  // the message of a status that is not 0
  Flops flops;
  bool of_float32 = false;        // whether it computes with float32
  bool is_standard = false;       // declared by C's <math.h>
  std::string_view same_as;       // the function of <math.h> with the same results, for exported code
  std::string_view widened_from;  // the float64 version, which a float32 version without text of its own may call
  // Its definition in C, in which each $X is replaced by its entry of `with`; may call BLAS if BITALE_CBLAS is defined.
  std::string_view c_text;
  std::vector<std::pair<std::string_view, std::string_view>> with;
  bool c_uses_blas = false;
  std::string_view llvm_text;           // its definition in LLVM's language
  std::vector<std::string_view> needs;  // other runtime functions that the texts call

  // The position of the parameter. InternalError for an unknown name.
  std::size_t argument_index(std::string_view parameter) const;
  // Whether equal arguments give equal results, without side effects.
  bool is_pure() const { return result == Result::value; }
};

// The row, whose address is stable, or nullptr for an unknown name.
const RuntimeFunction* find_function(std::string_view name);
// The row. InternalError for an unknown name.
const RuntimeFunction& function_named(std::string_view name);
std::vector<const RuntimeFunction*> all_functions();  // sorted by name
// The version of a matrix function for each matrix of a batch, if there is one: for bt_NAME_f64 it is bt_NAME_each_f64.
// Its parameters are `count`; for each memory X that is not scratch, step_X, the distance between consecutive matrices;
// and those of the function.
const RuntimeFunction* version_for_batches(std::string_view name);
// The address, or nullptr for an unknown name.
void* find_symbol(std::string_view name);

// Registration at load time, of the library or of a plugin, which then stays loaded until the process ends.
struct RegisterFunctions {
  RegisterFunctions(std::initializer_list<RuntimeFunction> functions);
};

// ---- rows -----------------------------------------------------------------------------------------------------------

struct ParameterList {
  std::string_view names;  // separated by blanks
  std::vector<ParameterKind> kinds;
  std::vector<Parameter> parameters() const;
};

template <class T>
constexpr ParameterKind kind_of_parameter() {
  if constexpr (!std::is_pointer_v<T>)
    return ParameterKind::scalar;
  else
    return std::is_const_v<std::remove_pointer_t<T>> ? ParameterKind::in : ParameterKind::out;
}

// A row whose parameters follow from the function's type: memory behind a pointer to const is read, other memory is
// written, unless "inout:a" or "scratch:a" says otherwise. A function of scalars returns a value, one of memory a
// status.
template <class R, class... Args>
RuntimeFunction runtime_function(std::string_view name, R (*address)(Args...), std::string_view names) {
  RuntimeFunction out;
  out.name = name;
  out.address = reinterpret_cast<void*>(address);
  out.parameters = ParameterList{names, {kind_of_parameter<Args>()...}}.parameters();
  constexpr bool reads_memory = (std::is_pointer_v<Args> || ...);
  out.result = std::is_void_v<R> ? Result::nothing : reads_memory ? Result::status : Result::value;
  return out;
}
template <class R, class... Args>
RuntimeFunction runtime_function(std::string_view name, R (*address)(Args...) noexcept, std::string_view names) {
  return runtime_function(name, static_cast<R (*)(Args...)>(address), names);
}

}  // namespace bitale::runtime
