// vectorize_graph: the same computation for a batch of inputs. Each op defines its behaviour for batches.
#include <algorithm>
#include <cctype>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/vectorize.hpp"
#include "graph/evaluate.hpp"
#include "graph/line_scope.hpp"
#include "ops/lengths.hpp"
#include "ops/shape.hpp"

namespace bitale {

namespace {

int batch_rank(const Variable& before, const Variable& after) {
  if (!before || !after) throw ValueError("vectorize_graph: a variable of a replacement is missing");
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

Apply batched_node(const Apply& node, const Variables& inputs) {
  bool any_batch = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) any_batch |= gained(node.inputs()[i], inputs[i]) != 0;
  return with_node_context(node,
                           [&] { return any_batch ? node.op().vectorize(node, inputs) : node.with_inputs(inputs); });
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
Shape lengths_of_batch(const Replacements& replacements, const VariableMap& batched, int ranks) {
  Shape out;
  for (int axis = 0; axis < ranks; ++axis) {
    Variable length = int64_constant(1);
    for (auto& [before, after] : replacements) {
      const Variable& aligned = batched.at(before);
      if (gained(before, aligned) == 0 || aligned.tensor().broadcasts(axis)) continue;
      length = length_of(aligned, axis);
      break;
    }
    out.push_back(length);
  }
  return out;
}

// A length is the same for the whole batch: values computed from lengths have no batch dimensions. Null for other
// nodes.
Variable own_lengths(const Apply& node, const Variables& inputs) {
  const auto* one = dynamic_cast<const ShapeI*>(&node.op());
  if (!one && !dynamic_cast<const ShapeOp*>(&node.op())) return {};
  const int gained = inputs[0].ndim() - node.input(0).ndim();
  if (one) return length_of(inputs[0], one->i + gained);
  Variables lengths;
  for (int axis = gained; axis < inputs[0].ndim(); ++axis) lengths.push_back(length_of(inputs[0], axis));
  return make_vector(lengths, DType::Int64);
}

}  // namespace

Variables vectorize_graph(const Variables& outputs, const Replacements& replacements) {
  int ranks = 0;
  for (auto& [before, after] : replacements) ranks = std::max(ranks, batch_rank(before, after));
  VariableMap batched;
  VariableSet replaced;
  for (auto& [before, after] : replacements) {
    // Ops rely on all batched inputs having the same number of batch dimensions.
    Variable aligned = after;
    if (int own = batch_rank(before, after))
      for (; own < ranks; ++own) aligned = expand_dims(aligned, 0);
    batched.emplace(before, aligned);
    replaced.insert(before);
  }
  auto batch_of = [&](const Variable& v) {
    auto found = batched.find(v);
    return found == batched.end() ? v : found->second;
  };
  for (const Apply& node : toposort(outputs, replaced)) {
    Variables inputs;
    bool changed = false;
    for (const Variable& input : node.inputs()) {
      inputs.push_back(batch_of(input));
      changed |= !inputs.back().same_as(input);
    }
    if (!changed) continue;
    if (const Variable lengths = own_lengths(node, inputs)) {
      batched.emplace(node.output(), lengths);
      continue;
    }
    const LineScope scope(node.provenance().where);
    Apply copy = batched_node(node, inputs);
    for (std::size_t o = 0; o < node.output_count(); ++o) batched.emplace(node.output(int(o)), copy.output(int(o)));
  }
  Variables out;
  for (const Variable& output : outputs) {
    out.push_back(batch_of(output));
    if (out.back().same_as(output) || !as_tensor(output.type()) || gained(output, out.back())) continue;
    Shape shape = lengths_of_batch(replacements, batched, ranks);
    for (auto& length : lengths_of(out.back())) shape.push_back(length);
    out.back() = alloc(out.back(), shape);
  }
  return out;
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

}  // namespace bitale
