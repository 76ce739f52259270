#include "rules/signed_terms.hpp"

#include <doctest/doctest.h>

#include <string>

#include "bitale/ops/ops.hpp"

using namespace bitale;
using rewriting::signed_terms;

namespace {

std::string text_of(const std::vector<rewriting::SignedTerm>& terms) {
  std::string text;
  for (auto& [value, is_negative] : terms) text += (is_negative ? "-" : "+") + value.name();
  return text;
}

}  // namespace

TEST_CASE("a sum is its terms, from left to right, with their signs") {
  const Variable a = vector("a"), b = vector("b"), c = vector("c"), d = vector("d");
  const Variable nested = c - d, sum = (a - (b - nested)) + -(nested + a);
  const auto every_sum = [](const Variable& v) { return rewriting::is_signed_sum(v) ? v : Variable(); };
  CHECK(text_of(signed_terms(sum, every_sum)) == "+a-b+c-d-c+d-a");
  CHECK(signed_terms(sum, every_sum, 6).empty());
  CHECK(text_of(signed_terms(sum, every_sum, 7)) == "+a-b+c-d-c+d-a");
  CHECK(signed_terms(sum, [&](const Variable& v) { return v.same_as(sum) ? v : Variable(); }).size() == 2);
  CHECK(text_of(signed_terms(a, every_sum)) == "+a");
}

TEST_CASE("sums of a million terms are flattened") {
  const Variable a = vector("a");
  Variable left = a, right = a;
  for (int i = 0; i < 1'000'000; ++i) {
    left = left + a;
    right = a - right;
  }
  const auto every_sum = [](const Variable& v) { return rewriting::is_signed_sum(v) ? v : Variable(); };
  CHECK(signed_terms(left, every_sum).size() == 1'000'001);
  const auto terms = signed_terms(right, every_sum);
  CHECK(terms.size() == 1'000'001);
  CHECK(!terms[0].is_negative);
  CHECK(terms[1].is_negative);
  CHECK(!terms.back().is_negative);
}
