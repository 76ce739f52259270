// Dim: a dimension of a labelled tensor. It has a name, and may have a length and coordinates, which are the labels of
// its positions. A Dim that is made from a plain string has a name alone; one that a program declares tells its name
// from a misspelt one.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bitale/core/ref.hpp"

namespace bitale::xtensor {

// The labels of the positions along a dimension. Immutable and shared. A language binding derives its own.
class Coordinates : public RefCounted {
 public:
  virtual std::int64_t count() const = 0;
  virtual bool equals(const Coordinates& other) const = 0;
  // The labels at these positions, which are in range.
  virtual Ref<const Coordinates> at(std::span<const std::int64_t> positions) const = 0;
  // These labels and then those of `other`; null where they are of kinds that don't go together.
  virtual Ref<const Coordinates> followed_by(const Coordinates& other) const = 0;
  virtual std::string label(std::int64_t position) const = 0;  // for messages

  // Looking labels up: `wanted` are labels that a program asks for, of the same language.
  // The positions whose label equals this one of `wanted`.
  virtual std::vector<std::int64_t> positions_of(const Coordinates& wanted, std::int64_t which) const = 0;
  // For each position whether its label is before (-1), equal to (0) or after (1) this one of `wanted`. TypeError for
  // labels that have no order.
  virtual std::vector<int> compared_to(const Coordinates& wanted, std::int64_t which) const = 0;
  // Each label minus this one of `wanted`; none where they are not numbers.
  virtual std::optional<std::vector<double>> differences_from(const Coordinates& wanted, std::int64_t which) const = 0;
  enum class Order { None, Ascending, Descending };  // equal neighbours are in both
  virtual Order order() const = 0;

  // The different labels, ascending, and which of them each position has; -1: a missing one, such as nan. TypeError for
  // labels that have no order.
  struct Distinct {
    Ref<const Coordinates> labels;
    std::vector<std::int64_t> of;
  };
  virtual Distinct distinct() const = 0;
  // The labels as numbers; none where they are not numbers.
  virtual std::optional<std::vector<double>> numbers() const = 0;
};
using CoordinatesRef = Ref<const Coordinates>;

// Coordinates of C++: numbers or texts.
using Label = std::variant<std::int64_t, double, std::string>;
CoordinatesRef coordinates(std::vector<Label> labels);
std::string label_text(const Label& label);

class Dim {
 public:
  // A name that a program writes as a text.
  Dim(std::string name);
  Dim(const char* name) : Dim(std::string(name)) {}
  // A dimension that a program declares, with its length if it is known. ValueError for a negative length, an empty
  // name, and coordinates whose number is not the length.
  explicit Dim(std::string name, std::optional<std::int64_t> length, CoordinatesRef coordinates = {});

  const std::string& name() const { return name_; }
  // The declared length, or the number of coordinates.
  std::optional<std::int64_t> length() const { return length_; }
  const CoordinatesRef& coordinates() const { return coordinates_; }
  bool is_declared() const { return declared_; }

  // The same name for other positions: without the length.
  Dim with(CoordinatesRef coordinates) const;
  Dim renamed(const Dim& to) const;  // the new name, which may be declared, with this one's coordinates
  std::string str() const;           // "country", "country: 5"

 private:
  std::string name_;
  std::optional<std::int64_t> length_;
  CoordinatesRef coordinates_;
  bool declared_ = false;
};
using DimList = std::vector<Dim>;

// Names of dimensions, as functions take them: a text, a Dim, or several; none stands for all dimensions.
class Names : public std::optional<std::vector<std::string>> {
 public:
  Names() = default;
  Names(std::nullopt_t) {}
  Names(std::vector<std::string> names) : optional(std::move(names)) {}
  Names(const char* name) : optional(std::vector<std::string>{name}) {}
  Names(const std::string& name) : optional(std::vector<std::string>{name}) {}
  Names(const Dim& dim) : optional(std::vector<std::string>{dim.name()}) {}
  Names(std::initializer_list<Dim> dims) : optional(std::vector<std::string>()) {
    for (const Dim& dim : dims) (*this)->push_back(dim.name());
  }
};

// "(\"country\", \"year\")", as messages show names.
std::string names_text(std::span<const std::string> names);
// "; did you mean \"country\"?", or nothing where no candidate is near.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace bitale::xtensor
