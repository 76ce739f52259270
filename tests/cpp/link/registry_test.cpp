// Every op of the registry, at each of its samples, compiled and interpreted: values, shapes and dtypes agree.
#include <doctest/doctest.h>

#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "codegen/target.hpp"
#include "link/linker.hpp"
#include "support/layouts.hpp"
#include "support/sampling.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

struct Case {
  Variables inputs;
  std::shared_ptr<const FunctionGraph> graph;
};

Case case_of(const Sample& sample) {
  const Variables outputs = sample.node.outputs();
  Case out{graph_inputs(outputs), nullptr};
  out.graph = std::make_shared<FunctionGraph>(out.inputs, outputs);
  return out;
}

void compare(const Arrays& got, const Arrays& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].dtype() == expected[i].dtype());
    REQUIRE(got[i].shape() == expected[i].shape());
    const double rtol = got[i].dtype() == DType::Float32 ? std::max(tolerance, 1e-4) : tolerance;
    const bool close = allclose(got[i], expected[i], rtol, rtol * 1e-3);
    CHECK_MESSAGE(close, cat("compiled ", got[i].str(), "\nperform  ", expected[i].str()));
  }
}

// The targets among these that this processor can run.
std::vector<std::string> reachable(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) {
    try {
      codegen::target_named(name);
      return false;
    } catch (const ValueError&) {
      return true;
    }
  });
  return names;
}

std::string description(const OpEntry& entry, const Sample& sample) {
  std::string text = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
  for (auto& input : sample.node.inputs()) text += " " + input.type()->str();
  return text;
}

}  // namespace

TEST_CASE("compiled and interpreted code agree with perform, for every op, sample, layout and vector width") {
  const std::vector<std::string> targets = reachable({"native", "x86-64-v2", "x86-64-v3"});
  for (auto& entry : op_registry()) {
    for (auto& sample : test::part_of(entry.samples())) {
      INFO(description(entry, sample));
      const Case test = case_of(sample);
      REQUIRE(test.inputs.size() == sample.values.size());
      try {
        const auto vm = link::link("vm", test.graph);
        const auto compare_layouts = [&](const link::Thunk& thunk) {
          for (auto& layout : test::layouts) {
            INFO(layout.name);
            Arrays values;
            for (auto& value : sample.values) values.push_back(layout.apply(value));
            compare(thunk.run(values), vm->run(values), sample.tolerance);
          }
        };
        for (auto& target : targets) {
          INFO(target);
          const auto jit = link::link("jit", test.graph, {.eager_strides = true, .target = target});
          if (target == "native")
            compare_layouts(*jit);
          else  // memory accesses do not depend on the target
            compare(jit->run(sample.values), vm->run(sample.values), sample.tolerance);
        }
        INFO("interpreted");  // what is cached would be code
        compare_layouts(*link::link("tiered", test.graph, {.eager_strides = true, .cached = false}));
      } catch (const std::exception& error) {
        const std::string message = error.what();
        FAIL_CHECK(message);
      }
    }
  }
}

TEST_CASE("linkers that run node by node agree with perform, for every op and sample") {
  for (auto& name : linker_names()) {
    // The other linkers compile the graph as one function: jit above, c in codegen/c_test.
    if (name == "jit" || name == "c") continue;
    for (auto& entry : op_registry())
      for (auto& sample : test::part_of(entry.samples())) {
        INFO(name << " " << description(entry, sample));
        const Case test = case_of(sample);
        try {
          const Arrays expected = link::link("vm", test.graph)->run(sample.values);
          Linker linker(name);
          linker.allow_gc = false;
          const auto thunk = link::link(linker, test.graph);
          for (int call = 0; call < 2; ++call) compare(thunk->run(sample.values), expected, sample.tolerance);
        } catch (const std::exception& error) {
          const std::string message = error.what();
          FAIL_CHECK(message);
        }
      }
  }
}

TEST_CASE("a load that inner loops hoist, of inputs with other strides") {
  const auto column = col("x", DType::Float64), row = bitale::row("y", DType::Float64);
  const auto graph = std::make_shared<FunctionGraph>(Variables{column, row}, Variables{column + row});
  const Arrays inputs{test::columns(Array{{1.}, {2.}, {3.}}), Array{{10., 20., 30., 40.}}};
  for (const std::string linker : {"jit", "tiered", "c"}) {
    INFO(linker);
    const auto thunk = link::link(linker, graph, {.eager_strides = true, .cached = false});
    CHECK(identical(thunk->run(inputs)[0], link::link("vm", graph)->run(inputs)[0]));
  }
}
