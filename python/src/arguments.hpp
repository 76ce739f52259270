// Kinds of arguments from Python, and their conversion to what the library needs. The kinds serve only as names in
// signatures; conversion happens inside the bound functions, where it may raise errors that name what was expected.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "variable_object.hpp"

namespace bitale::python {

struct Like : nb::object {  // a variable, a number, an array, a list of those
  using nb::object::object;
};
struct AxisLike : nb::object {  // an int, several ints, or None for all
  using nb::object::object;
};
struct DTypeLike : nb::object {  // a name, a NumPy dtype, or None for the default
  using nb::object::object;
};
struct ShapeLike : nb::object {  // lengths: a sequence of ints and scalars, a single one, or a vector of known length
  using nb::object::object;
};

struct Any : nb::object {  // any object: the function interprets it itself
  Any() = default;
  Any(nb::object object) : nb::object(std::move(object)) {}
};

// Lists that contain variables are stacked; other lists and arrays become constants; numbers follow the casting rule
// for literals. TypeError otherwise.
Variable as_variable(nb::handle object);
// std::nullopt when the object is of none of these kinds: an operator then lets Python try the other operand.
std::optional<Variable> try_as_variable(nb::handle object);
Variables as_variables(nb::handle sequence, std::string_view what);
std::optional<Operand> optional_operand(nb::handle value);  // std::nullopt for None

// The variable itself; a TypeError that names `what` was expected for other objects.
Variable require_variable(nb::handle object, std::string_view what);
// The items of a dict, or of a list of pairs.
std::vector<std::pair<nb::object, nb::object>> as_pairs(nb::handle object, std::string_view what);
// From variables to their replacements, for trees from their leaves; with `graph`, from those leaves that occur in
// it, if any does.
Replacements as_replacements(nb::handle object, std::string_view what, std::span<const Variable> graph = {});

Axes as_axes(nb::handle axis, std::string_view function);
std::optional<int> as_optional_int(nb::handle value, std::string_view what);
Variables as_lengths(nb::handle shape, std::string_view function);
// A static shape: ints, and None for unknown lengths.
Dims as_static_shape(nb::handle shape);
nb::tuple static_shape_tuple(const Dims& shape);
std::vector<int> as_ints(nb::handle sequence, std::string_view what);
// One level of a nested list while it is converted. Raises RecursionError at a depth that only a list which contains
// itself has; Python's own limit allows more levels than the stack has room for.
class NestedList {
 public:
  NestedList();
  ~NestedList();
  NestedList(const NestedList&) = delete;
  NestedList& operator=(const NestedList&) = delete;
};

// Whether it is a list or a tuple.
bool is_sequence(nb::handle object);
// Whether Python would accept it as an integer (bool is not one).
bool is_integer_object(nb::handle object);

}  // namespace bitale::python

namespace nanobind::detail {

#define BITALE_ARGUMENT_CASTER(Kind, text)                                                            \
  template <>                                                                                         \
  struct type_caster<bitale::python::Kind> {                                                          \
    NB_TYPE_CASTER(bitale::python::Kind, const_name(text))                                            \
    template <class Flags>                                                                            \
    bool from_python(handle source, Flags, cleanup_list*) noexcept {                                  \
      static_cast<object&>(value) = borrow(source);                                                   \
      return true;                                                                                    \
    }                                                                                                 \
    static handle from_cpp(const Value& v, rv_policy, cleanup_list*) noexcept { return v.inc_ref(); } \
  };
BITALE_ARGUMENT_CASTER(Any, "typing.Any")
BITALE_ARGUMENT_CASTER(Like, "TensorVariable | numpy.typing.ArrayLike")
BITALE_ARGUMENT_CASTER(AxisLike, "int | collections.abc.Sequence[int]")
BITALE_ARGUMENT_CASTER(DTypeLike, "numpy.typing.DTypeLike")
BITALE_ARGUMENT_CASTER(ShapeLike, "int | TensorVariable | collections.abc.Sequence[int | TensorVariable]")
#undef BITALE_ARGUMENT_CASTER

}  // namespace nanobind::detail
