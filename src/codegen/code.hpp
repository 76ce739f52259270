// Turns a Program into a callable entry point. Code that this process or an earlier one has generated for the same
// Program is reused; a code generator is loaded and run only otherwise.
#pragma once

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
  MachineCode(std::shared_ptr<const Object> object, Origin origin, double generating = 0)
      : object_(std::move(object)),
        entry_(reinterpret_cast<runtime::Entry>(object_->entry())),
        origin_(origin),
        generating_(generating) {}
  runtime::Entry entry() const { return entry_; }  // valid as long as this
  Origin origin() const { return origin_; }
  double generating() const { return generating_; }  // milliseconds that the generator took

 private:
  std::shared_ptr<const Object> object_;
  runtime::Entry entry_;
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
