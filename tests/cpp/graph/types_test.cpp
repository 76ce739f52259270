// Types other than tensors: host objects and states of random generators, in every part that carries values.
#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <string>

#include "bitale/bitale.hpp"
#include "bitale/compile/debug_mode.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/error.hpp"

namespace bitale {

namespace {

// A host object that only the ops of this file read.
class Table final : public HostObject {
 public:
  explicit Table(std::map<std::int64_t, double> entries) : entries(std::move(entries)) { ++alive; }
  Table(const Table& other) : HostObject(other), entries(other.entries) { ++alive; }
  ~Table() override { --alive; }
  const std::map<std::int64_t, double> entries;
  bool equals(const HostObject& other) const override {
    auto* table = dynamic_cast<const Table*>(&other);
    return table && table->entries == entries;
  }
  std::string str() const override { return "table"; }
  static inline std::atomic<int> alive = 0;
};

class Other final : public HostObject {};

const Type& table_type() {
  static const auto& type = *new Type(host_type<Table>("TableType"));
  return type;
}

Array table(std::map<std::int64_t, double> entries) {
  return Array::holding(make_ref<const Table>(std::move(entries)));
}
const Table& table_in(const Array& value) { return *dynamic_cast<const Table*>(value.object()); }

class LookUp final : public Op {
 public:
  std::string_view name() const override { return "test.LookUp"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0], inputs[1]}, {tensor_type(DType::Float64, inputs[1].static_shape())});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Table& from = table_in(in[0]);
    const Array keys = in[1].contiguous();
    out[0] = Array::empty(DType::Float64, keys.shape());
    for (std::int64_t i = 0; i < keys.size(); ++i)
      out[0].mutable_data_as<double>()[i] = from.entries.at(keys.data_as<std::int64_t>()[i]);
  }
};

// A copy of a table with one more entry.
class Insert final : public Op {
 public:
  std::string_view name() const override { return "test.Insert"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs.begin(), inputs.end()}, {table_type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    auto entries = table_in(in[0]).entries;
    entries[in[1].int_item()] = in[2].item();
    out[0] = table(std::move(entries));
  }
};

Variable look_up(const Variable& from, const Variable& keys) { return (*make_ref<LookUp>())({from, keys}); }
Variable insert(const Variable& into, const Variable& key, const Variable& value) {
  return (*make_ref<Insert>())({into, key, value});
}

const char* const linkers[] = {"vm", "jit", "c", "opwise"};

}  // namespace

TEST_CASE("host objects pass through every linker") {
  const int before = Table::alive;
  for (auto* linker : linkers) {
    INFO(linker);
    const Variable t(table_type(), "t"), keys = vector("keys", DType::Int64), key = scalar("key", DType::Int64),
                                         value = scalar("value");
    const Variable more = insert(t, key, exp(value));
    const Function f =
        function({t, keys, key, value}, {look_up(more, keys) * 2.0, more, t, t}, {.mode = Mode(linker, "fast_run")});
    const Array given = table({{1, 10.0}});
    for (int again = 0; again < 2; ++again) {
      const auto results = f({given, Array({std::int64_t(1), std::int64_t(2)}), Array(std::int64_t(2)), Array(0.0)});
      CHECK(identical(results[0], Array({20.0, 2.0})));
      CHECK(table_in(results[1]).entries == std::map<std::int64_t, double>{{1, 10.0}, {2, 1.0}});
      CHECK(identical(results[2], given));
      CHECK(identical(results[3], given));
    }
    CHECK_THROWS_AS(f({Array(std::uint64_t(7)), Array({std::int64_t(1)}), Array(std::int64_t(2)), Array(0.0)}),
                    TypeError);
    CHECK_THROWS_AS(
        f({Array::holding(make_ref<const Other>()), Array({std::int64_t(1)}), Array(std::int64_t(2)), Array(0.0)}),
        TypeError);
    f.free();
  }
  CHECK(Table::alive == before);
}

TEST_CASE("host objects: shared variables, constants, DebugMode, evaluate") {
  const Variable t = shared_of(table_type(), table({{1, 10.0}}), "t");
  const Variable key = scalar("key", DType::Int64);
  const Variable constant_5 = bitale::constant(Array(std::int64_t(5)));
  const Variable constant = constant_of(table_type(), table({{5, 50.0}}));
  for (const Mode& mode : {Mode("vm", "fast_run"), Mode("jit", "fast_run"), debug_mode()}) {
    set_value(t, table({{1, 10.0}}));
    const Variable after = insert(t, key, look_up(constant, constant_5));
    const Function f = function({key}, {look_up(t, key)}, {.updates = {{t, after}}, .mode = mode});
    CHECK(f({Array(std::int64_t(1))}).single().item() == 10.0);
    CHECK(table_in(get_value(t)).entries == std::map<std::int64_t, double>{{1, 50.0}});
    const Function swap = function({}, {t}, {.updates = {{t, constant}}, .mode = mode});
    CHECK(table_in(swap(std::span<const Array>()).single()).entries.at(1) == 50.0);
    CHECK(table_in(get_value(t)).entries.at(5) == 50.0);
  }
  CHECK_THROWS_AS(set_value(t, Array(1.0)), TypeError);
  CHECK_THROWS_AS(shared_of(disconnected().type(), Array(1.0)), TypeError);
  CHECK_THROWS_AS(exp(t), TypeError);
  CHECK_THROWS_AS(function({}, {disconnected()}), TypeError);
}

TEST_CASE("states of random generators are values without arithmetic") {
  const Variable rng = random::rng("rng");
  CHECK(rng.type()->str() == "RandomGeneratorType");
  CHECK(!random_type()->equals(*random_type(BitGenerator::Philox)));
  CHECK_THROWS_AS(rng + 1.0, TypeError);
  CHECK_THROWS_AS(function({rng}, {random::normal(rng).value})({Array(1.0)}), TypeError);
  Array even = random_state(1).copy();
  even.mutable_data_as<std::uint64_t>()[2] &= ~std::uint64_t(1);
  CHECK(!random_type()->is_valid_value(even));
  CHECK_THROWS_AS(function({rng}, {random::normal(rng).value})({even}), ValueError);
  Array beyond = Array::zeros(DType::UInt64, {313});
  beyond.mutable_data_as<std::uint64_t>()[312] = 1u << 20;
  CHECK(!random_type(BitGenerator::MT19937)->is_valid_value(beyond));
}

TEST_CASE("draws in C++: numpy.random.default_rng(42)") {
  for (auto* linker : linkers) {
    INFO(linker);
    const Variable rng = shared_of(random_type(), random_state(42), "rng");
    const auto [next, x] = random::normal(rng, 0.0, 1.0, {{2}});
    const auto [last, k] = random::integers(next, 0, 100, {{3}});
    const Function f = function({}, {x, k}, {.updates = {{rng, last}}, .mode = Mode(linker, "fast_run")});
    const auto results = f(std::span<const Array>());
    CHECK(identical(results[0], Array({0.30471707975443135, -1.0399841062404955})));
    CHECK(!identical(f(std::span<const Array>())[0], results[0]));
    const Function no_update = function({}, {x}, {.mode = Mode(linker, "fast_run")});
    CHECK(identical(no_update(std::span<const Array>()).single(), no_update(std::span<const Array>()).single()));
  }
  // random_state(2**40 + 7), whose seed has two nonzero halves.
  const Variable rng = random::rng();
  const Function f = function({rng}, random::draw("random", rng).value);
  CHECK(f({random_state((std::uint64_t(1) << 40) + 7)}).single().item() == 0.829812891829413);
}

}  // namespace bitale
