#include "lowering/declarations.hpp"

#include <algorithm>

#include "bitale/core/text.hpp"
#include "lowering/costs.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

Declarations::Declarations(program::Program& program)
    : program_(program),
      extents_(program.index_names.size()),
      index_names_(program.index_names.begin(), program.index_names.end()) {
  for (auto& buffer : program.buffers) buffer_names_.insert(buffer.name);
  program::visit_steps(program.steps, [&](const program::Step& step) {
    program::for_each_definition(step, [&](Expr defined, program::Definition kind) {
      if (kind != program::Definition::index) next_var_ = std::max(next_var_, defined.payload() + 1);
    });
  });
}

Expr Declarations::index(std::string_view name, Expr extent) {
  const auto id = std::int64_t(program_.index_names.size());
  const bool is_taken = !index_names_.emplace(name).second;
  program_.index_names.push_back(is_taken ? cat(name, id) : std::string(name));
  extents_.push_back(extent);
  return program_.pool->index(id);
}

std::int64_t Declarations::buffer(program::Buffer buffer) {
  const auto id = std::int64_t(program_.buffers.size());
  if (!buffer_names_.insert(buffer.name).second) buffer_names_.insert(buffer.name += cat("_", id));
  program_.buffers.push_back(std::move(buffer));
  return id;
}

Declarations::Mark Declarations::mark() const {
  const auto count = [](const auto& list) { return std::int64_t(list.size()); };
  return {count(program_.buffers), count(program_.index_names), next_var_, count(program_.checks),
          count(program_.callbacks)};
}

void Declarations::withdraw(const Mark& behind) {
  const auto shorten = [](auto& list, std::int64_t count) { list.erase(list.begin() + count, list.end()); };
  for (auto b = std::size_t(behind.buffers); b < program_.buffers.size(); ++b)
    buffer_names_.erase(program_.buffers[b].name);
  for (auto i = std::size_t(behind.indices); i < program_.index_names.size(); ++i)
    index_names_.erase(program_.index_names[i]);
  std::erase_if(by_depth_, [&](const auto& entry) { return entry.second.payload() >= behind.indices; });
  shorten(program_.buffers, behind.buffers);
  shorten(program_.index_names, behind.indices);
  shorten(extents_, behind.indices);
  shorten(program_.checks, behind.checks);
  shorten(program_.callbacks, behind.callbacks);
  next_var_ = behind.vars;
}

std::vector<Expr> Declarations::indices_of(std::span<const Expr> domain) {
  static constexpr std::string_view letters = "ijklmnpqrs";
  std::vector<Expr> indices;
  for (std::size_t depth = 0; depth < domain.size(); ++depth) {
    if (domain[depth].is_constant(1)) {
      indices.push_back(program_.pool->integer(0));
      continue;
    }
    auto [it, is_new] = by_depth_.try_emplace(std::uint64_t(depth) << 32 | domain[depth].id());
    if (is_new) it->second = index(letters.substr(std::min(depth, letters.size() - 1), 1), domain[depth]);
    indices.push_back(it->second);
  }
  return indices;
}

std::optional<std::pair<std::int64_t, std::int64_t>> Declarations::range_of(Expr index, int depth) const {
  using program::Code;
  if (index.is_constant()) return std::pair(index.payload(), index.payload());
  if (index.code() == Code::index) {
    const Expr extent = extent_of(index);
    if (!extent.is_constant()) return {};
    return std::pair(std::int64_t(0), std::max<std::int64_t>(extent.payload() - 1, 0));
  }
  if (depth == costs::nest::deepest_range || (index.code() != Code::add && index.code() != Code::sub)) return {};
  const auto a = range_of(index.argument(0), depth + 1), b = range_of(index.argument(1), depth + 1);
  if (!a || !b) return {};
  if (index.code() == Code::add) return std::pair(a->first + b->first, a->second + b->second);
  return std::pair(a->first - b->second, a->second - b->first);
}

}  // namespace bitale::lowering
