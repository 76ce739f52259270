#include "bitale/core/resident.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "bitale/compile/shared.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/type.hpp"

using namespace bitale;

namespace {

// A resident value whose device memory is an Array; it counts the calls of fetch.
class OnDevice final : public Resident {
 public:
  explicit OnDevice(Array value) : Resident(value.dtype(), value.shape()), value(std::move(value)) {}
  Array fetch() const override {
    ++fetched;
    return value.copy();
  }
  bool is_within(std::int64_t, std::int64_t) const override { return false; }
  void become(const Resident& other) const override { value = dynamic_cast<const OnDevice&>(other).value; }

  mutable Array value;
  mutable std::atomic<int> fetched{0};
};

// Whether the thread sleeps in the kernel.
bool is_asleep(pid_t thread) {
  std::ifstream file(cat("/proc/self/task/", thread, "/stat"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find(") S ") != std::string::npos;
}

}  // namespace

TEST_CASE("holding and taking a resident value exclude each other") {
  const OnDevice x(Array{1.0, 2.0});
  CHECK(x.hold());
  CHECK(x.hold());
  CHECK(!x.take());
  x.unhold();
  CHECK(!x.take());
  x.unhold();
  CHECK(x.take());
  CHECK(!x.hold());
  CHECK(!x.take());
  x.give_back();
  CHECK(x.hold());
  x.unhold();
}

TEST_CASE("replacing a taken value makes it unavailable; replacing one that is not taken has no effect") {
  const OnDevice x(Array{1.0});
  x.replace();
  CHECK(x.take());
  x.replace();
  CHECK(!x.hold());
  CHECK(!x.take());
  x.wait_while_taken();  // returns immediately
}

TEST_CASE("waiting for a taken value ends when it is given back or replaced") {
  for (const bool is_replaced : {false, true}) {
    const OnDevice x(Array{1.0});
    REQUIRE(x.take());
    std::atomic<pid_t> thread{0};
    std::atomic<bool> has_returned{false};
    std::thread waiting([&] {
      thread = gettid();
      x.wait_while_taken();
      has_returned = true;
    });
    while (!has_returned && !(thread && is_asleep(thread))) std::this_thread::yield();
    CHECK(!has_returned);
    is_replaced ? x.replace() : x.give_back();
    waiting.join();
    CHECK(has_returned);
    CHECK(x.hold() == !is_replaced);
  }
}

TEST_CASE("among many threads, only one at a time takes a resident value") {
  const OnDevice x(Array{1.0});
  std::atomic<int> inside{0}, conflicts{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int round = 0; round < 500; ++round) {
        if (k % 2 == 0 && x.hold()) {
          if (inside != 0) ++conflicts;
          x.unhold();
        } else if (k % 2 == 1 && x.take()) {
          if (++inside != 1) ++conflicts;
          --inside;
          x.give_back();
        } else {
          x.wait_while_taken();
        }
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(conflicts == 0);
  CHECK(x.take());
}

TEST_CASE("an array can hold a resident value") {
  const Ref<const OnDevice> x = make_ref<OnDevice>(Array{1.0, 2.0, 3.0});
  const Array holder = Array::holding(x);
  CHECK(resident_in(holder) == x.get());
  CHECK(resident_in(Array{1.0}) == nullptr);
  CHECK(x->strides() == Dims{8});
  CHECK(x->str() == "<array on a device>");
}

TEST_CASE("a shared variable fetches a value from a device once, and only if it has no copy of it") {
  const Array value{1.0, 2.0};
  const Ref<const OnDevice> x = make_ref<OnDevice>(value);
  const Container container(tensor_type(DType::Float64, Dims{unknown_length}), value);
  container.keep(container.get(), Array::holding(x));
  CHECK(resident_in(container.held()) == x.get());
  CHECK(container.get().data_as<double>()[1] == 2.0);
  CHECK(x->fetched == 0);  // the container had the value

  const Ref<const OnDevice> next = make_ref<OnDevice>(Array{5.0, 6.0});
  std::vector<Array> released;
  released.reserve(3);
  REQUIRE(x->take());  // as a call that computes the next value does
  container.update(Array::holding(next), released);
  CHECK(!x->hold());
  CHECK(container.get().data_as<double>()[0] == 5.0);
  CHECK(container.get().data_as<double>()[1] == 6.0);
  CHECK(next->fetched == 1);

  container.lend().mutable_data_as<double>()[0] = 7;  // lending drops the value on the device
  CHECK(resident_in(container.held()) == nullptr);
  CHECK(container.get().data_as<double>()[0] == 7.0);
}
