// Calls without Arrays: typed views, results in memory of the caller, and allocations in the steady state.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "bitale/bitale.hpp"
#include "bitale/core/config.hpp"

using namespace bitale;

namespace {
std::atomic<long> allocations{0};
}  // namespace

// Counts the allocations of this program; operator new calls malloc or aligned_alloc. Sanitizers replace these
// functions themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool counting = false;
#else
constexpr bool counting = true;
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void* malloc(std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
}
#endif

namespace {

// How many allocations the third call of an action makes.
template <class Action>
long allocations_of(Action action) {
  action();
  action();
  const long before = allocations;
  action();
  return allocations - before;
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("typed calls accept and return C++ values and memory") {
  auto a = scalar("a");
  auto x = vector("x");
  auto m = matrix("m");
  for (auto* mode : {"FAST_RUN", "FAST_COMPILE"}) {
    FunctionOptions options;
    options.mode = get_mode(mode);
    const auto f = function({a, x}, a * sum(x), options).as<double(double, std::span<const double>)>();
    const std::vector<double> values{1, 2, 3};
    CHECK(f(2, values) == 12);
    CHECK(f(2, {}) == 0);

    const auto g = function({x, m}, {sum(x * x), 2.0 * x, m + x}, options)
                       .as<void(std::span<const double>, ArrayView<const double, 2>, double&, std::span<double>,
                                ArrayView<double, 2>)>();
    const double rows[] = {10, 20, 30, 40, 50, 60};
    double total = 0, twice[3], shifted[6];
    g(values, {rows, {2, 3}}, total, twice, {shifted, {2, 3}});
    CHECK(total == 14);
    CHECK(twice[2] == 6);
    CHECK(shifted[5] == 63);
    // The transposed matrix, without a copy by the caller, and a column-major result.
    const double columns[] = {10, 40, 20, 50, 30, 60};
    g(values, {columns, {2, 3}, {8, 16}}, total, twice, {shifted, {2, 3}, {8, 16}});
    CHECK(shifted[1] == 41);
    CHECK(shifted[2] == 22);
  }
}

TEST_CASE("a signature that does not match the function is refused") {
  auto x = vector("x");
  const auto f = function({x}, sum(x));
  CHECK_THROWS_AS((f.as<double(double)>()), TypeError);
  CHECK_THROWS_AS((f.as<float(std::span<const double>)>()), TypeError);
  CHECK_THROWS_AS((f.as<double(std::span<const float>)>()), TypeError);
  CHECK_THROWS_AS((f.as<void(std::span<const double>)>()), TypeError);
  CHECK_THROWS_AS((f.as<double(std::span<const double>, double)>()), TypeError);
  CHECK(contains(message_of([&] { f.as<double(double)>(); }), "input 0"));
  const auto g = function({x}, x).as<void(std::span<const double>, std::span<double>)>();
  const std::vector<double> three(3, 1.0);
  std::vector<double> two(2, 5.0);
  CHECK_THROWS_AS(g(three, two), ShapeError);
  CHECK(two[0] == 5);
  auto fixed = Variable(tensor_type(DType::Float64, Dims{3}), "fixed");
  const auto h = function({fixed}, sum(fixed)).as<double(std::span<const double>)>();
  CHECK(h(three) == 3);
  CHECK(contains(message_of([&] { h(two); }), "fixed"));
}

TEST_CASE("results are written to memory of the caller") {
  auto x = vector("x"), y = vector("y");
  const auto f = function({x, y}, {x + y, x * y, sum(x)});
  const Array a{1., 2., 3.}, b{10., 20., 30.};
  Array plus = Array::zeros(DType::Float64, {3}), times = Array::zeros(DType::Float64, {6}).slice(0, 5, 3, -2),
        total(0.0);
  f.run_into(std::vector<Array>{a, b}, std::vector<Array>{plus, times, total});
  CHECK(identical(plus, Array{11., 22., 33.}));
  CHECK(identical(times, Array{10., 40., 90.}));
  CHECK(total.item() == 6);

  const auto into = [&](std::vector<Array> out) { f.run_into(std::vector<Array>{a, b}, out); };
  CHECK_THROWS_AS(into({plus, times}), ValueError);
  CHECK_THROWS_AS(into({plus, plus, total}), ValueError);
  CHECK_THROWS_AS(into({plus.read_only(), times, total}), ValueError);
  CHECK_THROWS_AS(into({plus.astype(DType::Float32), times, total}), TypeError);
  CHECK_THROWS_AS(into({total, times, total}), TypeError);
  plus.assign(Array{7., 7., 7.});
  CHECK_THROWS_AS(into({plus, Array{1., 2.}, total}), ShapeError);
  CHECK(identical(plus, Array{7., 7., 7.}));
}

TEST_CASE("results may overlap inputs") {
  auto x = vector("x");
  auto w = shared(Array{1., 2., 3., 4.}, "w");
  const auto previous = function({x}, concatenate({subtensor(x, {Slice{3, 4, {}}}), subtensor(x, {Slice{0, 3, {}}})}));
  Array memory{1., 2., 3., 4., 5.};
  const Array first = memory.slice(0, 0, 4, 1), last = memory.slice(0, 1, 4, 1);
  previous.run_into(std::vector<Array>{first}, std::vector<Array>{first});
  CHECK(identical(memory, Array{4., 1., 2., 3., 5.}));
  previous.run_into(std::vector<Array>{first}, std::vector<Array>{last});
  CHECK(identical(memory, Array{4., 3., 4., 1., 2.}));
  previous.run_into(std::vector<Array>{first}, std::vector<Array>{first.slice(0, 3, 4, -1)});
  CHECK(identical(memory, Array{4., 3., 4., 1., 2.}));
  memory.assign(Array{1., 2., 3., 4., 5.});
  previous.run_into(std::vector<Array>{first}, std::vector<Array>{first.slice(0, 3, 4, -1)});
  CHECK(identical(memory, Array{3., 2., 1., 4., 5.}));
  const auto of_shared = function(Variables{}, w + subtensor(w, {Slice{{}, {}, -1}}));
  of_shared.run_into(std::vector<Array>{}, std::vector<Array>{get_value(w, Borrow::Yes)});
  CHECK(identical(get_value(w), Array{5., 5., 5., 5.}));
}

TEST_CASE("a failing call does not modify its outputs") {
  auto x = vector("x");
  auto at = lvector("at");
  const auto f = function({x, at}, {x * 2.0, take(x, at)});
  Array twice{-1., -1.}, taken{-1., -1., -1.};
  const std::vector<Array> out{twice, taken};
  CHECK_THROWS_AS(f.run_into(std::vector<Array>{Array{1., 2.}, Array{0, 5, 1}}, out), IndexError);
  CHECK(identical(twice, Array{-1., -1.}));
  CHECK(identical(taken, Array{-1., -1., -1.}));
  f.run_into(std::vector<Array>{Array{1., 2.}, Array{0, 1, 1}}, out);
  CHECK(identical(taken, Array{1., 2., 2.}));
}

TEST_CASE("every kind of allocation is counted") {
  if (!counting) return;
  const auto count = [](auto take, auto give) {
    return allocations_of([&] {
      void* volatile memory = take();  // not volatile, the compiler may remove the allocation
      give(memory);
    });
  };
  CHECK(count([] { return std::malloc(8); }, std::free) == 1);
  CHECK(count([] { return std::calloc(1, 8); }, std::free) == 1);
  CHECK(count([] { return std::realloc(std::malloc(8), 800); }, std::free) == 2);
  CHECK(count([] { return std::aligned_alloc(64, 64); }, std::free) == 1);
  CHECK(count([] { return ::operator new(8); }, [](void* memory) { ::operator delete(memory); }) == 1);
  CHECK(count([] { return mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); },
              [](void* memory) { munmap(memory, 4096); }) == 1);
  // By the library, whose large arrays are mapped.
  const config::Change nothing("memory__kept", "0");
  CHECK(allocations_of([&] { Array::empty(DType::Float64, {1 << 18}); }) >= 1);
}

TEST_CASE("the steady state allocates nothing") {
  auto x = vector("x"), y = scalar("y");
  auto w = shared(Array{1., 2., 3.}, "w");
  const auto loss = sum(exp(x - y)) + sum(softmax(x));
  const auto f = function({x, y}, {loss, grad(loss, x)});
  const auto typed = f.as<double(std::span<const double>, double, std::span<double>)>();
  const std::vector<double> values{1, 2, 3};
  std::vector<double> gradient(3);
  CHECK(allocations_of([&] { typed(values, 0.5, gradient); }) == 0);
  const std::vector<Array> in{Array{1., 2., 3.}, Array(0.5)}, out{Array(0.0), Array{0., 0., 0.}};
  CHECK(allocations_of([&] { f.run_into(in, out); }) == 0);
  const auto reads = function({y}, sum(w * y)).as<double(double)>();
  CHECK(allocations_of([&] { reads(2.0); }) == 0);
  const auto step = function(Variables{y}, Variables{}, {.updates = {{w, w - y * w}}}).as<void(double)>();
  CHECK(allocations_of([&] { step(0.5); }) == 0);
  if (counting) CHECK(allocations_of([&] { f(in); }) > 0);
}

TEST_CASE("updates alternate between two buffers unless the old value is still in use") {
  auto w = shared(Array{1., 2.}, "w");
  const auto step = function(Variables{}, Variables{}, {.updates = {{w, w * 2.0}}});
  const void* first = get_value(w, Borrow::Yes).data();
  step();
  const void* second = get_value(w, Borrow::Yes).data();
  CHECK(second != first);
  step();
  CHECK(get_value(w, Borrow::Yes).data() == first);
  const Array kept = get_value(w, Borrow::Yes);  // 4, 8
  step();
  step();
  CHECK(identical(kept, Array{4., 8.}));
  CHECK(identical(get_value(w), Array{16., 32.}));
  set_value(w, Array{1., 1., 1.});  // another length
  step();
  step();
  CHECK(identical(get_value(w), Array{4., 4., 4.}));
}
