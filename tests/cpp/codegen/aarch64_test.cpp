// Relocations and jumps of AArch64, compared with the encodings of an assembler; they run on any processor.
#include <doctest/doctest.h>

#include <cstring>
#include <ostream>

#include "bitale/core/text.hpp"
#include "codegen/object/machine.hpp"

using namespace bitale;

namespace {

constexpr std::int64_t page = 4096;

struct Patched {
  bool ok;
  std::uint32_t instruction;
  bool operator==(const Patched&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Patched& p) { return out << cat(p.ok, " ", p.instruction); }

// The instruction at the start of a page, relocated to a target `distance` bytes away.
Patched patched(std::uint32_t type, std::uint32_t instruction, std::int64_t distance, std::size_t room = 4,
                std::int64_t slot = 0) {
  alignas(page) static std::uint8_t memory[page];
  std::memcpy(memory, &instruction, sizeof instruction);
  const auto here = std::int64_t(reinterpret_cast<std::uintptr_t>(memory));
  codegen::Relocation r{};
  r.type = type;
  r.site = memory;
  r.room = room;
  r.target = std::uint64_t(here + distance);
  r.slot = slot ? std::uint64_t(here + slot) : 0;
  Patched out{codegen::aarch64_machine.relocate(r), 0};
  std::memcpy(&out.instruction, memory, sizeof out.instruction);
  return out;
}

constexpr std::uint32_t bl = 0x94000000, b_eq = 0x54000000, tbz = 0x36000000, adr = 0x10000000, adrp = 0x90000000,
                        add = 0x91000000, ldr_d = 0xfd400000, ldr_q = 0x3dc00000, ldrb = 0x39400000, ldr = 0xf9400000;

}  // namespace

TEST_CASE("aarch64: relocations give the encodings of an assembler") {
  CHECK(patched(R_AARCH64_CALL26, bl, 0x100) == Patched{true, 0x94000040});
  CHECK(patched(R_AARCH64_CALL26, bl, -4) == Patched{true, 0x97ffffff});
  CHECK(patched(R_AARCH64_CONDBR19, b_eq, 8) == Patched{true, 0x54000040});
  CHECK(patched(R_AARCH64_TSTBR14, tbz, -8) == Patched{true, 0x3607ffc0});
  CHECK(patched(R_AARCH64_ADR_PREL_LO21, adr, 5) == Patched{true, 0x30000020});
  CHECK(patched(R_AARCH64_ADR_PREL_PG_HI21, adrp, 5 * page + 0x123) == Patched{true, 0xb0000020});
  CHECK(patched(R_AARCH64_ADR_PREL_PG_HI21, adrp, -page) == Patched{true, 0xf0ffffe0});
  CHECK(patched(R_AARCH64_ADD_ABS_LO12_NC, add, 5 * page + 0x123) == Patched{true, 0x91048c00});
  CHECK(patched(R_AARCH64_LDST8_ABS_LO12_NC, ldrb, 3) == Patched{true, 0x39400c00});
  CHECK(patched(R_AARCH64_LDST64_ABS_LO12_NC, ldr_d, page + 0x128) == Patched{true, 0xfd409400});
  CHECK(patched(R_AARCH64_LDST128_ABS_LO12_NC, ldr_q, 0x120) == Patched{true, 0x3dc04800});
  CHECK(patched(R_AARCH64_ADR_GOT_PAGE, adrp, 0, 4, page + 16) == Patched{true, 0xb0000000});
  CHECK(patched(R_AARCH64_LD64_GOT_LO12_NC, ldr, 0, 4, page + 16) == Patched{true, 0xf9400800});
  CHECK(patched(R_AARCH64_PREL32, 0, -2) == Patched{true, 0xfffffffe});
}

TEST_CASE("aarch64: out-of-range or misaligned targets and unknown types are refused") {
  constexpr std::int64_t far = std::int64_t(1) << 27;
  CHECK(patched(R_AARCH64_CALL26, bl, far - 4).ok);
  CHECK(patched(R_AARCH64_CALL26, bl, far) == Patched{false, bl});
  CHECK(patched(R_AARCH64_CALL26, bl, 2) == Patched{false, bl});
  CHECK(patched(R_AARCH64_ADR_PREL_PG_HI21, adrp, std::int64_t(1) << 32) == Patched{false, adrp});
  CHECK(patched(R_AARCH64_LDST64_ABS_LO12_NC, ldr_d, 4) == Patched{false, ldr_d});
  CHECK(patched(R_AARCH64_ADD_ABS_LO12_NC, add, 0x123, 3) == Patched{false, add});
  CHECK(patched(R_AARCH64_ADR_GOT_PAGE, adrp, 0) == Patched{false, adrp});
  CHECK(patched(R_AARCH64_PREL32, 0, far * 64) == Patched{false, 0});
  CHECK(patched(0xffff, bl, 0) == Patched{false, bl});
}

TEST_CASE("aarch64: jumps load their targets from memory") {
  alignas(8) std::uint8_t memory[32] = {};
  const auto word = [&](int i) {
    std::uint32_t out = 0;
    std::memcpy(&out, memory + 4 * i, sizeof out);
    return out;
  };
  codegen::aarch64_machine.write_jump(memory, reinterpret_cast<std::uintptr_t>(memory) + 24);
  CHECK(word(0) == 0x580000d0);  // ldr x16, [pc + 24]
  CHECK(word(1) == 0xd61f0200);  // br x16
  int value = 0, target = 0;
  codegen::aarch64_machine.write_bound_jump(memory, 2, &value, &target);
  CHECK(word(0) == 0x58000082);  // ldr x2, [pc + 16]
  CHECK(word(1) == 0x580000b0);  // ldr x16, [pc + 20]
  CHECK(word(2) == 0xd61f0200);
  const void *value_address = nullptr, *jump_address = nullptr;
  std::memcpy(&value_address, memory + 16, sizeof value_address);
  std::memcpy(&jump_address, memory + 24, sizeof jump_address);
  CHECK(value_address == &value);
  CHECK(jump_address == &target);
}
