// The table of runtime functions: rows are complete, and refer to existing functions and parameters.
#include "bitale/runtime/functions.hpp"

#include <doctest/doctest.h>

#include <string>

#include "bitale/core/error.hpp"

using namespace bitale;
using namespace bitale::runtime;

TEST_CASE("every row of the table of runtime functions is complete") {
  CHECK(all_functions().size() > 30);
  for (const RuntimeFunction* row : all_functions()) {
    CAPTURE(row->name);
    CHECK(row->address != nullptr);
    CHECK(find_function(row->name) == row);
    CHECK(find_symbol(row->name) == row->address);
    for (std::size_t i = 0; i < row->parameters.size(); ++i) {
      CHECK(!row->parameters[i].name.empty());
      CHECK(row->argument_index(row->parameters[i].name) == i);
      if (row->is_pure()) CHECK(row->parameters[i].kind == ParameterKind::scalar);
    }
    for (auto& name : row->flops.of) CHECK(row->parameters[row->argument_index(name)].kind == ParameterKind::scalar);
    for (auto& name : row->needs) CHECK(find_function(name) != nullptr);
    if (!row->widened_from.empty()) CHECK(find_function(row->widened_from) != nullptr);
    CHECK((row->result == Result::status) == !row->failure.empty());
    if (!row->c_text.empty()) {
      std::string name(row->name);
      if (row->name.find('_', 3) != row->name.npos && !row->with.empty())
        name = name.substr(0, name.rfind('_') + 1) + "$S";
      CHECK(row->c_text.find(name) != std::string_view::npos);
    }
    if (!row->llvm_text.empty()) CHECK(row->llvm_text.find(row->name) != std::string_view::npos);
  }
}

TEST_CASE("parameters of a runtime function are found by name, and their kinds by type") {
  const RuntimeFunction& gemm = function_named("bt_gemm_f64");
  CHECK(gemm.parameters[gemm.argument_index("A")].kind == ParameterKind::in);
  CHECK(gemm.parameters[gemm.argument_index("C")].kind == ParameterKind::out);
  CHECK(gemm.parameters[gemm.argument_index("lda")].kind == ParameterKind::scalar);
  CHECK(gemm.result == Result::nothing);
  CHECK_THROWS_WITH_AS((void)gemm.argument_index("q"), "the runtime function bt_gemm_f64 has no parameter q",
                       InternalError);
  CHECK(find_function("bt_no_such") == nullptr);
  CHECK_THROWS_AS((void)function_named("bt_no_such"), InternalError);
  CHECK(function_named("bt_digamma").is_pure());
  const RuntimeFunction& factor = function_named("bt_cholesky_f64");
  CHECK(factor.parameters[factor.argument_index("A")].kind == ParameterKind::in_out);
  CHECK(factor.result == Result::status);
}

TEST_CASE("a batched version takes a count, a step of each array but scratch, and the parameters of the single one") {
  int found = 0;
  for (const RuntimeFunction* row : all_functions()) {
    const RuntimeFunction* batches = version_for_batches(row->name);
    if (!batches) continue;
    ++found;
    CAPTURE(row->name);
    std::vector<std::string> expected{"count"}, names;
    for (auto& parameter : row->parameters)
      if (parameter.kind != ParameterKind::scalar && parameter.kind != ParameterKind::scratch)
        expected.push_back("step_" + std::string(parameter.name));
    for (auto& parameter : row->parameters) expected.emplace_back(parameter.name);
    for (auto& parameter : batches->parameters) names.emplace_back(parameter.name);
    CHECK(names == expected);
    CHECK(batches->result == row->result);
    CHECK(batches->failure == row->failure);
    for (std::size_t i = 0; i < row->parameters.size(); ++i)
      CHECK(batches->parameters[names.size() - i - 1].kind == row->parameters[row->parameters.size() - i - 1].kind);
  }
  CHECK(found == 10);
}
