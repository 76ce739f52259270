// Documentation with an example.
#include "examples.hpp"

#include "bitale/core/text.hpp"
#include "reference/example_of.hpp"

namespace bitale::python {

std::string_view example_of(std::string_view name) {
  for (const Examples* examples : {&elementwise_examples(), &tensors_examples(), &linalg_examples()})
    if (const auto found = examples->find(name); found != examples->end()) return found->second;
  return {};
}

std::string with_example(std::string_view name, std::string_view documentation) {
  const std::string_view example = example_of(name);
  return example.empty() ? std::string(documentation) : cat(documentation, "\n\n", example);
}

}  // namespace bitale::python
