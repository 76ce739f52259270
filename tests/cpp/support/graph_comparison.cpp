#include "support/graph_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <typeinfo>
#include <unordered_map>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/traversal.hpp"
#include "graph/evaluate.hpp"
#include "ops/linalg/blockwise.hpp"
#include "ops/linalg/linalg_core.hpp"

namespace bitale::test {

namespace {

using Values = std::unordered_map<const VariableNode*, Array>;

// The elements in C order.
std::vector<double> elements_of(const Array& given) {
  const Array array = (is_complex(given.dtype()) ? given.as_pairs() : given).contiguous();
  std::vector<double> out(std::size_t(array.size()));
  visit_dtype(array.dtype(), [&]<class T>() {
    const T* data = array.data_as<T>();
    if constexpr (std::is_arithmetic_v<T>)
      std::transform(data, data + out.size(), out.begin(), [](T each) { return double(each); });
  });
  return out;
}

bool all_finite(const Array& array) {
  if (is_discrete(array.dtype())) return true;
  const std::vector<double> elements = elements_of(array);
  return std::all_of(elements.begin(), elements.end(), [](double each) { return std::isfinite(each); });
}

// Algorithms for matrices have errors relative to the largest element: an element that should be 0 need not be, and
// vice versa. Zeros of a triangular factor are exact.
bool has_errors_of_matrix(const Apply& node, std::size_t output) {
  const auto* batches = dynamic_cast<const Blockwise*>(&node.op());
  if (!dynamic_cast<const MatrixOp*>(batches ? &*batches->core : &node.op())) return false;
  const Structure facts = structure_of(node.output(output));
  return !facts.is_triangular() || facts.is_identity();
}

// Perturbs floats at random by up to `ulps` units in the last place.
class Noise {
 public:
  Noise(int ulps, std::uint64_t seed) : ulps_(ulps), random_(seed) {}

  // `of_matrix`: units of the largest element.
  Array moved(const Array& value, bool of_matrix) {
    if (is_complex(value.dtype())) return moved(value.as_pairs(), of_matrix).take_index(value.ndim(), 0).as_complex();
    if (!is_float(value.dtype()) || ulps_ == 0) return value;
    const Array out = value.copy();
    const auto move = [&]<class T>(T* data, T infinity) {
      T largest = out.ndim() < 2 ? T(1) : T(0);  // a determinant's logarithm is a sum of others
      for (std::int64_t i = 0; of_matrix && i < out.size(); ++i)
        if (std::isfinite(data[i])) largest = std::max(largest, std::abs(data[i]));
      for (std::int64_t i = 0; i < out.size(); ++i) {
        const int ulps = int(random_() % std::uint64_t(2 * ulps_ + 1)) - ulps_;
        if (of_matrix && std::isfinite(data[i])) {
          const T unit = largest * std::numeric_limits<T>::epsilon();
          data[i] = ulps == 0 && std::abs(data[i]) <= unit * T(ulps_) ? 0 : data[i] + unit * T(ulps);
          continue;
        }
        if (data[i] == 0) data[i] = std::copysign(data[i], T(ulps));  // the sign of a zero is unspecified
        for (int k = 0; k < std::abs(ulps) && std::isfinite(data[i]) && data[i] != 0; ++k)
          data[i] = std::nextafter(data[i], ulps < 0 ? -infinity : infinity);
      }
    };
    if (value.dtype() == DType::Float32)
      move(out.mutable_data_as<float>(), std::numeric_limits<float>::infinity());
    else
      move(out.mutable_data_as<double>(), std::numeric_limits<double>::infinity());
    return out;
  }

 private:
  int ulps_;
  std::mt19937_64 random_;
};

// Evaluates the graph with each float result perturbed by up to `ulps` units in the last place, also in inner graphs;
// ulps = 0 is exact. Values that are `given` replace the results, unperturbed.
class Evaluation {
 public:
  Evaluation(const Case& graph, int ulps, std::uint64_t seed, const Values& given = {})
      : is_exact_(ulps == 0), noise_(ulps, seed), given_(given) {
    results = run(graph.inputs, graph.outputs, graph.values);
  }
  std::vector<Array> results;
  bool is_finite = true;
  bool product_overflows = false;  // in one of the orders in which factors may be multiplied

 private:
  std::vector<Array> run(const Variables& inputs, const Variables& outputs, std::span<const Array> of_inputs) {
    Values values;
    const auto at = [&](const Variable& variable) {
      return variable.is_constant() ? *variable.constant() : values.at(variable.node());
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) values[inputs[i].node()] = of_inputs[i];
    for (auto& node : toposort(outputs, VariableSet(inputs.begin(), inputs.end()))) {
      std::vector<Array> in, out(node.output_count());
      for (auto& input : node.inputs()) in.push_back(at(input));
      compute(node, in, out);
      const bool given_finite = std::all_of(in.begin(), in.end(), all_finite);
      const bool gives_finite = std::all_of(out.begin(), out.end(), all_finite);
      is_finite &= given_finite && gives_finite;
      product_overflows |= given_finite && !gives_finite && node.op().label().starts_with("Prod");
      for (std::size_t k = 0; k < node.output_count(); ++k) {
        const VariableNode* output = &node.node()->outputs[k];
        const auto found = given_.find(output);
        values[output] = found == given_.end() ? noise_.moved(out[k], has_errors_of_matrix(node, k)) : found->second;
      }
    }
    std::vector<Array> made;
    for (auto& output : outputs) made.push_back(at(output));
    return made;
  }
  void compute(const Apply& node, std::span<const Array> in, std::span<Array> out) {
    const auto* nest = is_exact_ ? nullptr : dynamic_cast<const HasInnerGraph*>(&node.op());
    if (!nest) return evaluate_node(node, in, out);
    const InnerGraph& inner = *nest->inner_graph();
    nest->perform_by(node, in, out,
                     [&](std::span<const Array> given) { return run(inner.inputs(), inner.outputs(), given); });
  }

  const bool is_exact_;
  Noise noise_;
  const Values& given_;
};

bool is_close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance;
}

double scale_of(std::span<const double> elements) {
  double scale = 1e-300;
  for (double each : elements)
    if (std::isfinite(each)) scale = std::max(scale, std::abs(each));
  return scale;
}

// The perturbation of each run. Only that of one unit detects results that coincide exactly, such as tanh(-9) and -1.
constexpr int noise_ulps[] = {8, 8, 8, 8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// Whether rounding determines neither sign nor magnitude, because something was divided by what rounding left of a
// zero: the solution of a singular system, say.
bool is_undetermined(double low, double high) { return low < 0 && high > 0 && high - low > 1e12; }

}  // namespace

Reference reference(const Case& graph) {
  Evaluation evaluation(graph, 0, 0);
  return {std::move(evaluation.results), evaluation.is_finite};
}

namespace {

double relative_tolerance(DType dtype) {
  return component_dtype(dtype) == DType::Float32 ? 1e-5 : is_discrete(dtype) ? 0 : 1e-11;
}

// The difference of the values beyond rounding, or nothing. Rounding is estimated by evaluations with the `given`
// values.
std::string beyond_rounding(const Case& graph, std::span<const Array> got, std::span<const Array> expected,
                            const Values& given) {
  std::vector<Evaluation> noisy;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Array &a = got[k], &b = expected[k];
    if (a.dtype() != b.dtype() || a.shape() != b.shape())
      return cat("output ", k, " is ", dtype_name(a.dtype()), tuple_text(a.shape()), ", expected ",
                 dtype_name(b.dtype()), tuple_text(b.shape()));
    if (identical(a, b)) continue;
    const std::vector<double> xs = elements_of(a), ys = elements_of(b);
    const double tolerance = relative_tolerance(a.dtype()) * scale_of(ys);
    std::vector<std::vector<double>> noisy_elements;
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double x = xs[i], y = ys[i];
      if (is_close(x, y, tolerance)) continue;
      if (noisy.empty())
        for (std::size_t run = 0; run < std::size(noise_ulps); ++run) {
          try {
            noisy.emplace_back(graph, noise_ulps[run], std::uint64_t(run) + 1, given);
          } catch (const Error&) {
            return {};  // rounding decides whether there is a value at all
          }
        }
      if (noisy.front().product_overflows) return {};
      double low = y, high = y;
      bool is_decided = std::isfinite(y) || !std::isnan(x);
      for (std::size_t run = 0; run < noisy.size(); ++run) {
        const Array& moved = noisy[run].results[k];
        if (moved.shape() != b.shape()) return {};
        if (noisy_elements.size() == run) noisy_elements.push_back(elements_of(moved));
        const double z = noisy_elements[run][i];
        is_decided &= std::isfinite(z) == std::isfinite(y) && std::isnan(z) == std::isnan(y);
        low = std::min(low, z), high = std::max(high, z);
      }
      if (!is_decided || is_undetermined(low, high)) continue;
      if (std::isfinite(x) && high > low && is_close(x, y, 1e3 * (high - low))) continue;
      if (high > low && (!is_float(a.dtype()) || x == low || x == high)) continue;
      return cat("output ", k, ", element ", i, " is ", x, ", expected ", y, "; by rounding between ", low, " and ",
                 high);
    }
  }
  return {};
}

// Whether the value is that of the output of the node, up to roundings of this node and of its inputs. Stricter than
// the comparison of results: discrete, infinite and nan values have to be equal.
bool is_rounded_result(const Apply& node, std::size_t output, std::span<const Array> in, const Array& value,
                       const Array& expected) {
  if (value.dtype() != expected.dtype() || value.shape() != expected.shape()) return false;
  if (!is_float(value.dtype()) && !is_complex(value.dtype())) return false;
  const std::vector<double> xs = elements_of(value), ys = elements_of(expected);
  std::vector<double> low = ys, high = ys;
  for (std::size_t run = 0; run < std::size(noise_ulps); ++run) {
    Noise noise(noise_ulps[run], run + 1);
    std::vector<Array> moved(in.begin(), in.end()), out(node.output_count());
    for (std::size_t i = 0; i < in.size(); ++i)
      if (const Variable& input = node.input(int(i)); input.has_owner())
        moved[i] = noise.moved(in[i], has_errors_of_matrix(input.owner(), std::size_t(input.index())));
    try {
      evaluate_node(node, moved, out);
    } catch (const Error&) {
      return false;
    }
    if (out[output].shape() != expected.shape()) return false;
    const std::vector<double> zs = elements_of(noise.moved(out[output], has_errors_of_matrix(node, output)));
    for (std::size_t i = 0; i < zs.size(); ++i) low[i] = std::min(low[i], zs[i]), high[i] = std::max(high[i], zs[i]);
  }
  const double tolerance = relative_tolerance(value.dtype()) * scale_of(ys);
  for (std::size_t i = 0; i < xs.size(); ++i)
    if (!is_close(xs[i], ys[i], std::isfinite(xs[i]) ? std::max(tolerance, 16 * (high[i] - low[i])) : 0)) return false;
  return true;
}

// The intermediate values of a run that equal the result of their node up to rounding, given the values before them.
// Those of a wrong rule do not; the nodes that read such a value get the correct one.
Values values_inside(const Case& graph, const Run& run) {
  const std::vector<Apply> nodes = toposort(graph.outputs, VariableSet(graph.inputs.begin(), graph.inputs.end()));
  const auto results_of = [&](std::span<const Apply> of) -> std::vector<Array> {
    Case part{graph.inputs, {}, graph.values};
    for (auto& node : of)
      for (auto& output : node.outputs()) part.outputs.push_back(output);
    try {
      return run(part);
    } catch (const Error&) {
      return {};
    }
  };
  const std::vector<Array> inside = results_of(nodes);
  Values now, accepted;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) now[graph.inputs[i].node()] = graph.values[i];
  std::size_t begin = 0;
  for (auto& node : nodes) {
    std::vector<Array> in, out(node.output_count());
    for (auto& input : node.inputs()) in.push_back(input.is_constant() ? *input.constant() : now.at(input.node()));
    try {
      evaluate_node(node, in, out);
    } catch (const Error&) {
      return accepted;  // with these values, each correct up to rounding, this node has no result
    }
    // If some node has no value, the others are computed one by one.
    const std::vector<Array> own = inside.empty() ? results_of({&node, 1}) : std::vector<Array>();
    for (std::size_t k = 0; k < out.size(); ++k) {
      const VariableNode* output = &node.node()->outputs[k];
      now[output] = out[k];
      if (inside.empty() && own.empty()) continue;
      const Array& value = inside.empty() ? own[k] : inside[begin + k];
      if (identical(value, out[k]) || !is_rounded_result(node, k, in, value, out[k])) continue;
      now[output] = accepted[output] = value;
    }
    begin += out.size();
  }
  return accepted;
}

// Whether the graph as built has no value, but such an error, exactly or with some rounding.
bool meets_error(const Case& graph, const Values& given, const std::type_info& kind) {
  const auto is_met = [&](int ulps, std::uint64_t seed) {
    try {
      const Evaluation evaluation(graph, ulps, seed, given);
      return false;
    } catch (const Error& error) {
      return typeid(error) == kind;
    }
  };
  if (is_met(0, 0)) return true;
  for (std::size_t run = 0; run < std::size(noise_ulps); ++run)
    if (is_met(noise_ulps[run], run + 1)) return true;
  return false;
}

// Whether rounding leaves an element of some value undetermined: then a matrix may also be singular, and the graph
// without a value.
bool has_undetermined_element(const Case& graph) {
  Case whole{graph.inputs, {}, graph.values};
  for (auto& node : toposort(graph.outputs, VariableSet(graph.inputs.begin(), graph.inputs.end())))
    for (auto& output : node.outputs())
      if (as_tensor(output.type()) && is_float(output.dtype())) whole.outputs.push_back(output);
  std::vector<std::vector<double>> low, high;
  try {
    for (auto& array : Evaluation(whole, 0, 0).results) low.push_back(elements_of(array));
    high = low;
    for (std::size_t run = 0; run < std::size(noise_ulps); ++run) {
      const Evaluation evaluation(whole, noise_ulps[run], run + 1);
      for (std::size_t k = 0; k < low.size(); ++k) {
        const std::vector<double> moved = elements_of(evaluation.results[k]);
        if (moved.size() != low[k].size()) return false;
        for (std::size_t i = 0; i < moved.size(); ++i)
          low[k][i] = std::min(low[k][i], moved[i]), high[k][i] = std::max(high[k][i], moved[i]);
      }
    }
  } catch (const Error&) {
    return false;
  }
  for (std::size_t k = 0; k < low.size(); ++k)
    for (std::size_t i = 0; i < low[k].size(); ++i)
      if (is_undetermined(low[k][i], high[k][i])) return true;
  return false;
}

}  // namespace

std::string difference(const Case& graph, std::span<const Array> got, std::span<const Array> expected) {
  return beyond_rounding(graph, got, expected, {});
}

std::string difference(const Case& graph, const Run& run, std::span<const Array> expected) {
  std::string found;
  std::vector<Array> got;
  const std::type_info* kind = nullptr;
  try {
    got = run(graph);
    found = beyond_rounding(graph, got, expected, {});
  } catch (const ConflictingAssumptionsError&) {
    return {};  // an assumption about a batch without matrices, which no value contradicts
  } catch (const Error& error) {
    kind = &typeid(error);
    if (!meets_error(graph, {}, *kind) && !has_undetermined_element(graph)) found = error.what();
  }
  if (found.empty()) return {};
  try {
    const Values inside = values_inside(graph, run);
    if (inside.empty()) return found;
    if (kind) return meets_error(graph, inside, *kind) ? std::string() : found;
    const Evaluation evaluation(graph, 0, 0, inside);
    return beyond_rounding(graph, got, evaluation.results, inside).empty() ? std::string() : found;
  } catch (const Error&) {
    return found;  // the graph has no value now, but the run has one
  }
}

}  // namespace bitale::test
