#include "ops/linalg/blockwise.hpp"

#include <algorithm>

#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "graph/evaluate.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/batched_graph.hpp"
#include "ops/own_error.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

// ---- signatures -----------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_signature(std::string_view text) {
  throw ValueError(cat("Blockwise: expected a signature such as (m,m),(m,k)->(m,k), got \"", text, "\""));
}

std::vector<int> parse_side(std::string_view side, std::string_view whole) {
  std::vector<int> out;
  while (!side.empty()) {
    const std::size_t end = side.find(')');
    if (side.front() != '(' || end == side.npos) refuse_signature(whole);
    const std::string_view names = side.substr(1, end - 1);
    out.push_back(names.empty() ? 0 : 1 + int(std::count(names.begin(), names.end(), ',')));
    side.remove_prefix(end + 1);
    if (side.empty()) break;
    if (side.front() != ',') refuse_signature(whole);
    side.remove_prefix(1);
  }
  return out;
}

}  // namespace

Signature parse_signature(std::string_view text) {
  const std::size_t arrow = text.find("->");
  if (arrow == text.npos) refuse_signature(text);
  Signature out{parse_side(text.substr(0, arrow), text), parse_side(text.substr(arrow + 2), text)};
  if (out.inputs.empty() || out.outputs.empty()) refuse_signature(text);
  return out;
}

// ---- the op ---------------------------------------------------------------------------------------------------------

Blockwise::Blockwise(OpRef core, std::string signature)
    : core(std::move(core)), signature(std::move(signature)), dims_(parse_signature(this->signature)) {}

Attributes Blockwise::attributes() const {
  Attributes out{{"core", std::string(core->name())}, {"signature", signature}};
  for (auto& attribute : core->attributes()) out.push_back(attribute);
  return out;
}

std::string Blockwise::label() const { return cat("Blockwise{", core->label(), ", ", signature, "}"); }

namespace {

OpRef make_blockwise(const Attributes& attributes) {
  Attributes of_core;
  for (auto& attribute : attributes)
    if (attribute.name != "core" && attribute.name != "signature") of_core.push_back(attribute);
  return make_ref<Blockwise>(op_from(required_attribute<std::string>(attributes, "core"), of_core),
                             required_attribute<std::string>(attributes, "signature"));
}

// The last `core_ndim` lengths of a shape.
template <class S>
S core_part(const S& shape, int core_ndim) {
  S out;
  for (std::size_t axis = shape.size() - std::size_t(core_ndim); axis < shape.size(); ++axis)
    out.push_back(shape[axis]);
  return out;
}

bool repeats_along(const Variable& input, int axis) { return input.tensor().broadcasts(axis); }

// The first input that does not repeat along a batch dimension and so determines its length.
std::size_t source_of(std::span<const Variable> inputs, int axis) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!repeats_along(inputs[i], axis)) return i;
  return 0;
}

std::string dims_text(const Dims& lengths) {
  std::vector<std::string> parts;
  for (auto length : lengths) parts.push_back(length == unknown_length ? "?" : std::to_string(length));
  return cat("[", join(parts, ", "), "]");
}

}  // namespace

Apply Blockwise::core_node(std::span<const Variable> inputs) const {
  Variables own;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    own.push_back(Variable(tensor_type(inputs[i].dtype(), core_part(inputs[i].static_shape(), dims_.inputs[i])),
                           inputs[i].name()));
  return core->make_node(own);
}

void Blockwise::require_equal_batches(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, dims_.inputs.size());
  const int batch = inputs[0].ndim() - dims_.inputs[0];
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].ndim() - dims_.inputs[i] != batch || batch < 1)
      throw TypeError(cat(label(), ": expected inputs with equally many batch dimensions, at least one; input ", i,
                          ", ", inputs[i].str(), ", has ", inputs[i].ndim(), " dimensions, of which ", dims_.inputs[i],
                          " belong to the core"));
}

Apply Blockwise::make_node(std::span<const Variable> inputs) const {
  require_equal_batches(inputs);
  const Apply inner = core_node(inputs);
  if (inner.output_count() != dims_.outputs.size())
    throw ValueError(cat(label(), ": the core has ", inner.output_count(), " outputs"));
  // Inputs that the core would convert are converted here, for the whole batch at once.
  Variables own(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = cast(own[i], inner.input(int(i)).dtype());
  const int batch = own[0].ndim() - dims_.inputs[0];
  Dims lengths;
  for (int axis = 0; axis < batch; ++axis) {
    std::int64_t length = unknown_length;
    bool all_repeat = true;
    for (auto& input : own) {
      if (repeats_along(input, axis)) continue;
      all_repeat = false;
      length = common_length(length, input.static_shape()[std::size_t(axis)], axis, label());
    }
    lengths.push_back(all_repeat ? 1 : length);
  }
  std::vector<Type> types;
  for (std::size_t k = 0; k < inner.output_count(); ++k) {
    Dims shape = lengths;
    const Variable output = inner.output(int(k));
    if (output.ndim() != dims_.outputs[k])
      throw ValueError(cat(label(), ": output ", k, " of the core has ", output.ndim(), " dimensions"));
    for (auto length : output.static_shape()) shape.push_back(length);
    types.push_back(tensor_type(output.dtype(), shape));
  }
  return Apply(OpRef(this), std::move(own), types);
}

std::vector<Shape> Blockwise::infer_shape(const Apply& node, std::span<const Shape> inputs) const {
  const int batch = batch_ndim(node);
  const Variables variables(node.inputs().begin(), node.inputs().end());
  const Apply inner = core_node(variables);
  std::vector<Shape> of_core;
  for (std::size_t i = 0; i < inputs.size(); ++i) of_core.push_back(core_part(inputs[i], dims_.inputs[i]));
  std::vector<Shape> out = core->infer_shape(inner, of_core);
  Shape lengths;
  for (int axis = 0; axis < batch; ++axis) lengths.push_back(inputs[source_of(variables, axis)][std::size_t(axis)]);
  for (auto& shape : out) shape.insert(shape.begin(), lengths.begin(), lengths.end());
  return out;
}

Structure Blockwise::structure(const Apply& node, int output, InputStructures& inputs) const {
  const auto* of_core = dynamic_cast<const StatesStructure*>(core.get());
  return of_core ? of_core->structure(node, output, inputs) : Structure();
}

void Blockwise::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  const int batch = batch_ndim(node);
  const Variables variables(node.inputs().begin(), node.inputs().end());
  Dims lengths;
  for (int axis = 0; axis < batch; ++axis) {
    const std::size_t source = source_of(variables, axis);
    lengths.push_back(in[source].shape(axis));
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!repeats_along(variables[i], axis) && in[i].shape(axis) != lengths.back())
        throw ShapeError(cat(label(), ": lengths ", lengths.back(), " and ", in[i].shape(axis), " of batch dimension ",
                             axis, " differ"));
  }
  const Apply inner = core_node(variables);
  const std::int64_t count = product(lengths);
  std::vector<Array> one_in(in.size()), one_out(out.size());
  if (count == 0) {
    // There is no matrix to run the core on: its infer_shape gives the lengths of the outputs.
    std::vector<Shape> shapes;
    Variables none;
    for (std::size_t i = 0; i < in.size(); ++i) {
      Shape shape;
      for (auto length : core_part(in[i].shape(), dims_.inputs[i])) shape.push_back(int64_constant(length));
      shapes.push_back(std::move(shape));
    }
    const std::vector<Shape> inferred = core->infer_shape(inner, shapes);
    for (std::size_t k = 0; k < out.size(); ++k) {
      Dims shape = lengths;
      for (auto& length : inferred.at(k)) shape.push_back(known_integer(length).value_or(0));
      out[k] = Array::empty(node.output(int(k)).dtype(), shape);
    }
    return;
  }
  Dims at(lengths.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      one_in[i] = in[i];
      for (int axis = 0; axis < batch; ++axis)
        one_in[i] = one_in[i].take_index(0, repeats_along(variables[i], axis) ? 0 : at[std::size_t(axis)]);
    }
    for (auto& each : one_out) each = Array();
    const auto which = [&] { return cat("in matrix ", dims_text(at), " of ", dims_text(lengths)); };
    with_error_line("batch", which, [&] { core->perform(inner, one_in, one_out); });
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (n == 0) {
        Dims shape = lengths;
        for (auto length : one_out[k].shape()) shape.push_back(length);
        out[k] = Array::empty(node.output(int(k)).dtype(), shape);
      }
      Array target = out[k];
      for (int axis = 0; axis < batch; ++axis) target = target.take_index(0, at[std::size_t(axis)]);
      target.assign(one_out[k]);
    }
    for (std::size_t axis = lengths.size(); axis-- > 0;) {
      if (++at[axis] < lengths[axis]) break;
      at[axis] = 0;
    }
  }
}

// ---- native code ----------------------------------------------------------------------------------------------------

namespace {

struct NotForBatches {};

// Emits for each matrix of the batch what the core emits for one matrix. Only calls of runtime functions are supported.
class BatchLowering final : public Lowering {
 public:
  BatchLowering(Lowering& to, const Apply& node, int batch) : to_(to), node_(node), batch_(std::size_t(batch)) {}

  program::ExprPool& pool() override { return to_.pool(); }
  std::span<const Expr> shape_in(int input) override { return to_.shape_in(input).subspan(batch_); }
  std::span<const Expr> shape_out(int output) override { return to_.shape_out(output).subspan(batch_); }
  bool same_length(Expr a, Expr b) const override { return to_.same_length(a, b); }
  void require(Expr condition, std::string message) override { to_.require(condition, std::move(message)); }
  void expect(Expr condition, std::string message) override { to_.expect(condition, std::move(message)); }
  MatrixLayout matrix(int) override { return {false}; }

  void call_each(std::string_view function, std::vector<Expr> extents, CallRule rule) override {
    const auto batch = to_.shape_out(0).first(batch_);
    std::vector<std::vector<Expr>> in_steps, out_steps;
    for (std::size_t i = 0; i < node_.inputs().size(); ++i)
      in_steps.push_back(steps_of(to_.shape_in(int(i)), node_.input(int(i))));
    for (std::size_t k = 0; k < node_.output_count(); ++k)
      out_steps.push_back(steps_of(to_.shape_out(int(k)), node_.output(int(k))));
    const auto* of_many = extents.empty() ? runtime::version_for_batches(function) : nullptr;
    Run run{batch_, batch_};
    if (extents.empty() && (of_many || batch_ > 1)) run = matrices_at_once(rule({}));
    const std::size_t outer = run.begin;  // number of leading axes that are loops of their own
    Expr count = pool().integer(1);       // number of matrices along all others
    for (std::size_t axis = outer; axis < batch_; ++axis) count = count * batch[axis];
    // All matrices that need a call of their own form one loop, so that its iterations may be shared among threads.
    const bool is_loop = !of_many && run.axis < batch_;
    Expr calls = is_loop ? count : pool().integer(1);
    for (std::size_t axis = 0; axis < outer; ++axis) calls = calls * batch[axis];
    const bool repeats = outer > 0 || is_loop;
    if (repeats) extents.insert(extents.begin(), calls);
    std::vector<Expr> out_sizes;  // number of elements that one call writes
    for (std::size_t k = 0; k < node_.output_count(); ++k) {
      Expr size = pool().integer(1);
      for (const Expr length : to_.shape_out(int(k)).subspan(is_loop ? batch_ : outer)) size = size * length;
      out_sizes.push_back(size);
    }
    std::vector<Expr> leading;  // arguments: the number of matrices, and each argument's distance from one to the next
    if (of_many && run.axis < batch_) {
      function = of_many->name;
      leading.push_back(count);
      for (auto& argument : rule({})) {
        if (auto* in = std::get_if<InputData>(&argument)) leading.push_back(in_steps[std::size_t(in->input)][run.axis]);
        if (auto* out = std::get_if<OutputData>(&argument))
          leading.push_back(out_steps[std::size_t(out->output)][run.axis]);
      }
    }
    const std::vector<Expr> lengths(batch.begin(), batch.end());
    to_.call_each(
        function, std::move(extents),
        [in_steps, out_sizes, lengths, outer, run, is_loop, repeats, count, leading, rule = std::move(rule)](Index at) {
          std::vector<CallArgument> arguments = rule(at.subspan(repeats ? 1 : 0));
          const auto move = [](Expr& offset, const Expr& distance) {
            offset = offset.defined() ? offset + distance : distance;
          };
          std::vector<Expr> index(outer);  // along the axes before the run
          Expr rest = repeats ? at[0] : Expr(), within;
          const auto split = [&](const Expr& length) {
            const Expr quotient = rest / length, remainder = rest - quotient * length;
            rest = quotient;
            return remainder;
          };
          if (is_loop) within = outer > 0 ? split(count) : rest;
          for (std::size_t axis = outer; axis-- > 0;) index[axis] = axis > 0 ? split(lengths[axis]) : rest;
          for (auto& argument : arguments) {
            if (auto* in = std::get_if<InputData>(&argument)) {
              const auto& steps = in_steps[std::size_t(in->input)];
              for (std::size_t axis = 0; axis < outer; ++axis) move(in->offset, index[axis] * steps[axis]);
              if (is_loop) move(in->offset, within * steps[run.axis]);
            }
            if (auto* out = std::get_if<OutputData>(&argument); out && repeats)
              move(out->offset, at[0] * out_sizes[std::size_t(out->output)]);
          }
          arguments.insert(arguments.begin(), leading.begin(), leading.end());
          return arguments;
        });
  }

  // The batch's axes come before those of the product; an input is repeated along all of them, or along none.
  void contract(const Contraction& product) override {
    if (product.batch_axes > 0) throw NotForBatches();
    const auto repeats = [&](int input) {
      int count = 0;
      for (int axis = 0; axis < int(batch_); ++axis) count += repeats_along(node_.input(input), axis);
      if (count != 0 && count != int(batch_)) throw NotForBatches();
      return count != 0;
    };
    to_.contract({batch_, repeats(0), repeats(1)});
  }

  Expr in(int, Index) override { throw NotForBatches(); }
  std::span<const Expr> lengths_of(const Variable&) override { throw NotForBatches(); }
  void element(int, ElementRule, int) override { throw NotForBatches(); }
  void permute(int, int, std::span<const int>) override { throw NotForBatches(); }
  void scan(int, ElementScan) override { throw NotForBatches(); }
  bool scan(const InnerLoop&) override { throw NotForBatches(); }
  bool choose(int, const Side&, const Side&) override { throw NotForBatches(); }
  void assemble(int, std::optional<int>, std::vector<Piece>) override { throw NotForBatches(); }
  void concatenate(int, int, std::vector<ConcatSegment>) override { throw NotForBatches(); }
  void observe() override { throw NotForBatches(); }
  void require_in_range(int, Expr, std::string) override { throw NotForBatches(); }
  Expr index_in(int, Index, Expr, Sign) override { throw NotForBatches(); }

 private:
  // The last axes of the batch, from `begin` on, along which the matrices of each argument are consecutive in memory,
  // or all the same; `axis` is the last of these whose length is not 1, or the batch's rank if there is none.
  struct Run {
    std::size_t begin, axis;
  };
  Run matrices_at_once(const std::vector<CallArgument>& arguments) const {
    Variables read;
    for (auto& argument : arguments)
      if (auto* in = std::get_if<InputData>(&argument)) read.push_back(node_.input(in->input));
    for (auto& argument : arguments)
      if (auto* out = std::get_if<OutputData>(&argument); out && out->starts_as)
        read.push_back(node_.output(out->output));
    Run out{batch_, batch_};
    for (std::size_t axis = batch_; axis-- > 0;) {
      if (to_.shape_out(0)[axis].is_constant(1)) {
        out.begin = axis;
        continue;
      }
      const bool fits = out.axis == batch_ || std::all_of(read.begin(), read.end(), [&](const Variable& v) {
                          return repeats_along(v, int(axis)) == repeats_along(v, int(out.axis));
                        });
      if (!fits) break;
      if (out.axis == batch_) out.axis = axis;
      out.begin = axis;
    }
    return out.axis == batch_ ? Run{batch_, batch_} : out;
  }
  // Distances in elements between neighbouring matrices along each batch axis; 0 where the variable is repeated.
  std::vector<Expr> steps_of(std::span<const Expr> shape, const Variable& variable) {
    std::vector<Expr> out(batch_);
    Expr step = pool().integer(1);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (axis < batch_) out[axis] = repeats_along(variable, int(axis)) ? pool().integer(0) : step;
      step = step * shape[axis];
    }
    return out;
  }

  Lowering& to_;
  const Apply node_;
  const std::size_t batch_;
};

}  // namespace

// A core that emits anything other than calls is run by the host, matrix by matrix.
bool Blockwise::emit(Lowering& to, const Apply& node) const {
  const Variables inputs(node.inputs().begin(), node.inputs().end());
  for (int axis = 0; axis < batch_ndim(node); ++axis) {
    const std::size_t source = source_of(inputs, axis);
    for (std::size_t i = source + 1; i < inputs.size(); ++i)
      if (!repeats_along(inputs[i], axis))
        to.require(equal(to.shape_in(int(source))[std::size_t(axis)], to.shape_in(int(i))[std::size_t(axis)]),
                   cat(label(), ": the lengths of batch dimension ", axis, " differ"));
  }
  try {
    BatchLowering each(to, node, batch_ndim(node));
    return core->emit(each, core_node(inputs));
  } catch (const NotForBatches&) {
    return false;
  }
}

namespace {

// The core emits the same as for single matrices; its tensors have the batch dimensions in front.
class BatchTensorLowering final : public TensorLowering {
 public:
  BatchTensorLowering(TensorLowering& to, const Apply& node, Apply core, TensorValues in)
      : to_(to), node_(node), core_(std::move(core)), in_(std::move(in)) {}
  TensorBuilder& builder() override { return to_.builder(); }
  TensorValue in(int input) override { return in_[std::size_t(input)]; }
  Dims lengths_in(int input) override { return in_[std::size_t(input)].lengths; }
  const Array* known(int) override { return nullptr; }
  void out(int output, TensorValue value) override { to_.out(output, std::move(value)); }
  void out_known(int output, Array value) override { to_.out_known(output, std::move(value)); }
  void require(const TensorValue& condition, std::string message) override {
    to_.require(condition, std::move(message));
  }
  void loop(const InnerLoop&) override { refuse("the core is a loop"); }
  void choose(int, const Side&, const Side&) override { refuse("the core is a choice"); }
  void express(const Variables& outputs) override {
    Replacements batched;
    for (std::size_t i = 0; i < core_.inputs().size(); ++i) batched.emplace_back(core_.inputs()[i], node_.inputs()[i]);
    to_.express(batched_graph(outputs, batched));
  }
  void refuse(std::string_view why) override { to_.refuse(why); }

 private:
  TensorLowering& to_;
  const Apply& node_;
  const Apply core_;
  const TensorValues in_;
};

}  // namespace

void Blockwise::emit_tensors(TensorLowering& to, const Apply& node) const {
  const auto* of_core = dynamic_cast<const EmitsTensors*>(core.get());
  if (!of_core) to.refuse(cat("its core ", core->label(), " has no form there"));
  const int batch = batch_ndim(node);
  Dims lengths(std::size_t(batch), 1);
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    for (int axis = 0; axis < batch; ++axis) {
      if (repeats_along(node.input(int(i)), axis)) continue;
      const std::int64_t own = to.lengths_in(int(i))[std::size_t(axis)];
      std::int64_t& length = lengths[std::size_t(axis)];
      if (length != 1 && length != own)
        throw ShapeError(cat(label(), ": the lengths of batch dimension ", axis, " are ", length, " and ", own));
      length = own;
    }
  TensorValues in;
  for (int i = 0; i < int(node.inputs().size()); ++i) {
    Dims own = to.lengths_in(i);
    for (int axis = 0; axis < batch; ++axis) own[std::size_t(axis)] = lengths[std::size_t(axis)];
    in.push_back(to.builder().repeat(to.in(i), own));
  }
  const Apply inner = core_node(Variables(node.inputs().begin(), node.inputs().end()));
  BatchTensorLowering each(to, node, inner, std::move(in));
  of_core->emit_tensors(each, inner);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

namespace {

// The gradient of an input that was repeated along a batch dimension is a sum along that dimension.
Variable gathered_gradient(const Variable& input, Variable gradient, int batch) {
  std::vector<int> repeated;
  for (int axis = 0; axis < batch; ++axis)
    if (repeats_along(input, axis) && gradient.static_shape()[std::size_t(axis)] != 1) repeated.push_back(axis);
  if (!repeated.empty()) gradient = sum(gradient, repeated, KeepDims::Yes);
  return with_static_shape_of(input, gradient);
}

}  // namespace

Variables Blockwise::vectorized(const Apply& node, const Apply& inner, const Variables& of_core,
                                Replacements replacements) const {
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    replacements.emplace_back(inner.input(int(i)), node.input(int(i)));
  for (std::size_t k = 0; k < node.output_count(); ++k)
    replacements.emplace_back(inner.output(int(k)), node.output(int(k)));
  Variables plain, out = of_core;
  for (auto& each : of_core)
    if (!each.is_disconnected() && !each.is_null()) plain.push_back(each);
  const Variables batched = batched_graph(plain, replacements);
  const int batch = batch_ndim(node);
  std::size_t next = 0;
  for (auto& each : out) {
    if (each.is_disconnected() || each.is_null()) continue;
    const Variable before = plain[next], after = batched[next++];
    each = after;
    if (after.ndim() != before.ndim()) continue;
    Shape shape = lengths_of(node.output());  // independent of the batch: repeated over it
    shape.resize(std::size_t(batch));
    for (auto& length : lengths_of(after)) shape.push_back(length);
    each = alloc(after, shape);
  }
  return out;
}

std::optional<Variables> Blockwise::expansion(const Apply& node) const {
  const auto* of_core = dynamic_cast<const Expansion*>(core.get());
  if (!of_core) return std::nullopt;
  const Apply inner = core_node(Variables(node.inputs().begin(), node.inputs().end()));
  const auto formula = of_core->expansion(inner);
  return formula ? std::optional(vectorized(node, inner, *formula, {})) : std::nullopt;
}

Variables Blockwise::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const Variables inputs(node.inputs().begin(), node.inputs().end());
  const Apply inner = core_node(inputs);
  Variables given;
  Replacements replacements;
  for (std::size_t k = 0; k < cotangents.size(); ++k) {
    if (cotangents[k].is_disconnected()) {
      given.push_back(cotangents[k]);
      continue;
    }
    const Variable output = inner.output(int(k));
    given.push_back(Variable(tensor_type(cotangents[k].dtype(), output.static_shape())));
    replacements.emplace_back(given.back(), cotangents[k]);
  }
  if (replacements.empty()) return no_gradients(node);
  Variables out = vectorized(node, inner, core->pullback(inner, given), std::move(replacements));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!out[i].is_disconnected() && !out[i].is_null()) out[i] = gathered_gradient(inputs[i], out[i], batch_ndim(node));
  return out;
}

Variables Blockwise::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  const Variables inputs(node.inputs().begin(), node.inputs().end());
  const Apply inner = core_node(inputs);
  Variables given;
  Replacements replacements;
  for (std::size_t i = 0; i < tangents.size(); ++i) {
    if (tangents[i].is_disconnected()) {
      given.push_back(tangents[i]);
      continue;
    }
    given.push_back(Variable(tensor_type(tangents[i].dtype(), inner.input(int(i)).static_shape())));
    replacements.emplace_back(given.back(), tangents[i]);
  }
  if (replacements.empty()) return Variables(node.output_count(), disconnected());
  return vectorized(node, inner, core->pushforward(inner, given), std::move(replacements));
}

void Blockwise::raise() const {
  if (auto* own = dynamic_cast<const OwnError*>(core.get())) own->raise();
  throw ValueError(cat(label(), ": one of the batch can't be computed"));
}

std::optional<Array> Blockwise::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  return batch_dependencies(inputs, node.inputs().size(), std::size_t(batch_ndim(node)));
}

std::vector<std::vector<bool>> Blockwise::connection_pattern(const Apply& node) const {
  return core->connection_pattern(core_node(Variables(node.inputs().begin(), node.inputs().end())));
}

Apply Blockwise::vectorize(const Apply&, std::span<const Variable> batched) const {
  return blockwise(core, signature, batched);
}

Apply blockwise(const OpRef& core, const std::string& signature, std::span<const Variable> inputs) {
  const Signature dims = parse_signature(signature);
  if (inputs.size() != dims.inputs.size())
    throw TypeError(cat(core->label(), ": expected ", dims.inputs.size(), " inputs, got ", inputs.size()));
  int batch = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) batch = std::max(batch, inputs[i].ndim() - dims.inputs[i]);
  if (batch == 0) return core->make_node(inputs);
  Variables padded;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const int own = inputs[i].ndim() - dims.inputs[i];
    if (own < 0)
      throw ShapeError(cat(core->label(), ": expected at least ", dims.inputs[i], " dimensions of input ", i, ", got ",
                           inputs[i].str(), " with ", inputs[i].ndim()));
    std::vector<int> order(std::size_t(batch - own), new_axis);
    for (int axis = 0; axis < inputs[i].ndim(); ++axis) order.push_back(axis);
    padded.push_back(batch == own ? inputs[i] : dimshuffle(inputs[i], order));
  }
  return make_ref<Blockwise>(core, signature)->make_node(padded);
}

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

std::vector<Sample> samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto matrices = [](const Dims& shape) {  // positive definite ones
    Array values = sample_values(DType::Float64, shape).copy();
    const std::int64_t n = shape.back(), count = product(shape) / std::max<std::int64_t>(n * n, 1);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < n; ++k) values.mutable_data_as<double>()[(i * n + k) * n + k] = 12 + double(i + k);
    return values;
  };
  const auto cholesky_of = [&](DType dtype, const Dims& type, const Dims& shape, bool lower = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    const OpRef op = make_ref<Blockwise>(op_from("Cholesky", {{"lower", lower}, {"on_error", std::string("raise")}}),
                                         "(m,m)->(m,m)");
    out.push_back({op->make_node(x), {matrices(shape).astype(dtype)}, 1e-6, dtype == DType::Float64});
  };
  cholesky_of(DType::Float64, {any, any, any}, {3, 4, 4});
  cholesky_of(DType::Float64, {any, 3, 3}, {2, 3, 3}, false);
  cholesky_of(DType::Float32, {2, any, any, any}, {2, 2, 3, 3});
  cholesky_of(DType::Float64, {any, any, any}, {0, 3, 3});
  cholesky_of(DType::Float64, {any, any, any}, {3, 0, 0});
  const auto solve = [&](const Dims& a_type, const Dims& a_shape, const Dims& b_type, const Dims& b_shape, bool lower,
                         int b_ndim, DType dtype = DType::Float64) {
    const Variable both[] = {sample_input(dtype, a_type, "a"), sample_input(dtype, b_type, "b")};
    const OpRef core = op_from("SolveTriangular", {{"lower", lower},
                                                   {"trans", !lower},
                                                   {"unit_diagonal", false},
                                                   {"b_ndim", std::int64_t(b_ndim)},
                                                   {"on_error", "raise"}});
    const OpRef op = make_ref<Blockwise>(core, b_ndim == 1 ? "(m,m),(m)->(m)" : "(m,m),(m,k)->(m,k)");
    out.push_back({op->make_node(both),
                   {matrices(a_shape).astype(dtype), sample_values(dtype, b_shape, 1)},
                   1e-6,
                   dtype == DType::Float64});
  };
  solve({any, any, any}, {3, 4, 4}, {any, any, any}, {3, 4, 2}, true, 2);
  solve({1, any, any}, {1, 4, 4}, {any, any}, {3, 4}, false, 1);
  solve({any, 3, 3}, {2, 3, 3}, {1, 3, any}, {1, 3, 2}, true, 2);
  solve({any, 3, 3}, {2, 3, 3}, {any, any}, {2, 3}, true, 1, DType::Float32);
  return out;
}

BITALE_REGISTER_OP_MADE_BY(Blockwise, make_blockwise,
                           "An op on vectors or matrices, its core, applied to each of a batch of them.", samples);

}  // namespace

}  // namespace bitale
