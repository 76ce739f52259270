#include "codegen/llvm/library.hpp"

#include <set>
#include <string_view>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"

namespace bitale::codegen {

namespace {

// The float32 version of `wide`, which calls it.
std::string narrow_text(std::string_view wide) {
  return cat("define float @", wide, "f(float %x) nounwind {\n  %wide = fpext float %x to double\n",
             "  %value = call double @", wide, "(double %wide)\n  %out = fptrunc double %value to float\n",
             "  ret float %out\n}\n");
}

class Library {
 public:
  void add(std::string_view name) {
    if (!known_.insert(std::string(name)).second) return;
    const runtime::RuntimeFunction* row = runtime::find_function(name);
    if (row)
      for (auto& other : row->needs) add(other);
    if (row && !row->llvm_text.empty()) {
      text_ += row->llvm_text;
    } else if (row && !row->same_as.empty()) {
      declare(row->same_as);
      text_ += cat("define double @", name, "(double %x) nounwind {\n  %out = call double @", row->same_as,
                   "(double %x)\n  ret double %out\n}\n");
    } else if (row && !row->widened_from.empty()) {
      add(row->widened_from);
      text_ += narrow_text(row->widened_from);
    } else {
      throw NotImplementedError(cat("export: the function calls ", name,
                                    ", which has no code in an object file; C code may call it (export_c)"));
    }
  }
  std::string text() {
    for (const std::string_view name : {"sin", "tan", "log"}) declare(name);
    return cat(declarations_,
               "declare double @llvm.copysign.f64(double, double)\ndeclare double @llvm.rint.f64(double)\n",
               "declare double @llvm.fma.f64(double, double, double)\n",
               "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n", text_);
  }

 private:
  void declare(std::string_view name) {
    if (declared_.insert(std::string(name)).second) declarations_ += cat("declare double @", name, "(double)\n");
  }

  std::set<std::string> known_, declared_;
  std::string declarations_, text_;
};

}  // namespace

std::string library_text(const std::vector<std::string>& functions) {
  Library library;
  for (auto& name : functions) library.add(name);
  return library.text();
}

}  // namespace bitale::codegen
