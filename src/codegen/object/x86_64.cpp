// Relocations of x86-64 in the small position-independent model (System V ABI, AMD64 supplement, 4.4).
#include <cstring>

#include "codegen/object/machine.hpp"

namespace bitale::codegen {

namespace {

bool relocate_x86_64(const Relocation& r) {
  const auto site = std::int64_t(reinterpret_cast<std::uintptr_t>(r.site));
  const std::int64_t target = std::int64_t(r.target) + r.addend;
  switch (r.type) {
    case R_X86_64_64: return put<std::int64_t>(r, target);
    case R_X86_64_PC64: return put<std::int64_t>(r, target - site);
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return put<std::int32_t>(r, target - site);
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return r.slot && put<std::int32_t>(r, std::int64_t(r.slot) + r.addend - site);
    default: return false;
  }
}

// jmp *[rip + distance]
void write_x86_64_jump(std::uint8_t* at, std::uint64_t slot) {
  constexpr std::uint8_t opcode[] = {0xff, 0x25};
  const auto distance = std::int32_t(slot - (reinterpret_cast<std::uintptr_t>(at) + 6));
  std::memcpy(at, opcode, sizeof opcode);
  std::memcpy(at + sizeof opcode, &distance, sizeof distance);
}

// mov register, value; mov rax, target; jmp rax
void write_x86_64_bound_jump(std::uint8_t* at, int position, const void* value, void* target) {
  constexpr std::uint8_t moves[][2] = {{0x48, 0xbf}, {0x48, 0xbe}, {0x48, 0xba},
                                       {0x48, 0xb9}, {0x49, 0xb8}, {0x49, 0xb9}};
  constexpr std::uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa}, to_rax[] = {0x48, 0xb8}, jump[] = {0xff, 0xe0};
  const auto put_bytes = [&](const void* from, std::size_t size) {
    std::memcpy(at, from, size);
    at += size;
  };
  put_bytes(landing, sizeof landing);  // endbr64: a target of indirect calls
  put_bytes(moves[position], 2);
  put_bytes(&value, sizeof value);
  put_bytes(to_rax, sizeof to_rax);
  put_bytes(&target, sizeof target);
  put_bytes(jump, sizeof jump);
}

}  // namespace

constexpr Machine x86_64_machine{EM_X86_64, 8, write_x86_64_jump, relocate_x86_64, write_x86_64_bound_jump};

}  // namespace bitale::codegen
