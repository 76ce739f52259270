#include "support/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/printing/printing.hpp"
#include "graph/evaluate.hpp"

namespace bitale::test {

namespace {

// The outputs with one variable replaced; the nodes that depend on it are rebuilt, so that their types follow.
Variables with_replaced(const Variables& outputs, const Variable& before, const Variable& after) {
  VariableMap now{{before, after}};
  const auto current = [&](const Variable& v) {
    const auto found = now.find(v);
    return found == now.end() ? v : found->second;
  };
  for (const Apply& node : toposort(outputs, VariableSet{before})) {
    Variables inputs;
    bool changed = false;
    for (auto& input : node.inputs()) {
      inputs.push_back(current(input));
      changed |= !inputs.back().same_as(input);
    }
    if (!changed) continue;
    const Apply made = node.with_inputs(inputs);
    for (std::size_t i = 0; i < node.output_count(); ++i) now[node.output(int(i))] = made.output(int(i));
  }
  Variables out;
  for (auto& output : outputs) out.push_back(current(output));
  return out;
}

Case with_inputs_in_use(const Case& from) {
  const Variables used = graph_inputs(from.outputs);
  Case out{{}, from.outputs, {}};
  for (std::size_t i = 0; i < from.inputs.size(); ++i) {
    if (std::none_of(used.begin(), used.end(), [&](auto& v) { return v.same_as(from.inputs[i]); })) continue;
    out.inputs.push_back(from.inputs[i]);
    out.values.push_back(from.values[i]);
  }
  return out;
}

class Shrinker {
 public:
  Shrinker(Case failing, const Fails& fails, int max_tries)
      : best_(std::move(failing)), fails_(fails), left_(max_tries) {}

  Case run() {
    accept(with_inputs_in_use(best_));
    bool changed = true;
    while (changed && left_ > 0) {
      changed = keep_one_output();
      changed |= keep_a_part();
      changed |= remove_nodes();
      changed |= shorten();
      changed |= round_values();
    }
    return best_;
  }

 private:
  bool accept(Case candidate) {
    if (left_-- <= 0) return false;
    try {
      if (!fails_(candidate)) return false;
    } catch (const std::exception&) {
      return false;
    }
    best_ = std::move(candidate);
    return true;
  }
  // For candidates that may be impossible to build.
  template <class Make>
  bool accept_made(Make make) {
    try {
      return accept(with_inputs_in_use(make()));
    } catch (const std::exception&) {
      return false;
    }
  }

  bool keep_one_output() {
    if (best_.outputs.size() < 2) return false;
    for (auto& output : Variables(best_.outputs))
      if (accept_made([&] { return Case{best_.inputs, {output}, best_.values}; })) return true;
    return false;
  }

  // A part that fails becomes the only output. Ancestors are tried first.
  bool keep_a_part() {
    for (auto& part : ancestors(best_.outputs)) {
      if (!part.has_owner()) continue;
      if (best_.outputs.size() == 1 && part.same_as(best_.outputs[0])) continue;
      if (accept_made([&] { return Case{best_.inputs, {part}, best_.values}; })) return true;
    }
    return false;
  }

  // From the outputs to the inputs, so that whole branches are removed first.
  bool remove_nodes() {
    bool changed = false;
    Variables open = ancestors(best_.outputs);
    std::reverse(open.begin(), open.end());
    for (auto& v : open) {
      const Variables now = ancestors(best_.outputs);
      const bool remains = std::any_of(now.begin(), now.end(), [&](auto& each) { return each.same_as(v); });
      if (remains && v.has_owner()) changed |= by_operand(v) || by_input(v);
      if (left_ <= 0) break;
    }
    return changed;
  }
  bool by_operand(const Variable& v) {
    for (auto& operand : v.owner().inputs())
      if (operand.type()->equals(*v.type()) && replace(v, operand)) return true;
    return false;
  }
  bool replace(const Variable& v, const Variable& by) {
    return accept_made([&] { return Case{best_.inputs, with_replaced(best_.outputs, v, by), best_.values}; });
  }
  // Replaces the node by an input with its value.
  bool by_input(const Variable& v) {
    return accept_made([&] {
      const Variable input(v.type(), cat("v", ++made_));
      Case out{best_.inputs, with_replaced(best_.outputs, v, input), best_.values};
      out.values.push_back(evaluate(v, best_.inputs, best_.values));
      out.inputs.push_back(input);
      return out;
    });
  }

  // For each length that occurs, all dimensions of this length are shortened together.
  bool shorten() {
    std::set<std::int64_t> lengths;
    for (auto& value : best_.values) lengths.insert(value.shape().begin(), value.shape().end());
    bool changed = false;
    for (std::int64_t length : lengths)
      for (std::int64_t shorter : {std::int64_t(1), std::int64_t(2), length / 2, length - 1})
        if (shorter > 0 && shorter < length && accept_made([&] { return with_lengths(length, shorter); })) {
          changed = true;
          break;
        }
    return changed;
  }
  Case with_lengths(std::int64_t length, std::int64_t shorter) const {
    Case out = best_;
    for (std::size_t i = 0; i < out.inputs.size(); ++i) {
      Array& value = out.values[i];
      for (int axis = 0; axis < value.ndim(); ++axis) {
        if (value.shape(axis) != length) continue;
        if (out.inputs[i].static_shape()[std::size_t(axis)] != unknown_length) throw ValueError("a static length");
        Dims shape = value.shape();
        shape[std::size_t(axis)] = shorter;
        value = value.view(shape, value.strides(), 0).contiguous();
      }
    }
    return out;
  }
  bool round_values() {
    bool changed = false;
    const std::function<double(double)> simpler[] = {[](double) { return 1.0; }, [](double) { return 2.0; },
                                                     [](double v) { return std::round(v); },
                                                     [](double v) { return std::round(v * 10) / 10; }};
    for (std::size_t i = 0; i < best_.values.size(); ++i)
      for (auto& simple : simpler) {
        Case candidate = best_;
        Array wide = candidate.values[i].astype(DType::Float64).contiguous();
        Array out = Array::empty(DType::Float64, wide.shape());
        bool same = true;
        for (std::int64_t k = 0; k < out.size(); ++k) {
          const double before = wide.data_as<double>()[k];
          const double after = std::isfinite(before) ? simple(before) : before;
          same &= before == after || std::isnan(before);
          out.mutable_data_as<double>()[k] = after;
        }
        if (same) break;  // already this simple
        candidate.values[i] = out.astype(candidate.values[i].dtype());
        if (accept(std::move(candidate))) {
          changed = true;
          break;
        }
      }
    return changed;
  }

  Case best_;
  const Fails& fails_;
  int left_, made_ = 0;
};

}  // namespace

Case shrink(Case failing, const Fails& fails, int max_tries) {
  return Shrinker(std::move(failing), fails, max_tries).run();
}

std::string describe(const Case& failing) {
  std::string out = cat("a failing graph of ", node_count(failing.outputs), " nodes:\n", dprint(failing.outputs));
  for (std::size_t i = 0; i < failing.inputs.size(); ++i)
    out += cat(failing.inputs[i].str(), ": ", failing.inputs[i].type()->str(), " = ", failing.values[i].str(), "\n");
  return out;
}

}  // namespace bitale::test
