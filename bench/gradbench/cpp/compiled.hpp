// Expressions of Bitale as functions of an eval: arguments from fields of an input, variables of their shapes, a
// compiled function.
#pragma once

#include <bitale/bitale.hpp>
#include <memory>

#include "inputs.hpp"

namespace gradbench {

template <class T>
bitale::Array array_of(const Numbers<T>& numbers) {
  return bitale::Array(numbers.values).reshape(bitale::Dims(std::span<const std::int64_t>(numbers.shape)));
}

// Variables with the values for which they are compiled. Lengths are static, as they are for libraries that compile for
// shapes.
class Arguments {
 public:
  bitale::Variable operator()(const char* name, const bitale::Array& value) {
    variables_.push_back(bitale::tensor(name, value.dtype(), value.shape()));
    values_.push_back(value);
    return variables_.back();
  }
  template <class T>
  bitale::Variable operator()(const char* name, const Numbers<T>& numbers) {
    return (*this)(name, array_of(numbers));
  }
  const bitale::Variables& variables() const { return variables_; }
  const std::vector<bitale::Array>& values() const { return values_; }

 private:
  bitale::Variables variables_;
  std::vector<bitale::Array> values_;
};

using ToJson = std::function<Json(const std::vector<bitale::Array>& results)>;
inline Json json_of(const bitale::Array& array) {
  const bitale::Array numbers = array.contiguous();
  return nested(numbers.data_as<double>(), {numbers.shape().begin(), numbers.shape().size()});
}

inline Prepared compiled(const Arguments& arguments, const bitale::Variables& outputs, ToJson to_json) {
  auto results = std::make_shared<std::vector<bitale::Array>>();
  return {[f = bitale::function(arguments.variables(), outputs, {.on_unused_input = bitale::OnUnusedInput::Ignore}),
           values = arguments.values(), results] { *results = f(values).take(); },
          [results, to_json = std::move(to_json)] { return to_json(*results); }};
}
// The output is the only result.
inline Prepared compiled(const Arguments& arguments, const bitale::Variable& output) {
  return compiled(arguments, {output}, [](const std::vector<bitale::Array>& results) { return json_of(results[0]); });
}

}  // namespace gradbench
