#include "ops/scan/scan.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/random_type.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/calculus.hpp"
#include "graph/evaluate.hpp"
#include "graph/pointer_map.hpp"
#include "graph/replay.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/complex.hpp"
#include "ops/control/captures.hpp"

namespace bitale {

struct ScanOp::Found {
  std::mutex mutex;
  std::unique_ptr<const InnerLengths> lengths;
  std::optional<std::vector<std::vector<bool>>> connected;
};

namespace {

Type stacked(const Type& row, std::int64_t length) {
  Dims shape{length};
  for (auto each : as_tensor(row)->shape) shape.push_back(each);
  return tensor_type(as_tensor(row)->dtype, shape);
}

bool is_tensor_of(const Variable& v, const Type& like) {
  return as_tensor(v.type()) && v.dtype() == as_tensor(like)->dtype && v.ndim() == as_tensor(like)->ndim();
}

template <class E>
[[noreturn]] void fail_at(E error, const Variable& variable) {
  if (const Location where = variable.where()) error.add("built at", where.str_with_callers());
  throw error;
}

}  // namespace

// ---- structure ------------------------------------------------------------------------------------------------------

ScanOp::ScanOp(InnerGraphRef graph, ScanLayout layout)
    : graph_(std::move(graph)), layout_(std::move(layout)), found_(std::make_unique<Found>()) {
  if (!graph_) throw ValueError("Scan: expected a graph");
  const std::string who = called();
  if (layout_.sequences < 0 || layout_.states < 0 || constant_count() < 0 || trace_count() < 0)
    throw ValueError(cat(who, ": ", layout_.sequences, " sequences and ", layout_.states,
                         " states need as many inputs of the inner graph, and the states as many outputs; it has ",
                         graph_->inputs().size(), " inputs and ", graph_->outputs().size(), " outputs"));
  for (int k = 0; k < layout_.states; ++k) {
    const Variable &from = state(k), &to = next(k);
    if (from.type()->is_super(*to.type())) continue;
    TypeError error(cat(who, ": state ", k, from.name().empty() ? "" : cat(" (`", from.name(), "`)"), " is ",
                        from.type()->str(), ", and the step makes it ", to.type()->str(),
                        "; a state keeps its type from step to step"));
    if (as_tensor(from.type()) && as_tensor(to.type()) && from.dtype() != to.dtype())
      error.add("try", cat("cast the next value to ", dtype_name(from.dtype()), ", or the initial one to ",
                           dtype_name(to.dtype())));
    fail_at(error, to);
  }
  for (int k = 0; k < trace_count(); ++k)
    if (!as_tensor(traced(k).type()))
      throw TypeError(cat(who, ": output ", k, " is ", traced(k).type()->str(), "; only tensors have a trace"));
  for (int k = 0; k < layout_.sequences; ++k)
    if (!as_tensor(element(k).type()))
      throw TypeError(cat(who, ": the elements of sequence ", k, " are ", element(k).type()->str(),
                          "; only tensors have elements"));
  if (layout_.has_until && !is_tensor_of(until(), tensor_type(DType::Bool, 0)))
    fail_at(TypeError(
                cat(who, ": until: expected a scalar bool, got `", until().str(), "` of type ", until().type()->str())),
            until());
}
ScanOp::~ScanOp() = default;

std::string ScanOp::called() const { return layout_.name.empty() ? "scan" : cat("scan `", layout_.name, "`"); }

Attributes ScanOp::attributes() const {
  Attributes out{{"graph", to_attribute(graph_)},
                 {"sequences", std::int64_t(layout_.sequences)},
                 {"states", std::int64_t(layout_.states)},
                 {"until", layout_.has_until}};
  if (layout_.truncate_gradient >= 0) out.push_back({"truncate_gradient", layout_.truncate_gradient});
  if (!layout_.name.empty()) out.push_back({"name", layout_.name});
  return out;
}

std::string ScanOp::label() const {
  std::string out =
      cat("Scan{", layout_.name.empty() ? "" : cat(layout_.name, ", "), count_text(layout_.sequences, "sequence"), ", ",
          count_text(layout_.states, "state"), ", ", count_text(trace_count(), "trace"));
  if (layout_.has_until) out += ", until";
  return out + "}";
}

// A complex sequence becomes two sequences, its parts, a complex state two states, and so on.
PartsOfOutputs ScanOp::complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const {
  ScanLayout layout = layout_;
  for (int k = 0; k < layout_.sequences; ++k) layout.sequences += is_complex(element(k));
  for (int k = 0; k < layout_.states; ++k) layout.states += is_complex(state(k));
  const auto op = make_ref<ScanOp>(graph_of_parts(*graph_), layout);
  return joined_parts(node.outputs(), op->make_node(row_of_parts(node.inputs(), inputs)).outputs());
}

OpRef ScanOp::with_inner_graph(InnerGraphRef graph) const { return make_ref<ScanOp>(std::move(graph), layout_); }

Apply ScanOp::make_node(std::span<const Variable> inputs) const {
  const std::string who = called();
  if (inputs.size() != 1 + graph_->inputs().size())
    throw TypeError(cat(who, ": expected ", 1 + graph_->inputs().size(), " inputs, got ", inputs.size()));
  Variables own{as_length(inputs[0], cat(who, ": n_steps"))};
  auto steps = static_length(own[0]);
  if (const auto known = known_integer(own[0])) {
    if (*known < 0) throw ValueError(cat(who, ": n_steps is ", *known, ": expected a number of steps, 0 or more"));
    steps = *known;
  }
  for (int k = 0; k < layout_.sequences; ++k) {
    const Variable& x = inputs[std::size_t(sequence_input(k))];
    own.push_back(filtered(x, stacked(element(k).type(), unknown_length), cat(who, ": sequence ", k)));
    const auto length = own.back().static_shape()[0];
    if (length == unknown_length) continue;
    if (steps != unknown_length && steps != length)
      fail_at(
          ShapeError(cat(who, ": sequence ", k, ", `", x.str(), "`, has ", length, " elements for ", steps, " steps")),
          x);
    steps = length;
  }
  for (int k = 0; k < layout_.states; ++k)
    own.push_back(
        filtered(inputs[std::size_t(initial_input(k))], state(k).type(), cat(who, ": the initial value of state ", k)));
  for (int k = 0; k < constant_count(); ++k)
    own.push_back(
        filtered(inputs[std::size_t(constant_input(k))], inner_constant(k).type(), cat(who, ": non-sequence ", k)));
  std::vector<Type> types;
  for (int k = 0; k < layout_.states; ++k) types.push_back(state(k).type());
  for (int k = 0; k < trace_count(); ++k) types.push_back(stacked(traced(k).type(), steps));
  if (layout_.has_until) types.push_back(tensor_type(DType::Int64, 0));
  return Apply(OpRef(this), own, types);
}

const InnerLengths& ScanOp::lengths() const {
  {
    std::lock_guard lock(found_->mutex);
    if (found_->lengths) return *found_->lengths;
  }
  auto fresh = std::make_unique<const InnerLengths>(inner_lengths(*graph_));
  std::lock_guard lock(found_->mutex);
  if (!found_->lengths) found_->lengths = std::move(fresh);
  return *found_->lengths;
}

// The lengths of a trace's elements follow from those of the inputs and from values of constants, which are the same in
// each step.
std::vector<Shape> ScanOp::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  std::vector<Shape> out(inputs.begin() + initial_input(0), inputs.begin() + initial_input(layout_.states));
  if (trace_count() > 0) {
    const InnerLengths& known = lengths();
    if (known.outputs.empty()) return {};
    Replacements replacements;
    VariableSet varying;
    Variables all;
    const auto bind = [&](int inner, const Shape& shape, std::size_t first) {
      const Shape& leaves = known.inputs[std::size_t(inner)];
      for (std::size_t axis = 0; axis < leaves.size(); ++axis)
        if (!leaves[axis].is_constant()) replacements.emplace_back(leaves[axis], shape[axis + first]);
    };
    for (int k = 0; k < layout_.sequences; ++k) bind(k, inputs[std::size_t(sequence_input(k))], 1);
    for (int k = 0; k < layout_.states; ++k) bind(layout_.sequences + k, inputs[std::size_t(initial_input(k))], 0);
    for (int k = 0; k < constant_count(); ++k) {
      bind(layout_.sequences + layout_.states + k, inputs[std::size_t(constant_input(k))], 0);
      replacements.emplace_back(inner_constant(k), node.input(constant_input(k)));
    }
    for (int k = 0; k < layout_.sequences; ++k) varying.insert(element(k));
    for (int k = 0; k < layout_.states; ++k) varying.insert(state(k));
    for (int k = 0; k < trace_count(); ++k) {
      const Shape& row = known.outputs[std::size_t(trace_output(k))];
      all.insert(all.end(), row.begin(), row.end());
    }
    for (auto& each : graph_inputs(all))
      if (varying.contains(each)) return {};
    all = clone_replace(all, replacements);
    auto at = all.begin();
    for (int k = 0; k < trace_count(); ++k) {
      Shape shape{node.input(0)};
      const auto row = std::ptrdiff_t(known.outputs[std::size_t(trace_output(k))].size());
      shape.insert(shape.end(), at, at + row);
      at += row;
      out.push_back(std::move(shape));
    }
  }
  if (layout_.has_until) out.push_back({});
  return out;
}

bool ScanOp::may_fold(const Apply& node) const {
  const auto steps = known_integer(node.input(0));
  if (!steps || *steps > 1000) return false;
  const auto order = toposort(graph_->outputs());
  return std::all_of(order.begin(), order.end(), [](auto& each) { return each.op().may_fold(each); });
}

std::vector<std::vector<bool>> ScanOp::connection_pattern(const Apply& node) const {
  std::vector<std::vector<bool>> inner;
  {
    std::lock_guard lock(found_->mutex);
    if (!found_->connected) found_->connected = inner_connections(*graph_);
    inner = *found_->connected;
  }
  for (std::size_t i = 0; i < inner.size(); ++i)
    if (const Variable& v = graph_->inputs()[i]; !as_tensor(v.type()) || is_discrete(v.dtype()))
      inner[i].assign(inner[i].size(), false);
  // An input that a state's next value depends on also affects, one step later, everything that depends on the state.
  const auto first = std::size_t(layout_.sequences);
  const auto states = std::size_t(layout_.states);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& row : inner)
      for (std::size_t k = 0; k < states; ++k)
        if (row[k])
          for (std::size_t o = 0; o < row.size(); ++o)
            if (inner[first + k][o] && !row[o]) row[o] = changed = true;
  }
  // Without steps, a final state is the initial one.
  for (std::size_t k = 0; k < states; ++k)
    inner[first + k][k] = as_tensor(state(int(k)).type()) && is_continuous(state(int(k)).dtype());
  std::vector<std::vector<bool>> out{std::vector<bool>(node.output_count(), false)};
  for (auto& row : inner) {
    out.push_back(row);
    if (layout_.has_until) out.back().back() = false;
  }
  return out;
}

// ---- evaluation -----------------------------------------------------------------------------------------------------

void ScanOp::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  perform_by(node, in, out,
             [&](std::span<const Array> given) { return evaluate(graph_->outputs(), graph_->inputs(), given); });
}

// The results of a step whose elements are zeros, without visible side effects; empty if it raises.
std::vector<Array> ScanOp::step_on_zeros(std::span<const Array> in, std::vector<Array> given,
                                         const Evaluate& step) const {
  const Replay silent;
  for (int k = 0; k < layout_.sequences; ++k) {
    const Array& sequence = in[std::size_t(sequence_input(k))];
    Dims row;
    for (int axis = 1; axis < sequence.ndim(); ++axis) row.push_back(sequence.shape(axis));
    given[std::size_t(k)] = Array::zeros(sequence.dtype(), row);
  }
  try {
    return step(given);
  } catch (const Error&) {
    return {};
  }
}

void ScanOp::perform_by(const Apply& node, std::span<const Array> in, std::span<Array> out,
                        const Evaluate& step) const {
  const std::int64_t steps = in[0].int_item();
  if (steps < 0) throw ValueError(cat(called(), ": n_steps is ", steps, ": expected a number of steps, 0 or more"));
  for (int k = 0; k < layout_.sequences; ++k)
    if (const auto length = in[std::size_t(sequence_input(k))].shape(0); length != steps)
      throw ShapeError(cat(called(), ": sequence ", k, " has ", length, " elements for ", steps, " steps"));
  std::vector<Array> given(graph_->inputs().size()), traces(static_cast<std::size_t>(trace_count()));
  std::copy(in.begin() + 1 + layout_.sequences, in.end(), given.begin() + layout_.sequences);
  std::int64_t made = 0;
  for (bool stops = false; made < steps && !stops; ++made) {
    throw_if_interrupted();
    for (int k = 0; k < layout_.sequences; ++k)
      given[std::size_t(k)] = in[std::size_t(sequence_input(k))].take_index(0, made);
    const auto number = [&] { return cat(made, " of ", steps, " (counted from 0)"); };
    with_error_line("step", number, [&] {
      const std::vector<Array> results = step(given);
      for (int k = 0; k < layout_.states; ++k) {
        Array& before = given[std::size_t(layout_.sequences + k)];
        const Array& after = results[std::size_t(k)];
        if (after.shape() != before.shape())
          throw ShapeError(cat(called(), ": state ", k, " has shape ", tuple_text(before.shape()),
                               ", and the step makes it ", tuple_text(after.shape()),
                               "; a state keeps its shape from step to step"));
        before = after;
      }
      for (int k = 0; k < trace_count(); ++k) {
        const Array& row = results[std::size_t(trace_output(k))];
        Array& trace = traces[std::size_t(k)];
        if (made == 0) {
          Dims shape{steps};
          for (auto length : row.shape()) shape.push_back(length);
          trace = Array::zeros(row.dtype(), shape);
        }
        const Array target = trace.take_index(0, made);
        if (target.shape() != row.shape())
          throw ShapeError(cat(called(), ": output ", k, " has shape ", tuple_text(row.shape()), ", in steps before ",
                               tuple_text(target.shape()), "; all steps give one shape"));
        target.assign(row);
      }
      stops = layout_.has_until && results.back().item() != 0;
    });
  }
  for (int k = 0; k < layout_.states; ++k) out[std::size_t(k)] = given[std::size_t(layout_.sequences + k)].copy();
  if (made == 0 && trace_count() > 0) {
    // No step has produced results whose lengths could be used: the lengths are inferred, or, if they depend on values
    // that steps compute, taken from a step on zeros, if that succeeds.
    std::vector<Shape> shapes, of_inputs;
    for (auto& value : in) {
      of_inputs.emplace_back();
      for (auto length : value.shape()) of_inputs.back().push_back(int64_constant(length));
    }
    shapes = infer_shape(node, of_inputs);
    const std::vector<Array> shown = shapes.empty() ? step_on_zeros(in, given, step) : std::vector<Array>();
    for (int k = 0; k < trace_count(); ++k) {
      const auto output = std::size_t(trace_output(k));
      Dims shape{0};
      for (int axis = 0; axis < traced(k).ndim(); ++axis) {
        const auto known = traced(k).static_shape()[std::size_t(axis)];
        if (known != unknown_length)
          shape.push_back(known);
        else if (!shapes.empty())
          shape.push_back(evaluate(shapes[output][std::size_t(axis + 1)], node.inputs(), in).int_item());
        else
          shape.push_back(shown.empty() ? 0 : shown[output].shape(axis));
      }
      traces[std::size_t(k)] = Array::zeros(traced(k).dtype(), shape);
    }
  }
  for (int k = 0; k < trace_count(); ++k) out[std::size_t(trace_output(k))] = traces[std::size_t(k)];
  if (layout_.has_until) out.back() = Array(made);
}

StepsMade ScanOp::steps_made(std::span<const Array> in, std::span<const Array> out) const {
  StepsMade made{layout_.has_until ? out.back().int_item() : in[0].int_item(), 0};
  for (int k = 0; k < trace_count(); ++k) made.trace_bytes += out[std::size_t(trace_output(k))].nbytes();
  return made;
}

FewerOutputs ScanOp::without_unread(const Apply& node, const std::vector<bool>& read) const {
  FewerOutputs out{node, {}};
  Variables kept(graph_->outputs().begin(), graph_->outputs().begin() + layout_.states);
  for (int k = 0; k < layout_.states; ++k) out.outputs.push_back(k);
  for (int k = 0; k < trace_count(); ++k) {
    const bool is_read = read[std::size_t(trace_output(k))];
    out.outputs.push_back(is_read ? int(kept.size()) : -1);
    if (is_read) kept.push_back(traced(k));
  }
  if (layout_.has_until) {
    out.outputs.push_back(int(kept.size()));
    kept.push_back(until());
  }
  if (kept.size() < graph_->outputs().size())
    out.node = with_inner_graph(make_ref<InnerGraph>(graph_->inputs(), kept, called()))->make_node(node.inputs());
  return out;
}

bool ScanOp::emit(Lowering& to, const Apply& node) const {
  for (auto& input : node.inputs())
    if (!as_tensor(input.type()) && !as_random(input.type())) return false;
  return to.scan({graph_->inputs(), graph_->outputs(), layout_.sequences, layout_.states, layout_.has_until, called()});
}

void ScanOp::emit_tensors(TensorLowering& to, const Apply&) const {
  to.loop({graph_->inputs(), graph_->outputs(), layout_.sequences, layout_.states, layout_.has_until, called()});
}

// ---- construction from parts ----------------------------------------------------------------------------------------

Apply make_scan(const ScanParts& parts) {
  const TestValuesOff none_are_known;
  Variables outputs = parts.next;
  outputs.insert(outputs.end(), parts.traced.begin(), parts.traced.end());
  if (parts.until.defined()) outputs.push_back(parts.until);
  Variables inner = parts.elements;
  inner.insert(inner.end(), parts.states.begin(), parts.states.end());
  const Captured captured = captured_by(outputs, inner, parts.transposed, parts.named);
  inner.insert(inner.end(), captured.leaves.begin(), captured.leaves.end());
  outputs = captured.outputs;
  for (std::size_t k = 0; k < parts.next.size(); ++k) {
    // The static lengths of a state hold in each step: they are checked if the step does not imply them.
    const Type& type = parts.states[k].type();
    if (!type->is_super(*outputs[k].type()) && is_tensor_of(outputs[k], type))
      outputs[k] =
          filtered(outputs[k], type,
                   cat(parts.name.empty() ? "scan" : cat("scan `", parts.name, "`"), ": the next value of state ", k));
  }
  ScanLayout layout{int(parts.sequences.size()), int(parts.states.size()), parts.until.defined(),
                    parts.truncate_gradient, parts.name};
  const auto op = make_ref<ScanOp>(
      make_ref<InnerGraph>(inner, outputs, parts.name.empty() ? "scan" : cat("scan `", parts.name, "`")), layout);
  Variables inputs{parts.n_steps};
  inputs.insert(inputs.end(), parts.sequences.begin(), parts.sequences.end());
  inputs.insert(inputs.end(), parts.initial.begin(), parts.initial.end());
  const Variables constants = clone_replace(captured.values, parts.constants);
  inputs.insert(inputs.end(), constants.begin(), constants.end());
  return op->make_node(inputs);
}

}  // namespace bitale
