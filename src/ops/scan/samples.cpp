// Scan in the registry: its construction from attributes, and samples of every kind of state, with zero, one and more
// steps.
#include <utility>

#include "bitale/graph/random_type.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/random.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"
#include "ops/scan/scan.hpp"

namespace bitale {

namespace {

OpRef make_scan_op(const Attributes& attributes) {
  ScanLayout layout;
  layout.sequences = required_attribute<int>(attributes, "sequences");
  layout.states = required_attribute<int>(attributes, "states");
  layout.has_until = required_attribute<bool>(attributes, "until");
  layout.truncate_gradient = optional_attribute<std::int64_t>(attributes, "truncate_gradient").value_or(-1);
  layout.name = optional_attribute<std::string>(attributes, "name").value_or("");
  return make_ref<ScanOp>(required_attribute<InnerGraphRef>(attributes, "graph"), layout);
}

std::vector<Sample> scan_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto f64 = DType::Float64;
  const auto x = sample_input(f64, {any}), a = sample_input(f64, {}), y0 = sample_input(f64, {});
  const auto n = sample_input(DType::Int64, {});
  const auto e = sample_input(f64, {}), y = sample_input(f64, {});
  // A scalar state, of 0, 1 and more steps: final value and trace.
  {
    ScanParts parts{length_of(x, 0), {x}, {e}, {y0}, {y}, {tanh(a * y + e)}, {}};
    parts.traced = {parts.next[0]};
    const Apply node = make_scan(parts);
    for (std::int64_t steps : {0, 1, 5})
      out.push_back({node, {sample_values(f64, {steps}), sample_values(f64, {}, 2), sample_values(f64, {}, 1)}});
  }
  // A vector state with a product, an integer state, and a trace of neither.
  {
    const auto xs = sample_input(f64, {any, 3}), w = sample_input(f64, {3, 3}), h0 = sample_input(f64, {3});
    const auto xt = sample_input(f64, {3}), h = sample_input(f64, {3});
    const auto k0 = sample_input(DType::Int64, {}), k = sample_input(DType::Int64, {});
    ScanParts parts{length_of(xs, 0), {xs}, {xt}, {h0, k0}, {h, k}, {tanh(dot(w, h) + xt), k + 2}, {}};
    parts.traced = {sum(h) * cast(k, f64), parts.next[0]};
    const Apply node = make_scan(parts);
    for (std::int64_t steps : {0, 1, 4})
      out.push_back({node,
                     {sample_values(f64, {steps, 3}), sample_values(f64, {3}, 1), Array(std::int64_t(1)),
                      sample_values(f64, {3, 3}, 2)}});
  }
  // No state: a map.
  {
    ScanParts parts{length_of(x, 0), {x}, {e}, {}, {}, {}, {exp(e) * a}};
    out.push_back({make_scan(parts), {sample_values(f64, {4}), sample_values(f64, {}, 2)}});
  }
  // No sequence, and an `until`, which ends the loop early or not at all.
  {
    ScanParts parts{n, {}, {}, {y0}, {y}, {y * a + 1.0}, {}};
    parts.traced = {parts.next[0]};
    parts.until = gt(parts.next[0], 3.0);
    const Apply node = make_scan(parts);
    for (std::int64_t steps : {0, 2, 9}) out.push_back({node, {Array(steps), Array(0.75), Array(1.25)}});
  }
  // A matrix state whose lengths are known only at run time, float32, with sequences of two kinds.
  {
    const auto m0 = sample_input(DType::Float32, {any, any}), m = sample_input(DType::Float32, {any, any});
    const auto i = sample_input(DType::Int16, {any}), it = sample_input(DType::Int16, {});
    ScanParts parts{length_of(i, 0), {i}, {it}, {m0}, {m}, {m * 0.5f + transpose(m) * cast(it, DType::Float32)}, {}};
    parts.traced = {sum(m, std::vector<int>{0})};
    out.push_back({make_scan(parts), {sample_values(DType::Int16, {3}), sample_values(DType::Float32, {2, 2})}});
  }
  // A scan in a scan.
  {
    const auto z = sample_input(f64, {}), z0 = sample_input(f64, {});
    ScanParts within{int64_constant(3), {}, {}, {y}, {z}, {sin(z) + e}, {}};
    const Variable inner = make_scan(within).output();
    ScanParts parts{length_of(x, 0), {x}, {e}, {y0}, {y}, {inner}, {inner}};
    out.push_back({make_scan(parts), {sample_values(f64, {3}), sample_values(f64, {}, 1)}});
  }
  // States of other dtypes: bool, small and unsigned integers, float16, complex numbers.
  for (DType dtype : {DType::Bool, DType::Int8, DType::UInt16, DType::Float16, DType::Complex128}) {
    const auto xs = sample_input(dtype, {any, 2}), xt = sample_input(dtype, {2});
    const auto s0 = sample_input(dtype, {2}), s = sample_input(dtype, {2});
    const Variable next = dtype == DType::Bool ? neq(s, xt) : dtype == DType::Complex128 ? mul(s, xt) : sub(xt, s);
    ScanParts parts{length_of(xs, 0), {xs}, {xt}, {s0}, {s}, {next}, {next}};
    const Apply node = make_scan(parts);
    const bool is_complex_one = dtype == DType::Complex128;
    const DType made_of = is_complex_one ? DType::Float64 : dtype;
    for (std::int64_t steps : {0, 1, 5})
      out.push_back({node,
                     {sample_values(made_of, {steps, 2}).astype(dtype), sample_values(made_of, {2}, 1).astype(dtype)},
                     is_storage_format(dtype) ? 2e-3 : 1e-6});
  }
  // Two states that shift by one step each, as taps do, a state that no step reads, and one that never changes.
  {
    const auto before0 = sample_input(f64, {}), before = sample_input(f64, {});
    const auto last0 = sample_input(f64, {}), last = sample_input(f64, {});
    const auto same0 = sample_input(f64, {}), same = sample_input(f64, {});
    ScanParts parts{length_of(x, 0),
                    {x},
                    {e},
                    {y0, before0, last0, same0},
                    {y, before, last, same},
                    {sin(y) * same - before * 0.5 + e, y, exp(e), same},
                    {before}};
    const Apply node = make_scan(parts);
    for (std::int64_t steps : {0, 1, 4})
      out.push_back({node,
                     {sample_values(f64, {steps}), sample_values(f64, {}, 1), sample_values(f64, {}, 2),
                      sample_values(f64, {}, 3), sample_values(f64, {}, 4)}});
  }
  // A batch of rows, with a product, elements at fixed positions and a sum over the batch; a batch of matrices and
  // their inverses.
  {
    const auto s0 = sample_input(f64, {any, 3}), s = sample_input(f64, {any, 3});
    const auto c0 = sample_input(f64, {3, 3}), c = sample_input(f64, {3, 3}), w = sample_input(f64, {3, 3});
    const auto first = subtensor(s, {Slice{}, IndexItem(0)}), last = subtensor(s, {Slice{}, IndexItem(-1)});
    const Variable row = tanh(dot(s, w) + expand_dims(first * last, 1));
    ScanParts parts{n, {}, {}, {s0, c0}, {s, c}, {row, c + dot(transpose(s), row)}, {}};
    parts.traced = {parts.next[0], sum(s, std::vector<int>{1})};
    const Apply node = make_scan(parts);
    for (auto [steps, batch] : {std::pair(0, 5), std::pair(1, 1), std::pair(4, 17), std::pair(3, 0)})
      out.push_back({node,
                     {Array(std::int64_t(steps)), sample_values(f64, {batch, 3}), sample_values(f64, {3, 3}, 1),
                      sample_values(f64, {3, 3}, 2)}});
    const auto m0 = sample_input(f64, {any, 2, 2}), m = sample_input(f64, {any, 2, 2});
    const Variable turned = matmul(m, dimshuffle(m, {0, 2, 1})) + eye(2);
    ScanParts matrices{n, {}, {}, {m0}, {m}, {inv(turned) + m * 0.5}, {turned}};
    for (auto [steps, batch] : {std::pair(1, 3), std::pair(3, 18)})
      out.push_back({make_scan(matrices), {Array(std::int64_t(steps)), sample_values(f64, {batch, 2, 2})}});
  }
  // A vector that ends the loop, and a matrix that a runtime function computes.
  {
    const auto v0 = sample_input(f64, {3}), v = sample_input(f64, {3});
    ScanParts parts{n, {}, {}, {v0}, {v}, {v * 1.5 + 0.25}, {sum(v)}};
    parts.until = gt(max(parts.next[0]), 4.1);
    const Apply node = make_scan(parts);
    for (std::int64_t steps : {0, 1, 9}) out.push_back({node, {Array(steps), sample_values(f64, {3}, 1)}});
    const auto m0 = sample_input(f64, {any, any}), m = sample_input(f64, {any, any});
    ScanParts inverses{n, {}, {}, {m0}, {m}, {inv(m + transpose(m)) * 2.0}, {}};
    for (std::int64_t steps : {0, 1, 3})
      out.push_back({make_scan(inverses), {Array(steps), Array({2., 1., -1., 3.}).reshape({2, 2})}});
  }
  // The state of a generator, and draws from it.
  {
    const Variable rng0(random_type(BitGenerator::PCG64), "rng"), rng(rng0.type(), "rng");
    const auto [after, draw] = random::normal(rng, e, 2.0);
    ScanParts parts{length_of(x, 0), {x}, {e}, {rng0, y0}, {rng, y}, {after, y * 0.5 + draw}, {draw}};
    const Apply node = make_scan(parts);
    for (std::int64_t steps : {0, 1, 4})
      out.push_back({node,
                     {sample_values(f64, {steps}), Array(std::vector<std::uint64_t>{3, 5, 7, 9, 0, 0}),
                      sample_values(f64, {}, 1)},
                     0,
                     false});
  }
  return out;
}

const RegisterOp register_scan("Scan", "A loop of steps from state to state over an inner graph.", scan_samples,
                               make_scan_op);

}  // namespace
}  // namespace bitale
