// The programs of docs/extending_rewriting.md in C++: rewriters at a phase and at a position, queries, modes, and
// features.
#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

#include "bitale/bitale.hpp"
#include "bitale/graph/features.hpp"
#include "bitale/rewriting/passes.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"

namespace bt = bitale;
namespace rw = bitale::rewriting;

namespace {

std::string text_of(const bt::Function& f) { return bt::pprint(f.graph().outputs()[0]); }

}  // namespace

TEST_CASE("a node rewriter in a phase, opt-in by a tag") {
  const auto sinh_by_exp =
      std::make_shared<const rw::Rule>("sinh_by_exp", rw::Root::scalar({"sinh"}),
                                       [](bt::FunctionGraph&, const bt::Apply& node) -> std::optional<bt::Variables> {
                                         const bt::Variable& a = node.input(0);
                                         return bt::Variables{0.5 * (bt::exp(a) - bt::exp(-a))};
                                       });
  rw::register_rule(rw::specialize, sinh_by_exp, {"example_forms"});

  const auto x = bt::dvector("x");
  const bt::Mode mode = bt::get_mode("FAST_RUN").including({"example_forms"});
  const bt::Function f = bt::function({x}, bt::sinh(x), {.mode = mode});
  CHECK(text_of(f) == "0.5 * (exp(x) - exp(-x))");
  CHECK(text_of(bt::function({x}, bt::sinh(x), {.mode = mode.excluding({"sinh_by_exp"})})) == "sinh(x)");
  bt::set_default_mode(mode);
  CHECK(text_of(bt::function({x}, bt::sinh(x))) == "0.5 * (exp(x) - exp(-x))");
  bt::set_default_mode(std::nullopt);
  CHECK(text_of(bt::function({x}, bt::sinh(x))) == "sinh(x)");
}

TEST_CASE("a rewrite of the whole graph at a position") {
  static std::vector<std::size_t> sizes;
  rw::register_pass("example_count", 3.5, {"example_counted"},
                    [](bt::FunctionGraph& graph) { sizes.push_back(graph.toposort().size()); });
  const auto x = bt::dvector("x");
  const bt::RewriteQuery counted = bt::OPT_FAST_RUN.including({"example_counted"});
  bt::function({x}, bt::log(1 + x) * 1, {.mode = bt::Mode(bt::Linker("vm"), counted)});
  CHECK(sizes == std::vector<std::size_t>{1});
}

TEST_CASE("a feature that watches a graph") {
  class Watch final : public bt::Feature {
   public:
    explicit Watch(std::ostream& out) : out_(out) {}
    std::string name() const override { return "watch"; }
    void on_import(bt::FunctionGraph&, const bt::Apply& node, std::string_view reason) override {
      out_ << reason << ": " << node.op().label() << "\n";
    }

   private:
    std::ostream& out_;
  };

  std::ostringstream out;
  const auto x = bt::dvector("x");
  bt::FunctionGraph graph({x}, {bt::exp(x) + 1});
  graph.attach(std::make_shared<Watch>(out));
  graph.replace(graph.outputs()[0], bt::sin(graph.inputs()[0]), "example");
  CHECK(out.str() == "example: Sin\n");
}
