// Elements that are read: of small buffers of known lengths, each element that a step reads for certain must be one
// that a step before it, or one in a loop around it, may write. Indices are enumerated where they follow from constants
// and from the indices of loops of known lengths; any other index may select any element.
#include "program/verify_reads.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/steps.hpp"

namespace bitale::program {

namespace {

constexpr std::int64_t max_elements = 256, max_iterations = 1024;
constexpr int max_depth = 8;

class ReadElements {
 public:
  explicit ReadElements(const Program& program) : program_(program) {
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.role != Role::temporary && buffer.role != Role::output) continue;
      std::int64_t count = 1;
      for (auto& length : buffer.shape) {
        const bool is_small = length.is_constant() && length.payload() >= 0 && length.payload() <= max_elements;
        count = is_small && count <= max_elements ? count * length.payload() : max_elements + 1;
      }
      if (count <= max_elements) may_be_written_[std::int64_t(b)].assign(std::size_t(count), false);
    }
  }

  void run() { run(program_.steps, true); }

 private:
  using Elements = std::vector<std::int64_t>;

  // `certain`: these steps run whenever those around them do.
  void run(const Steps& steps, bool certain) {
    for (auto& step : steps) {
      check_reads(step, certain);
      note_writes(step);
      const auto* loop = as_loop(step);
      if (!loop) {
        for_each_body(step, [&](const Steps& body) { run(body, false); });
        continue;
      }
      loops_.push_back(loop);
      for (auto& inner : loop->body) note_writes_within(inner);  // of the iterations before
      run(loop->body, certain);
      loops_.pop_back();
    }
  }

  void note_writes_within(const Step& step) {
    note_writes(step);
    const auto* loop = as_loop(step);
    if (loop) loops_.push_back(loop);
    for_each_body(step, [&](const Steps& body) {
      for (auto& inner : body) note_writes_within(inner);
    });
    if (loop) loops_.pop_back();
  }

  // A sum in memory needs elements that have values already.
  void note_writes(const Step& step) {
    for_each_access(step, [&](const Access& access) {
      const auto found = may_be_written_.find(access.buffer);
      if (found == may_be_written_.end() || !access.writes()) return;
      if (access.kind == AccessKind::combine && access.reach == Reach::element) return;
      auto& written = found->second;
      const auto elements = access.at ? elements_at(access.buffer, *access.at) : std::nullopt;
      if (!elements) return written.assign(written.size(), true);
      for (auto element : *elements)
        if (element >= 0 && element < std::int64_t(written.size())) written[std::size_t(element)] = true;
    });
  }

  // A select may guard what it chooses from, and a branch its sides.
  void check_reads(const Step& step, bool certain) {
    if (!certain) return;
    ExprWalk walk;
    std::vector<Expr> roots;
    for_each_expr(step, [&](const Expr& root) { roots.push_back(root); });
    while (!roots.empty()) {
      const Expr root = roots.back();
      roots.pop_back();
      walk(root, [&](Expr expr) {
        if (expr.code() == Code::load && may_be_written_.contains(expr.payload()))
          check_read(expr.payload(), arguments_of(expr));
        const bool chooses = expr.code() == Code::select || expr.code() == Code::rare_call;
        if (chooses) roots.push_back(expr.argument(0));
        return !chooses;
      });
    }
    for_each_access(step, [&](const Access& access) {
      if (access.kind == AccessKind::combine && access.at) check_read(access.buffer, *access.at);
    });
  }

  void check_read(std::int64_t buffer, std::span<const Expr> at) const {
    const auto found = may_be_written_.find(buffer);
    if (found == may_be_written_.end()) return;
    const auto elements = elements_at(buffer, at);
    if (!elements) return;
    for (auto element : *elements)
      if (element >= 0 && element < std::int64_t(found->second.size()) && !found->second[std::size_t(element)])
        throw InternalError(cat("program: element ", element, " of buffer ", program_.buffers[std::size_t(buffer)].name,
                                " is read, but no step before writes it\n", to_string(program_)));
  }

  // The row-major positions of the elements at a multi-index, row by row, in all iterations of the loops around it.
  std::optional<Elements> elements_at(std::int64_t buffer, std::span<const Expr> at) const {
    std::vector<const Loop*> loops;
    bool known = true;
    ExprWalk walk;
    for (auto& index : at)
      walk(index, [&](Expr expr) {
        if (expr.code() != Code::index) return;
        const auto loop = std::find_if(loops_.begin(), loops_.end(), [&](auto* open) { return open->index == expr; });
        known &= loop != loops_.end() && (*loop)->extent.is_constant();
        if (known) loops.push_back(*loop);
      });
    std::int64_t iterations = 1;
    for (auto* loop : loops) {
      const std::int64_t extent = loop->extent.payload();
      known = known && extent >= 0 && extent <= max_iterations && iterations <= max_iterations;
      if (known) iterations *= extent;
    }
    if (!known || iterations > max_iterations) return {};
    Elements out;
    const auto& shape = program_.buffers[std::size_t(buffer)].shape;
    std::unordered_map<std::int64_t, std::int64_t> indices;
    for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
      std::int64_t rest = iteration, element = 0;
      for (auto* loop : loops) {
        indices[loop->index.payload()] = rest % loop->extent.payload();
        rest /= loop->extent.payload();
      }
      for (std::size_t k = 0; k < at.size(); ++k) {
        const auto index = value_of(at[k], indices);
        if (!index) return {};
        element = element * shape[k].payload() + *index;
      }
      out.push_back(element);
    }
    return out;
  }

  static std::optional<std::int64_t> value_of(Expr expr, const std::unordered_map<std::int64_t, std::int64_t>& indices,
                                              int depth = 0) {
    if (expr.is_constant()) return expr.payload();
    if (expr.code() == Code::index) return indices.at(expr.payload());
    if (expr.dtype() != DType::Int64 || expr.argument_count() != 2 || depth == max_depth) return {};
    const auto a = value_of(expr.argument(0), indices, depth + 1);
    const auto b = a ? value_of(expr.argument(1), indices, depth + 1) : std::nullopt;
    if (!b) return {};
    switch (expr.code()) {
      case Code::add: return *a + *b;
      case Code::sub: return *a - *b;
      case Code::mul: return *a * *b;
      case Code::min: return std::min(*a, *b);
      case Code::max: return std::max(*a, *b);
      default: return {};
    }
  }

  const Program& program_;
  std::unordered_map<std::int64_t, std::vector<bool>> may_be_written_;  // small buffers: by element
  std::vector<const Loop*> loops_;                                      // around the current step
};

}  // namespace

void verify_reads(const Program& program) { ReadElements(program).run(); }

}  // namespace bitale::program
