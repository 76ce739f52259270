#include <doctest/doctest.h>

#include <sstream>

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/printing/printing.hpp"

using namespace bitale;

namespace {

// An op of any name with any number of inputs and outputs, which is all that printing needs.
class Named final : public Op {
 public:
  explicit Named(std::string title, int outputs = 1) : title_(std::move(title)), outputs_(outputs) {}
  std::string_view name() const override { return title_; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs.begin(), inputs.end()},
                 std::vector<Type>(std::size_t(outputs_), tensor_type(DType::Float64, 1)));
  }
  void perform(const Apply&, std::span<const Array>, std::span<Array>) const override {}
  std::vector<int> view_of(const Apply&, int) const override { return title_ == "View" ? IntVector{0} : IntVector{}; }
  std::vector<int> destroys(const Apply&, int output) const override {
    return title_ == "Inplace" && output == 1 ? IntVector{0, 1} : IntVector{};
  }

 private:
  using IntVector = std::vector<int>;
  std::string title_;
  int outputs_;
};

Variable apply(const char* name, std::initializer_list<Variable> inputs) { return (*make_ref<Named>(name))(inputs); }
Variable vector_named(std::string name) { return Variable(tensor_type(DType::Float64, 1), std::move(name)); }

// a + a ** 10 as PyTensor builds it.
Variable example() {
  Variable a = vector_named("a");
  return apply("Add", {a, apply("Pow", {a, apply("ExpandDims{axis=0}", {constant(Array(std::int8_t(10)))})})});
}

}  // namespace

TEST_CASE("the tree of an expression") {
  CHECK(dprint(example()) ==
        "Add [id A]\n"
        " ├─ a [id B]\n"
        " └─ Pow [id C]\n"
        "    ├─ a [id B]\n"
        "    └─ ExpandDims{axis=0} [id D]\n"
        "       └─ 10 [id E]\n");
}

TEST_CASE("expressions print as in PyTensor") {
  Variable x = dmatrix("x"), y = dmatrix("y");
  Variable z = sum(x + y, Axes{{1}}) * sum(x) + 1;
  CHECK(dprint(z.set_name("z")) ==
        "Add [id A] 'z'\n"
        " ├─ Mul [id B]\n"
        " │  ├─ Sum{axis=1} [id C]\n"
        " │  │  └─ Add [id D]\n"
        " │  │     ├─ x [id E]\n"
        " │  │     └─ y [id F]\n"
        " │  └─ ExpandDims{axis=0} [id G]\n"
        " │     └─ Sum{axes=None} [id H]\n"
        " │        └─ x [id E]\n"
        " └─ ExpandDims{axis=0} [id I]\n"
        "    └─ 1 [id J]\n");
}

TEST_CASE("types, names, and a repeated sub-graph") {
  Variable b = example();
  Variable total = apply("Sum{axes=None}", {b});
  total.set_name("total");
  const Variable both[] = {total, b};
  CHECK(dprint(both, {.print_type = true}) ==
        "Sum{axes=None} [id A] <Vector(float64, shape=(?,))> 'total'\n"
        " └─ Add [id B] <Vector(float64, shape=(?,))>\n"
        "    ├─ a [id C] <Vector(float64, shape=(?,))>\n"
        "    └─ Pow [id D] <Vector(float64, shape=(?,))>\n"
        "       ├─ a [id C] <Vector(float64, shape=(?,))>\n"
        "       └─ ExpandDims{axis=0} [id E] <Vector(float64, shape=(?,))>\n"
        "          └─ 10 [id F] <Scalar(int8, shape=())>\n"
        "Add [id B] <Vector(float64, shape=(?,))>\n"
        " └─ ···\n");
  CHECK(dprint(apply("Neg", {total}), {.print_shape = true, .stop_on_name = true}) ==
        "Neg [id A] shape=(?,)\n"
        " └─ Sum{axes=None} [id B] shape=(?,) 'total'\n"
        "    └─ ···\n");
}

TEST_CASE("depth and ids") {
  Variable b = example();
  CHECK(dprint(b, {.depth = 0}) == "");
  CHECK(dprint(b, {.depth = 1}) == "Add [id A]\n");
  CHECK(dprint(b, {.depth = 2, .id_type = "int"}) == "Add [id 0]\n ├─ a [id 1]\n └─ Pow [id 2]\n");
  CHECK(dprint(b, {.depth = 2, .id_type = ""}) == "Add\n ├─ a\n └─ Pow\n");
  CHECK_THROWS_WITH_AS(dprint(b, {.id_type = "hex"}), doctest::Contains("\"hex\""), ValueError);
  CHECK_THROWS_AS(dprint(Variable()), ValueError);

  Variable x = vector_named("x");
  for (int i = 0; i < 30; ++i) x = apply("Neg", {x});
  const std::string chain = dprint(x);
  CHECK(chain.find("Neg [id Z]\n") != chain.npos);
  CHECK(chain.find("Neg [id BA]\n") != chain.npos);
  CHECK(chain.find("x [id BE]\n") != chain.npos);
}

TEST_CASE("several outputs") {
  Variable x = vector_named("x");
  Apply split = make_ref<Named>("Split", 2)->make_node({&x, 1});
  const Variable graph[] = {split.output(1), apply("Add", {split.output(0), split.output(0)}), x};
  CHECK(dprint(graph) ==
        "Split.1 [id A]\n"
        " └─ x [id B]\n"
        "Add [id C]\n"
        " ├─ Split.0 [id A]\n"
        " │  └─ ···\n"
        " └─ Split.0 [id A]\n"
        "    └─ ···\n"
        "x [id B]\n");
  CHECK(dprint(split) == "Split.0 [id A]\n └─ x [id B]\nSplit.1 [id A]\n └─ ···\n");
}

TEST_CASE("leaves") {
  auto text = [](const Variable& leaf) { return dprint(leaf, {.id_type = ""}); };
  CHECK(text(Variable(tensor_type(DType::Float64, Dims{}))) == "<Scalar(float64, shape=())>\n");
  CHECK(text(Variable(tensor_type(DType::Float32, Dims{unknown_length, 3}))) == "<Matrix(float32, shape=(?, 3))>\n");
  CHECK(text(disconnected()) == "<DisconnectedType>\n");
  CHECK(text(constant(Array(1e-7))) == "1e-07\n");
  CHECK(text(constant(Array(true))) == "True\n");
  CHECK(text(constant(Array{1., 2., 3.})) == "[1. 2. 3.]\n");
  CHECK(text(constant(Array{1., 2., 3.}, "weights")) == "weights{[1. 2. 3.]}\n");
  CHECK(text(constant(Array{{1., 2.}, {3., 4.}})) == "[[1. 2.] [3. 4.]]\n");
  CHECK(text(constant(Array(std::vector<std::int64_t>(300, 7)))) == "[7 7 7 7 7 ... 7 7 7 7]\n");
}

TEST_CASE("notes, names of roots, destroyed and viewed inputs") {
  Variable x = vector_named("x"), y = apply("View", {x}), z = apply("Tanh", {y});
  DprintOptions options{.print_view_map = true, .outputs = {"update of W"}, .note = [](const Apply& node) {
                          return node.op().name() == "Tanh" ? "host callback" : "";
                        }};
  CHECK(dprint(z, options) ==
        "Tanh [id A] (host callback) (update of W)\n └─ View [id B] v={0: [0]}\n    └─ x [id C]\n");
  Variable pair[] = {x, y};
  Apply inplace = make_ref<Named>("Inplace", 2)->make_node(pair);
  CHECK(dprint(inplace.output(0), {.depth = 1, .print_destroy_map = true}) == "Inplace.0 [id A] d={1: [0, 1]}\n");
}

TEST_CASE("calls can share ids") {
  Variable b = example();
  PrintedNodes printed;
  dprint(b, {.printed = &printed});
  CHECK(dprint(apply("Exp", {b}), {.printed = &printed}) == "Exp [id F]\n └─ Add [id A]\n    └─ ···\n");
}

TEST_CASE("a function graph shows the order of its nodes") {
  Variable a = vector_named("a");
  Variable sum = apply("Add", {a, apply("Exp", {a})});
  FunctionGraph graph({a}, {sum});
  const std::string expected = "Add [id A] 1\n ├─ a [id B]\n └─ Exp [id C] 0\n    └─ a [id B]\n";
  CHECK(dprint(graph) == expected);
  CHECK(dprint(graph, {.print_fgraph_inputs = true}).starts_with("→ a [id A]\nAdd [id B] 1\n ├─ a [id A]\n"));
  std::ostringstream stream;
  stream << graph;
  CHECK(stream.str() == expected);
}

TEST_CASE("a chain of a million nodes") {
  const OpRef op = make_ref<const Named>("Neg");
  Variable x = vector_named("x");
  for (int i = 0; i < 1000000; ++i) x = (*op)({x});
  CHECK(dprint(x, {.depth = 3}) == "Neg [id A]\n └─ Neg [id B]\n    └─ Neg [id C]\n");
  const std::string all = dprint(x, {.max_bytes = 1000000});
  CHECK(all.size() < 1000200);
  CHECK(all.ends_with("··· longer than 1000000 bytes: print less with `depth`, or raise `max_bytes`\n"));
}

TEST_CASE("streams") {
  std::ostringstream stream;
  stream << vector_named("a") << " " << example() << " " << Array{1., 2.};
  CHECK(stream.str() == "a Add.0 [1. 2.]");
}
