#include "compile/differences.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

struct Tolerance {
  double relative, absolute;
};
constexpr Tolerance wide{1e-5, 1e-8}, narrow{1e-4, 1e-5}, coarse{1e-2, 1e-3};

// The relative deviation that is allowed between an inaccurate expression and an accurate one.
constexpr double leeway = 1e-2;

class Agreement {
 public:
  Agreement(const Tolerance& tolerance, const Allowance& allowance) : tolerance_(tolerance), allowance_(allowance) {}

  bool operator()(double before, double after) const {
    if (before == after || (std::isnan(before) && std::isnan(after))) return true;
    if (!std::isfinite(before)) return allowance_.wider || allowance_.more_accurate || allowance_.special;
    if (!std::isfinite(after)) return allowance_.special;
    const double difference = std::abs(before - after);
    if (difference <= tolerance_.absolute + tolerance_.relative * std::abs(after)) return true;
    if (allowance_.special) return true;
    return allowance_.more_accurate && difference <= leeway * std::max(std::abs(before), std::abs(after));
  }

 private:
  const Tolerance tolerance_;
  const Allowance allowance_;
};

template <class T>
bool agree(const Array& a, const Array& b, const Agreement& same) {
  const Array left = a.contiguous(), right = b.contiguous();
  const T *x = left.data_as<T>(), *y = right.data_as<T>();
  for (std::int64_t i = 0, n = a.size(); i < n; ++i)
    if (!(x[i] == y[i]) && !same(double(x[i]), double(y[i]))) return false;
  return true;
}

template <class T>
bool finite(const Array& value) {
  const Array row = value.contiguous();
  const T* x = row.data_as<T>();
  return std::all_of(x, x + row.size(), [](T each) { return std::isfinite(each); });
}

struct Statistics {
  double largest = 0, mean = 0, median = 0, deviation = 0;
};
Statistics statistics_of(std::vector<double> values) {
  Statistics out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const double count = double(values.size());
  out.largest = values.back();
  out.median = values[values.size() / 2];
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / count);
  return out;
}

std::string text_of(std::string_view label, const Statistics& of) {
  return cat(label, ": max ", number_text(of.largest), ", mean ", number_text(of.mean), ", median ",
             number_text(of.median), ", std ", number_text(of.deviation));
}

Dims position_of(std::int64_t index, const Dims& shape) {
  Dims out = shape;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    out[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return out;
}

}  // namespace

bool values_agree(const Array& before, const Array& after, const Allowance& allowance) {
  if (before.dtype() != after.dtype() || !(before.shape() == after.shape())) return false;
  if (is_complex(before.dtype())) return values_agree(before.as_pairs(), after.as_pairs(), allowance);
  return visit_dtype(before.dtype(), [&]<class T>() {
    if constexpr (!is_float_type<T>)
      return allowance.special || identical(before, after);
    else
      return agree<T>(before, after, Agreement(is_half<T> ? coarse : sizeof(T) == 4 ? narrow : wide, allowance));
  });
}

bool all_finite(const Array& value) {
  if (is_complex(value.dtype())) return all_finite(value.as_pairs());
  return visit_dtype(value.dtype(), [&]<class T>() {
    if constexpr (is_float_type<T>)
      return finite<T>(value);
    else
      return true;
  });
}

std::string difference_text(const Array& a, const Array& b) {
  if (a.object() || b.object()) return cat(a.str(), " and ", b.str());
  if (a.dtype() != b.dtype()) return cat("dtypes ", dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  if (!(a.shape() == b.shape())) return cat("shapes ", tuple_text(a.shape()), " and ", tuple_text(b.shape()));
  if (is_complex(a.dtype())) return difference_text(a.as_pairs(), b.as_pairs());
  const Array left = a.astype(DType::Float64).contiguous(), right = b.astype(DType::Float64).contiguous();
  const double *x = left.data_as<double>(), *y = right.data_as<double>();
  std::vector<double> absolute, relative;
  std::int64_t count = 0, worst = 0;
  double most = -1;
  for (std::int64_t i = 0; i < left.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) {
      absolute.push_back(0), relative.push_back(0);
      continue;
    }
    ++count;
    const double difference = std::abs(x[i] - y[i]), size = std::abs(x[i]) + std::abs(y[i]);
    const double rank = std::isnan(difference) ? HUGE_VAL : difference;
    if (rank > most) most = rank, worst = i;
    if (!std::isfinite(difference)) continue;
    absolute.push_back(difference);
    relative.push_back(difference / size);
  }
  std::string out = cat(count, " of ", left.size(), " elements differ");
  if (count)
    out += cat(", most at ", tuple_text(position_of(worst, a.shape())), ": ", number_text(x[worst]), " and ",
               number_text(y[worst]));
  return cat(out, "\n", text_of("absolute", statistics_of(std::move(absolute))), "\n",
             text_of("relative", statistics_of(std::move(relative))));
}

}  // namespace bitale
