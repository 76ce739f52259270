#include "codegen/freestanding.hpp"

#include <algorithm>
#include <set>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

namespace {

using program::BufferArgument;
using program::Call;
using program::Combiner;
using program::Expr;
using program::ExprPool;
using program::Loop;
using program::OneOf;
using program::Program;
using program::Step;
using program::Steps;

// ---- products of matrices -------------------------------------------------------------------------------------------

std::int64_t variables_in(const Program& program) {
  std::int64_t next = 0;
  program::visit_steps(program.steps, [&](const Step& step) {
    program::for_each_definition(step, [&](Expr var, program::Definition kind) {
      if (kind != program::Definition::index) next = std::max(next, var.payload() + 1);
    });
  });
  return next;
}

// A matrix in a buffer, stored row by row or, if transposed, column by column.
struct Matrix {
  std::int64_t buffer;
  Expr start, distance;  // offset of the first element; distance from one stored row to the next
  bool transposed = false;
};

class Products {
 public:
  explicit Products(Program& program)
      : program_(program), pool_(*program.pool), next_variable_(variables_in(program)) {}

  // The steps that replace the call; none when it is not a product.
  Steps instead_of(const Call& call) {
    const runtime::RuntimeFunction* row = runtime::find_function(call.function);
    if (!row || row->product == runtime::ProductKind::none) return {};
    const auto number = [&](std::string_view name) {
      return std::get<Expr>(call.arguments[row->argument_index(name)]);
    };
    const auto flag = [&](std::string_view name) { return number(name).payload() != 0; };
    const auto matrix = [&](std::string_view name, Expr distance, bool transposed = false) {
      auto& [buffer, kind, offset] = std::get<BufferArgument>(call.arguments[row->argument_index(name)]);
      return Matrix{buffer, offset.defined() ? offset : pool_.integer(0), distance, transposed};
    };
    const Expr one = pool_.integer(1), m = number("m"), k = number("k");
    switch (row->product) {
      case runtime::ProductKind::matrix: {
        const Expr n = number("n");
        const bool may_add = std::any_of(row->parameters.begin(), row->parameters.end(),
                                         [](const runtime::Parameter& each) { return each.name == "add"; });
        return product(m, n, k, matrix("A", number("lda"), flag("transA")), matrix("B", number("ldb"), flag("transB")),
                       matrix("C", n), may_add ? number("add") : Expr());
      }
      case runtime::ProductKind::matrix_vector: {
        const Matrix a = matrix("A", number("lda"), flag("transA"));
        // x is a matrix of one column, stored as a row. If A is transposed, y^T = x^T A^T reads its rows.
        if (!a.transposed) return product(m, one, k, a, matrix("x", k, true), matrix("y", one));
        return product(one, m, k, matrix("x", k), {a.buffer, a.start, a.distance}, matrix("y", m));
      }
      case runtime::ProductKind::batched_matrix: {
        const Expr n = number("n"), which = index("batch");
        const auto one_of = [&](std::string_view name, Expr stride, Expr distance) {
          Matrix out = matrix(name, distance);
          out.start = out.start + which * stride;
          return out;
        };
        Steps body = product(m, n, k, one_of("A", number("strideA"), k), one_of("B", number("strideB"), n),
                             one_of("C", m * n, n));
        return {loop(which, number("batch"), std::move(body))};
      }
      case runtime::ProductKind::none: break;
    }
    return {};
  }

 private:
  Expr index(const char* name) {
    program_.index_names.emplace_back(name);
    return pool_.index(std::int64_t(program_.index_names.size()) - 1);
  }
  static Step loop(Expr index, Expr extent, Steps body, bool vector = false, std::vector<program::Carry> carries = {}) {
    Loop out{index, extent, std::move(carries), std::move(body)};
    out.vector = vector;
    return {std::move(out)};
  }
  // Indices of an element, given by its offset in memory: all are 0 but the last, which may exceed its axis.
  std::vector<Expr> at(const Matrix& matrix, Expr row, Expr column) const {
    const auto ndim = program_.buffers[std::size_t(matrix.buffer)].shape.size();
    std::vector<Expr> out(ndim, pool_.integer(0));
    out.back() = matrix.transposed ? matrix.start + column * matrix.distance + row
                                   : matrix.start + row * matrix.distance + column;
    return out;
  }
  Expr element(const Matrix& matrix, Expr row, Expr column) const {
    const DType dtype = program_.buffers[std::size_t(matrix.buffer)].dtype;
    return pool_.load(matrix.buffer, dtype, at(matrix, row, column));
  }

  // c[m, n] = a[m, k] b[k, n], plus c where `add` is not 0, with the inner loop along the contiguous axis of b.
  Steps product(Expr m, Expr n, Expr k, const Matrix& a, const Matrix& b, const Matrix& c, Expr add = {}) {
    const DType dtype = program_.buffers[std::size_t(c.buffer)].dtype;
    const Expr i = index("i"), j = index("j"), l = index("l"), zero = pool_.number(0, dtype);
    const Expr term = element(a, i, l) * element(b, l, j);
    const Expr start = add.defined() ? select(not_equal(add, pool_.integer(0)), element(c, i, j), zero) : zero;
    if (b.transposed) {
      const Expr sum = pool_.var(next_variable_++, dtype);
      Steps sums{loop(l, k, {{program::Update{sum, Combiner::add, term}}}, true, {{sum}})};
      sums.push_back({program::Store{c.buffer, at(c, i, j), add.defined() ? start + sum : sum}});
      return {loop(i, m, {loop(j, n, std::move(sums))})};
    }
    Steps row{loop(j, n, {{program::Store{c.buffer, at(c, i, j), start}}}, true)};
    const Expr again = index("j");
    const Expr next_term = element(a, i, l) * element(b, l, again);
    row.push_back(loop(
        l, k, {loop(again, n, {{program::Accumulate{c.buffer, at(c, i, again), Combiner::add, next_term}}}, true)}));
    return {loop(i, m, std::move(row))};
  }

  Program& program_;
  ExprPool& pool_;
  std::int64_t next_variable_;
};

// ---- steps ----------------------------------------------------------------------------------------------------------

bool could_be_negative(const Program& program, Expr length) {
  if (length.is_constant()) return length.payload() < 0;
  return length.code() != program::Code::dim ||
         program.buffers[std::size_t(length.payload() >> 8)].role != program::Role::input;
}

Steps written_out(Program& program, const Steps& steps, Products& products, int negative_length) {
  Steps out;
  for (auto& step : steps) {
    const bool is_replaced = program::match(
        step,
        [&](const program::HostCall& host) -> bool {
          throw NotImplementedError(cat("export: the function calls the host back for ",
                                        program.callbacks[std::size_t(host.callback)],
                                        ", which has no native code; an exported function can't"));
        },
        [&](const Call& call) {
          Steps instead = products.instead_of(call);
          for (auto& each : instead) out.push_back(std::move(each));
          return !instead.empty();
        },
        [&](const program::Allocate& allocate) {
          for (auto& length : program.buffers[std::size_t(allocate.buffer)].shape)
            if (could_be_negative(program, length)) out.push_back({program::Check{length >= 0, negative_length - 1}});
          return false;
        },
        [](const OneOf<program::Store, program::Accumulate, program::Let, program::Update, Loop, program::Fill,
                       program::Check, program::Next, program::If> auto&) { return false; });
    if (is_replaced) continue;
    out.push_back(step);
    program::for_each_body(out.back(),
                           [&](Steps& body) { body = written_out(program, body, products, negative_length); });
  }
  return out;
}

}  // namespace

Program freestanding(const Interface& interface) {
  Program out = interface.program;
  Products products(out);
  out.steps = written_out(out, interface.program.steps, products, interface.negative_length());
  return out;
}

std::vector<std::string> runtime_functions(const Program& program) {
  std::set<std::string> names;
  const auto note = [&](const std::string& name) {
    const runtime::RuntimeFunction* row = runtime::find_function(name);
    if (!row || !row->is_standard) names.insert(name);
  };
  program::ExprWalk walk;
  const auto inspect = [&](Expr root) {
    walk(root, [&](Expr expr) {
      const bool is_call = expr.code() == program::Code::call || expr.code() == program::Code::rare_call;
      if (is_call && !program.function_of(expr)) note(expr.pool().function_name(expr.payload()));
    });
  };
  program::visit_steps(program.steps, [&](const Step& step) {
    program::for_each_expr(step, inspect);
    if (auto* call = program::as_call(step)) note(call->function);
    if (program::as_fill(step)) note("bt_fill");
  });
  for (auto& [id, function] : program.functions) inspect(function.body);
  return {names.begin(), names.end()};
}

SizesProgram sizes_program(const Interface& interface, std::int64_t spill_bytes) {
  SizesProgram out{allocations_of(interface.program), 0, 0, {}};
  Program& program = out.program;
  ExprPool& pool = *program.pool;
  const Expr zero = pool.integer(0);
  std::vector<Expr> row{zero};
  for (auto id : interface.output_buffers)
    if (id >= 0)
      for (auto& length : program.buffers[std::size_t(id)].shape) row.push_back(length);
  out.header_words = std::int64_t(row.size());

  std::vector<Expr> room(std::size_t(program.workspace_slots), zero);
  for (auto& step : program.steps) {
    const std::int64_t id = program::as_allocate(step)->buffer;
    program::Buffer& buffer = program.buffers[std::size_t(id)];
    if (buffer.role != program::Role::temporary || std::exchange(buffer.on_stack, false)) continue;
    Expr bytes = pool.integer(std::int64_t(itemsize(buffer.dtype)));
    for (auto& length : buffer.shape) bytes = bytes * length;
    Expr& most = room[std::size_t(buffer.slot)];
    most = max(most, bytes);
    out.with_offset.push_back(id);
  }
  std::vector<Expr> starts;
  Expr end = zero;
  for (auto& bytes : room) {
    starts.push_back(end);
    end = end + ((bytes + (workspace_alignment - 1)) & pool.integer(-workspace_alignment));
  }
  for (auto id : out.with_offset) row.push_back(starts[std::size_t(program.buffers[std::size_t(id)].slot)]);
  row.push_back(end);
  row[0] = end + spill_bytes;

  out.buffer = std::int64_t(program.buffers.size());
  program::Buffer sizes;
  sizes.name = "sizes";
  sizes.dtype = DType::Int64;
  sizes.role = program::Role::output;
  sizes.slot = program.output_count++;
  sizes.shape = {pool.integer(std::int64_t(row.size()))};
  program.buffers.push_back(std::move(sizes));
  for (std::size_t i = 0; i < row.size(); ++i)
    program.steps.push_back({program::Store{out.buffer, {pool.integer(std::int64_t(i))}, row[i]}});
  return out;
}

}  // namespace bitale::codegen
