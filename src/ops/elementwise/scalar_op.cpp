// The table of scalar ops. Records are added when their files are loaded; none is removed.
#include "ops/elementwise/scalar_op.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string_view, std::unique_ptr<const ScalarOp>> records;
};

Table& table() {
  static Table* const it = new Table;  // records are never destroyed
  return *it;
}

}  // namespace

RegisterScalarOp::RegisterScalarOp(ScalarOp op) {
  if (op.partials.size() != std::size_t(op.arity) && !op.partials.empty())
    throw InternalError(cat("scalar op ", op.name, ": ", op.partials.size(), " partials for ", op.arity, " inputs"));
  auto record = std::make_unique<const ScalarOp>(std::move(op));
  const std::string_view name = record->name;
  const std::lock_guard lock(table().mutex);
  if (!table().records.emplace(name, std::move(record)).second)
    throw InternalError(cat("two scalar ops are called ", name));
}

const ScalarOp& scalar_op(std::string_view name) {
  const std::lock_guard lock(table().mutex);
  const auto& records = table().records;
  if (auto found = records.find(name); found != records.end()) return *found->second;
  std::vector<std::string> names;
  for (auto& [known, record] : records) names.emplace_back(known);
  const std::string near = closest(name, names);
  throw KeyError(
      cat("no scalar op is called \"", name, "\"", near.empty() ? "" : cat("; did you mean \"", near, "\"?")));
}

std::vector<const ScalarOp*> scalar_ops() {
  const std::lock_guard lock(table().mutex);
  std::vector<const ScalarOp*> out;
  for (auto& [name, record] : table().records) out.push_back(record.get());
  return out;
}

}  // namespace bitale
