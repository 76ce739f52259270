#include "runtime/digits.hpp"

#include <dlfcn.h>

#include <limits>
#include <string>

#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "core/library_folder.hpp"

namespace bitale::runtime {

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr DigitsFunctions nothing = {[](double, double, double, double) { return no_value; },
                                     [](double, double, double, double, bool) { return no_value; }};

const DigitsFunctions& open() {
  const std::string file = library_of_release("libbitale_digits.so");
  if (void* library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL))
    if (void* functions = dlsym(library, "bitale_digits_functions"))
      return *static_cast<const DigitsFunctions*>(functions);
  warn(cat("values of hyp2f1 that need numbers of more digits are nan: ", file,
           ", which is installed with the library, can't be opened (", dlerror(), ")"));
  return nothing;
}

}  // namespace

const DigitsFunctions& digits() {
  static const DigitsFunctions& once = open();
  return once;
}

}  // namespace bitale::runtime
