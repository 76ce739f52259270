// Support: the small functions that generated C code calls, such as integer division that never traps, conversions, and
// sums by blocks. Each is defined once in a file, and only if it is used. Their texts are templates over dtypes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/dtype.hpp"

namespace bitale::codegen::c {

class Support {
 public:
  // The name of a function of the table, such as bt_div_i64; its definition is added to the file.
  std::string use(std::string_view function, DType dtype);
  // Conversions: bt_cast_f64_i32, bt_bits_f64_u64.
  std::string use(std::string_view function, DType from, DType to);
  // Adds a definition that was written elsewhere; definitions keep the order in which they are added. False when the
  // name is defined already.
  bool add(const std::string& name, const std::string& definition);

  std::string text() const;

 private:
  std::vector<std::string> definitions_;
  std::set<std::string> known_;
};

}  // namespace bitale::codegen::c
