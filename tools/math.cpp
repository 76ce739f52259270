// Searches the compiled elementary functions for their largest error, and times them. Every mathematical scalar op of
// the registry, in float32 and float64.
//
//   math [OPTION...] [FUNCTION...]      all functions unless some are named
//     --stride N      float32: every Nth bit pattern (default 4099; 1 is all of them)
//     --exhaustive    the same as --stride 1
//     --count N       float64, and functions of two arguments: N points (default 200000)
//     --float32, --float64   only this dtype
//     --no-speed      does not time
//     --markdown      the rows of the table in docs/math.md
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

constexpr std::int64_t block = 1 << 14;

struct Options {
  std::uint64_t stride = 4099, count = 200000;
  bool float32 = true, float64 = true, speed = true, markdown = false;
  std::vector<std::string> functions;
};

struct Worst {
  double error = 0, x = 0, y = 0;
  std::uint64_t points = 0;
};

// A block of points, evaluated and compared.
template <class T>
class Search {
 public:
  Search(const ScalarOp& op, const MathReference& reference)
      : code_(op, dtype_of<T>::value), reference_(reference), arity_(std::size_t(op.arity)) {
    for (std::size_t i = 0; i < arity_; ++i) inputs_.push_back(Array::zeros(dtype_of<T>::value, {block}));
  }

  T* input(std::size_t i) { return inputs_[i].template data_as<T>(); }

  void look(std::int64_t count) {
    const Array values = code_(inputs_);
    const T *x = input(0), *y = arity_ > 1 ? input(1) : x, *got = values.template data_as<T>();
    for (std::int64_t i = 0; i < count; ++i) {
      const double error = error_in_ulps(got[i], reference_.value(x[i], y[i]));
      if (error > worst.error) worst = {error, double(x[i]), double(y[i]), worst.points};
    }
    worst.points += std::uint64_t(count);
  }

  Worst worst;

 private:
  CompiledMath code_;
  const MathReference& reference_;
  const std::size_t arity_;
  std::vector<Array> inputs_;
};

Worst every_float(const ScalarOp& op, const MathReference& reference, std::uint64_t stride) {
  Search<float> search(op, reference);
  constexpr std::uint64_t patterns = std::uint64_t(1) << 32;
  for (std::uint64_t next = 0; next < patterns;) {
    std::int64_t filled = 0;
    for (; filled < block && next < patterns; ++filled, next += stride)
      search.input(0)[filled] = std::bit_cast<float>(std::uint32_t(next));
    search.look(filled);
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

// Nanoseconds per element of 10,000 in the function's domain: the median of several runs.
template <class T>
double nanoseconds(const ScalarOp& op) {
  constexpr std::int64_t size = 10000;
  const CompiledMath code(op, dtype_of<T>::value);
  std::mt19937_64 random(1);
  std::vector<Array> inputs;
  for (int i = 0; i < op.arity; ++i) {
    Array& input = inputs.emplace_back(Array::empty(dtype_of<T>::value, {size}));
    std::uniform_real_distribution<double> inside(op.domain[std::size_t(i)].low, op.domain[std::size_t(i)].high);
    std::generate_n(input.data_as<T>(), size, [&] { return T(inside(random)); });
  }
  code(inputs);
  const double start = processor_seconds();
  code(inputs);
  const int calls = std::max(1, int(1e-3 / (processor_seconds() - start)));
  std::vector<double> times;
  for (int repetition = 0; repetition < 15; ++repetition) {
    const double begin = processor_seconds();
    for (int call = 0; call < calls; ++call) code(inputs);
    times.push_back((processor_seconds() - begin) * 1e9 / double(calls * size));
  }
  std::ranges::nth_element(times, times.begin() + 7);
  return times[7];
}

template <class T>
bool report(const ScalarOp& op, const MathReference& reference, const Options& options) {
  const bool one_by_one = sizeof(T) == 4 && op.arity == 1;
  const Worst worst =
      one_by_one ? every_float(op, reference, options.stride) : some_points<T>(op, reference, options.count);
  const double time = options.speed ? nanoseconds<T>(op) : std::nan("");
  const std::string name(op.name), dtype(dtype_name(dtype_of<T>::value));
  char place[80];
  std::snprintf(place, sizeof place, op.arity == 1 ? "%.17g" : "%.17g, %.17g", worst.x, worst.y);
  const char* format =
      options.markdown ? "| %s | %s | %.3f | `%s` | %llu | %.2f |\n" : "%-10s %-8s %8.3f  %-26s %12llu %8.2f";
  std::printf(format, name.c_str(), dtype.c_str(), worst.error, place, static_cast<unsigned long long>(worst.points),
              time);
  const bool good = worst.error <= reference.allowed;
  if (!options.markdown) std::printf(good ? "\n" : "  exceeds %g\n", reference.allowed);
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
  if (options.markdown)
    std::puts("| function | dtype | worst error, ulp | at | points | ns per element |\n|---|---|---|---|---|---|");
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
    if (options.float32) good &= report<float>(*op, *reference, options);
    if (options.float64) good &= report<double>(*op, *reference, options);
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
