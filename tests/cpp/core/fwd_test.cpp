// bitale/fwd.hpp: names without definitions, which fit the definitions.
#include "bitale/fwd.hpp"

#include <type_traits>

namespace {

// Whether the type has no definition here. (It must not be asked again once there is one.)
template <class T, class = void>
constexpr bool is_only_declared = true;
template <class T>
constexpr bool is_only_declared<T, std::void_t<decltype(sizeof(T))>> = false;

constexpr bool all_are_only_declared =
    is_only_declared<bitale::Array> && is_only_declared<bitale::Variable> && is_only_declared<bitale::Apply> &&
    is_only_declared<bitale::Op> && is_only_declared<bitale::Function> && is_only_declared<bitale::FunctionGraph> &&
    is_only_declared<bitale::Mode> && is_only_declared<bitale::Operand> && is_only_declared<bitale::Error>;

// A class of a header that includes nothing else.
class Model {
 public:
  explicit Model(const bitale::Function& function) : function_(function) {}
  double value(const bitale::Array& parameters) const;
  static bitale::DType dtype();

 private:
  const bitale::Function& function_;
};

}  // namespace

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/compile/typed.hpp"

namespace {

double Model::value(const bitale::Array& parameters) const { return function_({parameters})[0].item(); }
bitale::DType Model::dtype() { return bitale::DType::Float64; }

TEST_CASE("a header that includes bitale/fwd.hpp alone declares what files with the definitions define") {
  static_assert(all_are_only_declared);
  auto x = bitale::vector("x");
  const auto f = bitale::function({x}, bitale::sum(x * x));
  CHECK(Model(f).value(bitale::Array{1., 2.}) == 5);
  CHECK(Model::dtype() == x.dtype());
  static_assert(std::is_same_v<bitale::OpRef, bitale::Ref<const bitale::Op>>);
}

}  // namespace
