// The declarations of ops about memory (view_of, destroys) are compared with perform, and in-place forms are tested,
// over the registry.
#include <doctest/doctest.h>

#include <algorithm>

#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/aliasing.hpp"
#include "graph/evaluate.hpp"
#include "ops/inplace.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

// Copies of the values of the inputs of the node.
Arrays values_of(const Sample& sample) {
  Arrays out;
  for (auto& x : evaluate(sample.node.inputs(), graph_inputs(sample.node.inputs()), sample.values))
    out.push_back(x.copy());
  return out;
}

template <class Check>
void for_each_sample(Check&& check) {
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      const std::string which = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
      INFO(which);
      check(sample);
    }
}

bool is_among(int i, const std::vector<int>& list) { return std::find(list.begin(), list.end(), i) != list.end(); }

// How perform violates the declarations, or "" if it does not.
std::string violation(const Apply& node, const Arrays& in) {
  Arrays before, out(node.output_count());
  for (auto& x : in) before.push_back(x.copy());
  perform_node(node, in, out);  // evaluate_node copies what is not declared
  for (int i = 0; i < int(in.size()); ++i) {
    if (!identical(in[std::size_t(i)], before[std::size_t(i)]) && !is_among(i, destroyed_inputs(node)))
      return cat("input ", i, " is changed, but not declared destroyed");
    for (int k = 0; k < int(out.size()); ++k) {
      const bool declared = is_among(i, node.op().view_of(node, k)) || is_among(i, node.op().destroys(node, k));
      if (!declared && in[std::size_t(i)].nbytes() > 0 && out[std::size_t(k)].shares_memory_with(in[std::size_t(i)]))
        return cat("output ", k, " shares memory with input ", i, ", but is not declared a view of it");
    }
  }
  for (std::size_t k = 0; k < out.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (node.op().view_of(node, int(k)).empty() && out[k].nbytes() > 0 && out[k].shares_memory_with(out[j]))
        return cat("outputs ", j, " and ", k, " share memory");
  return {};
}

// An op with undeclared aliasing: it writes to its input, or returns it as its output.
class Undeclared final : public Op {
 public:
  explicit Undeclared(bool writes) : writes_(writes) {}
  std::string_view name() const override { return "Undeclared"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    if (writes_) in[0].mutable_data_as<double>()[0] += 1;
    out[0] = writes_ ? in[0].copy() : in[0];
  }

 private:
  bool writes_;
};

}  // namespace

TEST_CASE("perform shares and destroys only what the op declares") {
  for_each_sample([](const Sample& sample) { CHECK(violation(sample.node, values_of(sample)) == ""); });
}

TEST_CASE("undeclared sharing and destruction are detected") {
  const Variable x(tensor_type(DType::Float64, Dims{2}), "x");
  for (bool writes : {true, false}) {
    const Apply node = make_ref<Undeclared>(writes)->make_node({&x, 1});
    CHECK(violation(node, {Array{1., 2.}}) != "");
  }
}

TEST_CASE("in-place forms match their declarations and give the same results") {
  int forms = 0, reused = 0;
  for_each_sample([&](const Sample& sample) {
    for (int i = 0; i < int(sample.node.inputs().size()); ++i) {
      const OpRef form = inplace_form(sample.node, {&i, 1});
      if (!form) continue;
      ++forms;
      CHECK_FALSE(form->equals(sample.node.op()));
      const Apply node = form->make_node(sample.node.inputs());
      CHECK(destroyed_inputs(node) == std::vector<int>{i});
      CHECK_FALSE(inplace_form(node, {&i, 1}));
      Arrays expected(node.output_count()), got(node.output_count());
      evaluate_node(sample.node, values_of(sample), expected);
      const Arrays in = values_of(sample);
      CHECK(violation(node, values_of(sample)) == "");
      evaluate_node(node, in, got);
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(identical(got[k], expected[k]));
      reused += got[0].shares_memory_with(in[std::size_t(i)]);
      // Read-only memory is not modified.
      Arrays read_only = values_of(sample), kept = read_only;
      read_only[std::size_t(i)] = read_only[std::size_t(i)].read_only();
      const Array before = kept[std::size_t(i)].copy();
      evaluate_node(node, read_only, got);
      CHECK(identical(kept[std::size_t(i)], before));
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(identical(got[k], expected[k]));
    }
  });
  CHECK(forms > 50);
  CHECK(reused > forms / 2);
}

TEST_CASE("the reference interpreter preserves inputs that ops would destroy") {
  for_each_sample([&](const Sample& sample) {
    const int all[] = {0, 1, 2};
    const OpRef form = inplace_form(sample.node, std::span(all, std::min<std::size_t>(3, sample.node.inputs().size())));
    if (!form) return;
    const Apply node = form->make_node(sample.node.inputs());
    Variables inputs;
    Arrays values;
    const Arrays in = values_of(sample);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (node.inputs()[i].is_constant()) continue;
      inputs.push_back(node.inputs()[i]);
      values.push_back(in[i]);
    }
    evaluate(node.outputs(), inputs, values);
    const Arrays before = values_of(sample);
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(identical(in[i], before[i]));
  });
}
