// verify_grad: compares the symbolic gradient of a random projection of the output with central differences.
#include <algorithm>
#include <cmath>
#include <random>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

struct Tolerances {
  double eps, absolute, relative;
};

// The step balances the rounding error with the truncation error (the third derivative).
Tolerances tolerances(const VerifyGradOptions& options, bool single) {
  auto pick = [](double given, double by_default) { return given > 0 ? given : by_default; };
  return {pick(options.eps, single ? 5e-3 : 6e-6), pick(options.absolute, single ? 1e-2 : 1e-5),
          pick(options.relative, single ? 1e-2 : 1e-5)};
}

void require_digits(DType dtype, std::string_view what) {
  if (is_storage_format(dtype))
    throw TypeError(cat("verify_grad: ", what,
                        " is of dtype float16, which is too inaccurate for finite differences; cast to "
                        "float32 or float64"));
}

Variables point_variables(const std::vector<Array>& point) {
  Variables out;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (is_discrete(point[i].dtype()))
      throw TypeError(
          cat("verify_grad: argument ", i, " must be of a float dtype, got ", dtype_name(point[i].dtype())));
    require_digits(point[i].dtype(), cat("argument ", i));
    Dims shape;
    for (std::int64_t length : point[i].shape()) shape.push_back(length == 1 ? 1 : unknown_length);
    out.emplace_back(tensor_type(point[i].dtype(), shape), cat("input ", i));
  }
  return out;
}

double dot_product(const Array& a, const Array& b) {
  Array x = a.astype(DType::Float64).contiguous(), y = b.astype(DType::Float64).contiguous();
  double total = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) total += x.data_as<double>()[i] * y.data_as<double>()[i];
  return total;
}

void set_element(Array& value, std::int64_t i, double x) {
  if (value.dtype() == DType::Float32)
    value.mutable_data_as<float>()[i] = float(x);
  else
    value.mutable_data_as<double>()[i] = x;
}

double get_element(const Array& value, std::int64_t i) {
  return value.dtype() == DType::Float32 ? double(value.data_as<float>()[i]) : value.data_as<double>()[i];
}

class Check {
 public:
  Check(const std::function<Variable(const Variables&)>& fun, const std::vector<Array>& point,
        const VerifyGradOptions& options)
      : inputs_(point_variables(point)), options_(options), random_(options.seed) {
    for (const Array& value : point) point_.push_back(value.copy());
    output_ = fun(inputs_);
    if (!output_.defined()) throw ValueError("verify_grad: the function returned no variable");
    if (is_discrete(output_.dtype()))
      throw TypeError(cat("verify_grad: the output must be of a float dtype, got ", output_.type()->str()));
    require_digits(output_.dtype(), "the output");
    bool single = output_.dtype() == DType::Float32;
    for (const Array& value : point_) single |= value.dtype() == DType::Float32;
    tolerances_ = tolerances(options, single);
    projection_ = Variable(output_.type(), "projection");
    GradOptions ignore;
    ignore.disconnected_inputs = OnDisconnected::Ignore;
    gradients_ = pullback({output_}, inputs_, {projection_}, ignore);
  }

  void run() {
    Array projection = random_projection(values({output_}, inputs_, point_)[0].shape());
    Variables inputs = inputs_;
    inputs.push_back(projection_);
    std::vector<Array> given = point_;
    given.push_back(projection);
    std::vector<Array> symbolic = values(gradients_, inputs, given);
    for (std::size_t i = 0; i < point_.size(); ++i) compare(i, symbolic[i], projection);
  }

 private:
  std::vector<Array> values(const Variables& outputs, const Variables& inputs, const std::vector<Array>& given) const {
    return options_.evaluate ? options_.evaluate(outputs, inputs, given) : evaluate(outputs, inputs, given);
  }

  Array random_projection(const Dims& shape) {
    // The weights are away from zero, so that no part of the output is ignored.
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    Array out = Array::empty(output_.dtype(), shape);
    for (std::int64_t i = 0; i < out.size(); ++i) set_element(out, i, uniform(random_));
    return out;
  }

  double projected(const Array& projection) const {
    return dot_product(values({output_}, inputs_, point_)[0], projection);
  }

  double numeric(std::size_t argument, std::int64_t element, const Array& projection) {
    Array& value = point_[argument];
    double x = get_element(value, element), step = tolerances_.eps * std::max(1.0, std::abs(x));
    set_element(value, element, x + step);
    double above = get_element(value, element), f_above = projected(projection);
    set_element(value, element, x - step);
    double below = get_element(value, element), f_below = projected(projection);
    set_element(value, element, x);
    return (f_above - f_below) / (above - below);
  }

  void compare(std::size_t argument, const Array& given, const Array& projection) {
    const Dims& shape = point_[argument].shape();
    if (!(given.shape() == shape))
      throw GradientError(cat("verify_grad: the gradient of argument ", argument, " has shape ",
                              tuple_text(given.shape()), ", the argument ", tuple_text(shape)));
    Array symbolic = given.contiguous();
    for (std::int64_t i = 0; i < symbolic.size(); ++i) {
      double a = get_element(symbolic, i), n = numeric(argument, i, projection);
      double absolute = std::abs(a - n), relative = absolute / std::max(std::abs(a) + std::abs(n), 1e-300);
      if (absolute <= tolerances_.absolute || relative <= tolerances_.relative) continue;  // false for nan
      throw GradientError(cat("verify_grad: at element ", i, " of argument ", argument, " of shape ", tuple_text(shape),
                              " the gradient is ", a, ", the difference quotient ", n, ": absolute error ", absolute,
                              " (allowed ", tolerances_.absolute, "), relative error ", relative, " (allowed ",
                              tolerances_.relative, ")"));
    }
  }

  Variables inputs_, gradients_;
  Variable output_, projection_;
  std::vector<Array> point_;
  const VerifyGradOptions& options_;
  Tolerances tolerances_ = {};
  std::mt19937_64 random_;
};

}  // namespace

void verify_grad(const std::function<Variable(const Variables&)>& fun, const std::vector<Array>& point,
                 const VerifyGradOptions& options) {
  Check check(fun, point, options);
  for (int i = 0; i < std::max(1, options.tests); ++i) check.run();
}

}  // namespace bitale
