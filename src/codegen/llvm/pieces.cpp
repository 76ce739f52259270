#include "codegen/llvm/pieces.hpp"

#include <algorithm>
#include <exception>
#include <unordered_set>
#include <vector>

#include "bitale/core/text.hpp"
#include "codegen/object/archive.hpp"
#include "core/address_space.hpp"
#include "runtime/threads.hpp"

namespace bitale::codegen {

namespace {

constexpr std::size_t min_piece = 500;  // instructions: below that, a context of its own costs more than it saves
constexpr std::size_t max_pieces = 8;

using Names = std::unordered_set<std::string>;

// Assigns functions to pieces: the longest first, each to the piece that is shortest so far.
std::vector<Names> pieces_of(const Module& module) {
  std::vector<Module::Function> functions = module.functions();
  const std::size_t all = module.instruction_count();
  const std::size_t most = std::min({all / min_piece, functions.size(), max_pieces});
  if (most < 2) return {};
  const std::size_t count = std::min(most, std::size_t(runtime::processor_count()));
  if (!has_address_space(count * address_space_of_thread)) return {};
  std::stable_sort(functions.begin(), functions.end(),
                   [](auto& a, auto& b) { return a.instructions > b.instructions; });
  std::vector<Names> pieces(count);
  std::vector<std::size_t> sizes(count);
  for (auto& function : functions) {
    const auto shortest = std::size_t(std::min_element(sizes.begin(), sizes.end()) - sizes.begin());
    pieces[shortest].insert(std::move(function.name));
    sizes[shortest] += function.instructions;
  }
  return pieces;
}

// The data that threads share; each writes its own result.
struct Work {
  const std::vector<Names>& pieces;
  const std::string& bitcode;
  const std::string passes;
  Module& module;  // of the first piece
  std::vector<std::string> objects;
  std::vector<std::exception_ptr> errors;

  void compile(std::size_t k) {
    try {
      if (k == 0) {
        objects[k] = compile(module, k);
      } else {
        Module piece(module, bitcode);
        objects[k] = compile(piece, k);
      }
    } catch (...) {
      errors[k] = std::current_exception();
    }
  }
  std::string compile(Module& piece, std::size_t k) const {
    piece.keep(pieces[k]);
    piece.optimise(passes);
    return piece.object();
  }
};

}  // namespace

std::string object_of(Module& module, const std::string& passes) {
  const std::vector<Names> pieces = pieces_of(module);
  if (pieces.size() < 2) {
    module.optimise(passes);
    return module.object();
  }
  module.share_functions();
  const std::string bitcode = module.bitcode();
  Work work{pieces, bitcode, cat(Module::dropping_passes, ",", passes), module, {}, {}};
  work.objects.resize(pieces.size());
  work.errors.resize(pieces.size());
  runtime::for_each_task(
      int(pieces.size()), std::int64_t(pieces.size()),
      [](const void* context, std::int64_t k) {
        static_cast<Work*>(const_cast<void*>(context))->compile(std::size_t(k));
      },
      &work);
  for (auto& error : work.errors)
    if (error) std::rethrow_exception(error);
  return archive_of(work.objects);
}

}  // namespace bitale::codegen
