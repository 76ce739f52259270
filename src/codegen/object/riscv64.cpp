// RISC-V, of which code is only made for functions that are called by address: Programs are interpreted there, so that
// there are no objects to relocate.
#include "codegen/object/machine.hpp"

namespace bitale::codegen {

namespace {

constexpr std::uint32_t t0 = 5, a0 = 10;
constexpr std::uint32_t address_to_t0 = 0x00000297, jump_to_t0 = 0x00028067;  // auipc t0, 0; jr t0

// ld register, distance(t0)
constexpr std::uint32_t load_from_t0(std::uint32_t distance, std::uint32_t to) {
  return distance << 20 | t0 << 15 | 3u << 12 | to << 7 | 0x03;
}

// auipc t0, 0; ld register, value; ld t0, target; jr t0
void write_riscv64_bound_jump(std::uint8_t* at, int position, const void* value, void* target) {
  put_bound_jump(at,
                 {address_to_t0, load_from_t0(bound_value_at, a0 + std::uint32_t(position)),
                  load_from_t0(bound_target_at, t0), jump_to_t0},
                 value, target);
}

}  // namespace

constexpr Machine riscv64_machine{EM_RISCV, 0, nullptr, nullptr, write_riscv64_bound_jump};

}  // namespace bitale::codegen
