// Calls of runtime functions in loops: buffer arguments with offsets, returned statuses, and checks that end the call.
#include <doctest/doctest.h>

#include "bitale/runtime/functions.hpp"
#include "program/steps.hpp"
#include "support/program_runner.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

// to[k] = 1 / from[k]. Returns 0, or the position of the first zero, counted from 1.
extern "C" std::int64_t bt_test_reciprocals(std::int64_t count, const double* from, double* to) {
  for (std::int64_t k = 0; k < count; ++k) {
    if (from[k] == 0) return k + 1;
    to[k] = 1 / from[k];
  }
  return 0;
}

runtime::RuntimeFunction reciprocals() {
  runtime::RuntimeFunction row = runtime::runtime_function("bt_test_reciprocals", bt_test_reciprocals, "count from to");
  row.failure = "a zero";
  return row;
}
const runtime::RegisterFunctions functions{reciprocals()};

// y = 2 / x, with one call for each row of x; failures are checked after the loop or within it.
enum class Kind { after, within };
Program rows_by_calls(Kind kind) {
  Program program;
  ExprPool& pool = *program.pool;
  program.index_names = {"i", "k"};
  program.input_count = program.output_count = 1;
  program.checks = {"a zero"};
  const Expr rows = pool.dim(0, 0), columns = pool.dim(0, 1), i = pool.index(0), k = pool.index(1);
  Buffer x, y;
  x.name = "x", x.role = Role::input, x.slot = 0, x.shape = {rows, columns};
  y.name = "y", y.role = Role::output, y.slot = 0, y.shape = {rows, columns};
  program.buffers = {x, y};
  const Expr status = pool.var(0, DType::Int64), fine = pool.var(1, DType::Bool);
  Loop loop{i, rows, {}, {}};
  loop.body.push_back({Call{
      "bt_test_reciprocals",
      {columns, BufferArgument{0, AccessKind::read, i * columns}, BufferArgument{1, AccessKind::write, i * columns}},
      status}});
  if (kind == Kind::after) {
    loop.carries.push_back({fine, CarryKind::reduce, Combiner::bit_and});
    loop.body.push_back({Update{fine, Combiner::bit_and, equal(status, pool.integer(0))}});
  } else {
    loop.body.push_back({Check{equal(status, pool.integer(0)), 0}});
  }
  // The same iteration reads the result of the call.
  const Expr at[] = {i, k};
  Loop doubling{k, columns, {}, {}, true};
  doubling.body.push_back({Store{1, {i, k}, pool.load(1, DType::Float64, at) * 2.0}});
  loop.body.push_back({std::move(doubling)});
  program.steps.push_back({Allocate{1}});
  program.steps.push_back({std::move(loop)});
  if (kind == Kind::after) program.steps.push_back({Check{fine, 0}});
  return program;
}

Array matrix_of(std::int64_t rows, std::int64_t columns, double first) {
  Array out = Array::zeros(DType::Float64, Dims{rows, columns});
  for (std::int64_t n = 0; n < rows * columns; ++n) static_cast<double*>(out.mutable_data())[n] = first + double(n);
  return out;
}

}  // namespace

TEST_CASE("a runtime function is called in a loop on buffers with offsets") {
  for (const Kind kind : {Kind::after, Kind::within}) {
    const Program program = rows_by_calls(kind);
    CHECK_NOTHROW(verify(program));
    for (const char* how : {"interpreter", "llvm", "c"}) {
      CAPTURE(how);
      const Array good[] = {matrix_of(5, 3, 1)};
      const auto run = test::run_program(program, good, how);
      REQUIRE(run.status == 0);
      for (std::int64_t n = 0; n < 15; ++n) CHECK(run.outputs[0].at(Dims{n / 3, n % 3}) == 2 / double(n + 1));
      const Array bad[] = {matrix_of(5, 3, -7)};
      CHECK(test::run_program(program, bad, how).status == 1);
      const Array nothing[] = {matrix_of(0, 3, 0)};
      CHECK(test::run_program(program, nothing, how).status == 0);
    }
  }
}

TEST_CASE("calls with offsets are printed") {
  const std::string text = to_string(rows_by_calls(Kind::within));
  CAPTURE(text);
  CHECK(
      text.find("v0 = call bt_test_reciprocals(len(x, 1), in x from (i * len(x, 1)), out y from (i * len(x, 1)))\n") !=
      std::string::npos);
}
