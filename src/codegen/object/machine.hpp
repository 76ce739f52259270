// What a processor contributes to loading an object: its relocations, and jumps to functions that may be far away.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bitale::codegen {

// A site to patch. All addresses are those at which the code will run.
struct Relocation {
  std::uint32_t type;
  std::uint8_t* site;
  std::size_t room;      // bytes between `site` and the end of its section
  std::uint64_t target;  // the symbol's address; for an outside function, that of its jump
  std::uint64_t slot;    // where the symbol's address is stored, or 0 when it has none
  std::int64_t addend;
};
// Writes a value into a field of type T; returns false when it does not fit.
template <class T>
bool put(const Relocation& r, std::int64_t value) {
  if (r.room < sizeof(T) || value != std::int64_t(T(value))) return false;
  const T field = T(value);
  std::memcpy(r.site, &field, sizeof field);
  return true;
}

// Where a jump with a bound argument has the argument's value and the target, behind four instructions of four bytes.
inline constexpr std::size_t bound_value_at = 16, bound_target_at = 24;
inline void put_bound_jump(std::uint8_t* at, const std::uint32_t (&code)[4], const void* value, void* target) {
  std::memcpy(at, code, sizeof code);
  std::memcpy(at + bound_value_at, &value, sizeof value);
  std::memcpy(at + bound_target_at, &target, sizeof target);
}

struct Machine {
  Elf64_Half elf_machine;
  std::size_t jump_bytes;
  // Writes, at `at`, a jump to the address stored at `slot`.
  void (*write_jump)(std::uint8_t* at, std::uint64_t slot);
  // False for a relocation that is unknown, does not fit its section, or whose value does not fit its field. Null: no
  // object is loaded on this processor.
  bool (*relocate)(const Relocation& relocation);
  // Writes, at `at`, code that sets integer argument number `position` (0 to 5) and jumps to `target`.
  void (*write_bound_jump)(std::uint8_t* at, int position, const void* value, void* target);
};

extern const Machine x86_64_machine, aarch64_machine, riscv64_machine;

// The machine that this process runs on; nullptr when it is not known.
const Machine* this_machine();

}  // namespace bitale::codegen
