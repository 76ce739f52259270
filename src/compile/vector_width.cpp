#include "bitale/compile/vector_width.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>

#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/ops/ops.hpp"
#include "codegen/vector_width.hpp"
#include "compile/vector_width_due.hpp"
#include "link/linker.hpp"

namespace bitale {

namespace {

constexpr std::int64_t elements = 4096;  // three arrays of this length fit at least in the L2 cache
constexpr int rounds = 5;
constexpr double turn = 0.5e-3;  // seconds: a processor settles its clock faster
constexpr double clearly_faster = 0.95;
constexpr double enough_spent = 1000;  // milliseconds

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

class Loop {
 public:
  Loop(const Variables& inputs, const Variable& result, const std::string& target)
      : thunk_(link::link("jit", std::make_shared<FunctionGraph>(inputs, Variables{result}),
                          {.target = target, .cached = false})) {}

  // Seconds per call: the mean over one turn, after a warm-up turn that isn't counted.
  double turn_of(const std::vector<Array>& values) const {
    run_for(turn, values);
    return run_for(turn, values);
  }

 private:
  double run_for(double seconds, const std::vector<Array>& values) const {
    const double start = processor_seconds();
    double now = start;
    int calls = 0;
    for (; now - start < seconds; now = processor_seconds())
      for (int k = 0; k < 16; ++k, ++calls) thunk_->run(values);
    return (now - start) / calls;
  }
  std::unique_ptr<link::Thunk> thunk_;
};

std::vector<Array> some_values() {
  std::vector<Array> out;
  for (const double step : {0.7548776662466927, 0.5698402909980532}) {
    Array& values = out.emplace_back(Array::empty(DType::Float64, {elements}));
    for (std::int64_t i = 0; i < elements; ++i)
      values.mutable_data_as<double>()[i] = 6 * (double(i) * step - std::floor(double(i) * step)) - 3;
  }
  return out;
}

// Widths take turns, so that other load of the machine affects them alike, and the shortest time of each counts.
std::vector<WidthTimes> compare(const std::vector<int>& widths) {
  const Variable x = vector("x"), y = vector("y");
  struct Measured {
    Loop elementary, plain;
    WidthTimes times;
  };
  std::vector<Measured> all;
  for (const int bytes : widths) {
    const std::string target = cat("native-", 8 * bytes);
    all.push_back({Loop({x, y}, exp(-x * x) * tanh(y), target),
                   Loop({x, y}, x * y + x, target),
                   {8 * bytes, INFINITY, INFINITY}});
  }
  const std::vector<Array> values = some_values();
  const auto improve = [&](double& least, const Loop& loop) {
    least = std::min(least, loop.turn_of(values) / double(elements) * 1e9);
  };
  for (int round = 0; round < rounds; ++round) {
    for (auto& each : all) improve(each.times.elementary, each.elementary);
    for (auto& each : all) improve(each.times.plain, each.plain);
  }
  std::vector<WidthTimes> out;
  for (auto& each : all) out.push_back(each.times);
  return out;
}

double mean(const WidthTimes& times) { return std::sqrt(times.elementary * times.plain); }

VectorWidth measure(bool here) {
  VectorWidth out;
  const std::vector<int>& widths = codegen::vector_widths();
  out.bits = 8 * widths[0];
  if (widths.size() == 1) return out;
  out.times = compare(widths);
  double best = clearly_faster * mean(out.times[0]);
  for (auto& times : out.times)
    if (mean(times) < best) {
      best = mean(times);
      out.bits = times.bits;
    }
  out.is_kept = codegen::record_vector_width(out.bits / 8, here);
  return out;
}

}  // namespace

VectorWidth measure_vector_width() { return measure(true); }

void note_code_generation(double milliseconds) {
  static std::atomic<double> spent{0};
  const double before = spent.fetch_add(milliseconds);
  if (before < enough_spent && before + milliseconds >= enough_spent) measure_vector_width_if_unknown();
}

void measure_vector_width_if_unknown() {
  if (codegen::vector_widths().size() == 1 || !config::get_bool("cache") || config::get("target") != "native") return;
  try {
    if (!codegen::is_vector_width_recorded()) measure(false);
  } catch (const std::exception&) {  // the measurement was not requested
  }
}

}  // namespace bitale
