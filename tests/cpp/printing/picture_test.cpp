#include <doctest/doctest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "bitale/bitale.hpp"

using namespace bitale;

namespace {

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++found;
  return found;
}

bool contains(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }

// Returns its input, after two milliseconds.
class Slow final : public Op {
 public:
  std::string_view name() const override { return "Slow"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    out[0] = in[0].copy();
  }
  mutable std::atomic<int> calls{0};
};

}  // namespace

TEST_CASE("a picture omits unnamed variables unless it is not compact") {
  const Variable x = dvector("x"), y = exp(x) + 1.0;
  const std::string compact = dot_text(Variables{y});
  CHECK(count(compact, "shape=box") == 6);  // x, 1.0, y; exp, expand_dims, add
  CHECK(count(dot_text(Variables{y}, {.compact = false}), "shape=box") == 8);
  CHECK(contains(compact, "peripheries=2"));
  CHECK(compact.starts_with("digraph {"));
  CHECK(compact.ends_with("}\n"));
}

TEST_CASE("a picture of the structure has Apply, Op, Variables and Types") {
  const std::string text = dot_text(Variables{dmatrix("x") + dmatrix("y")}, {.structure = true});
  CHECK(count(text, "label=<Apply>") == 1);
  CHECK(count(text, "shape=ellipse") == 1);
  CHECK(count(text, "Matrix(float64") == 3);
}

TEST_CASE("names are escaped in pictures and pages") {
  const Variable x = dvector("</script> \"<&\n");
  CHECK(contains(dot_text(Variables{exp(x)}), "&lt;/script&gt; \"&lt;&amp; "));
  const std::string page = graph_html({.graphs = {{"graph", {exp(x)}}}});
  CHECK(contains(page, "\\u003c/script\\u003e \\\"\\u003c\\u0026\\u000a"));
}

TEST_CASE("long labels are cut between characters") {
  std::string name;
  for (int i = 0; i < 100; ++i) name += "é";
  const std::string text = dot_text(Variables{dvector(name)}, {.max_label_size = 10});
  CHECK(contains(text, "éééééééééé…"));
  CHECK(count(text, "é") == 10);
}

TEST_CASE("a condition frames the nodes that one branch needs") {
  const Variable x = dvector("x"), y = dvector("y"), z = where(x > 0.0, exp(y), log(x) + y);
  const std::string text = dot_text(Variables{z}, {.condition = z.owner()});
  CHECK(contains(text, "seagreen"));
  CHECK(contains(text, "deeppink"));
  CHECK(contains(text, "orange"));
  CHECK_THROWS_AS(dot_text(Variables{z}, {.condition = exp(x).owner()}), ValueError);
}

TEST_CASE("invalid arguments are refused") {
  CHECK_THROWS_AS(dot_text(Variables{Variable()}), ValueError);
  CHECK_THROWS_AS(graph_html({}), ValueError);
  CHECK_THROWS_AS(graph_html({.graphs = {{"graph", {Variable()}}}}), ValueError);
  CHECK_THROWS_AS(draw_to_file(Variables{dvector("x")}, "no_ending"), ValueError);
  CHECK(draw("digraph {}", "dot") == "digraph {}");
}

TEST_CASE("the page of a function shows its graph before and after rewriting, and its program") {
  const Variable x = dvector("x"), w = shared(Array::zeros(DType::Float64, Dims{3}), "w");
  const Function f =
      function({x}, log(1.0 + exp(x)), {.updates = {{w, w + x}}, .mode = get_mode("FAST_RUN"), .name = "step"});
  Page page = page_of(f);
  REQUIRE(page.graphs.size() == 2);
  CHECK(page.title == "step");
  CHECK(contains(page.program, "for "));
  page.graphs[0].seconds = [](const Apply&) { return 0.25; };
  const std::string html = graph_html(page);
  CHECK(contains(html, "\"l\":\"Log\""));
  CHECK(contains(html, "\"l\":\"Softplus\""));
  CHECK(contains(html, "update of w"));
  CHECK(contains(html, "\"s\":0.25"));
  CHECK(contains(html, "\"k\":\"shared\""));
  CHECK(f.built().size() == 2);
  CHECK(page_of(function({x}, x + 1.0, {.mode = get_mode("FAST_COMPILE")})).program.empty());
}

TEST_CASE("times of nodes, in both modes") {
  const Variable x = dvector("x"), w = shared(Array::zeros(DType::Float64, Dims{3}), "w");
  for (const char* mode : {"FAST_RUN", "FAST_COMPILE"}) {
    const auto slow = make_ref<Slow>();
    const Function f = function({x}, sum((*slow)({exp(x)}) * w), {.updates = {{w, w + x}}, .mode = get_mode(mode)});
    const std::vector<Array> inputs{Array::zeros(DType::Float64, Dims{3})};
    const auto times = node_times(f, inputs, 4);
    const std::vector<Apply> order = f.graph().toposort();
    REQUIRE(times.size() == order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& [node, seconds] = times[i];
      CHECK(node.node() == order[i].node());
      CHECK(seconds >= (node.op().name() == "Slow" ? 0.002 : 1e-9));
    }
    CHECK(slow->calls.load() == 4);
    CHECK_THROWS_AS(node_times(f, {}), ValueError);
    CHECK_THROWS_AS(node_times(f, inputs, 0), ValueError);
  }
}

TEST_CASE("a constant is drawn at each use, other leaves once") {
  const Variable x = dscalar("x"), two = constant(Array(2.0));
  const std::string page = graph_html({.graphs = {{"graph", {exp(x * two) + two}}}});
  CHECK(count(page, "\"k\":\"constant\"") == 2);
  CHECK(count(page, "\"k\":\"input\"") == 1);
}

TEST_CASE("pictures and pages of a long chain") {
  Variable x = dvector("x"), y = x;
  for (int i = 0; i < 100'000; ++i) y = -y;
  CHECK(count(dot_text(Variables{y}), "->") == 100'001);
  CHECK(graph_html({.graphs = {{"graph", {y}}}}).size() > 1'000'000);
}
