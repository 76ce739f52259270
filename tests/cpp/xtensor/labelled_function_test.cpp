// Functions of tensors as ones of labelled tensors, by signatures of core dimensions; and their records.
#include "xtensor/labelled_function.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/xtensor/functions.hpp"

using namespace bitale;
using namespace bitale::xtensor;

TEST_CASE("signatures of core dimensions") {
  const CoreSignature svd("(row,column)->u(row,mode),s(mode),vt(mode,column)");
  CHECK(svd.operands == std::vector<CoreDims>{{"row", "column"}});
  CHECK(svd.results == std::vector<CoreDims>{{"row", "mode"}, {"mode"}, {"mode", "column"}});
  CHECK(svd.result_names == std::vector<std::string>{"u", "s", "vt"});
  CHECK(svd.given == CoreDims{"row", "column"});
  CHECK(svd.required == 2);
  CHECK(svd.created == CoreDims{"mode"});
  const CoreSignature solve("(row,column),(column,k?)->(row,k?)");
  CHECK(solve.operands[1] == CoreDims{"column", "k"});
  CHECK(solve.required == 2);
  CHECK(solve.created.empty());
  CHECK(CoreSignature("(n)->()").results == std::vector<CoreDims>{{}});
}

TEST_CASE("functions of tensors are lifted by a signature") {
  const XVariable x = xtensor::xtensor("x", {"k", "batch", "n"}), y = xtensor::xtensor("y", {"n", "more"});
  const auto sums = [](const Variable& v, const Variable& w) {
    return bitale::sum(bitale::mul(v, bitale::expand_dims(w, -2)), Axes{{v.ndim() - 1}});
  };
  const CoreSignature signature("(k,n),(n)->(k)");
  CHECK(lift<XVariable>("sums", signature, {"k", "n"}, {x, y}, sums).names() ==
        std::vector<std::string>{"batch", "more", "k"});
  CHECK_THROWS_WITH_AS(lift<XVariable>("sums", signature, {"k"}, {x, y}, sums),
                       doctest::Contains("sums: expected 2 core dimensions"), ValueError);
  CHECK_THROWS_WITH_AS(lift<XVariable>("sums", signature, {"k", "m"}, {x, y}, sums), doctest::Contains("\"m\""),
                       ValueError);
}

TEST_CASE("records of functions of labelled tensors") {
  const LabelledFunction& solve = labelled_functions().at("cho_solve");
  CHECK(solve.parameters[0].parts == "(factor, lower)");
  CHECK(solve.parameters[0].kinds == std::vector{ArgumentKind::Operand, ArgumentKind::Flag});
  CHECK(solve.results == 1);
  const LabelledFunction& cholesky = labelled_functions().at("cholesky");
  CHECK(cholesky.parameters[2].is_ignored);
  CHECK(cholesky.parameters[3].is_keyword);
  CHECK(cholesky.parameters[3].positions == std::vector<std::size_t>{1});  // C++ has the names before `lower`
  // Each record names as many arguments as its function takes.
  for (const auto& [name, function] : labelled_functions()) {
    CAPTURE(name);
    std::vector<bool> is_taken(function.parameter_count);
    for (const LabelledParameter& each : function.parameters)
      for (const std::size_t position : each.positions) is_taken.at(position) = true;
    CHECK(std::ranges::find(is_taken, false) == is_taken.end());
  }
}
