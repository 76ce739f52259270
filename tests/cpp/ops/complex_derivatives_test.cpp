// Every op of the registry that takes complex numbers has their derivatives where it has those of real numbers. At each
// sample with real numbers, and at its own complex ones: gradients against differences, pushforwards against gradients.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/complex.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

// A node on variables of its own, and their values.
struct Point {
  Apply node;
  Arrays values;
};

bool is_wide(DType dtype) { return dtype == DType::Float64 || dtype == DType::Complex128; }

// Irregular numbers in (-0.5, 0.5).
double irregular(std::int64_t i, int seed) {
  return std::fmod(0.7548776662466927 * double(i + 1) + 0.31 * seed, 1.0) - 0.5;
}

// The parts of an array's elements, one after another; changes are seen by the array.
std::span<double> parts(const Array& x) {
  if (is_complex(x.dtype())) return {x.as_pairs().mutable_data_as<double>(), std::size_t(2 * x.size())};
  return {x.mutable_data_as<double>(), std::size_t(x.size())};
}

Array irregular_like(const Variable& type, const Array& like, int seed) {
  const Array out = Array::zeros(type.dtype(), like.shape());
  std::int64_t i = 0;
  for (double& each : parts(out)) each = irregular(i++, seed) + 0.05;
  return out;
}

double product_of_parts(const Array& a, const Array& b) {
  const Array x = a.copy(), y = b.copy();
  double total = 0;
  for (std::size_t i = 0; i < parts(x).size(); ++i) total += parts(x)[i] * parts(y)[i];
  return total;
}

Arrays perform(const Apply& node, const Arrays& in) {
  Arrays out(node.output_count());
  evaluate_node(node, in, out);
  return out;
}

// The sample with complex numbers in place of its float64 ones. No node where the op has no such form.
Point complex_point(const Sample& sample) {
  Arrays values = evaluate(sample.node.inputs(), graph_inputs(sample.node.inputs()), sample.values);
  const bool is_given = touches_complex(sample.node);
  Variables inputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Variable& input = sample.node.inputs()[i];
    values[i] = values[i].copy();
    if (input.is_constant() || !as_tensor(input.type())) {
      inputs.push_back(input);
      continue;
    }
    const bool moves = !is_given && input.dtype() == DType::Float64;
    inputs.emplace_back(tensor_type(moves ? DType::Complex128 : input.dtype(), input.static_shape()), "x");
    if (!moves) continue;
    values[i] = values[i].astype(DType::Complex128).copy();
    for (std::int64_t k = 0; k < values[i].size(); ++k) parts(values[i])[std::size_t(2 * k + 1)] = irregular(k, int(i));
  }
  try {
    const Apply node = sample.node.op().make_node(inputs);
    if (!touches_complex(node)) return {};
    // An op may convert its inputs.
    values = evaluate(node.inputs(), inputs, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!inputs[i].is_constant() && as_tensor(inputs[i].type())) inputs[i] = Variable(node.inputs()[i].type(), "x");
    if (!is_given) perform(node, values);
    return {node.op().make_node(inputs), std::move(values)};
  } catch (const TypeError&) {
    return {};
  } catch (const NotImplementedError&) {
    return {};
  } catch (const ValueError&) {
    return {};  // the op states what holds for the real numbers of the sample only
  }
}

bool is_plain(const Variable& v) { return !v.is_disconnected() && !v.is_null(); }

void check_derivatives(const Sample& sample, const Point& point) {
  const Apply& node = point.node;
  const Arrays out = perform(node, point.values);
  Variables known(node.inputs().begin(), node.inputs().end()), cotangents, real_cotangents;
  Arrays values = point.values, given(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Variable output = node.output(int(k));
    const bool takes = is_wide(output.storage().dtype);
    cotangents.push_back(takes ? Variable(output.type(), "g") : disconnected());
    const Variable real = sample.node.output(int(k));
    real_cotangents.push_back(takes && is_float(real.storage().dtype) ? Variable(real.type(), "g") : disconnected());
    if (!takes) continue;
    given[k] = irregular_like(output, out[k], int(k));
    known.push_back(cotangents.back());
    values.push_back(given[k]);
  }
  const auto weighted = [&](const Arrays& at) {
    const Arrays outputs = perform(node, at);
    double total = 0;
    for (std::size_t k = 0; k < out.size(); ++k)
      if (is_plain(cotangents[k])) total += product_of_parts(outputs[k], given[k]);
    return total;
  };
  const Variables gradients = node.op().pullback(node, cotangents);
  const Variables of_real =
      touches_complex(sample.node) ? gradients : sample.node.op().pullback(sample.node, real_cotangents);
  REQUIRE(gradients.size() == point.values.size());
  Variables tangents;
  double from_gradients = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    INFO("input " << i);
    const Variable& input = node.inputs()[i];
    if (is_plain(of_real[i])) CHECK_MESSAGE(!gradients[i].is_null(), gradients[i].type()->str());
    tangents.push_back(disconnected());
    if (!is_plain(gradients[i]) || input.is_constant() || !as_tensor(input.type()) || !is_wide(input.dtype())) continue;
    const Array gradient = evaluate(gradients[i], known, values);
    CHECK(gradient.dtype() == input.dtype());
    REQUIRE(gradient.shape() == point.values[i].shape());
    const Array tangent = irregular_like(input, point.values[i], int(i) + 7);
    tangents.back() = Variable(input.type(), "t");
    known.push_back(tangents.back());
    values.push_back(tangent);
    from_gradients += product_of_parts(gradient, tangent);
    if (!sample.smooth || gradient.size() > 40) continue;
    const Array expected = Array::zeros(gradient.dtype(), gradient.shape());
    for (std::size_t k = 0; k < parts(expected).size(); ++k) {
      Arrays ends[2];
      for (const int side : {0, 1}) {
        ends[side] = point.values;
        ends[side][i] = point.values[i].copy();
        parts(ends[side][i])[k] += side ? 1e-6 : -1e-6;
      }
      parts(expected)[k] = (weighted(ends[1]) - weighted(ends[0])) / 2e-6;
    }
    INFO(gradient.repr());
    INFO(expected.repr());
    CHECK(allclose(gradient, expected, 5e-5, 5e-6));
  }
  if (!node.op().has_pushforward()) return;
  const Variables moved = node.op().pushforward(node, tangents);
  double from_tangents = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!is_plain(cotangents[k]) || !is_plain(moved[k])) continue;
    const Array value = evaluate(moved[k], known, values);
    CHECK(value.dtype() == out[k].dtype());
    from_tangents += product_of_parts(value, given[k]);
  }
  if (sample.smooth) CHECK(std::fabs(from_tangents - from_gradients) <= 1e-8 * (1 + std::fabs(from_gradients)));
}

}  // namespace

TEST_CASE("ops of complex numbers have the derivatives that they have of real ones") {
  int points = 0;
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      const std::string description = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
      INFO(description);
      const Point point = complex_point(sample);
      if (!point.node.defined()) continue;
      ++points;
      try {
        check_derivatives(sample, point);
      } catch (const std::exception& error) {
        const std::string message = error.what();
        FAIL_CHECK(message);
      }
    }
  CHECK(points > 100);
}
