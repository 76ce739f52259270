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

// Where code came from; interpreted: there is none yet.
enum class Origin : std::uint8_t { generated, store, memory, interpreted };

std::string_view name_of(Origin origin);

class Interpreted;

class MachineCode {
 public:
  // What calls run: code, or a plan for the interpreter until there is code. Calls may still be running the plan then,
  // so that it is kept.
  class Tier {
   public:
    explicit Tier(std::shared_ptr<const Object> object);
    explicit Tier(std::unique_ptr<const Interpreted> first);
    ~Tier();
    std::int32_t run(runtime::Frame* frame) const {
      const runtime::Entry code = entry_.load(std::memory_order_acquire);
      return code ? code(frame) : interpret(frame);
    }
    runtime::Entry entry() const { return entry_.load(std::memory_order_acquire); }  // null while there is no code
    void replace(std::shared_ptr<const Object> object);                              // once

   private:
    std::int32_t interpret(runtime::Frame* frame) const;
    std::unique_ptr<const Interpreted> first_;
    std::shared_ptr<const Object> object_;
    std::atomic<runtime::Entry> entry_{nullptr};
  };

  MachineCode(std::shared_ptr<const Object> object, Origin origin, double generating = 0)
      : tier_(std::make_shared<Tier>(std::move(object))), origin_(origin), generating_(generating) {}
  explicit MachineCode(std::shared_ptr<Tier> tier) : tier_(std::move(tier)), origin_(Origin::interpreted) {}
  std::int32_t run(runtime::Frame* frame) const { return tier_->run(frame); }
  runtime::Entry entry() const { return tier_->entry(); }  // valid as long as this
  const std::shared_ptr<Tier>& tier() const { return tier_; }
  Origin origin() const { return origin_; }
  double generating() const { return generating_; }  // milliseconds that the generator took

 private:
  std::shared_ptr<Tier> tier_;
  Origin origin_;
  double generating_ = 0;
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
