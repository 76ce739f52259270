// Which elements of one variable the elements of other tensors depend on: the pattern of a Jacobian, found by a walk
// over the graph. A tensor has a set for each of its elements, and ops say how the sets of their outputs follow from
// those of their inputs (StatesDependencies). For an op that says nothing, each element depends on everything that
// the inputs depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitale/core/flat_table.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/graph/op.hpp"

namespace bitale {

// Sets of element numbers. Each is stored once and has a number, so that equal sets have equal numbers.
class ElementSets {
 public:
  using Set = std::int64_t;
  static constexpr Set none = 0;  // the empty set

  ElementSets() : bounds_{0, 0} {}
  Set single(std::int64_t element) { return stored({&element, 1}); }
  Set united(Set a, Set b);
  Set united(std::span<const Set> sets);
  // Ascending.
  std::span<const std::int64_t> elements(Set set) const;
  // Of all sets together.
  std::int64_t size() const { return std::int64_t(elements_.size()); }

 private:
  struct Stored {
    std::uint64_t hash_of_elements = 0;
    Set set = none;
    std::size_t hash() const { return std::size_t(hash_of_elements); }
    bool is_free() const { return set == none; }
  };
  struct Union {
    Set a = none, b = none, both = none;
    std::size_t hash() const { return hash_of(a, b); }
    bool is_free() const { return both == none; }
  };
  static std::size_t hash_of(Set a, Set b) {
    const std::uint64_t mixed = (std::uint64_t(a) * 0x9E3779B97F4A7C15u) ^ (std::uint64_t(b) * 0xC2B2AE3D27D4EB4Fu);
    return std::size_t(mixed ^ mixed >> 32);
  }
  Set stored(std::span<const std::int64_t> elements);

  std::vector<std::int64_t> elements_, bounds_, scratch_;
  FlatTable<Stored> by_elements_;
  FlatTable<Union> unions_;
};

// An op whose sets grow from element to element says that it can't tell them when they have more elements together.
constexpr std::int64_t max_accumulated_elements = std::int64_t(1) << 24;

// What the outputs of an inner graph depend on, for given lengths of its inputs. The elements of all inputs have
// numbers, one input after the other.
struct InnerDependencies {
  ElementSets sets;
  std::vector<std::int64_t> first;  // the number of each input's first element
  std::vector<std::optional<Array>> outputs;
};

// What is known of a node whose outputs' dependencies are asked for.
class InputDependencies {
 public:
  virtual ~InputDependencies() = default;
  virtual ElementSets& sets() = 0;
  // The set of each element of an input, int64, of its shape. nullopt: no element depends on the variable.
  virtual std::optional<Array> of(int input) = 0;
  // The value of an input that follows from constants and static lengths.
  virtual std::optional<Array> value(int input) = 0;
  // The lengths of an input, as far as they are static.
  virtual Dims input_lengths(int input) = 0;
  // The lengths of the output, all of them static.
  virtual const Dims& lengths() = 0;
  // For an op with an inner graph, given the lengths of all inputs that are tensors, and the values of those that are
  // known. nullopt if lengths within depend on more than that.
  virtual std::optional<InnerDependencies> of_inner_graph(const InnerGraph& graph, std::span<const Dims> lengths,
                                                          std::span<const std::optional<Array>> values) = 0;
};

// Interface of ops that say how dependencies pass through them.
class StatesDependencies {
 public:
  virtual ~StatesDependencies() = default;
  // The set of each element of an output, int64, of its shape, of a node of which at least one input depends on the
  // variable. nullopt: it can't be told, and each element depends on everything that the inputs depend on.
  virtual std::optional<Array> dependencies(const Apply& node, int output, InputDependencies& inputs) const = 0;
};

}  // namespace bitale
