// The op registry: every op class with its documentation and samples. Generic tests, docs and Python iterate over it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bitale/graph/op.hpp"
#include "bitale/ops/from_attributes.hpp"

namespace bitale {

// One concrete application for the generic tests: a node, and values for the leaves its inputs depend on (constants
// left out), in the order of graph_inputs(node.inputs()).
struct Sample {
  Apply node;
  std::vector<Array> values;
  double tolerance = 1e-6;  // relative, of the compiled value against perform (float64; float32 uses 1e3 eps)
  bool smooth = true;       // gradient may be checked by finite differences at this point
  std::string note = {};
};

struct OpEntry {
  std::string name;  // Op::name()
  std::string doc;
  std::vector<Sample> (*samples)();
  OpRef (*make)(const Attributes& attributes);  // ValueError for attributes that are not an op's
};

// Registration at load time, of the library or of a plugin. A plugin stays loaded until the process ends, since graphs
// and functions may hold its ops: dlclose does not unload it.
struct RegisterOp {
  RegisterOp(std::string name, std::string doc, std::vector<Sample> (*samples)(), OpRef (*make)(const Attributes&));
};
std::vector<OpEntry> op_registry();  // by name; what is registered later is not in it
// The op with that name and these attributes. KeyError for an unknown name, ValueError for wrong attributes.
OpRef op_from(std::string_view name, const Attributes& attributes);

#define BITALE_REGISTER_OP_MADE_BY(Class, make, doc, samples) \
  static const ::bitale::RegisterOp register_##Class(#Class, doc, samples, make)
#define BITALE_REGISTER_OP(Class, doc, samples) \
  BITALE_REGISTER_OP_MADE_BY(Class, ::bitale::make_op<Class>, doc, samples)

}  // namespace bitale
