// A stack of images over (time, y, x): smoothed in space, and each pixel regressed on a signal. Dimensions are named,
// so nothing depends on their order; the same without names follows.
#include <bitale/bitale.hpp>
#include <bitale/ops/signal.hpp>
#include <bitale/xtensor/functions.hpp>
#include <bitale/xtensor/linalg.hpp>
#include <bitale/xtensor/selection.hpp>
#include <bitale/xtensor/windows.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace bt = bitale;
namespace xt = bitale::xtensor;

int main() {
  const bool quick = std::getenv("BITALE_EXAMPLE_QUICK") != nullptr;
  const std::int64_t size = quick ? 16 : 96, frames = quick ? 24 : 200;
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0, 0.7);

  std::vector<xt::Label> seconds;
  std::vector<double> signal, response, stack;
  for (std::int64_t t = 0; t < frames; ++t) {
    seconds.push_back(0.5 * double(t));
    signal.push_back(std::sin(0.5 * double(t)));
  }
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      response.push_back(std::exp(
          -(std::pow(double(i) / double(size) - 0.4, 2) + std::pow(double(j) / double(size) - 0.6, 2)) / 0.02));
  for (const double s : signal)
    for (const double r : response) stack.push_back(s * r + noise(random));
  std::vector<double> taps;
  double sum = 0;
  for (int k = -4; k <= 4; ++k) sum += taps.emplace_back(std::exp(-0.25 * k * k));
  for (double& each : taps) each /= sum;

  // With names.
  const xt::Dim time("time", {}, xt::coordinates(seconds));
  const xt::XVariable images = xt::xtensor("images", {time, xt::Dim("y", size), xt::Dim("x", size)});
  const xt::XVariable covariate(bt::Array(signal), {time}), kernel(bt::Array(taps), {xt::Dim("tap")});
  xt::XVariable smooth = images;
  for (const char* name : {"y", "x"}) smooth = xt::convolve1d(smooth, kernel, {name, "tap"}, bt::ConvolutionMode::Same);
  const auto centred = [](const xt::XVariable& x) { return x - xt::mean(x, "time"); };
  const xt::XVariable slope = xt::transpose(
      xt::dot(centred(smooth), centred(covariate), "time") / xt::sum(xt::sqr(centred(covariate)), "time"), {"y", "x"});
  const xt::XVariable early = xt::mean(xt::sel(images, {{"time", xt::between(0.0, 5.0)}}), "time");
  const auto f = bt::function({images.values()}, {slope.values(), early.values()});

  // The same without names: axes are numbers, and new ones have to be put in place.
  const bt::Variable a = images.values(), s = covariate.values(), k = kernel.values();
  const auto swapped = [](const bt::Variable& v) { return bt::dimshuffle(v, {0, 2, 1}); };
  const auto along_last = [&](const bt::Variable& v) { return bt::convolve1d(v, k, bt::ConvolutionMode::Same); };
  const bt::Variable b = swapped(along_last(swapped(along_last(a))));
  const bt::Variable s0 = s - bt::mean(s);
  const bt::Variable plain =
      bt::sum((b - bt::mean(b, {{0}})) * bt::dimshuffle(s0, {0, bt::new_axis, bt::new_axis}), {{0}}) /
      bt::sum(bt::sqr(s0));
  const auto g = bt::function({a}, plain);

  const bt::Array values = bt::Array(stack).reshape({frames, size, size});
  const bt::Results found = f({values});
  const bt::Array map = found[0].contiguous(), plain_map = g({values})[0].contiguous();
  double difference = 0, mean_map = 0, mean_true = 0, both = 0, of_map = 0, of_true = 0;
  for (std::size_t i = 0; i < response.size(); ++i) {
    difference = std::max(difference, std::abs(map.data_as<double>()[i] - plain_map.data_as<double>()[i]));
    mean_map += map.data_as<double>()[i] / double(response.size());
    mean_true += response[i] / double(response.size());
  }
  for (std::size_t i = 0; i < response.size(); ++i) {
    const double x = map.data_as<double>()[i] - mean_map, y = response[i] - mean_true;
    both += x * y, of_map += x * x, of_true += y * y;
  }
  const double likeness = both / std::sqrt(of_map * of_true);
  std::printf(
      "%d images of %d x %d: the map of slopes correlates with the response by %.3f, and differs from the one without "
      "names by %.1e\n",
      int(frames), int(size), int(size), likeness, difference);
  return difference < 1e-9 && likeness > 0.7 ? 0 : 1;
}
