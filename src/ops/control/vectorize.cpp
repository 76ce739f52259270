// vectorize_graph: the same computation for a batch of inputs. Each op defines its behaviour for batches. Where one has
// none, because its results would differ in shape within the graph, the whole computation is a loop over the batch.
// The dimensions of a batch are before those of its elements, or behind them.
#include <algorithm>
#include <cctype>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/vectorize.hpp"
#include "graph/batch.hpp"
#include "graph/evaluate.hpp"
#include "graph/lazy.hpp"
#include "graph/line_scope.hpp"
#include "graph/optional_outputs.hpp"
#include "graph/steps_made.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/batched_graph.hpp"
#include "ops/control/captures.hpp"
#include "ops/control/guarded.hpp"
#include "ops/scan/scan.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale {

namespace {

int batch_rank(const Variable& before, const Variable& after) {
  if (!before.defined() || !after.defined())
    throw ValueError("vectorize_graph: a variable of a replacement is missing");
  if (!as_tensor(before.type()) && before.type()->is_super(*after.type())) return 0;
  int rank = after.ndim() - before.ndim();
  if (before.dtype() != after.dtype() || rank < 0)
    throw TypeError(cat("vectorize_graph: `", after.str(), "` of type ", after.type()->str(),
                        " is not a batch of values like `", before.str(), "` of type ", before.type()->str()));
  return rank;
}

// The number of dimensions that a batch has gained. Values that are not tensors gain none: there is one for the whole
// batch.
int gained(const Variable& before, const Variable& after) {
  return as_tensor(before.type()) && as_tensor(after.type()) ? after.ndim() - before.ndim() : 0;
}

// The outputs of a node for batches of its inputs, with the batch dimensions on the same side.
Variables batched_outputs(const Batch& batch) {
  const Apply& node = batch.node;
  const int count = batch.ndim();
  if (count == 0) return node.with_inputs({batch.inputs.begin(), batch.inputs.end()}).outputs();
  if (batch.axis == BatchAxis::first) return node.op().vectorize(node, batch.inputs).outputs();
  if (const auto* along = dynamic_cast<const VectorizesAlong*>(&node.op()))
    if (const Apply made = along->vectorize_along(batch); made.defined()) return made.outputs();
  // Views cost nothing in another order, and the steps of a loop have their own.
  if (node.op().view_of(node, 0).empty() && !dynamic_cast<const MakesSteps*>(&node.op()))
    throw NotImplementedError(cat(node.op().label(), " has no form for batches along the last axis"));
  Variables first;
  for (int i = 0; i < int(batch.inputs.size()); ++i)
    first.push_back(batch.ndim(i) ? moveaxis(batch.inputs[std::size_t(i)], -1, 0) : batch.inputs[std::size_t(i)]);
  Variables outputs = node.op().vectorize(node, first).outputs();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (gained(node.output(int(k)), outputs[k])) outputs[k] = moveaxis(outputs[k], 0, -1);
  return outputs;
}

// The numbers of dimensions of the inputs and outputs of "(m,n),(n)->(m)".
struct CoreRanks {
  std::vector<int> inputs, outputs;
};

[[noreturn]] void refuse_core_ranks(const std::string& text) {
  throw ValueError(cat("vectorize: expected a signature such as \"(m,n),(n)->(m)\", got \"", text, "\""));
}

// One side of a signature: tuples of names, separated by commas.
std::vector<int> ranks_of_side(std::string_view side, const std::string& text) {
  std::vector<int> ranks;
  std::size_t at = 0;
  while (at < side.size()) {
    if (side[at] != '(') refuse_core_ranks(text);
    const std::size_t end = side.find(')', at);
    if (end == std::string_view::npos) refuse_core_ranks(text);
    int rank = 0;
    for (std::size_t name = at + 1; name < end;) {
      std::size_t stop = name;
      while (stop < end && (std::isalnum(static_cast<unsigned char>(side[stop])) || side[stop] == '_')) ++stop;
      if (stop == name || (stop < end && (side[stop] != ',' || stop + 1 == end))) refuse_core_ranks(text);
      ++rank;
      name = stop + 1;
    }
    ranks.push_back(rank);
    at = end + 1;
    if (at < side.size() && (side[at] != ',' || ++at == side.size())) refuse_core_ranks(text);
  }
  return ranks;
}

CoreRanks core_ranks(const std::string& text) {
  std::string bare;
  for (const char c : text)
    if (c != ' ') bare.push_back(c);
  const std::size_t arrow = bare.find("->");
  if (arrow == std::string::npos) refuse_core_ranks(text);
  const std::string_view all = bare;
  CoreRanks out{ranks_of_side(all.substr(0, arrow), text), ranks_of_side(all.substr(arrow + 2), text)};
  if (out.outputs.empty()) refuse_core_ranks(text);
  return out;
}

// The lengths of the batch dimensions; an input may have length 1 in some of them.
Shape lengths_of_batch(const Replacements& replacements, const VariableMap& batched, int ranks,
                       BatchAxis where = BatchAxis::first) {
  Shape out;
  for (int axis = 0; axis < ranks; ++axis) {
    Variable length = int64_constant(1);
    for (auto& [before, after] : replacements) {
      const Variable& aligned = batched.at(before);
      const int at = where == BatchAxis::first ? axis : before.ndim();
      if (gained(before, aligned) == 0 || aligned.tensor().broadcasts(at)) continue;
      length = length_of(aligned, at);
      break;
    }
    out.push_back(length);
  }
  return out;
}

// A length is the same for the whole batch: values computed from lengths have no batch dimensions. Null for other
// nodes.
Variable own_lengths(const Apply& node, const Variables& inputs, BatchAxis where) {
  const auto* one = dynamic_cast<const ShapeI*>(&node.op());
  if (!one && !dynamic_cast<const ShapeOp*>(&node.op())) return {};
  const int core = node.input(0).ndim(), before = where == BatchAxis::first ? inputs[0].ndim() - core : 0;
  if (one) return length_of(inputs[0], one->i + before);
  Variables lengths;
  for (int axis = before; axis < before + core; ++axis) lengths.push_back(length_of(inputs[0], axis));
  return make_vector(lengths, DType::Int64);
}

}  // namespace

namespace {

// The batches of replaced variables, aligned: ops rely on all batched inputs having the same number of batch
// dimensions.
struct Batches {
  explicit Batches(const Replacements& replacements) {
    for (auto& [before, after] : replacements) ranks = std::max(ranks, batch_rank(before, after));
    for (auto& [before, after] : replacements) {
      Variable aligned = after;
      if (int own = batch_rank(before, after))
        for (; own < ranks; ++own) aligned = expand_dims(aligned, 0);
      of.emplace(before, aligned);
      replaced.insert(before);
    }
  }
  int ranks = 0;
  VariableMap of;
  VariableSet replaced;
};

// A choice that differs within a batch needs both sides.
void require_harmless_sides(const Apply& node, const Variables& inputs, const PointerSet& guarded) {
  const LazyInputs* lazy = guarded.size() ? lazy_inputs(node) : nullptr;
  if (!lazy) return;
  bool differs = false, is_guarded = false;
  for (int input : needed_first(node, *lazy)) differs |= gained(node.input(input), inputs[std::size_t(input)]) > 0;
  for (auto& alternative : lazy->alternatives(node))
    for (int input : alternative) is_guarded |= guarded.contains(node.input(input).node());
  if (differs && is_guarded)
    throw NotImplementedError(cat(node.op().name(),
                                  ": vectorize: the choice differs from batch to batch, and a side "
                                  "that is not taken may fail"));
}

// The node without outputs that nothing reads.
FewerOutputs fewer_outputs(const Apply& node, const VariableSet& read) {
  const auto* optional = node.output_count() > 1 ? dynamic_cast<const OptionalOutputs*>(&node.op()) : nullptr;
  std::vector<bool> is_read;
  FewerOutputs out{node, {}};
  for (int k = 0; k < int(node.output_count()); ++k) {
    is_read.push_back(read.contains(node.output(k)));
    out.outputs.push_back(k);
  }
  return optional ? optional->without_unread(node, is_read) : out;
}

// The batch, with the lengths that the replaced variable is known to have.
Variable with_lengths_of(const Variable& before, const Variable& batch) {
  std::vector<std::optional<Operand>> known(std::size_t(batch.ndim()));
  for (int axis = 0; axis < before.ndim(); ++axis) {
    const auto at = std::size_t(batch.ndim() - before.ndim() + axis);
    const std::int64_t length = before.static_shape()[std::size_t(axis)];
    if (length != unknown_length && batch.static_shape()[at] == unknown_length) known[at] = int64_constant(length);
  }
  const auto is_known = [](const auto& each) { return each.has_value(); };
  return std::ranges::any_of(known, is_known) ? specify_shape(batch, known) : batch;
}

// The loop over the elements of the batch.
Variables looped_graph(const Variables& outputs, const Replacements& replacements) {
  const Batches batches(replacements);
  const Shape batch = lengths_of_batch(replacements, batches.of, batches.ranks);
  ScanParts parts;
  parts.n_steps = lengths::product(batch);
  parts.name = "batch";
  Replacements elements;
  Variables replaced;
  for (auto& [before, after] : replacements) {
    replaced.push_back(before);
    if (batch_rank(before, after) == 0) {
      elements.emplace_back(before, after);
      continue;
    }
    const Variable aligned = with_lengths_of(before, batches.of.at(before));
    Shape whole = batch, rows{parts.n_steps};
    Dims row;
    for (int axis = batches.ranks; axis < aligned.ndim(); ++axis) {
      whole.push_back(length_of(aligned, axis));
      rows.push_back(whole.back());
      row.push_back(aligned.static_shape()[std::size_t(axis)]);
    }
    elements.emplace_back(before, Variable(tensor_type(before.dtype(), row), before.name()));
    parts.elements.push_back(elements.back().second);
    parts.sequences.push_back(reshape(alloc(aligned, whole), rows));
  }
  parts.named = named_values(outputs, replaced);
  const Variables of_one = clone_replace(outputs, elements);
  std::vector<bool> is_traced;
  for (auto& each : of_one) {
    is_traced.push_back(as_tensor(each.type()) && depends_on(each, parts.elements));
    if (is_traced.back()) parts.traced.push_back(each);
  }
  const Apply loop = make_scan(parts);
  Variables out;
  int trace = 0;
  for (std::size_t k = 0; k < of_one.size(); ++k) {
    if (!is_traced[k]) {
      out.push_back(of_one[k]);
      continue;
    }
    const Variable rows = loop.output(trace++);
    Shape shape = batch;
    for (int axis = 1; axis < rows.ndim(); ++axis) shape.push_back(length_of(rows, axis));
    out.push_back(reshape(rows, shape));
  }
  return out;
}

// Whether the graph advances the state of a generator, which would have to pass from element to element of a batch.
bool has_draws(const Variables& outputs) {
  for (const Apply& node : toposort(outputs))
    for (auto& output : node.outputs())
      if (!as_tensor(output.type())) return true;
  return false;
}

}  // namespace

Variables batched_graph(const Variables& outputs, const Replacements& replacements, BatchAxis where) {
  const Batches batches(replacements);
  if (where == BatchAxis::last && batches.ranks > 1)
    throw ValueError(cat("vectorize_graph: batches along the last dimension have one dimension, got ", batches.ranks));
  VariableMap batched = batches.of;
  const PointerSet guarded = guarded_values(outputs);
  auto batch_of = [&](const Variable& v) {
    auto found = batched.find(v);
    return found == batched.end() ? v : found->second;
  };
  const std::vector<Apply> order = toposort(outputs, batches.replaced);
  VariableSet read(outputs.begin(), outputs.end());
  for (const Apply& node : order) read.insert(node.inputs().begin(), node.inputs().end());
  for (const Apply& node : order) {
    Variables inputs;
    bool changed = false;
    for (const Variable& input : node.inputs()) {
      inputs.push_back(batch_of(input));
      changed |= !inputs.back().same_as(input);
    }
    if (!changed) continue;
    if (const Variable lengths = own_lengths(node, inputs, where); lengths.defined()) {
      batched.emplace(node.output(), lengths);
      continue;
    }
    require_harmless_sides(node, inputs, guarded);
    const LineScope scope(node.provenance().where);
    const FewerOutputs fewer = fewer_outputs(node, read);
    const Variables copies = with_node_context(fewer.node, [&] {
      return batched_outputs({fewer.node, inputs, where});
    });
    for (std::size_t o = 0; o < node.output_count(); ++o)
      if (fewer.outputs[o] >= 0) batched.emplace(node.output(int(o)), copies[std::size_t(fewer.outputs[o])]);
  }
  Variables out;
  for (const Variable& output : outputs) {
    out.push_back(batch_of(output));
    if (out.back().same_as(output) || !as_tensor(output.type()) || gained(output, out.back())) continue;
    Shape shape = lengths_of_batch(replacements, batched, batches.ranks, where);
    const Shape own = lengths_of(out.back());
    shape.insert(where == BatchAxis::first ? shape.end() : shape.begin(), own.begin(), own.end());
    out.back() = alloc(where == BatchAxis::first ? out.back() : expand_dims(out.back(), out.back().ndim()), shape);
  }
  return out;
}

Variables batched_graph(const Variables& outputs, const Replacements& replacements) {
  return batched_graph(outputs, replacements, BatchAxis::first);
}

Variables vectorize_graph(const Variables& outputs, const Replacements& replacements, BatchAxis where) {
  try {
    return batched_graph(outputs, replacements, where);
  } catch (const NotImplementedError&) {
    if (where == BatchAxis::first && has_draws(outputs)) throw;
  }
  if (where == BatchAxis::first) return looped_graph(outputs, replacements);
  Replacements moved = replacements;
  for (auto& [before, after] : moved)
    if (gained(before, after)) after = moveaxis(after, -1, 0);
  Variables out = vectorize_graph(outputs, moved, BatchAxis::first);
  for (std::size_t k = 0; k < out.size(); ++k)
    if (gained(outputs[k], out[k])) out[k] = moveaxis(out[k], 0, -1);
  return out;
}

Variables vectorize_graph(const Variables& outputs, const Replacements& replacements) {
  return vectorize_graph(outputs, replacements, BatchAxis::first);
}

std::function<Variables(const Operands&)> vectorize(GraphFunction function, const std::string& signature) {
  std::optional<CoreRanks> known;
  if (!signature.empty()) known = core_ranks(signature);
  return [function = std::move(function), known](const Operands& given) {
    const LocationScope here(given.where);
    const Variables& inputs = given.variables;
    if (known && known->inputs.size() != inputs.size())
      throw ValueError(cat("vectorize: the signature has ", known->inputs.size(), " inputs, got ", inputs.size()));
    Variables formal;
    Replacements replacements;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Variable& x = inputs[i];
      const int core = known ? known->inputs[i] : 0;
      if (x.ndim() < core)
        throw ValueError(cat("vectorize: expected at least ", core, " dimensions, got ", x.str(), " with ", x.ndim()));
      Dims shape;
      for (int axis = x.ndim() - core; axis < x.ndim(); ++axis) shape.push_back(x.static_shape()[std::size_t(axis)]);
      formal.push_back(tensor(x.name(), x.dtype(), shape));
      replacements.emplace_back(formal.back(), x);
    }
    const Variables outputs = function(formal);
    if (known && known->outputs.size() != outputs.size())
      throw ValueError(
          cat("vectorize: the signature has ", known->outputs.size(), " outputs, the function ", outputs.size()));
    for (std::size_t o = 0; known && o < outputs.size(); ++o)
      if (outputs[o].ndim() != known->outputs[o])
        throw ValueError(cat("vectorize: the signature has an output ", o, " of ", known->outputs[o],
                             " dimensions, the function's has ", outputs[o].ndim()));
    return vectorize_graph(outputs, replacements);
  };
}

Variable apply_along_axis(const std::function<Variable(const Variable&)>& function, int axis, const Operand& x) {
  const LocationScope here(x.where);
  const int along = normal_axis(axis, x.ndim(), "apply_along_axis");
  const Variable moved = moveaxis(x, along, -1);
  const Variable vector = tensor({}, x.dtype(), Dims{moved.static_shape().back()});
  const Variable out = vectorize_graph({function(vector)}, {{vector, moved}})[0];
  // Batches come first: the dimensions of a result are moved behind those before the axis.
  std::vector<int> source, destination;
  for (int k = x.ndim() - 1; k < out.ndim(); ++k) {
    source.push_back(k);
    destination.push_back(along + k - (x.ndim() - 1));
  }
  return moveaxis(out, source, destination);
}

}  // namespace bitale
