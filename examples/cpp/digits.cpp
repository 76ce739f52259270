// Learns to read handwritten digits (8 x 8 pixels): softmax regression, then a network with one hidden layer, by
// gradient descent on small batches. The parameters are shared variables; one compiled function computes the loss of a
// batch, its gradients and the new parameters. Fails when the network reads less than 95 % of the digits it has not
// seen.
#include <bitale/bitale.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "progress.hpp"
#include "table.hpp"

namespace bt = bitale;

namespace {

constexpr std::int64_t batch_size = 64;

struct Images {
  bt::Array pixels;  // float64, one image per row, 0 to 1
  bt::Array digits;  // int64
  std::int64_t count() const { return digits.shape(0); }
  Images part(std::int64_t start, std::int64_t stop) const {
    return {pixels.slice(0, start, stop - start, 1), digits.slice(0, start, stop - start, 1)};
  }
};

// All images, in an order without meaning.
Images read_images(const std::string& path) {
  const Table table = read_table(path);
  const auto rows = table.rows();
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  std::vector<double> pixels;
  std::vector<std::int64_t> digits;
  for (auto row : order) {
    for (std::size_t pixel = 0; pixel < 64; ++pixel) pixels.push_back(table.columns[pixel][row] / 16);
    digits.push_back(std::int64_t(table["digit"][row]));
  }
  return {bt::Array(pixels).reshape({std::int64_t(rows), 64}), bt::Array(digits)};
}

// What a layer learns: a matrix of small random weights, and a bias per output.
struct Layer {
  bt::Variable weights, bias;
  Layer(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::mt19937_64& random) {
    std::normal_distribution<double> normal(0, 1 / std::sqrt(double(inputs)));
    std::vector<double> start(std::size_t(inputs * outputs));
    for (double& weight : start) weight = normal(random);
    weights = bt::shared(bt::Array(start).reshape({inputs, outputs}), "W" + name);
    bias = bt::shared(bt::Array::zeros(bt::DType::Float64, {outputs}), "b" + name);
  }
  bt::Variable operator()(const bt::Variable& x) const { return bt::dot(x, weights) + bias; }
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The share of images that are read rightly.
double accuracy(const bt::Function& classify, const Images& images) {
  const bt::Array answers = classify({images.pixels});
  const auto *answer = answers.data_as<std::int64_t>(), *digit = images.digits.data_as<std::int64_t>();
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < images.count(); ++i) right += answer[i] == digit[i];
  return double(right) / double(images.count());
}

std::string text(const char* format, auto... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

// Learns `parameters`, on which `logits` (of the images x) depends; returns the accuracy on the test images.
double learn(const char* title, const bt::Variable& x, const bt::Variable& logits, const bt::Variables& parameters,
             double rate, int epochs, const Images& training, const Images& test) {
  auto y = bt::lvector("y");
  auto log_likelihood = bt::subtensor(logits, {bt::arange(bt::shape_i(y, 0)), y}) - bt::logsumexp(logits, {{1}});
  auto loss = -bt::mean(log_likelihood);
  auto gradients = bt::grad(loss, parameters);
  bt::Replacements updates;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    updates.emplace_back(parameters[i], parameters[i] - rate * gradients[i]);

  auto step = bt::function({x, y}, loss, {.updates = updates, .name = "step"});
  auto classify = bt::function({x}, bt::argmax(logits, 1), {.name = "classify"});
  const auto& times = step.times();
  std::printf("\n%s\n", title);
  std::printf(
      "  one step (loss, %zu gradients, updates) compiled in %.1f ms: rewriting %.1f, lowering %.1f, native code "
      "%.1f\n",
      parameters.size(), times.total, times.rewrite, times.lower, times.codegen);

  std::vector<double> step_times;
  {
    Progress progress(epochs);
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      double total = 0;
      for (std::int64_t start = 0; start < training.count(); start += batch_size) {
        const Images batch = training.part(start, std::min(start + batch_size, training.count()));
        const auto before = std::chrono::steady_clock::now();
        const double value = step({batch.pixels, batch.digits}).item();
        step_times.push_back(milliseconds_since(before));
        total += value * double(batch.count());
      }
      progress.step(text("  epoch %2d   loss %.4f", epoch, total / double(training.count())));
    }
  }
  const double reached = accuracy(classify, test);
  std::printf("  %zu steps on %lld images each: %.0f µs a step (median)\n", step_times.size(),
              static_cast<long long>(batch_size), 1e3 * median(step_times));
  std::printf("  reads %.1f %% of the %lld test images rightly\n", 100 * reached, static_cast<long long>(test.count()));
  return reached;
}

int run() {
  const Images all = read_images(example_data("digits.csv"));
  const std::int64_t training_count = all.count() * 4 / 5;
  const Images training = all.part(0, training_count), test = all.part(training_count, all.count());
  std::printf("Handwritten digits: %lld images of 8 x 8 pixels to learn from, %lld to test\n",
              static_cast<long long>(training.count()), static_cast<long long>(test.count()));
  const int epochs = quick() ? 2 : 20;
  std::mt19937_64 random(2);

  auto x = bt::matrix("x");
  const Layer only("", 64, 10, random);
  learn("Softmax regression, 64-10", x, only(x), {only.weights, only.bias}, 0.5, epochs, training, test);

  const Layer first("1", 64, 128, random), second("2", 128, 10, random);
  const bt::Variables parameters{first.weights, first.bias, second.weights, second.bias};
  const double reached =
      learn("Network, 64-128-10, tanh", x, second(bt::tanh(first(x))), parameters, 0.5, epochs, training, test);
  return quick() || reached >= 0.95 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
