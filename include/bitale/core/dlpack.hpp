// Arrays to and from other libraries by DLPack's C structs, without a copy. The structs are those of <dlpack/dlpack.h>
// or of another library, DLManagedTensor or DLManagedTensorVersioned: this header needs no header of theirs.
//
//   DLManagedTensor* out = to_dlpack<DLManagedTensor>(array);    // whose deleter the other library calls
//   Array in = from_dlpack(tensor);                              // which calls the deleter of the other library
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <memory>

#include "bitale/core/array.hpp"

namespace bitale {

namespace dlpack {

// DLPack's numbers: kDLCPU, and the codes of dtypes.
inline constexpr int cpu = 1;
struct Code {
  std::uint8_t code, bits;  // of one lane
};
Code code_of(DType dtype);
// TypeError for a code that no dtype has.
DType dtype_of_code(int code, int bits, int lanes);
[[noreturn, gnu::cold]] void refuse_device(int device);
[[noreturn, gnu::cold]] void refuse_null();
// ValueError for strides that are not whole numbers of elements, and for an array that holds an object.
void require_exportable(const Array& array);
// Compact strides where `strides` is null, in bytes.
Dims byte_strides(const Dims& shape, const std::int64_t* strides, std::size_t itemsize);

template <class Managed>
concept Versioned = requires(Managed& managed) {
  managed.version.major;
  managed.flags;
};
inline constexpr std::uint64_t read_only_flag = 1;

}  // namespace dlpack

// A tensor that shares the array's memory and keeps it alive until its deleter is called. ValueError where DLPack has
// no form for the array; a read-only array is refused by the form without a version, which has no flag for that.
template <class Managed>
Managed* to_dlpack(const Array& array) {
  dlpack::require_exportable(array);
  if constexpr (!dlpack::Versioned<Managed>) array.require_writeable();
  struct Exported {
    Managed managed{};
    Array array;
    Dims shape, strides;
  };
  auto exported = std::make_unique<Exported>();
  exported->array = array;
  exported->shape = array.shape();
  exported->strides = array.strides();
  for (auto& stride : exported->strides) stride /= std::int64_t(itemsize(array.dtype()));
  Managed& managed = exported->managed;
  auto& tensor = managed.dl_tensor;
  tensor.data = array.mutable_data();
  tensor.device.device_type = decltype(tensor.device.device_type)(dlpack::cpu);
  tensor.device.device_id = 0;
  tensor.ndim = array.ndim();
  const dlpack::Code code = dlpack::code_of(array.dtype());
  tensor.dtype.code = code.code;
  tensor.dtype.bits = code.bits;
  tensor.dtype.lanes = 1;
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  tensor.byte_offset = 0;
  managed.manager_ctx = exported.get();
  managed.deleter = [](Managed* self) { delete static_cast<Exported*>(self->manager_ctx); };
  if constexpr (dlpack::Versioned<Managed>) {
    managed.version.major = 1;
    managed.version.minor = 0;
    managed.flags = array.writeable() ? 0 : dlpack::read_only_flag;
  }
  return &exported.release()->managed;
}

// An array of the tensor's memory, which belongs to it from now on: the deleter is called when no array needs it any
// more, or before an error is thrown. ValueError for a null pointer and for another device than the processor,
// TypeError for a dtype that Bitale does not have.
template <class Managed>
Array from_dlpack(Managed* managed) {
  if (!managed) [[unlikely]]
    dlpack::refuse_null();
  const std::shared_ptr<void> owner(managed, [](void* owned) {
    auto* tensor = static_cast<Managed*>(owned);
    if (tensor && tensor->deleter) tensor->deleter(tensor);
  });
  const auto& tensor = managed->dl_tensor;
  if (int(tensor.device.device_type) != dlpack::cpu) dlpack::refuse_device(int(tensor.device.device_type));
  const DType dtype = dlpack::dtype_of_code(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  const Dims shape(std::span<const std::int64_t>(tensor.shape, std::size_t(tensor.ndim)));
  bool writeable = true;
  if constexpr (dlpack::Versioned<Managed>) writeable = !(managed->flags & dlpack::read_only_flag);
  return Array::borrow(tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr, dtype, shape,
                       dlpack::byte_strides(shape, tensor.strides, itemsize(dtype)), owner,
                       Array::Writeable(writeable));
}

}  // namespace bitale
