// Documentation with an example.
#include "examples.hpp"

#include "bitale/core/text.hpp"

namespace bitale::python {

std::string with_example(std::string_view name, std::string_view documentation) {
  for (const Examples* examples : {&elementwise_examples(), &tensors_examples(), &linalg_examples()})
    if (const auto found = examples->find(name); found != examples->end())
      return cat(documentation, "\n\n", found->second);
  return std::string(documentation);
}

}  // namespace bitale::python
