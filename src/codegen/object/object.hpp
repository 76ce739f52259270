// Object: a relocatable ELF file, as a compiler writes it, or an archive of several that call each other, made callable
// in this process. Sections are copied into fresh memory, relocated, and made executable; never writable and executable
// at once. It serves code that was generated just now and code from the cache alike, so it trusts nothing: every offset
// is checked, and what it does not know is refused.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace bitale::codegen {

// The address of a function that the object refers to but does not define; nullptr when there is none.
using Resolve = std::function<void*(const std::string& name)>;

class Object {
 public:
  // ValueError saying what is wrong with the file: not an object for this processor, damaged, an unknown relocation, a
  // symbol that nobody defines, writable data. OutOfMemoryError when the system gives no executable memory.
  static std::shared_ptr<const Object> load(std::string_view file, const Resolve& resolve, const std::string& entry);
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void* entry() const { return entry_; }
  std::size_t bytes() const { return size_; }  // of memory that it takes

 private:
  Object() = default;

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  void* entry_ = nullptr;
};

}  // namespace bitale::codegen
