// Scans: sums and other reductions, prefix scans and arg-reductions along axes of a domain. All kinds have one
// definition; where a value is carried (in a variable along the last axes, in the buffer along others) is decided when
// loops are built.
#include "lowering/definitions.hpp"

namespace bitale::lowering {

void Definitions::scan(int output, ElementScan scan) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  Value& value = values_[variable.node()];
  const DType stored = variable.storage().dtype;
  const bool is_prefix = scan.kind == CarryKind::prefix, is_arg = scan.kind == CarryKind::arg_reduce;
  const Expr var = declare.var(scan.dtype), position_var = is_arg ? declare.var(DType::Int64) : Expr();
  std::int64_t buffer = -1;
  if (variable.storage().ndim() == 0) {
    value.scalar = program::cast(is_arg ? position_var : var, stored);
  } else if (computing_dtype(stored) == stored) {
    buffer = value.buffer = result_buffer(variable);
  } else {  // values of such a dtype are not combined in memory
    buffer = add_buffer(variable, program::Role::temporary);
    program.buffers.back().dtype = scan.dtype;
    element(
        output,
        [this, buffer, dtype = scan.dtype, stored](Index at) {
          return program::cast(pool().load(buffer, dtype, at), stored);
        },
        0);
  }
  value.reread = is_prefix;
  scan.value = bound(std::move(scan.value));
  if (scan.computed_extent.rule) scan.computed_extent.rule = bound(std::move(scan.computed_extent.rule));
  builders_[node_].push_back([=, this, scan = std::move(scan)]() mutable {
    compute_extent(scan.computed_extent, scan.domain);
    Scanned scanned{{.domain = equal_lengths.canonical(scan.domain), .buffer = buffer},
                    scan.kind,
                    scan.combiner,
                    scan.along,
                    var,
                    position_var};
    if (is_arg) define_position(scanned, variable);
    const bool is_only = is_arg && scanned.position.is_constant(0);  // only one element to choose from
    // The output has exactly the remaining axes: keepdims is a permutation that is created elsewhere.
    add_computation(
        std::move(scanned),
        [&](Index at) { return is_only ? pool().integer(0) : program::cast(scan.value(at), scan.dtype); },
        [&](Index at) {
          std::vector<Expr> target;
          for (std::size_t k = 0; k < at.size(); ++k)
            if (is_prefix || !scan.along[k]) target.push_back(at[k]);
          return target;
        });
  });
}

// The extent is evaluated at the indices of the loops around its own.
void Definitions::compute_extent(const ComputedExtent& extent, std::vector<Expr>& domain) {
  const auto& [axis, rule] = extent;
  if (!rule) return;
  const std::vector<Expr> around =
      equal_lengths.canonical(std::vector<Expr>(domain.begin(), domain.begin() + std::ptrdiff_t(axis)));
  const std::vector<Expr> indices = declare.indices_of(around);
  resolve([&] { domain[axis] = equal_lengths.fixed(rule(indices)); });
}

// Computes the position of an element as a row-major number along the reduced axes, and allocates memory for the
// extremes where several are accumulated at a time.
void Definitions::define_position(Scanned& scanned, const Variable& variable) {
  const std::vector<Expr> indices = declare.indices_of(scanned.domain);
  scanned.position = pool().integer(0);
  std::vector<Expr> kept;
  bool any_along = false, kept_behind = false;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Expr length = scanned.domain[k];
    if (scanned.along[k])
      scanned.position = scanned.position * length + indices[k];
    else
      kept.push_back(length);
    if (length.is_constant(1)) continue;
    kept_behind |= any_along && !scanned.along[k];
    any_along |= scanned.along[k];
  }
  if (!kept_behind) return;
  scanned.extremes = add_buffer(variable, program::Role::temporary);
  program.buffers.back().dtype = scanned.var.dtype();
  program.buffers.back().shape = kept;
}

}  // namespace bitale::lowering
