#include "graph/calculus.hpp"

#include "bitale/core/error.hpp"

namespace bitale {

namespace {

// Written while the library is being loaded, and only read afterwards.
const Calculus*& registered() {
  static const Calculus* drivers = nullptr;
  return drivers;
}

}  // namespace

RegisterCalculus::RegisterCalculus(const Calculus& drivers) { registered() = &drivers; }

const Calculus& calculus() {
  if (!registered()) throw InternalError("differentiation of inner graphs: no drivers are registered");
  return *registered();
}

}  // namespace bitale
