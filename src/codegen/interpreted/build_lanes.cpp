// The operations of a vector loop as a whole: which are one kernel together, which write to memory themselves, and
// which chunks of values may share memory.
#include <algorithm>
#include <cstring>

#include "codegen/interpreted/builder.hpp"

namespace bitale::codegen::interpreted {

using program::Role;
using program::kernels::longest_polynomial;
using program::kernels::uniform_a;
using program::kernels::uniform_c;

namespace {

bool writes_memory(const Op& op) {
  switch (op.kind) {
    case Op::Kind::store:
    case Op::Kind::store_strided:
    case Op::Kind::scatter:
    case Op::Kind::accumulate:
    case Op::Kind::accumulate_at:
    case Op::Kind::accumulate_by_runs: return true;
    case Op::Kind::kernel: return op.buffer >= 0;
    default: return false;
  }
}

}  // namespace

Builder::Uses Builder::uses_of(std::vector<Op>& ops) {
  Uses out{std::vector<std::size_t>(chunks_.size(), ops.size()), std::vector<std::size_t>(chunks_.size())};
  for (std::size_t k = 0; k < ops.size(); ++k)
    for_each_register(ops[k], [&](Register& r) {
      if ((r & tag_bits) != is_chunk) return;
      const std::size_t chunk = r & ~tag_bits;
      if (out.made_by[chunk] == ops.size())
        out.made_by[chunk] = k;
      else
        ++out.count[chunk];
    });
  return out;
}

// A table of adjacent constants: elements of four bytes share words. Processors are little-endian.
Register Builder::table(std::span<const std::int64_t> elements, std::size_t itemsize) {
  std::vector<std::int64_t> words(elements.size() * itemsize / 8 + 1);
  auto* bytes = reinterpret_cast<char*>(words.data());
  for (std::size_t k = 0; k < elements.size(); ++k) std::memcpy(bytes + k * itemsize, &elements[k], itemsize);
  const auto first = Register(parts_.constants.size());
  parts_.constants.insert(parts_.constants.end(), words.begin(), words.end());
  return first;
}

// Horner's rule with constant coefficients is one kernel, which loads and stores once: elementary functions consist
// of polynomials for the most part.
void Builder::join_polynomials(std::vector<Op>& ops) {
  const Uses uses = uses_of(ops);
  const auto is_constant = [](Register r) { return (r & tag_bits) == 0; };
  std::vector<std::vector<std::int64_t>> coefficients(ops.size());
  std::vector<bool> is_joined(ops.size(), false), starts_uniform(ops.size(), false);
  for (std::size_t k = 0; k < ops.size(); ++k) {
    Op& op = ops[k];
    const std::int64_t uniform = op.number - 1;
    const bool may_begin = uniform == uniform_c || (uniform == (uniform_a | uniform_c) && is_constant(op.a));
    if (op.kind != Kind::kernel || !may_begin || !is_constant(op.c)) continue;
    auto& own = coefficients[k];
    own.push_back(parts_.constants[op.c]);
    starts_uniform[k] = uniform != uniform_c;
    if (starts_uniform[k]) continue;
    const std::size_t chunk = op.a & ~tag_bits, before = uses.made_by[chunk];
    if (uses.count[chunk] != 1 || before >= k || coefficients[before].empty() || ops[before].b != op.b) continue;
    if (coefficients[before].size() >= std::size_t(longest_polynomial) || ops[before].shift != op.shift) continue;
    own.insert(own.begin(), coefficients[before].begin(), coefficients[before].end());
    op.a = ops[before].a;
    starts_uniform[k] = starts_uniform[before];
    is_joined[before] = true;
  }
  std::vector<Op> left;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    if (is_joined[k]) continue;
    Op& op = left.emplace_back(ops[k]);
    const auto& own = coefficients[k];
    if (own.size() < 2) continue;
    const DType dtype = op.shift == 3 ? DType::Float64 : DType::Float32;
    op.address = required(kernels_.polynomial(dtype, int(own.size()), starts_uniform[k]));
    op.c = table(own, itemsize(dtype));
  }
  ops = std::move(left);
}

// A kernel whose result is only stored writes to the buffer itself.
void Builder::store_directly(std::vector<Op>& ops) {
  const Uses uses = uses_of(ops);
  std::vector<Op> left;
  for (std::size_t k = 0; k < ops.size(); ++k) {
    Op op = ops[k];
    const Op* const next = k + 1 < ops.size() ? &ops[k + 1] : nullptr;
    const bool is_stored = op.kind == Kind::kernel && op.in_lanes && next && next->kind == Kind::store &&
                           next->in_lanes && next->b == op.out && uses.count[op.out & ~tag_bits] == 1;
    if (is_stored) {
      chunks_.push_back({next->shift});
      const Register there = Register(chunks_.size() - 1) | is_chunk;
      Op view = *next;
      view.kind = Kind::view;
      view.out = there;
      view.b = 0;
      left.push_back(view);
      op.out = there;
      op.buffer = next->buffer;
      ++k;
    }
    left.push_back(op);
  }
  ops = std::move(left);
}

// Gives registers of chunks numbers, so that those that are not needed at the same time share memory. Returns how
// many there are at a time.
std::size_t Builder::assign_chunks(std::vector<Op>& ops) {
  const auto chunk_of = [&](Register r) { return (r & tag_bits) == is_chunk ? &chunks_[r & ~tag_bits] : nullptr; };
  for (auto& chunk : chunks_) chunk.first = ops.size();
  for (std::size_t k = 0; k < ops.size(); ++k)
    for_each_register(ops[k], [&](Register& r) {
      Chunk* const chunk = chunk_of(r);
      if (!chunk) return;
      chunk->first = std::min(chunk->first, k);
      chunk->last = std::max(chunk->last, k);
    });
  // Adjacent elements are used where they are, unless they could be written meanwhile.
  std::vector<std::size_t> writes;
  for (std::size_t k = 0; k < ops.size(); ++k)
    if (writes_memory(ops[k])) writes.push_back(k);
  for (auto& op : ops) {
    if (op.kind != Kind::load || !op.in_lanes) continue;
    const Chunk& chunk = *chunk_of(op.out);
    const program::Buffer& from = buffer(op.buffer);
    const bool is_fixed = from.role == Role::input || from.role == Role::constant;
    const auto written = std::upper_bound(writes.begin(), writes.end(), chunk.first);
    const bool is_safe = is_fixed || written == writes.end() || *written >= chunk.last;
    if (from.dtype != DType::Bool && is_safe) op.kind = Kind::view;
  }
  std::vector<Register> unused;
  std::size_t count = 0, views = 0;
  std::vector<bool> done(chunks_.size(), false);
  for (std::size_t k = 0; k < ops.size(); ++k) {
    Op& op = ops[k];
    std::vector<Register> later;  // free after this operation
    const bool has_out = op.out != 0 && chunk_of(op.out) && chunk_of(op.out)->first == k;
    const bool may_share = op.kind == Kind::kernel;
    for_each_register(op, [&](Register& r) {
      Chunk* const chunk = chunk_of(r);
      if (!chunk || (has_out && r == op.out) || chunk->last != k || done[r & ~tag_bits]) return;
      done[r & ~tag_bits] = true;
      if (chunk->number & is_view) return;
      const bool shares = may_share && has_out && chunk->shift == chunk_of(op.out)->shift;
      (shares ? unused : later).push_back(chunk->number);
    });
    if (has_out) {
      Chunk& made = *chunk_of(op.out);
      if (op.kind == Kind::view) {
        made.number = Register(views++) | is_view;
      } else {
        if (unused.empty()) unused.push_back(Register(count++));
        made.number = unused.back();
        unused.pop_back();
      }
      if (made.last == k) {  // not used
        if (!(made.number & is_view)) later.push_back(made.number);
        done[op.out & ~tag_bits] = true;
      }
    }
    unused.insert(unused.end(), later.begin(), later.end());
  }
  parts_.chunks = std::max(parts_.chunks, count);
  parts_.views = std::max(parts_.views, views);
  for (auto& op : ops)
    for_each_register(op, [&](Register& r) {
      if (const Chunk* chunk = chunk_of(r)) r = chunk->number | is_chunk;
    });
  return count;
}
}  // namespace bitale::codegen::interpreted
