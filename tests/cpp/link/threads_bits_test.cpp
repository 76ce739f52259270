// Random programs whose sums could be added in another order by more threads: several scatters in one loop, scatters in
// large bodies, sums over blocks of rows. Any number of threads gives the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "link/linker.hpp"
#include "support/seeds.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;
constexpr int thread_counts[] = {2, 3, 7};

bool same_bits(const Array& a, const Array& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Array x = a.contiguous(), y = b.contiguous();
  return std::memcmp(x.data(), y.data(), std::size_t(x.nbytes())) == 0;
}

class Draw {
 public:
  explicit Draw(std::int64_t seed) : random_(std::uint64_t(seed) * 2654435761u) {
    dtype_ = below(4) ? DType::Float64 : DType::Float32;
    if (below(2))
      scatters();
    else
      blocks();
    for (auto& output : outputs) total_ = total_.defined() ? total_ + sum(output) : sum(output);
    if (!outputs.empty() && !below(4)) outputs.push_back(total_);
  }

  Variables inputs, outputs;
  Arrays values;

  std::string text() const {
    std::string out;
    for (auto& value : values) out += cat(dtype_name(value.dtype()), tuple_text(value.shape()), " ");
    return out;
  }

 private:
  std::int64_t below(std::int64_t n) { return std::int64_t(random_() % std::uint64_t(n)); }

  // An input of this shape, whose lengths are known or not.
  Variable input(const Dims& shape, double scale = 1) {
    Array value = Array::empty(DType::Float64, shape);
    std::normal_distribution<double> normal(0, scale);
    for (std::int64_t i = 0; i < value.size(); ++i) value.mutable_data_as<double>()[i] = normal(random_);
    return add(value.astype(dtype_));
  }
  Variable index(std::int64_t count, std::int64_t end) {
    Array value = Array::empty(DType::Int64, {count});
    std::int64_t* at = value.mutable_data_as<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) at[i] = below(end);
    if (below(3)) std::sort(at, at + count);
    return add(value);
  }
  Variable add(const Array& value) {
    Dims shape = value.shape();
    for (auto& length : shape)
      if (!below(2)) length = unknown_length;
    inputs.push_back(tensor(cat("x", inputs.size()), value.dtype(), shape));
    values.push_back(value);
    return inputs.back();
  }

  Variable step(const Variable& e, const Variable& y) {
    switch (below(7)) {
      case 0: return tanh(e + y);
      case 1: return exp(-sqr(e)) * y;
      case 2: return sin(e + 1) * e + 0.5 / (1 + sqr(e));
      case 3: return sigmoid(e) - y;
      case 4: return abs(e - 0.25) * y;
      case 5: return switch_(e > y, e * 0.5, y * 0.75);
      default: return e * y - 0.125;
    }
  }

  // Sums at indices from memory, of terms that a long or a short expression computes, often one that also reads there.
  void scatters() {
    const std::int64_t n = std::int64_t(1000) << below(6), count = 1 + below(4);
    const Variable y = input({n + below(9)});
    const std::int64_t length = values[0].size();
    Variables groups, tables;
    Variable e = y;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t groups_count = 1 + below(k % 2 ? 40 : 400);
      groups.push_back(k && !below(4) ? groups[0] : index(length, groups.size() ? groups_count : 400));
      const bool is_first = groups.back().same_as(groups[0]);
      tables.push_back(input({is_first ? 400 : groups_count}));
      if (below(3)) e = e + take(tables.back(), groups.back());
    }
    const std::int64_t steps = below(3) ? 1 + below(5) : 20 + below(30);
    for (std::int64_t k = 0; k < steps; ++k) e = step(e, y);
    for (std::size_t k = 0; k < groups.size(); ++k) {
      const Variable terms = below(2) ? e * double(k + 1) : e + y;
      outputs.push_back(inc_subtensor(below(3) ? zeros_like(tables[k]) : tables[k], {IndexItem(groups[k])}, terms));
    }
    if (below(2)) outputs.push_back(sum(e * y));
    if (below(2)) outputs.push_back(e);
    if (below(2)) outputs = grad(sum(sqr(e - y)), tables, {.disconnected_inputs = OnDisconnected::Ignore});
  }

  // Large matrices that are read a row at a time, and sums over their rows.
  void blocks() {
    const bool begins_with_loop = below(2);  // which computes a large matrix that the product reads
    const std::int64_t width = 1 + below(below(2) ? 4 : begins_with_loop ? 12 : 40);
    const std::int64_t columns = 1 + below(below(2) ? 4 : begins_with_loop ? 20 : 200);
    const std::int64_t size = begins_with_loop ? width : below(8) ? columns : 4 * columns + width;
    const std::int64_t rows = (std::int64_t(1) << 18) / size + below(200);
    const Variable x = input({rows, width}), c = input({columns, width}, 0.3), b = input({columns});
    const std::vector<int> last{1};
    Variable left = x, w = b;
    if (begins_with_loop) {
      w = input({width});
      left = below(2) ? softmax(x * w, last) : step(x * w, x);
    }
    Variable scores = dot(left, transpose(c));
    if (below(2)) scores = scores + b;
    if (below(3) == 0) scores = step(scores, scores * 0.5);
    Variable rows_of;
    switch (begins_with_loop && below(2) ? 4 : below(6)) {
      case 0: rows_of = tanh(0.3 * sum(scores, last)); break;
      case 1: rows_of = min(scores, last); break;
      case 2: rows_of = logsumexp(scores, last); break;
      case 3: rows_of = sum(softmax(scores, last) * tanh(scores), last); break;
      case 4: rows_of = sum(scores * b, last); break;
      default: rows_of = sum(sqr(tanh(dot(tanh(scores), c))), last);
    }
    const Variable cost = sum(below(2) ? sqr(rows_of) : rows_of);
    outputs = grad(cost, below(2) ? Variables{w} : Variables{b, c, x}, {.disconnected_inputs = OnDisconnected::Ignore});
    if (below(2)) outputs.push_back(cost);
    if (below(3) == 0) outputs.push_back(rows_of);
  }

  std::mt19937_64 random_;
  DType dtype_;
  Variable total_;
};

// Compares one thread with several; `about` is for the message.
void check_bits(const Variables& inputs, const Variables& outputs, const Arrays& values, const std::string& about) {
  INFO(about);
  auto graph = std::make_shared<FunctionGraph>(inputs, outputs);
  rewrite(*graph, Mode("jit", "fast_run").query());
  const auto results = [&](int threads) {
    return link::link("jit", graph, {.threads = threads, .eager_threads = true})->run(values);
  };
  const Arrays expected = results(1);
  for (const int threads : thread_counts) {
    INFO("threads ", threads);
    const Arrays got = results(threads);
    for (std::size_t k = 0; k < got.size(); ++k)
      CHECK_MESSAGE(same_bits(got[k], expected[k]),
                    cat("output ", k, ": got ", got[k].str(), "\nexpected ", expected[k].str()));
  }
}

}  // namespace

TEST_CASE("threads: drawn programs have the same bits for any number") {
  for (const std::int64_t seed : test::Seeds(40)) {
    const Draw draw(seed);
    check_bits(draw.inputs, draw.outputs, draw.values, cat("seed ", seed, ": ", draw.text()));
  }
}

TEST_CASE("threads: blocks of rows that begin with a loop have the same bits for any number") {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const std::int64_t width : {2, 8}) {
    Variables inputs;
    Arrays values;
    for (const Dims& shape : {Dims{163839, width}, Dims{8, width}, Dims{8}, Dims{width}}) {
      values.push_back(Array::empty(DType::Float64, shape));
      for (std::int64_t i = 0; i < values.back().size(); ++i)
        values.back().mutable_data_as<double>()[i] = normal(random);
      inputs.push_back(tensor(cat("x", inputs.size()), DType::Float64, shape));
    }
    const Variable x = inputs[0], c = inputs[1], b = inputs[2], w = inputs[3];
    const Variable cost = sum(dot(softmax(x * w, std::vector<int>{1}), transpose(c)) * b);
    check_bits(inputs, {grad(cost, w)}, values, cat("width ", width));
  }
}
