// Random whole graphs: compiled code, after full rewriting, agrees with the interpreter on the graph as built; so do
// the gradients. A failing graph is shrunk and shown with its seed.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/sparse/cholesky.hpp"
#include "bitale/sparse/functions.hpp"
#include "bitale/sparse/lu.hpp"
#include "codegen/target.hpp"
#include "link/linker.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"
#include "support/shrink.hpp"

using namespace bitale;

namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int below(int n) { return int(random_() % unsigned(n)); }
  double real() { return std::uniform_real_distribution<double>(-2, 2)(random_); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[std::size_t(below(int(from.size())))];
  }

 private:
  std::mt19937 random_;
};

constexpr std::int64_t rows = 5;

Array values(Generator& random, DType dtype, const Dims& shape) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = random.real();
  return out.astype(dtype);
}

using Graph = test::Case;

// Variables by shape: those of one pool can be combined elementwise.
struct Pools {
  Variables scalars, row_vectors, column_vectors, matrices;  // (), (columns,), (rows,), (rows, columns)
  std::vector<sparse::Matrix> stored;                        // (rows, columns)
};

Variable unary(Generator& random, const Variable& x) {
  switch (random.below(14)) {
    case 0: return exp(-sqr(x));
    case 1: return tanh(x);
    case 2: return log1p(sqr(x));
    case 3: return sigmoid(x);
    case 4: return softplus(x);
    case 5: return sqrt(sqr(x) + 0.5);
    case 6: return sin(x);
    case 7: return x * 0.5 - 1;
    case 8: return -x;
    case 9: return 1 / (1 + sqr(x));
    case 10: return switch_(x > 0.1, x, sqr(x));
    case 11: return maximum(x, -0.3);
    case 12: return pow(sqr(x) + 1, 1.5);
    default: return abs(x);
  }
}

Variable binary(Generator& random, const Variable& x, const Variable& y) {
  switch (random.below(7)) {
    case 0: return x + y;
    case 1: return x - y;
    case 2: return x * y;
    case 3: return x / (1 + sqr(y));
    // Shifted, so that equal operands are not a tie, which rounding would decide.
    case 4: return maximum(x, y + 0.1234);
    case 5: return switch_(x < y + 0.0777, x * 2, y);
    default: return x * y / (2 + sqr(x));
  }
}

Axes along(int axis) { return std::vector<int>{axis}; }

// Adds a variable to one of the pools.
void grow(Generator& random, Pools& pools) {
  auto& [scalars, row_vectors, column_vectors, matrices, stored] = pools;
  const Variable& m = random.pick(matrices);
  const Variable& r = random.pick(row_vectors);
  const Variable& c = random.pick(column_vectors);
  const Variable& s = random.pick(scalars);
  switch (random.below(25)) {
    case 0:
    case 1:
    case 2: matrices.push_back(unary(random, m)); break;
    case 3: row_vectors.push_back(unary(random, r)); break;
    case 4: column_vectors.push_back(unary(random, c)); break;
    case 5: scalars.push_back(unary(random, s)); break;
    case 6:
    case 7: matrices.push_back(binary(random, m, random.pick(matrices))); break;
    case 8: matrices.push_back(binary(random, m, r)); break;
    case 9: matrices.push_back(binary(random, expand_dims(c, 1), m)); break;
    case 10: matrices.push_back(binary(random, expand_dims(c, 1), r)); break;
    case 11: row_vectors.push_back(sum(m, along(0))); break;
    case 12: column_vectors.push_back(mean(m, along(1))); break;
    case 13: scalars.push_back(mean(m)); break;
    case 14: column_vectors.push_back(max(m + cast(0.011 * arange(shape_i(m, 1)), m.dtype()), along(1))); break;
    case 15: matrices.push_back(softmax(m, along(random.below(2)))); break;
    case 16: column_vectors.push_back(logsumexp(m, along(1))); break;
    case 17: matrices.push_back(matmul(m, matmul(transpose(m), m)) * 0.1); break;
    case 18: column_vectors.push_back(dot(m, r)); break;
    case 19: row_vectors.push_back(subtensor(m, {random.below(int(rows))})); break;
    case 20: matrices.push_back(subtensor(m, {Slice{{}, {}, -1}})); break;
    case 21: {
      const Variable at = m > 0.0777;
      matrices.push_back(random.below(2) ? set_subtensor(m, {at}, s) : inc_subtensor(m, {at}, sin(subtensor(m, {at}))));
      break;
    }
    case 22: row_vectors.push_back(sum(unary(random, subtensor(m, {c > 0.0777})), along(0))); break;
    case 23: scalars.push_back(sum(subtensor(m, {Slice{}, r > 0.0777}) * s) * 0.1); break;
    default: {
      Variable index = constant(Array{0, 2, 1, 0, 4});
      matrices.push_back(random.below(2) ? take(m, index) : inc_subtensor(m, {Slice{1, 4, {}}}, r * s));
    }
  }
}

// What is computed by the factors of small square matrices, or by a triangle of them.
void add_system(Generator& random, Pools& pools) {
  const auto small = [&](const sparse::Matrix& a) { return a.with_data(tanh(a.data()) * 0.5); };
  const sparse::Matrix a = small(random.pick(pools.stored)), b = small(random.pick(pools.stored));
  const Variable& c = random.pick(pools.column_vectors);
  const auto heavy = sparse::square_diagonal(cast(full({Operand(rows)}, 6.0), c.dtype()));
  const sparse::Matrix positive = sparse::add(sparse::dot(a, a.transpose()), heavy);
  const sparse::Matrix product = sparse::dot(a, b.transpose());
  const sparse::Matrix general = sparse::add(product, heavy);
  const auto trans = sparse::Trans(random.below(3));
  switch (random.below(8)) {
    case 0: {
      const bool lower = random.below(2), unit_diagonal = random.below(2);
      pools.column_vectors.push_back(
          sparse::solve_triangular(unit_diagonal ? product : general, c, {lower, trans, unit_diagonal}));
      break;
    }
    case 1: pools.column_vectors.push_back(sparse::Cholesky(positive).solve(c)); break;
    case 2: pools.scalars.push_back(sparse::Cholesky(positive).logdet()); break;
    case 3: pools.column_vectors.push_back(sparse::sum(sparse::Cholesky(positive).selected_inverse(), 1)); break;
    case 4: pools.column_vectors.push_back(sparse::Cholesky(positive).sample(c)); break;
    case 5: pools.column_vectors.push_back(sparse::Lu(general).solve(c, trans)); break;
    case 6: {
      const Assume kinds[] = {Assume::PositiveDefinite, Assume::Symmetric, Assume::Hermitian, Assume::Diagonal,
                              Assume::UpperTriangular};
      pools.column_vectors.push_back(sparse::solve(positive, c, {kinds[random.below(5)], bool(random.below(2))}));
      break;
    }
    default: pools.scalars.push_back(sparse::Lu(general).logdet());
  }
}

// Adds a sparse matrix, or what is computed from one.
void grow_sparse(Generator& random, Pools& pools) {
  auto& [scalars, row_vectors, column_vectors, matrices, stored] = pools;
  const Variable& m = random.pick(matrices);
  const Variable& r = random.pick(row_vectors);
  const Variable& c = random.pick(column_vectors);
  const sparse::Matrix a = random.pick(stored), b = random.pick(stored);
  const Variable square = matmul(m, transpose(m)) * 0.1;
  switch (random.below(24)) {
    case 0: stored.push_back(sparse::mul(a, m)); break;
    case 1: stored.push_back(sparse::mul(a, r)); break;
    case 2: stored.push_back(sparse::mul(a, expand_dims(c, 1))); break;
    case 3: stored.push_back(sparse::true_div(a, sqr(m) + 1)); break;
    case 4:
    case 5: stored.push_back(a.with_data(unary(random, a.data()))); break;
    case 6: stored.push_back(sparse::add(a, b)); break;
    case 7: stored.push_back(sparse::sub(a, b)); break;
    case 8: stored.push_back(sparse::mul(a, b)); break;
    case 9: stored.push_back(a.to(random.below(2) ? sparse::Format::csr : sparse::Format::csc)); break;
    case 10: stored.push_back(sparse::sampling_dot(square, transpose(m), a)); break;
    case 11: stored.push_back(random.below(2) ? sparse::tril(a, 1) : sparse::triu(a, -1)); break;
    case 12: stored.push_back(sparse::take(a, constant(Array{0, 2, 1, 0, -1}), 0)); break;
    case 13: stored.push_back(sparse::remove_zeros(a)); break;
    case 14: column_vectors.push_back(sparse::dot(a, r)); break;
    case 15: row_vectors.push_back(sparse::dot(c, a)); break;
    case 16: row_vectors.push_back(sparse::dot(a.transpose(), c)); break;
    case 17: matrices.push_back(sparse::dot(square, a)); break;
    case 18: matrices.push_back(random.below(2) ? sparse::to_dense(a) : sparse::add(a, m)); break;
    case 19: column_vectors.push_back(sparse::sum(a, 1)); break;
    case 20: row_vectors.push_back(sparse::sum(a, 0)); break;
    case 21: scalars.push_back(sparse::sum(a) * 0.1); break;
    default: add_system(random, pools);
  }
}

// A sparse matrix whose pattern is known while the graph is built, or is given in a call. Returns its elements.
Variable add_sparse_input(Generator& random, Graph& graph, Pools& pools, DType dtype, std::int64_t columns) {
  std::vector<std::int64_t> bounds = {0}, positions;
  const int per_row = 1 + random.below(4);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = random.below(2); j < columns && std::int64_t(positions.size()) < bounds.back() + per_row;
         j += 1 + random.below(int(columns + 1) / 2))
      positions.push_back(j);
    bounds.push_back(std::int64_t(positions.size()));
  }
  const bool is_static = random.below(3) > 0;
  const auto add = [&](const char* name, const Array& value) {
    graph.inputs.push_back(tensor(cat(name, graph.inputs.size()), value.dtype(), {unknown_length}));
    graph.values.push_back(value);
    return graph.inputs.back();
  };
  const auto part = [&](const char* name, const std::vector<std::int64_t>& value) {
    return is_static ? constant(Array(value)) : add(name, Array(value));
  };
  const Variable indices = part("indices", positions), indptr = part("indptr", bounds);
  const Variable data = add("data", values(random, dtype, {std::int64_t(positions.size())}));
  pools.stored.emplace_back(sparse::Pattern(sparse::Format::csr, indices, indptr, rows, columns), data);
  return data;
}

// `with_sparse`: whether sparse matrices take part.
Graph random_graph(unsigned seed, DType dtype, std::int64_t columns = 3, bool with_sparse = false) {
  Generator random(seed);
  Graph graph;
  Pools pools;
  const auto input = [&](Variables& pool, std::string name, const Dims& shape) {
    graph.inputs.push_back(tensor(std::move(name), dtype, Dims(shape.size(), unknown_length)));
    graph.values.push_back(values(random, dtype, shape));
    pool.push_back(graph.inputs.back());
  };
  input(pools.scalars, "s", {});
  input(pools.row_vectors, "r", {columns});
  input(pools.column_vectors, "c", {rows});
  input(pools.matrices, "m", {rows, columns});
  input(pools.matrices, "n", {rows, columns});
  Variables wrt = graph.inputs;
  if (with_sparse)
    for (int k = 0; k < 2; ++k) wrt.push_back(add_sparse_input(random, graph, pools, dtype, columns));
  const int size = 4 + random.below(20);
  for (int i = 0; i < size; ++i) with_sparse&& random.below(3) ? grow_sparse(random, pools) : grow(random, pools);
  const Variable cost = sum(pools.matrices.back()) + sum(pools.row_vectors.back()) * 0.5 +
                        sum(pools.column_vectors.back()) + pools.scalars.back();
  graph.outputs = {pools.matrices.back(), pools.row_vectors.back(), cost};
  GradOptions options;
  options.disconnected_inputs = OnDisconnected::Ignore;
  if (with_sparse) graph.outputs.push_back(pools.stored.back().data());
  for (auto& gradient : grad(cost, wrt, options)) graph.outputs.push_back(gradient);
  return graph;
}

bool agrees(const Array& got, const Array& expected, DType dtype) {
  const double tolerance = dtype == DType::Float32 ? 3e-3 : 1e-9;
  double scale = 1;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    const double each = std::abs(expected.reshape({-1}).at(std::vector<std::int64_t>{i}));
    if (std::isfinite(each)) scale = std::max(scale, each);
  }
  return allclose(got, expected, tolerance, tolerance * scale);
}

Results run(const Graph& graph, Mode mode) {
  FunctionOptions options;
  options.mode = std::move(mode);
  options.on_unused_input = OnUnusedInput::Ignore;
  return function(graph.inputs, graph.outputs, options).call(graph.values);
}

// The results of the interpreter on the graph as built.
Results oracle(const Graph& graph) { return run(graph, Mode("vm", "None")); }

// The failure in this mode, or nothing.
std::string trouble(const Graph& graph, const Results& expected, const Mode& mode, DType dtype) {
  try {
    const Results got = run(graph, mode);
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!agrees(got[i], expected[i], dtype))
        return "output " + std::to_string(i) + ":\n" + got[i].str() + "\nexpected\n" + expected[i].str();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// Cycles through the processor levels that this processor supports.
std::string target_of(unsigned seed) {
  constexpr const char* levels[] = {"native", "x86-64-v3", "native-256", "x86-64-v2"};
  const char* level = levels[seed % std::size(levels)];
  try {
    codegen::target_named(level);
    return level;
  } catch (const ValueError&) {
    return "native";
  }
}

// Whether the linker is tested on this graph: compilation of whole graphs in C and of single nodes is slow.
// BITALE_TEST_C=all: C on all graphs.
bool is_turn_of(const std::string& linker, unsigned seed) {
  const char* all = std::getenv("BITALE_TEST_C");
  if (linker == "jit" || linker == "vm") return true;
  if (linker == "c") return seed % 20 == 0 || (all && std::string(all) == "all");
  return seed % 10 == 3;
}

void check(unsigned seed, DType dtype, bool with_sparse = false) {
  const config::Change strict("on_opt_error", "raise");  // a rule that raises or loops fails the test
  const config::Change target("target", target_of(seed));
  INFO("seed " << seed << ", " << std::string(dtype_name(dtype)) << ", " << target_of(seed));
  const Graph graph = random_graph(seed, dtype, 3, with_sparse);
  const Results expected = oracle(graph);
  std::vector<std::pair<std::string, Mode>> modes = {{"jit, None", Mode("jit", "None")}};
  for (auto& linker : linker_names())
    if (is_turn_of(linker, seed)) modes.emplace_back(linker + ", fast_run", Mode(linker, "fast_run"));
  for (auto& [name, mode] : modes) {
    if (trouble(graph, expected, mode, dtype).empty()) continue;
    constexpr int max_tries = 300;
    const auto fails = [&](const Graph& each) { return !trouble(each, oracle(each), mode, dtype).empty(); };
    const Graph small = test::shrink(graph, fails, max_tries);
    FAIL_CHECK(name << ": " << describe(small) << trouble(small, oracle(small), mode, dtype));
  }
}

// The results of a call that shares its loops among this number of threads.
std::vector<Array> run_in_threads(const Graph& graph, int threads) {
  const auto linked = std::make_shared<FunctionGraph>(graph.inputs, graph.outputs);
  rewrite(*linked, Mode("jit", "fast_run").query());
  return link::link("jit", linked, {.threads = threads, .eager_threads = true})->run(graph.values);
}

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), std::size_t(a.nbytes())) == 0;
}

}  // namespace

TEST_CASE("random graphs give the same results for inputs with other strides") {
  for (const std::int64_t number : test::Seeds(20)) {
    const auto seed = unsigned(number);
    const DType dtype = seed % 3 ? DType::Float64 : DType::Float32;
    const Graph graph = random_graph(seed, dtype, 3, seed % 4 == 0);
    const Results expected = oracle(graph);
    const auto linked = std::make_shared<FunctionGraph>(graph.inputs, graph.outputs);
    rewrite(*linked, Mode("jit", "fast_run").query());
    for (const std::string linker : {"jit", "tiered"}) {
      const auto thunk = link::link(linker, linked, {.eager_strides = true, .cached = false});
      for (auto& layout : test::layouts) {
        INFO(seed << " " << linker << " " << layout.name);
        std::vector<Array> inputs;
        for (auto& value : graph.values) inputs.push_back(layout.apply(value));
        const std::vector<Array> got = thunk->run(inputs);
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(agrees(got[i], expected[i], dtype));
      }
    }
  }
}

TEST_CASE("random graphs give the same bits in any number of threads") {
  for (const std::int64_t number : test::Seeds(20)) {
    const auto seed = unsigned(number);
    const DType dtype = seed % 5 == 0 ? DType::Float32 : DType::Float64;
    INFO("seed " << seed << ", " << std::string(dtype_name(dtype)) << ", " << target_of(seed));
    const config::Change target("target", target_of(seed));
    for (const bool with_sparse : {false, true}) {
      const Graph graph = random_graph(seed, dtype, 1500, with_sparse);
      const auto expected = run_in_threads(graph, 1), got = run_in_threads(graph, 2 + int(seed % 4));
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
    }
  }
}

TEST_CASE("random graphs and their gradients") {
  for (const std::int64_t seed : test::Seeds(60))
    check(unsigned(seed), seed % 5 == 0 ? DType::Float32 : DType::Float64);
}

TEST_CASE("random graphs of sparse values and their gradients") {
  for (const std::int64_t seed : test::Seeds(25))
    check(unsigned(seed), seed % 5 == 0 ? DType::Float32 : DType::Float64, true);
}
