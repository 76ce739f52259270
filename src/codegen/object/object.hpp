// Object: a relocatable ELF file, as a compiler writes it, or an archive of several that call each other, made callable
// in this process. Sections are copied into fresh memory, relocated, and made executable; memory is never writable and
// executable at once. New code and code from the cache are loaded alike, and neither is trusted: every offset is
// checked, and anything unknown is rejected.
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
  // Throws ValueError with the defect of the file: not an object for this processor, damaged, an unknown relocation, an
  // undefined symbol, writable data. Throws OutOfMemoryError when the system provides no executable memory.
  static std::shared_ptr<const Object> load(std::string_view file, const Resolve& resolve, const std::string& entry);
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  void* entry() const { return entry_; }
  std::size_t bytes() const { return size_; }  // the size of its memory

 private:
  Object() = default;

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  void* entry_ = nullptr;
};

}  // namespace bitale::codegen
