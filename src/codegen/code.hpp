// Turns a Program into a callable entry point. Code that this process or an earlier one has generated for the same
// Program is reused; a code generator is loaded and run only otherwise.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "codegen/generate.hpp"
#include "codegen/object/object.hpp"
#include "codegen/target.hpp"
#include "program/program.hpp"
#include "runtime/frame.hpp"

namespace bitale::codegen {

// Where code came from.
enum class Origin : std::uint8_t { generated, store, memory };

std::string_view name_of(Origin origin);

class MachineCode {
 public:
  // The code that calls run: the first one, or the better one that has come since. Calls may still be running the first
  // one, so that it is kept.
  class Tier {
   public:
    explicit Tier(std::shared_ptr<const Object> object) : first_(std::move(object)), entry_(entry_of(*first_)) {}
    runtime::Entry entry() const { return entry_.load(std::memory_order_acquire); }
    void replace(std::shared_ptr<const Object> object) {  // once
      second_ = std::move(object);
      entry_.store(entry_of(*second_), std::memory_order_release);
    }

   private:
    static runtime::Entry entry_of(const Object& object) { return reinterpret_cast<runtime::Entry>(object.entry()); }
    std::shared_ptr<const Object> first_, second_;
    std::atomic<runtime::Entry> entry_;
  };

  MachineCode(std::shared_ptr<const Object> object, Origin origin, double generating = 0)
      : tier_(std::make_shared<Tier>(std::move(object))), origin_(origin), generating_(generating) {}
  runtime::Entry entry() const { return tier_->entry(); }  // valid as long as this
  const std::shared_ptr<Tier>& tier() const { return tier_; }
  Origin origin() const { return origin_; }
  double generating() const { return generating_; }  // milliseconds that the generator took

 private:
  std::shared_ptr<Tier> tier_;
  Origin origin_;
  double generating_;
};

// Flags: `cache` (whether code is stored and looked up; never if not `cached`), `compiledir` (where), `cache__size`
// (how much).
// Throws MissingGenerator when code must be generated and what the generator needs is not found.
std::unique_ptr<MachineCode> compile(const program::Program& program, const Target& target = this_target(),
                                     const Generator& generator = llvm_generator(), bool cached = true);

// The same code as LLVM's text and as C, for reading; generated on request.
std::string llvm_text(const program::Program& program, const Target& target = this_target());
std::string c_text(const program::Program& program, const Target& target = this_target());

}  // namespace bitale::codegen
