// Relocations of AArch64 in the small position-independent model (ELF for the Arm 64-bit Architecture, 5.7). Fields are
// parts of instructions. A call reaches 128 MiB; outside functions are called by way of a jump nearby, so that no
// target is too far.
#include <cstring>

#include "codegen/object/machine.hpp"

namespace bitale::codegen {

namespace {

// Writes `value` into `bits` bits, from bit `first` on.
bool put_field(const Relocation& r, std::int64_t value, int first, int bits) {
  std::uint32_t instruction = 0;
  if (r.room < sizeof instruction) return false;
  const std::uint32_t mask = ((std::uint32_t(1) << bits) - 1) << first;
  std::memcpy(&instruction, r.site, sizeof instruction);
  instruction = (instruction & ~mask) | (std::uint32_t(std::uint64_t(value) << first) & mask);
  std::memcpy(r.site, &instruction, sizeof instruction);
  return true;
}

bool fits(std::int64_t value, int bits) {
  const std::int64_t limit = std::int64_t(1) << (bits - 1);
  return -limit <= value && value < limit;
}

// Writes a branch distance, which is counted in instructions.
bool put_branch(const Relocation& r, std::int64_t distance, int first, int bits) {
  return distance % 4 == 0 && fits(distance / 4, bits) && put_field(r, distance / 4, first, bits);
}

// Writes the 21 bits of adr and adrp, of which the lowest two are stored apart.
bool put_address(const Relocation& r, std::int64_t value) {
  return fits(value, 21) && put_field(r, value & 3, 29, 2) && put_field(r, value >> 2, 5, 19);
}

std::int64_t page(std::int64_t address) { return address & ~std::int64_t(0xfff); }

bool put_page(const Relocation& r, std::int64_t target, std::int64_t site) {
  return put_address(r, (page(target) - page(site)) / 4096);
}

// Writes an offset within a page, in units of the size that is loaded or stored.
bool put_offset(const Relocation& r, std::int64_t target, int shift) {
  const std::int64_t offset = target & 0xfff;
  return (offset & ((1 << shift) - 1)) == 0 && put_field(r, offset >> shift, 10, 12);
}

bool relocate_aarch64(const Relocation& r) {
  const auto site = std::int64_t(reinterpret_cast<std::uintptr_t>(r.site));
  const std::int64_t target = std::int64_t(r.target) + r.addend, slot = std::int64_t(r.slot) + r.addend;
  switch (r.type) {
    case R_AARCH64_ABS64: return put<std::int64_t>(r, target);
    case R_AARCH64_PREL64: return put<std::int64_t>(r, target - site);
    case R_AARCH64_PREL32: return put<std::int32_t>(r, target - site);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: return put_branch(r, target - site, 0, 26);
    case R_AARCH64_CONDBR19:
    case R_AARCH64_LD_PREL_LO19: return put_branch(r, target - site, 5, 19);
    case R_AARCH64_TSTBR14: return put_branch(r, target - site, 5, 14);
    case R_AARCH64_ADR_PREL_LO21: return put_address(r, target - site);
    case R_AARCH64_ADR_PREL_PG_HI21: return put_page(r, target, site);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return put_offset(r, target, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return put_offset(r, target, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return put_offset(r, target, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC: return put_offset(r, target, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return put_offset(r, target, 4);
    case R_AARCH64_ADR_GOT_PAGE: return r.slot && put_page(r, slot, site);
    case R_AARCH64_LD64_GOT_LO12_NC: return r.slot && put_offset(r, slot, 3);
    default: return false;
  }
}

constexpr std::uint32_t load_literal = 0x58000000, jump_to_x16 = 0xd61f0200, nothing = 0xd503201f, x16 = 16;

// ldr register, [pc + distance]
std::uint32_t load_from(std::int64_t distance, std::uint32_t to) {
  return load_literal | (std::uint32_t(distance / 4) & 0x7ffff) << 5 | to;
}

// ldr x16, slot; br x16. Jumps and slots are adjacent: as many as a megabyte holds are in reach.
void write_aarch64_jump(std::uint8_t* at, std::uint64_t slot) {
  const auto distance = std::int64_t(slot - reinterpret_cast<std::uintptr_t>(at));
  const std::uint32_t code[] = {load_from(distance, x16), jump_to_x16};
  std::memcpy(at, code, sizeof code);
}

// ldr register, value; ldr x16, target; br x16
void write_aarch64_bound_jump(std::uint8_t* at, int position, const void* value, void* target) {
  put_bound_jump(
      at,
      {load_from(bound_value_at, std::uint32_t(position)), load_from(bound_target_at - 4, x16), jump_to_x16, nothing},
      value, target);
}

}  // namespace

constexpr Machine aarch64_machine{EM_AARCH64, 8, write_aarch64_jump, relocate_aarch64, write_aarch64_bound_jump};

}  // namespace bitale::codegen
