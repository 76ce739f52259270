// Every op of the registry, at each of its samples: declared types and shapes, for every layout of inputs; derivatives
// compared with finite differences and with each other; batches compared with loops.
#include "bitale/ops/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "graph/batch.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

Arrays perform(const Apply& node, const Arrays& in) {
  Arrays out(node.output_count());
  evaluate_node(node, in, out);
  return out;
}

// ---- samples ----------------------------------------

// The leaves that the node depends on, with the sample's values for them.
struct Leaves {
  Variables variables;
  Arrays values;
};
Leaves leaves_of(const Sample& sample) {
  Leaves out{graph_inputs(sample.node.inputs()), sample.values};
  REQUIRE(out.variables.size() == out.values.size());
  return out;
}

// Values of the node's inputs, which may be constants or computed.
Arrays all_values(const Sample& sample) {
  const Leaves leaves = leaves_of(sample);
  return evaluate(sample.node.inputs(), leaves.variables, leaves.values);
}

// Runs `check` on every sample; an exception fails that sample, not the rest.
void for_each_sample(const std::function<void(const Sample&)>& check) {
  for (auto& entry : op_registry()) {
    const std::vector<Sample> samples = entry.samples();
    INFO(entry.name);
    CHECK(!samples.empty());
    for (auto& sample : samples) {
      std::string description = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
      for (auto& input : sample.node.inputs()) description += " " + input.type()->str();
      INFO(description);
      try {
        check(sample);
      } catch (const std::exception& error) {
        const std::string message = error.what();
        FAIL_CHECK(message);
      }
    }
  }
}

double tolerance(const Sample& sample, DType dtype) {
  return dtype == DType::Float32 ? std::max(sample.tolerance, 1e3 * 1.2e-7) : sample.tolerance;
}

void check_close(const Array& got, const Array& expected, double relative, double absolute = 1e-9) {
  const std::string shapes = cat(tuple_text({got.shape().begin(), got.shape().end()}), " against ",
                                 tuple_text({expected.shape().begin(), expected.shape().end()}));
  INFO(shapes);
  INFO(got.repr());
  INFO(expected.repr());
  CHECK(got.dtype() == expected.dtype());
  CHECK(allclose(got, expected, relative, absolute));
}

// ---- layouts ----------------------------------------

Array reversed_layout(const Array& x) {
  Array flipped = x;
  for (int axis = 0; axis < x.ndim(); ++axis)
    flipped = flipped.slice(axis, std::max<std::int64_t>(x.shape(axis) - 1, 0), x.shape(axis), -1);
  Array stored = flipped.copy();
  for (int axis = 0; axis < x.ndim(); ++axis)
    stored = stored.slice(axis, std::max<std::int64_t>(x.shape(axis) - 1, 0), x.shape(axis), -1);
  return stored;
}

Array transposed_layout(const Array& x) { return x.transpose().copy().transpose(); }

Array strided_layout(const Array& x) {
  Dims wide = x.shape();
  for (auto& length : wide) length *= 2;
  Array view = Array::zeros(x.dtype(), wide);
  for (int axis = 0; axis < x.ndim(); ++axis) view = view.slice(axis, 0, x.shape(axis), 2);
  view.assign(x);
  return view;
}

// ---- derivatives ----------------------------------------

bool is_plain(const Variable& v) { return !v.is_disconnected() && !v.is_null(); }

// Irregular weights in (0.5, 1.5).
Array weights(const Array& like, int seed) {
  const Array out = Array::empty(DType::Float64, like.shape());
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.mutable_data_as<double>()[i] = 0.5 + std::fmod(0.7548776662466927 * double(i + 1) + 0.31 * seed, 1.0);
  return out;
}

double dot(const Array& a, const Array& b) {
  const Array x = a.astype(DType::Float64).copy(), y = b.astype(DType::Float64).copy();
  double total = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) total += x.data_as<double>()[i] * y.data_as<double>()[i];
  return total;
}

// Output cotangents: variables for float outputs, disconnected for others.
struct Cotangents {
  Variables given, variables;
  Arrays values;             // of `variables`
  std::vector<int> outputs;  // which output each belongs to
};
Cotangents cotangents_for(const Sample& sample, const Arrays& outputs) {
  Cotangents out;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable output = sample.node.output(int(i));
    if (!is_float(output.storage().dtype)) {
      out.given.push_back(disconnected());
      continue;
    }
    const Variable g(output.type(), "g");
    out.given.push_back(g);
    out.variables.push_back(g);
    out.values.push_back(weights(outputs[i], int(i)).astype(output.storage().dtype));
    out.outputs.push_back(int(i));
  }
  return out;
}

double weighted_sum(const Sample& sample, const Arrays& in, const Cotangents& g) {
  const Arrays outputs = perform(sample.node, in);
  double total = 0;
  for (std::size_t k = 0; k < g.outputs.size(); ++k) total += dot(outputs[std::size_t(g.outputs[k])], g.values[k]);
  return total;
}

// Central differences of the weighted sum of outputs with respect to input `i`.
Array numeric_gradient(const Sample& sample, const Arrays& in, std::size_t i, const Cotangents& g) {
  const Array out = Array::zeros(DType::Float64, in[i].shape());
  Arrays moved = in;
  for (std::int64_t k = 0; k < out.size(); ++k) {
    const double at = in[i].copy().data_as<double>()[k], step = 1e-6 * std::max(1.0, std::fabs(at));
    auto value = [&](double x) {
      moved[i] = in[i].copy();
      moved[i].mutable_data_as<double>()[k] = x;
      return weighted_sum(sample, moved, g);
    };
    out.mutable_data_as<double>()[k] = (value(at + step) - value(at - step)) / (2 * step);
  }
  return out;
}

bool all_float64(const Sample& sample) {
  if (touches_complex(sample.node)) return false;
  for (auto& input : sample.node.inputs())
    if (is_float(input.storage().dtype) && input.storage().dtype != DType::Float64) return false;
  for (auto& output : sample.node.outputs())
    if (output.storage().dtype == DType::Float32 || output.storage().dtype == DType::Float16) return false;
  return true;
}

bool any_float16(const Sample& sample) {
  const auto is_half = [](auto& variable) { return variable.storage().dtype == DType::Float16; };
  const auto inputs = sample.node.inputs(), outputs = sample.node.outputs();
  return std::any_of(inputs.begin(), inputs.end(), is_half) || std::any_of(outputs.begin(), outputs.end(), is_half);
}

// ---- batches ----------------------------------------

// Two values of equal shape. Those of floats differ in the order of their elements, which is harmless.
Arrays two_versions(const Array& value) {
  if (!is_float(value.dtype())) return {value, value};
  return {value, reversed_layout(value)
                     .copy()
                     .reshape({value.size()})
                     .slice(0, std::max<std::int64_t>(value.size() - 1, 0), value.size(), -1)
                     .reshape(value.shape())};
}

Array stacked(const Arrays& values) {
  Dims shape = values[0].shape();
  shape.insert(0, std::int64_t(values.size()));
  const Array out = Array::empty(values[0].dtype(), shape);
  for (std::size_t k = 0; k < values.size(); ++k) out.take_index(0, std::int64_t(k)).assign(values[k]);
  return out;
}

// The results of a beta-binomial draw of a batch from a NumPy generator: it first draws the probabilities of all
// elements of the batch in order, and then their counts. For each element: the state and the drawn value.
std::vector<Arrays> drawn_in_stages(const Apply& node, const std::vector<Arrays>& single) {
  const std::size_t n = node.inputs().size() - 3;  // where the parameters n, a and b begin
  const random::Size lengths = Operands(Shape(node.inputs().begin() + 1, node.inputs().begin() + std::ptrdiff_t(n)));
  const Variables inputs(node.inputs().begin(), node.inputs().end());
  std::vector<Arrays> out;
  Array now = single[0][0];
  Arrays probabilities;
  for (auto& values : single) {
    Arrays given = values;
    given[0] = now;
    const random::Draw drawn = random::beta(inputs[0], inputs[n + 1], inputs[n + 2], lengths);
    now = evaluate(drawn.next_rng, inputs, given);
    probabilities.push_back(evaluate(drawn.value, inputs, given));
  }
  for (std::size_t k = 0; k < single.size(); ++k) {
    Arrays given = single[k];
    given[0] = now;
    const random::Draw drawn = random::binomial(inputs[0], inputs[n], constant(probabilities[k]), lengths);
    now = evaluate(drawn.next_rng, inputs, given);
    out.push_back({now, evaluate(drawn.value, inputs, given)});
  }
  return out;
}

// The node of a batch, or an undefined one where there is none.
Apply batched_node(const Batch& batch) {
  try {
    if (batch.axis == BatchAxis::first) return batch.node.op().vectorize(batch.node, batch.inputs);
    const auto* along = dynamic_cast<const VectorizesAlong*>(&batch.node.op());
    return along ? along->vectorize_along(batch) : Apply();
  } catch (const NotImplementedError&) {
    return {};  // not supported, as the error says
  }
}

void check_batched(const Sample& sample, const std::vector<bool>& is_batched, BatchAxis axis) {
  const Arrays values = all_values(sample);
  Variables inputs;
  Arrays batch;
  std::vector<Arrays> single(2, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Variable& input = sample.node.inputs()[i];
    if (!is_batched[i] || !as_tensor(input.type())) {
      inputs.push_back(input);
      batch.push_back(values[i]);
      continue;
    }
    Dims shape = input.storage().shape;
    shape.insert(axis == BatchAxis::first ? 0 : shape.size(), unknown_length);
    inputs.push_back(Variable(tensor_type(input.storage().dtype, shape), "batched"));
    const Arrays versions = two_versions(values[i]);
    std::vector<int> order;
    for (int k = 1; k < int(shape.size()); ++k) order.push_back(k);
    order.insert(axis == BatchAxis::first ? order.begin() : order.end(), 0);
    batch.push_back(stacked(versions).transpose(order).contiguous());
    for (std::size_t k = 0; k < 2; ++k) single[k][i] = versions[k];
  }
  const auto is_same = [](const Variable& a, const Variable& b) { return a.same_as(b); };
  if (std::equal(inputs.begin(), inputs.end(), sample.node.inputs().begin(), is_same)) return;
  Variables known = inputs;
  Arrays known_values = batch;
  const Leaves leaves = leaves_of(sample);
  known.insert(known.end(), leaves.variables.begin(), leaves.variables.end());
  known_values.insert(known_values.end(), leaves.values.begin(), leaves.values.end());
  const Apply node = batched_node({sample.node, inputs, axis});
  if (!node.defined()) return;
  // A NumPy generator draws for the elements of the batch in sequence; for a counter-based stream, a batch is one draw,
  // whose first elements are those of the first element of the batch.
  std::vector<Arrays> results{perform(sample.node, single[0])};
  const RandomType* generator = as_random(sample.node.input(0).type());
  const bool is_one_draw = generator && generator->generator == BitGenerator::Threefry;
  if (generator) single[1][0] = results[0][0];
  try {
    results.push_back(perform(sample.node, single[1]));
  } catch (const Error&) {
    return;  // the elements in another order are no matrices of which the op has a result
  }
  if (sample.node.op().label() == "ComposedDraw{betabinom}" && !is_one_draw)
    results = drawn_in_stages(sample.node, single);
  for (std::size_t out = 0; out < sample.node.output_count(); ++out) {
    const Array got = evaluate(node.output(int(out)), known, known_values);
    if (!as_tensor(node.output(int(out)).type())) {
      check_close(got, results[is_one_draw ? 0 : 1][out], 0);
      continue;
    }
    for (std::size_t k = 0; k < (is_one_draw ? 1 : 2); ++k) {
      const Array& expected = results[k][out];
      REQUIRE(got.ndim() == expected.ndim() + 1);
      CHECK(got.dtype() == expected.dtype());
      check_close(got.take_index(axis == BatchAxis::first ? 0 : expected.ndim(), std::int64_t(k)), expected, 1e-9);
    }
  }
}

}  // namespace

TEST_CASE("an op can be recreated from its name and attributes") {
  for_each_sample([](const Sample& sample) {
    const Op& op = sample.node.op();
    const OpRef again = op_from(op.name(), op.attributes());
    CHECK(again->equals(op));
    CHECK(again->label() == op.label());
    CHECK(again->make_node(sample.node.inputs()).output().type()->equals(*sample.node.output().type()));
  });
}

TEST_CASE("invalid names and attributes of ops are refused") {
  CHECK_THROWS_AS(op_from("Nothing", {}), KeyError);
  CHECK_THROWS_AS(op_from("Join", {}), ValueError);
  CHECK_THROWS_AS(op_from("Join", {{"axis", std::string("first")}}), ValueError);
  CHECK_THROWS_AS(op_from("Join", {{"axis", std::int64_t(1) << 40}}), ValueError);
  CHECK_THROWS_AS(op_from("Subtensor", {{"idx_list", std::string("abc")}}), ValueError);
  CHECK_THROWS_AS(op_from("Elemwise", {{"scalar_op", std::string("nothing")}}), KeyError);
}

TEST_CASE("outputs have the dtype, rank and lengths of their types") {
  for_each_sample([](const Sample& sample) {
    const Arrays out = perform(sample.node, all_values(sample));
    REQUIRE(out.size() == sample.node.output_count());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const TensorType& type = sample.node.output(int(i)).storage();
      CHECK(out[i].dtype() == type.dtype);
      REQUIRE(out[i].ndim() == type.ndim());
      for (int axis = 0; axis < type.ndim(); ++axis) {
        const std::int64_t known = type.shape[std::size_t(axis)];
        CHECK((known == unknown_length || known == out[i].shape(axis)));
      }
    }
  });
}

TEST_CASE("infer_shape agrees with perform") {
  for_each_sample([](const Sample& sample) {
    const Arrays in = all_values(sample), out = perform(sample.node, in);
    std::vector<Shape> shapes;
    for (auto& input : sample.node.inputs()) {
      Shape lengths;  // only tensors have lengths
      for (int axis = 0; as_tensor(input.type()) && axis < input.storage().ndim(); ++axis)
        lengths.push_back(shape_i(input, axis));
      shapes.push_back(lengths);
    }
    const std::vector<Shape> inferred = sample.node.op().infer_shape(sample.node, shapes);
    if (inferred.empty()) return;
    REQUIRE(inferred.size() == out.size());
    const Leaves leaves = leaves_of(sample);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!as_tensor(sample.node.output(int(i)).type())) continue;
      REQUIRE(int(inferred[i].size()) == out[i].ndim());
      for (int axis = 0; axis < out[i].ndim(); ++axis) {
        const Variable& length = inferred[i][std::size_t(axis)];
        CHECK(length.dtype() == DType::Int64);
        CHECK(evaluate(length, leaves.variables, leaves.values).int_item() == out[i].shape(axis));
      }
    }
  });
}

TEST_CASE("the layout of the inputs does not matter") {
  const std::pair<const char*, Array (*)(const Array&)> layouts[] = {
      {"reversed", reversed_layout}, {"transposed", transposed_layout}, {"strided", strided_layout}};
  for_each_sample([&](const Sample& sample) {
    const Arrays in = all_values(sample), expected = perform(sample.node, in);
    for (auto& [name, layout] : layouts) {
      const std::string which = name;
      INFO(which);
      Arrays moved;
      for (auto& x : in) moved.push_back(layout(x));
      const Arrays out = perform(sample.node, moved);
      for (std::size_t i = 0; i < out.size(); ++i)
        check_close(out[i], expected[i], tolerance(sample, expected[i].dtype()));
    }
  });
}

TEST_CASE("inputs of length 0 give a result or an Error") {
  for_each_sample([](const Sample& sample) {
    Arrays in = all_values(sample);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Variable& input = sample.node.inputs()[i];
      for (int axis = 0; axis < input.storage().ndim(); ++axis)
        if (!input.is_constant() && input.storage().shape[std::size_t(axis)] == unknown_length)
          in[i] = in[i].slice(axis, 0, 0, 1);
    }
    try {
      const Arrays out = perform(sample.node, in);
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i].ndim() == sample.node.output(int(i)).storage().ndim());
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      // There is no result (such as the largest of no elements), as the error says.
    }
  });
}

TEST_CASE("perform does not modify its inputs") {
  for_each_sample([](const Sample& sample) {
    const Arrays in = all_values(sample);
    Arrays before;
    for (auto& x : in) before.push_back(x.copy());
    perform(sample.node, in);
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(identical(in[i], before[i]));
  });
}

TEST_CASE("pullbacks have the types of their inputs and agree with finite differences") {
  for_each_sample([](const Sample& sample) {
    const Arrays in = all_values(sample), out = perform(sample.node, in);
    const Cotangents g = cotangents_for(sample, out);
    const Variables gradients = sample.node.op().pullback(sample.node, g.given);
    const auto connections = sample.node.op().connection_pattern(sample.node);
    REQUIRE(gradients.size() == in.size());
    REQUIRE(connections.size() == in.size());
    Leaves known = leaves_of(sample);
    known.variables.insert(known.variables.end(), g.variables.begin(), g.variables.end());
    known.values.insert(known.values.end(), g.values.begin(), g.values.end());
    for (std::size_t i = 0; i < in.size(); ++i) {
      INFO("input " << i);
      const Variable& input = sample.node.inputs()[i];
      bool connected = false;
      for (int output : g.outputs) connected |= connections[i][std::size_t(output)];
      CHECK(gradients[i].is_disconnected() == !connected);
      if (!is_plain(gradients[i])) continue;
      const Array gradient = evaluate(gradients[i], known.variables, known.values);
      CHECK(gradient.shape() == in[i].shape());
      if (is_discrete(input.storage().dtype)) {
        CHECK(is_float(gradient.dtype()));
        CHECK(allclose(gradient, Array::zeros(DType::Float64, gradient.shape())));
        continue;
      }
      CHECK(gradient.dtype() == input.storage().dtype);
      if (!sample.smooth || !all_float64(sample) || input.is_constant() || in[i].size() > 200) continue;
      const Array numeric = numeric_gradient(sample, in, i, g);
      INFO(gradient.repr());
      INFO(numeric.repr());
      CHECK(allclose(gradient, numeric, 2e-5, 2e-6));
    }
  });
}

// Where it is said, cotangents of equal nodes are added before the pullback.
TEST_CASE("pullbacks are linear in the cotangents where the op says so, and all others are overrides") {
  for_each_sample([](const Sample& sample) {
    const Op& op = sample.node.op();
    const Arrays in = all_values(sample), out = perform(sample.node, in);
    const Cotangents g = cotangents_for(sample, out);
    if (g.outputs.empty()) return;
    const Variables gradients = op.pullback(sample.node, g.given);
    if (std::ranges::none_of(gradients, is_plain)) return;
    if (!op.has_linear_pullback()) {
      const bool has_override = op.label().starts_with("own_pullback");
      CHECK((has_override || op.name() == "GradClip"));
      return;
    }
    const Leaves leaves = leaves_of(sample);
    Leaves known = leaves;
    known.variables.insert(known.variables.end(), g.variables.begin(), g.variables.end());
    const auto at = [&](const Variable& gradient, const Arrays& cotangents) {
      known.values = leaves.values;
      known.values.insert(known.values.end(), cotangents.begin(), cotangents.end());
      return evaluate(gradient, known.variables, known.values);
    };
    // Far from 0 on both sides, so that bounds on cotangents would show.
    Arrays first, second, both;
    for (std::size_t k = 0; k < g.values.size(); ++k) {
      const DType dtype = g.values[k].dtype();
      const Array a = weights(g.values[k], int(k) + 1), b = weights(g.values[k], int(k) + 7), sum = a.copy();
      for (std::int64_t i = 0; i < sum.size(); ++i) {
        a.mutable_data_as<double>()[i] *= 3;
        b.mutable_data_as<double>()[i] *= -5;
        sum.mutable_data_as<double>()[i] = a.data_as<double>()[i] + b.data_as<double>()[i];
      }
      first.push_back(a.astype(dtype));
      second.push_back(b.astype(dtype));
      both.push_back(sum.astype(dtype));
    }
    const double relative = any_float16(sample) ? 5e-2 : all_float64(sample) ? 1e-9 : 1e-3;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!is_plain(gradients[i])) continue;
      INFO("input " << i);
      const Array of_first = at(gradients[i], first), of_second = at(gradients[i], second);
      const auto numbers = [](const Array& x) {
        return (is_complex(x.dtype()) ? x.as_pairs() : x).astype(DType::Float64).copy();
      };
      const Array expected = numbers(evaluate(constant(of_first) + constant(of_second), {}, {}));
      const Array got = numbers(at(gradients[i], both));
      for (std::int64_t k = 0; k < got.size(); ++k)  // infinity - infinity is no sum
        if (!std::isfinite(expected.data_as<double>()[k]))
          got.mutable_data_as<double>()[k] = expected.mutable_data_as<double>()[k] = 0;
      check_close(got, expected, relative, relative * 10);
    }
  });
}

TEST_CASE("pushforwards transpose pullbacks") {
  for_each_sample([](const Sample& sample) {
    const Op& op = sample.node.op();
    if (!op.has_pushforward()) return;
    const Arrays in = all_values(sample), out = perform(sample.node, in);
    const Cotangents g = cotangents_for(sample, out);
    const Variables gradients = op.pullback(sample.node, g.given);
    Leaves known = leaves_of(sample);
    known.variables.insert(known.variables.end(), g.variables.begin(), g.variables.end());
    known.values.insert(known.values.end(), g.values.begin(), g.values.end());
    Variables tangents;
    double from_gradients = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Variable& input = sample.node.inputs()[i];
      if (input.is_constant() || !is_float(input.storage().dtype) || gradients[i].is_null()) {
        tangents.push_back(disconnected());
        continue;
      }
      tangents.push_back(Variable(input.type(), "t"));
      known.variables.push_back(tangents.back());
      known.values.push_back(weights(in[i], int(i) + 5).astype(input.storage().dtype));
      if (is_plain(gradients[i]))
        from_gradients += dot(evaluate(gradients[i], known.variables, known.values), known.values.back());
    }
    const Variables moved = op.pushforward(sample.node, tangents);
    REQUIRE(moved.size() == out.size());
    double from_tangents = 0;
    for (std::size_t k = 0; k < g.outputs.size(); ++k) {
      const auto output = std::size_t(g.outputs[k]);
      if (!is_plain(moved[output])) continue;
      const Array value = evaluate(moved[output], known.variables, known.values);
      CHECK(value.shape() == out[output].shape());
      CHECK(value.dtype() == out[output].dtype());
      from_tangents += dot(value, g.values[k]);
    }
    if (!sample.smooth || (std::isnan(from_tangents) && std::isnan(from_gradients))) return;
    const double relative = any_float16(sample) ? 5e-2 : all_float64(sample) ? 1e-9 : 1e-4;
    CHECK(std::fabs(from_tangents - from_gradients) <= relative * (1 + std::fabs(from_gradients)));
  });
}

TEST_CASE("a batch gives the results of its elements") {
  for_each_sample([](const Sample& sample) {
    const std::size_t n = sample.node.inputs().size();
    if (n == 0) return;
    std::vector<bool> all(n), none(n, false);
    std::size_t free_inputs = 0;
    for (std::size_t i = 0; i < n; ++i) {
      all[i] = !sample.node.inputs()[i].is_constant();
      free_inputs += all[i];
    }
    if (free_inputs == 0) return;
    for (const BatchAxis axis : {BatchAxis::first, BatchAxis::last}) {
      INFO("batches along the " << (axis == BatchAxis::first ? "first" : "last") << " axis");
      check_batched(sample, all, axis);
      if (free_inputs == 1) continue;
      for (std::size_t i = 0; i < n; ++i) {
        if (!all[i]) continue;
        std::vector<bool> one = none;
        one[i] = true;
        INFO("only input " << i << " is batched");
        check_batched(sample, one, axis);
      }
    }
  });
}

TEST_CASE("ops are equal if and only if their attributes are") {
  for (auto& entry : op_registry()) {
    INFO(entry.name);
    CHECK(!entry.doc.empty());
    const std::vector<Sample> samples = entry.samples();
    for (auto& sample : samples) {
      const Op& op = sample.node.op();
      CHECK(op.name() == entry.name);
      CHECK(!op.label().empty());
      const Apply again = op.make_node(sample.node.inputs());
      for (std::size_t i = 0; i < again.output_count(); ++i)
        CHECK(again.output(int(i)).type()->equals(*sample.node.output(int(i)).type()));
    }
    for (std::size_t i = 0; i < samples.size(); i += 1 + samples.size() / 40)
      for (auto& other : samples) {
        const Op &a = samples[i].node.op(), &b = other.node.op();
        CHECK(a.equals(b) == (a.attributes() == b.attributes()));
        if (a.equals(b)) CHECK(a.hash() == b.hash());
      }
  }
}
