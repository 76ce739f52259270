// Flattens nested sums iteratively, since a sum may be a million terms deep.
#include "rules/signed_terms.hpp"

#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

bool is_signed_sum(const Variable& v) {
  return is_elemwise(v, "add") || is_elemwise(v, "sub") || is_elemwise(v, "neg");
}

std::vector<SignedTerm> signed_terms(const Variable& sum, const NestedSum& nested_sum, std::size_t limit) {
  std::vector<SignedTerm> terms, open{{sum, false}};
  while (!open.empty()) {
    const auto [value, is_negative] = open.back();
    open.pop_back();
    const Variable nested = nested_sum(value);
    if (nested.defined()) {
      const bool is_difference = is_elemwise(nested, "sub"), is_negation = is_elemwise(nested, "neg");
      const auto inputs = nested.owner().inputs();
      for (std::size_t i = inputs.size(); i-- > 0;)
        open.push_back({inputs[i], is_negative != (is_negation || (is_difference && i > 0))});
    } else {
      terms.push_back({value, is_negative});
    }
    if (terms.size() + open.size() > limit) return {};
  }
  return terms;
}

}  // namespace bitale::rewriting
