// Relocations of x86-64 in the small position-independent model (System V ABI, AMD64 supplement, 4.4).
#include <cstring>

#include "codegen/object/machine.hpp"

namespace bitale::codegen {

namespace {

template <class T>
bool put(const Relocation& r, std::int64_t value) {
  if (r.room < sizeof(T) || value != std::int64_t(T(value))) return false;
  const T field = T(value);
  std::memcpy(r.place, &field, sizeof field);
  return true;
}

bool relocate(const Relocation& r) {
  const auto place = std::int64_t(reinterpret_cast<std::uintptr_t>(r.place));
  const std::int64_t target = std::int64_t(r.target) + r.addend;
  switch (r.type) {
    case R_X86_64_64: return put<std::int64_t>(r, target);
    case R_X86_64_PC64: return put<std::int64_t>(r, target - place);
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return put<std::int32_t>(r, target - place);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return r.slot && put<std::int32_t>(r, std::int64_t(r.slot) + r.addend - place);
    default: return false;
  }
}

// jmp *[rip + distance]
void write_jump(std::uint8_t* at, std::uint64_t slot) {
  constexpr std::uint8_t opcode[] = {0xff, 0x25};
  const auto distance = std::int32_t(slot - (reinterpret_cast<std::uintptr_t>(at) + 6));
  std::memcpy(at, opcode, sizeof opcode);
  std::memcpy(at + sizeof opcode, &distance, sizeof distance);
}

}  // namespace

const Machine* this_machine() {
#if defined(__x86_64__)
  static constexpr Machine machine{EM_X86_64, 8, write_jump, relocate};
  return &machine;
#else
  return nullptr;
#endif
}

}  // namespace bitale::codegen
