// Arrays to and from DLPack's C structs, which are declared here as in dlpack/dlpack.h.
#include "bitale/core/dlpack.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

#include "bitale/core/error.hpp"

using namespace bitale;

namespace {

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2 };
struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
struct DLManagedTensorVersioned {
  struct {
    std::uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

// What another library might hand over.
struct Foreign {
  double data[6] = {1, 2, 3, 4, 5, 6};
  std::int64_t shape[2] = {2, 2};
  std::int64_t strides[2] = {3, 1};
  int* deleted;
  DLManagedTensor managed;
  explicit Foreign(int* deleted)
      : deleted(deleted),
        managed{{data, {kDLCPU, 0}, 2, {2, 64, 1}, shape, strides, 8}, this, [](DLManagedTensor* self) {
                  auto* own = static_cast<Foreign*>(self->manager_ctx);
                  ++*own->deleted;
                  delete own;
                }} {}
};

}  // namespace

TEST_CASE("arrays in other libraries") {
  const Array m{{1., 2., 3.}, {4., 5., 6.}};
  const Array* const held = new Array(m.transpose());
  DLManagedTensor* out = to_dlpack<DLManagedTensor>(*held);
  delete held;  // the tensor keeps the memory
  const DLTensor& tensor = out->dl_tensor;
  CHECK(tensor.data == m.data());
  CHECK((tensor.ndim == 2 && tensor.shape[0] == 3 && tensor.strides[0] == 1 && tensor.strides[1] == 3));
  CHECK((tensor.dtype.code == 2 && tensor.dtype.bits == 64 && tensor.dtype.lanes == 1));
  CHECK(!m.is_unique());
  const Array back = from_dlpack(out);
  CHECK(identical(back, m.transpose()));
  CHECK(back.shares_memory_with(m));
}

TEST_CASE("the deleter is called when no array needs the memory") {
  int deleted = 0;
  {
    Array x = from_dlpack(&(new Foreign(&deleted))->managed);
    CHECK(identical(x, Array{{2., 3.}, {5., 6.}}));
    const Array part = x[1];
    x = Array();
    CHECK(deleted == 0);
    CHECK(identical(part, Array{5., 6.}));
  }
  CHECK(deleted == 1);

  auto* elsewhere = new Foreign(&deleted);
  elsewhere->managed.dl_tensor.device.device_type = kDLCUDA;
  using Managed = std::remove_reference_t<decltype(elsewhere->managed)>;
  CHECK_THROWS_WITH_AS(from_dlpack(static_cast<Managed*>(nullptr)), doctest::Contains("a null pointer"), ValueError);
  CHECK_THROWS_WITH_AS(from_dlpack(&elsewhere->managed), doctest::Contains("device type 2"), ValueError);
  CHECK(deleted == 2);
  auto* of_lanes = new Foreign(&deleted);
  of_lanes->managed.dl_tensor.dtype.lanes = 2;
  CHECK_THROWS_WITH_AS(from_dlpack(&of_lanes->managed), doctest::Contains("2 lanes"), TypeError);
  CHECK(deleted == 3);
}

TEST_CASE("every dtype, and tensors without strides") {
  for (int i = 0; i < dtype_count; ++i) {
    const Array x = Array::zeros(DType(i), {2, 3});
    DLManagedTensor* out = to_dlpack<DLManagedTensor>(x);
    out->dl_tensor.strides = nullptr;
    CHECK(identical(from_dlpack(out), x));
  }
}

TEST_CASE("read-only arrays need the form that has a flag for them") {
  const Array x = Array{1., 2.}.read_only();
  CHECK_THROWS_AS(to_dlpack<DLManagedTensor>(x), ValueError);
  DLManagedTensorVersioned* out = to_dlpack<DLManagedTensorVersioned>(x);
  CHECK((out->version.major == 1 && out->flags == 1));
  CHECK(!from_dlpack(out).writeable());
  CHECK(from_dlpack(to_dlpack<DLManagedTensorVersioned>(x.copy())).writeable());
}

TEST_CASE("strides that are no whole elements have no form") {
  const double data[4] = {};
  const Array x = Array::borrow(const_cast<double*>(data), DType::Float64, {2}, {12}, nullptr);
  CHECK_THROWS_WITH_AS(to_dlpack<DLManagedTensor>(x), doctest::Contains("12"), ValueError);
}
