// Searches for the largest error of the compiled elementary functions, and times them: every mathematical scalar op of
// the registry, in float32 and float64.
//
// In float32 the float64 version of a function is the first reference, at one or two nanoseconds per point; points that
// look at least as bad as the worst so far are evaluated with the exact reference. (The float64 version is compared
// only with the exact one.)
//
//   math [OPTION...] [FUNCTION...]      all functions unless some are named
//     --stride N      float32: every Nth bit pattern (default 4099; 1 is all of them)
//     --exhaustive    the same as --stride 1
//     --positive      float32: only positive arguments (below 0 some functions are slow calls)
//     --count N       float64, and functions of two arguments: N points (default 200000)
//     --float32, --float64   only this dtype
//     --no-speed      does not time
//     --markdown      the rows of the table in docs/measurements/math.md
// Exits with 1 when a function exceeds its bound or has no reference.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "support/math_reference.hpp"

using namespace bitale;
using namespace bitale::test;

namespace {

constexpr std::int64_t block = 1 << 12;

struct Options {
  std::uint64_t stride = 4099, count = 200000;
  bool float32 = true, float64 = true, positive = false, speed = true, markdown = false;
  std::vector<std::string> functions;
};

struct Worst {
  double error = 0, x = 0, y = 0;
  std::uint64_t points = 0;
};

// The approximate error of `value` with respect to `expected`: 0 also where both are nan, infinite or zero in the same
// way, and very large where only one is. Without branches, for a vectorized loop.
[[gnu::always_inline]] inline double rough_error(float value, double expected) {
  const double got = value, rounded = float(expected);
  const auto bits = std::bit_cast<std::uint64_t>(expected);
  constexpr std::uint64_t least = 1023 - 126, most = 1023 + 127;
  const std::uint64_t field = (bits >> 52) & 2047, above = field < least ? least : field;
  const double inverse_ulp = std::bit_cast<double>((2046 + 23 - (above > most ? most : above)) << 52);
  const double error = std::fabs(got - expected) * inverse_ulp;
  const bool one_nan = (got != got) != (expected != expected);
  const bool other_sign = std::int64_t(bits ^ std::bit_cast<std::uint64_t>(got)) < 0;
  const bool wrong = one_nan | ((got == 0) & other_sign) | (!(error < 1e300) & (got == got) & (got != rounded));
  return wrong ? 1e300 : error < 1e300 ? error : 0;
}

#if defined(__x86_64__)
#define IN_LANES [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define IN_LANES
#endif

// Whether any error is larger than `large`.
IN_LANES bool rough_errors(const float* __restrict got, const double* __restrict expected, std::int64_t count,
                           double large, double* __restrict errors) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    errors[i] = rough_error(got[i], expected[i]);
    found |= errors[i] > large;
  }
  return found != 0;
}

// Bit patterns first, first + stride, ..., as float and as double.
IN_LANES void fill_floats(std::uint32_t first, std::uint32_t stride, std::int64_t count, float* as_float,
                          double* as_double) {
  for (std::int64_t i = 0; i < count; ++i) as_float[i] = std::bit_cast<float>(first + std::uint32_t(i) * stride);
  for (std::int64_t i = 0; i < count; ++i) as_double[i] = as_float[i];
}

// A block of points, evaluated and compared.
template <class T>
class Search {
 public:
  Search(const ScalarOp& op, const MathReference& reference)
      : code_(op, dtype_of<T>::value), reference_(reference), arity_(std::size_t(op.arity)) {
    for (std::size_t i = 0; i < arity_; ++i) inputs_.push_back(Array::zeros(dtype_of<T>::value, {block}));
  }

  T* input(std::size_t i) { return inputs_[i].template mutable_data_as<T>(); }

  void look(std::int64_t count) {
    const Array values = code_(inputs_);
    const T* got = values.template data_as<T>();
    for (std::int64_t i = 0; i < count; ++i) judge(i, got[i]);
    worst.points += std::uint64_t(count);
  }

  // Compares with values of the float64 version at the same points first.
  void look(std::int64_t count, const Array& rough) {
    const Array values = code_(inputs_);
    const T* got = values.template data_as<T>();
    const double* expected = rough.data_as<double>();
    const bool is_worth_a_look = rough_errors(got, expected, count, worst.error - 0.001, errors_.data());
    for (std::int64_t i = 0; i < count && is_worth_a_look; ++i)
      if (errors_[std::size_t(i)] > worst.error - 0.001) judge(i, got[i]);
    worst.points += std::uint64_t(count);
  }

  Worst worst;

 private:
  void judge(std::int64_t i, T got) {
    const T x = input(0)[i], y = arity_ > 1 ? input(1)[i] : x;
    if (sizeof(T) == 8 && !reference_.may_exceed(worst.error, got, x, y)) return;
    const double error = reference_.error(got, x, y);
    if (error > worst.error) worst = {error, double(x), double(y), worst.points};
  }

  CompiledMath code_;
  const MathReference& reference_;
  const std::size_t arity_;
  std::vector<Array> inputs_;
  std::vector<double> errors_ = std::vector<double>(std::size_t(block));
};

Worst every_float(const ScalarOp& op, const MathReference& reference, const Options& options) {
  Search<float> search(op, reference);
  const CompiledMath rough(op, DType::Float64);
  const std::vector<Array> wider{Array::zeros(DType::Float64, {block})};
  const std::uint64_t patterns = std::uint64_t(1) << (options.positive ? 31 : 32);
  for (std::uint64_t next = 0; next < patterns; next += std::uint64_t(block) * options.stride) {
    const std::uint64_t left = (patterns - next + options.stride - 1) / options.stride;
    fill_floats(std::uint32_t(next), std::uint32_t(options.stride), block, search.input(0),
                wider[0].mutable_data_as<double>());
    search.look(std::int64_t(std::min<std::uint64_t>(block, left)), rough(wider));
  }
  return search.worst;
}

template <class T>
Worst some_points(const ScalarOp& op, const MathReference& reference, std::uint64_t count) {
  Search<T> search(op, reference);
  MathPoints<T> points(op, reference);
  T point[2] = {};
  for (std::uint64_t done = 0; done < count; done += block) {
    for (std::int64_t i = 0; i < block; ++i) {
      points.next(std::span(point, std::size_t(op.arity)));
      for (int k = 0; k < op.arity; ++k) search.input(std::size_t(k))[i] = point[k];
    }
    search.look(std::int64_t(std::min<std::uint64_t>(block, count - done)));
  }
  return search.worst;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// Nanoseconds per element for 10,000 elements in the function's domain: the median of several runs.
template <class T>
double nanoseconds(const ScalarOp& op) {
  constexpr std::int64_t size = 10000;
  const CompiledMath code(op, dtype_of<T>::value);
  std::mt19937_64 random(1);
  std::vector<Array> inputs;
  for (int i = 0; i < op.arity; ++i) {
    Array& input = inputs.emplace_back(Array::empty(dtype_of<T>::value, {size}));
    std::uniform_real_distribution<double> inside(op.domain[std::size_t(i)].low, op.domain[std::size_t(i)].high);
    std::generate_n(input.mutable_data_as<T>(), size, [&] { return T(inside(random)); });
  }
  (void)code(inputs);
  const double start = processor_seconds();
  (void)code(inputs);
  const int calls = std::max(1, int(1e-3 / (processor_seconds() - start)));
  std::vector<double> times;
  for (int repetition = 0; repetition < 15; ++repetition) {
    const double begin = processor_seconds();
    for (int call = 0; call < calls; ++call) (void)code(inputs);
    times.push_back((processor_seconds() - begin) * 1e9 / double(calls * size));
  }
  std::ranges::nth_element(times, times.begin() + 7);
  return times[7];
}

std::string count_text(std::uint64_t points) {
  char text[32];
  if (points == std::uint64_t(1) << 32) return "all";
  if (points == std::uint64_t(1) << 31) return "all positive";
  std::snprintf(text, sizeof text, "%.2g", double(points));
  return text;
}

// Reports one dtype of a function: a line, or three cells of its row in Markdown.
template <class T>
bool report(const ScalarOp& op, const MathReference& reference, const Options& options) {
  const bool one_by_one = sizeof(T) == 4 && op.arity == 1;
  const Worst worst = one_by_one ? every_float(op, reference, options) : some_points<T>(op, reference, options.count);
  const bool good = worst.error <= reference.allowed;
  char place[80];
  std::snprintf(place, sizeof place, op.arity == 1 ? "%.17g" : "%.17g, %.17g", worst.x, worst.y);
  if (options.markdown) {
    std::printf(" %.3f | `%s` | %s |", worst.error, place, count_text(worst.points).c_str());
    return good;
  }
  const double time = options.speed ? nanoseconds<T>(op) : std::nan("");
  std::printf("%-10s %-8s %8.3f  %-26s %12llu %8.2f", std::string(op.name).c_str(),
              std::string(dtype_name(dtype_of<T>::value)).c_str(), worst.error, place,
              static_cast<unsigned long long>(worst.points), time);
  std::printf(good ? "\n" : "  exceeds %g\n", reference.allowed);
  std::fflush(stdout);
  return good;
}

Options parse(int argc, char** argv) {
  Options options;
  const auto number = [&](int& i) {
    const char* option = argv[i];
    const unsigned long long value = ++i < argc ? std::strtoull(argv[i], nullptr, 10) : 0;
    if (value == 0) throw ValueError(std::string(option) + " needs a positive number");
    return std::uint64_t(value);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--stride")
      options.stride = number(i);
    else if (argument == "--exhaustive")
      options.stride = 1;
    else if (argument == "--count")
      options.count = number(i);
    else if (argument == "--float32")
      options.float64 = false;
    else if (argument == "--float64")
      options.float32 = false;
    else if (argument == "--positive")
      options.positive = true;
    else if (argument == "--no-speed")
      options.speed = false;
    else if (argument == "--markdown")
      options.markdown = true;
    else if (argument.starts_with("-"))
      throw ValueError("no option " + std::string(argument));
    else
      options.functions.push_back(std::string(scalar_op(argument).name));  // or KeyError with a suggestion
  }
  return options;
}

int run(const Options& options) {
  const auto wanted = [&](const ScalarOp* op) {
    return options.functions.empty() || std::ranges::find(options.functions, op->name) != options.functions.end();
  };
  const std::string cells = " worst error, ulp | at | points |";
  if (options.markdown)
    std::printf("| function |%s%s\n|---|%s%s\n", options.float32 ? (" float32:" + cells).c_str() : "",
                options.float64 ? (" float64:" + cells).c_str() : "", options.float32 ? "---|---|---|" : "",
                options.float64 ? "---|---|---|" : "");
  else
    std::puts("function   dtype    worst ulp at                               points  ns/element");
  bool good = true;
  for (const ScalarOp* op : mathematical_ops()) {
    if (!wanted(op)) continue;
    const MathReference* reference = math_reference(op->name);
    if (!reference) {
      std::printf("%s has no reference: tests/cpp/support/math_reference.cpp wants one\n",
                  std::string(op->name).c_str());
      good = false;
      continue;
    }
    if (options.markdown) std::printf("| %s |", std::string(op->name).c_str());
    if (options.float32) good &= report<float>(*op, *reference, options);
    if (options.float64) good &= report<double>(*op, *reference, options);
    if (options.markdown) std::puts("");
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "math: %s\n", error.what());
    return 2;
  }
}
