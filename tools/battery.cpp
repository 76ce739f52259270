// A battery of statistical tests of the counter-based stream: TestU01's SmallCrush (L'Ecuyer and Simard, 2007), or its
// Crush, on the bits that compiled functions draw, in each order in which programs use them, and with the bits of each
// word reversed, because the tests examine mainly the upper ones.
//
//   battery [--crush] [ORDER...]     elements, draws, children, seeds; all unless some are named
//
// Prints how close the probabilities come to 0 or 1, and names the tests whose distance is less than 1e-3. Exits with 1
// when a distance is within 1e-6; TestU01 calls a failure clear from 1e-10 on.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include <testu01/bbattery.h>
#include <testu01/swrite.h>
#include <testu01/unif01.h>
}

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "ops/random/bits.hpp"

using namespace bitale;

namespace {

// Returns the next words at each call.
using Source = std::function<Array()>;

Type stream_type() { return random_type(BitGenerator::Threefry); }

// The elements of one draw, then those of the next.
Source elements() {
  const Variable state = shared_of(stream_type(), stream_state(1), "state");
  const Variables lengths{constant(Array(std::int64_t(1) << 16))};
  const auto [next, bits] = random_bits(state, lengths, "bits");
  return [f = function({}, {bits}, {.updates = {{state, next}}})] { return f()[0]; };
}

// Draws of one number, each from the state that the previous one left.
Source draws() {
  const Variable first = shared_of(stream_type(), stream_state(2), "state");
  const auto made = scan({.initial = {ScanInitial(Variable()), ScanInitial(first)}, .n_steps = Operand(1 << 16)},
                         [](const Variable& state) {
                           const auto [next, bits] = random_bits(state, Variables{}, "bits");
                           return ScanStep(Variables{bits, next});
                         });
  return [f = function({}, {made.traces[0]}, {.updates = {{first, made.finals[1]}}})] { return f()[0]; };
}

// Two elements of each child of a state.
Source children() {
  const Variable state = constant_of(stream_type(), stream_state(3)), begin(tensor_type(DType::Int64, {}), "begin");
  const auto made = scan(
      {.sequences = {begin + arange(std::int64_t(1) << 15)}, .non_sequences = {state}},
      [](const Variable& number, const Variable& parent) {
        return random_bits(random::fold(parent, number), Variables{constant(Array(std::int64_t(2)))}, "bits").value;
      });
  return [f = function({begin}, {flatten(made.traces[0])}), at = std::int64_t(0)]() mutable {
    return f({Array(std::exchange(at, at + (1 << 15)))})[0];
  };
}

// Eight elements of the first draw of each seed.
Source seeds() {
  const Variable state(stream_type(), "state");
  const auto bits = random_bits(state, Variables{constant(Array(std::int64_t(8)))}, "bits").value;
  return [f = function({state}, {bits}), seed = std::uint64_t(0)]() mutable { return f({stream_state(seed++)})[0]; };
}

struct Order {
  const char* name;
  Source (*source)();
};
constexpr Order orders[] = {{"elements", elements}, {"draws", draws}, {"children", children}, {"seeds", seeds}};

std::uint32_t reversed(std::uint32_t x) {
  for (int by = 1; by < 32; by *= 2) {
    const std::uint32_t mask = 0xffffffffu / ((1u << by) + 1);
    x = (x >> by & mask) | (x & mask) << by;
  }
  return x;
}

// Both halves of each word, the lower one first.
class Halves {
 public:
  Halves(Source source, bool is_reversed) : source_(std::move(source)), is_reversed_(is_reversed) {}
  std::uint32_t next() {
    if (at_ == 2 * words_.size()) words_ = source_(), at_ = 0;
    const std::uint64_t word = static_cast<const std::uint64_t*>(words_.data())[at_ / 2];
    const auto half = std::uint32_t(at_++ % 2 ? word >> 32 : word);
    ++count_;
    return is_reversed_ ? reversed(half) : half;
  }
  std::uint64_t count() const { return count_; }

 private:
  const Source source_;
  const bool is_reversed_;
  Array words_ = Array::empty(DType::UInt64, {0});
  std::int64_t at_ = 0;
  std::uint64_t count_ = 0;
};

bool passes(const std::string& name, Halves words, bool is_crush) {
  std::string title = name;
  unif01_Gen generator{
      .state = &words,
      .param = nullptr,
      .name = title.data(),
      .GetU01 = [](void*, void* state) { return static_cast<Halves*>(state)->next() * 0x1p-32; },
      .GetBits = [](void*, void* state) { return static_cast<unsigned long>(static_cast<Halves*>(state)->next()); },
      .Write = [](void*) {}};
  is_crush ? bbattery_Crush(&generator) : bbattery_SmallCrush(&generator);
  double nearest = 1;
  std::string unusual;
  for (int k = 0; k < bbattery_NTests; ++k) {
    const double p = bbattery_pVal[k], distance = std::min(p, 1 - p);
    nearest = std::min(nearest, distance);
    if (distance < 1e-3) unusual += cat("  ", bbattery_TestNames[k], ": ", p);
  }
  std::printf("%-22s %5.2e words of 32 bits, %3d probabilities, the nearest to an end %.1e%s\n", name.c_str(),
              double(words.count()), bbattery_NTests, nearest, unusual.c_str());
  std::fflush(stdout);
  return nearest > 1e-6;
}

}  // namespace

int main(int count, char** given) {
  swrite_Basic = FALSE;
  const std::vector<std::string> arguments(given + 1, given + count);
  const auto is_given = [&](std::string_view name) { return std::ranges::find(arguments, name) != arguments.end(); };
  const bool is_crush = is_given("--crush"), all_orders = arguments.size() == std::size_t(is_crush);
  bool fine = true;
  for (auto& order : orders) {
    if (!all_orders && !is_given(order.name)) continue;
    fine &= passes(order.name, Halves(order.source(), false), is_crush);
    fine &= passes(cat(order.name, ", reversed"), Halves(order.source(), true), is_crush);
  }
  return fine ? 0 : 1;
}
