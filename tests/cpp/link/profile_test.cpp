// Code with probes: results have the same bits, every node belongs to a part, and the counts of bytes and operations
// equal those counted by hand. Without a profile, the Program has no probes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>

#include "bitale/bitale.hpp"
#include "bitale/compile/profile.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/registry.hpp"
#include "bitale/runtime/functions.hpp"
#include "codegen/key.hpp"
#include "link/linker.hpp"
#include "link/measured.hpp"
#include "link/probes.hpp"
#include "lowering/lower.hpp"
#include "runtime/probe.hpp"
#include "support/sampling.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

std::shared_ptr<const FunctionGraph> rewritten(const Variables& inputs, const Variables& outputs) {
  auto graph = std::make_shared<FunctionGraph>(inputs, outputs);
  rewrite(*graph, Mode("jit", "fast_run").query());
  return graph;
}

bool same_bits(const Array& a, const Array& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Array x = a.contiguous(), y = b.contiguous();
  return x.nbytes() == 0 || std::memcmp(x.data(), y.data(), std::size_t(x.nbytes())) == 0;
}

Array counting(const Dims& shape, DType dtype = DType::Float64) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = 0.25 + double(i % 97) / 97;
  return out.astype(dtype);
}

// The measurements of one call.
link::Measured measured(const Variables& inputs, const Variables& outputs, const Arrays& values) {
  const auto thunk = link::link("jit", rewritten(inputs, outputs), {.profile = true});
  thunk->run(values);
  return thunk->measured();
}

link::MeasuredPart total(const link::Measured& measured) {
  link::MeasuredPart sum{.kind = "all", .counted = true};
  for (auto& part : measured.parts) {
    sum.bytes += part.bytes;
    sum.flops64 += part.flops64;
    sum.flops32 += part.flops32;
    sum.steps += part.steps;
    sum.trace_bytes += part.trace_bytes;
    sum.counted &= part.counted || part.kind == "scalars" || part.kind == "memory";
  }
  return sum;
}

struct Counted {
  double bytes, flops64, flops32;
};
void check_counts(const Variables& inputs, const Variable& output, const Arrays& values, Counted expected) {
  const link::MeasuredPart sum = total(measured(inputs, {output}, values));
  CHECK(sum.counted);
  CHECK(sum.bytes == expected.bytes);
  CHECK(sum.flops64 == expected.flops64);
  CHECK(sum.flops32 == expected.flops32);
}

}  // namespace

TEST_CASE("profile: bytes and operations are those of the loops") {
  const Variable x = vector("x"), y = vector("y"), a = matrix("A"), b = matrix("B"), s = fvector("s");
  const Array v = counting({1000}), w = counting({1000}), m = counting({40, 30}), k = counting({30, 20});
  check_counts({x}, x * 2.0 + 1.0, {v}, {16000, 2000, 0});          // read, written; fused
  check_counts({x, y}, sum(x * y), {v, w}, {16000, 2000, 0});       // the result is a scalar
  check_counts({x, y}, x / y + sqrt(x), {v, w}, {24000, 3000, 0});  // each of the two is read once
  check_counts({s}, s * s, {counting({1000}, DType::Float32)}, {8000, 0, 1000});
  check_counts({a, y}, a + y, {m, counting({30})}, {8 * (2 * 1200 + 30), 1200, 0});  // a row is read once
  check_counts({a, b}, dot(a, b), {m, k}, {8 * (1200 + 600 + 800), 2.0 * 40 * 30 * 20, 0});
  check_counts({x, y}, dot(x, y), {v, w}, {16000, 2000, 0});
  check_counts({a}, sum(a, std::vector{0}), {m}, {8 * (1200 + 3 * 30), 1200, 0});  // filled, then read and written
}

TEST_CASE("profile: a row that is read several times is counted once") {
  const Variable a = matrix("A");
  const auto result = measured({a}, {softmax(a, std::vector{1})}, {counting({50, 64})});
  const auto sum = total(result);
  CHECK(sum.counted);
  CHECK(sum.bytes >= 2 * 8 * 50 * 64);
  CHECK(sum.bytes <= 2.5 * 8 * 50 * 64);
  CHECK(sum.flops64 > 10 * 50 * 64);
}

TEST_CASE("profile: every node belongs to a part, and a loop has only its nodes") {
  const Variable a = matrix("A"), b = matrix("B"), x = vector("x");
  const Variable z = tanh(dot(a, x)), loss = sum(sqr(z)) + sum(exp(b));
  const Variables gradients = grad(loss, Variables{a, x});
  const std::vector<std::pair<Variables, Variables>> cases = {
      {{a, x, b}, {loss}},
      {{a, x, b}, {loss, gradients[0], gradients[1]}},
      {{a}, {softmax(a, std::vector{1}), sum(a, std::vector{0}), argmax(a, 1)}},
      {{x}, {cumsum(x) * 2.0, sort(x)}},
      {{a, b}, {dot(dot(a, b), a)}},
  };
  for (auto& [inputs, outputs] : cases) {
    const auto graph = rewritten(inputs, outputs);
    const auto thunk = link::link("jit", graph, {.profile = true});
    std::set<ApplyNode*> found;
    for (auto& part : thunk->measured().parts)
      for (auto& node : part.nodes) found.insert(node.node());
    for (auto& node : graph->toposort()) {
      INFO(node.op().label());
      CHECK(found.count(node.node()) == 1);
    }
  }
  // Two products, each in a separate call: of matrices that are small enough not to run in blocks of rows.
  const Variable c(tensor_type(DType::Float64, {200, 200}), "C");
  const auto thunk = link::link("jit", rewritten({c}, {dot(dot(c, c), c)}), {.profile = true});
  int calls = 0;
  for (auto& part : thunk->measured().parts) {
    if (part.kind != "call") continue;
    ++calls;
    CHECK(part.nodes.size() == 1);
  }
  CHECK(calls == 2);
}

TEST_CASE("profile: every op of the registry gives the same bits with probes, by jit and by vm") {
  for (auto& entry : op_registry())
    for (auto& sample : test::part_of(entry.samples())) {
      const Variables outputs = sample.node.outputs(), inputs = graph_inputs(outputs);
      const auto graph = std::make_shared<const FunctionGraph>(inputs, outputs);
      INFO(cat(entry.name, " ", sample.note));
      for (const char* linker : {"jit", "vm"}) {
        const auto plain = link::link(linker, graph), probed = link::link(linker, graph, {.profile = true});
        Arrays expected, got;
        std::string error, probed_error;
        try {
          expected = plain->run(sample.values);
        } catch (const Error& e) {
          error = e.what();
        }
        try {
          got = probed->run(sample.values);
        } catch (const Error& e) {
          probed_error = e.what();
        }
        CHECK(error == probed_error);
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
        CHECK(probed->measured().calls == (error.empty() ? 1 : 0));
        CHECK(plain->measured().parts.empty());
      }
    }
}

TEST_CASE("profile: loops in chunks and the C linker support probes") {
  const Variable a = matrix("A"), x = vector("x");
  const auto graph = rewritten({a, x}, {sum(tanh(a * x), std::vector{0}), sum(a), exp(a)});
  const Arrays values = {counting({300, 200}), counting({200})};
  const Arrays expected = link::link("jit", graph)->run(values);
  const auto check = [&](const link::Thunk& thunk) {
    const Arrays got = thunk.run(values);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
    const link::Measured all = thunk.measured();
    CHECK(all.calls == 1);
    CHECK(all.results == 8 * (300 * 200 + 200 + 1));
    CHECK(std::any_of(all.parts.begin(), all.parts.end(), [](auto& p) { return p.kind == "loop" && p.flops64 > 0; }));
  };
  check(*link::link("jit", graph, {.threads = 3, .profile = true, .eager_threads = true}));
  std::unique_ptr<link::Thunk> by_c;
  try {
    by_c = link::link("c", graph, {.profile = true});
  } catch (const NotImplementedError&) {
    MESSAGE("SKIP: no C compiler, so the C linker is not tested");
    return;
  }
  check(*by_c);
}

namespace {
// An op without native code.
class Copied final : public Op {
 public:
  std::string_view name() const override { return "Copied"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override { out[0] = in[0].copy(); }
};
}  // namespace

TEST_CASE("profile: an op without native code is timed separately, and its result is a temporary") {
  const Variable x = vector("x"), copied = (*OpRef(new Copied))({x});
  const link::Measured all = measured({x}, {exp(copied)}, {counting({1000})});
  const auto part = std::find_if(all.parts.begin(), all.parts.end(), [](auto& p) { return p.kind == "perform"; });
  REQUIRE(part != all.parts.end());
  REQUIRE(part->nodes.size() == 1);
  CHECK(part->nodes[0].op().name() == "Copied");
  CHECK(part->bytes == 16000);
  CHECK(part->seconds > 0);
  CHECK(all.temporaries == 8000);
  CHECK(all.results == 8000);
}

TEST_CASE("profile: an ifelse is one part, of nodes of the given graph") {
  const Variable x = vector("x"), c = scalar("c");
  const Variables chosen = ifelse(c > 0.0, Variables{sum(exp(x)), exp(x)}, Variables{sum(sin(x)), cos(x)});
  const auto graph = rewritten({c, x}, {chosen[0] * 2.0, chosen[1]});
  std::set<ApplyNode*> known;
  for (auto& node : graph->toposort()) known.insert(node.node());
  const Arrays values = {Array(1.0), counting({1000})};
  const Arrays expected = link::link("jit", graph)->run(values);
  for (const char* linker : {"jit", "vm"}) {
    const auto thunk = link::link(linker, graph, {.profile = true});
    const Arrays got = thunk->run(values);
    CHECK(got[0].item() == doctest::Approx(expected[0].item()));
    std::size_t choices = 0;
    for (auto& part : thunk->measured().parts)
      for (auto& node : part.nodes) {
        CHECK(known.count(node.node()) == 1);
        choices += node.op().name() == "IfElse";
      }
    CHECK(choices >= 1);
  }
  // A node that a call does not run is not counted in it.
  const auto thunk = link::link("vm", graph, {.profile = true});
  thunk->run(values);
  thunk->run(Arrays{Array(-1.0), values[1]});
  int sines = 0;
  for (auto& part : thunk->measured().parts) {
    if (part.nodes[0].op().label() != "Sin") continue;
    ++sines;
    CHECK(part.calls == 1);
  }
  CHECK(sines == 1);
}

TEST_CASE("profile: calls from many threads are all counted") {
  const Variable x = vector("x");
  for (const char* linker : {"jit", "vm"}) {
    const auto thunk = link::link(linker, rewritten({x}, {sum(exp(x)), x * 2.0}), {.profile = true});
    const Array values = counting({500});
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back([&] {
        for (int call = 0; call < 100; ++call) thunk->run(std::span(&values, 1));
      });
    for (auto& thread : threads) thread.join();
    const link::Measured all = thunk->measured();
    CHECK(all.calls == 400);
    double in_parts = 0;
    for (auto& part : all.parts) {
      CHECK(part.calls == 400);
      in_parts += part.seconds;
    }
    CHECK(in_parts > 0);
    CHECK(in_parts <= all.seconds);
    if (all.has_loops) CHECK(total(all).bytes == 400 * 2 * 8 * 500);
  }
}

TEST_CASE("profile: steps of loops, and their traces") {
  const Variable x = vector("x"), a = scalar("a");
  const auto step = [&](const Variable& e, const Variable& y) { return tanh(a * y + e); };
  const Variable ys = scan({.sequences = {x}, .initial = {ScanInitial(0.5)}}, step).traces[0];
  const auto early = [&](const Variable& y) { return ScanStep({y * 2.0}, gt(y * 2.0, 10.0)); };
  const ScanResult doubled = scan({.initial = {ScanInitial(a)}, .n_steps = Operand(100)}, early);
  const auto of = [&](const Variables& outputs, std::int64_t length) {
    const auto thunk = link::link("jit", rewritten({x, a}, outputs), {.profile = true});
    for (int call = 0; call < 2; ++call) thunk->run(Arrays{counting({length}), Array(1.0)});
    return total(thunk->measured());
  };
  CHECK(of({ys}, 30).steps == 60);
  CHECK(of({ys}, 30).trace_bytes == 2 * 8 * 30);
  CHECK(of({subtensor(ys, {IndexItem(-1)})}, 30).steps == 60);
  CHECK(of({subtensor(ys, {IndexItem(-1)})}, 30).trace_bytes == 0);
  CHECK(of({sum(exp(x))}, 30).steps == 0);
  CHECK(of({doubled.finals[0]}, 1).steps == 2 * 4);
}

TEST_CASE("profile: a program without a profile has no probes") {
  const Variable x = vector("x");
  const auto lowered = lowering::lower(*rewritten({x}, {exp(x) * 2.0}));
  auto sections = link::sections_of(lowered.program);
  const auto probed = link::with_probes(lowered.program, sections);
  CHECK(program::to_string(lowered.program).find(runtime::probe_name) == std::string::npos);
  CHECK(program::to_string(probed).find(runtime::probe_name) != std::string::npos);
  CHECK(codegen::key_of(lowered.program, codegen::this_target()) != codegen::key_of(probed, codegen::this_target()));
  CHECK(link::link("jit", rewritten({x}, {exp(x)}))->direct() != nullptr);
}

TEST_CASE("profile: a nested call has a separate record") {
  const auto probe =
      reinterpret_cast<void (*)(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t)>(
          runtime::find_symbol(runtime::probe_name));
  probe(7, 1, 1, 1, 1, 1);  // no record is active
  runtime::ProbeRecord outer(2), inner(1);
  {
    const runtime::ProbeScope scope(outer);
    probe(0, 10, 1, 0, 5, 40);
    {
      const runtime::ProbeScope inside(inner);
      probe(0, 100, 0, 2, 0, 0);
    }
    probe(1, 20, 0, 3, 0, 0);
  }
  CHECK(outer.sections[0].bytes == 10);
  CHECK(outer.sections[0].steps == 5);
  CHECK(outer.sections[0].trace_bytes == 40);
  CHECK(outer.sections[1].bytes == 20);
  CHECK(outer.sections[1].flops32 == 3);
  CHECK(inner.sections[0].bytes == 100);
}

TEST_CASE("profile: the interpreter's memory, with views and in-place results") {
  const Variable x = vector("x");
  const auto peak = [&](const Variable& y) {
    auto graph = std::make_shared<FunctionGraph>(Variables{x}, Variables{y});
    rewrite(*graph, RewriteQuery{.include = {"inplace"}});
    const auto thunk = link::link("vm", graph, {.profile = true});
    thunk->run(Arrays{counting({1000})});
    return thunk->measured();
  };
  CHECK(peak(exp(x)).results == 8000);
  CHECK(peak(exp(x)).temporaries == 0);
  CHECK(peak(sum(exp(x))).temporaries == 8000);
  CHECK(peak(sum(tanh(exp(x)))).temporaries == 8000);  // in place
}

TEST_CASE("profile: a long program") {
  const Variable x = scalar("x"), v = vector("v");
  Variable y = x, total = v;
  for (int i = 0; i < 3000; ++i) y = sin(y) * 1.0001 + 0.5;
  for (int i = 0; i < 40; ++i) total = total * 1.5 - sum(total);
  const auto graph = rewritten({x, v}, {y, total});
  const Arrays values = {Array(0.3), counting({10})};
  const Arrays expected = link::link("jit", graph)->run(values);
  const auto thunk = link::link("jit", graph, {.profile = true});
  const Arrays got = thunk->run(values);
  CHECK(same_bits(got[0], expected[0]));
  CHECK(same_bits(got[1], expected[1]));
  CHECK(thunk->measured().parts.size() > 20);
}
