#include "bitale/xtensor/dim.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <type_traits>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::xtensor {

namespace {

// Numbers compare by value, whatever their type.
std::partial_ordering compared(const Label& a, const Label& b) {
  const auto* text = std::get_if<std::string>(&a);
  const auto* other = std::get_if<std::string>(&b);
  if (text && other) return *text <=> *other;
  if (text || other) return std::partial_ordering::unordered;
  const auto number = [](const Label& label) {
    return std::visit(
        [](const auto& value) {
          using Value = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::string>)
            return std::numeric_limits<long double>::quiet_NaN();
          else
            return static_cast<long double>(value);
        },
        label);
  };
  return number(a) <=> number(b);
}

// A number that is not one: such labels equal each other, as those of pandas.
bool is_missing(const Label& label) { return compared(label, label) != 0; }

class Labels final : public Coordinates {
 public:
  explicit Labels(std::vector<Label> labels) : labels_(std::move(labels)) {}
  std::int64_t count() const override { return std::int64_t(labels_.size()); }
  bool equals(const Coordinates& other) const override {
    const auto* mine = dynamic_cast<const Labels*>(&other);
    return mine && mine->labels_ == labels_;
  }
  CoordinatesRef at(std::span<const std::int64_t> positions) const override {
    std::vector<Label> out;
    out.reserve(positions.size());
    for (const auto position : positions) out.push_back(labels_[std::size_t(position)]);
    return coordinates(std::move(out));
  }
  CoordinatesRef followed_by(const Coordinates& other) const override {
    const auto* mine = dynamic_cast<const Labels*>(&other);
    if (!mine) return {};
    std::vector<Label> out = labels_;
    out.insert(out.end(), mine->labels_.begin(), mine->labels_.end());
    return coordinates(std::move(out));
  }
  std::string label(std::int64_t position) const override { return label_text(labels_[std::size_t(position)]); }
  std::vector<std::int64_t> positions_of(const Coordinates& wanted, std::int64_t which) const override {
    std::vector<std::int64_t> out;
    const Label& one = of(wanted, which);
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (compared(labels_[i], one) == 0 || (is_missing(labels_[i]) && is_missing(one))) out.push_back(std::int64_t(i));
    return out;
  }
  std::vector<int> compared_to(const Coordinates& wanted, std::int64_t which) const override {
    std::vector<int> out;
    const Label& one = of(wanted, which);
    for (const Label& each : labels_) {
      const auto order = compared(each, one);
      if (order == std::partial_ordering::unordered)
        throw TypeError(cat("sel: the labels ", label_text(each), " and ", label_text(one), " have no order"));
      out.push_back(order < 0 ? -1 : int(order > 0));
    }
    return out;
  }
  std::optional<std::vector<double>> differences_from(const Coordinates& wanted, std::int64_t which) const override {
    std::vector<double> out;
    const auto number = [](const Label& label) {
      const auto* integer = std::get_if<std::int64_t>(&label);
      return integer ? static_cast<long double>(*integer) : static_cast<long double>(std::get<double>(label));
    };
    const Label& one = of(wanted, which);
    if (std::holds_alternative<std::string>(one)) return {};
    for (const Label& each : labels_) {
      if (std::holds_alternative<std::string>(each)) return {};
      out.push_back(double(number(each) - number(one)));
    }
    return out;
  }
  Order order() const override {
    bool ascends = true, descends = true;
    for (std::size_t i = 1; i < labels_.size(); ++i) {
      const auto order = compared(labels_[i - 1], labels_[i]);
      ascends = ascends && order <= 0;
      descends = descends && order >= 0;
    }
    return ascends ? Order::Ascending : descends ? Order::Descending : Order::None;
  }
  // Numbers come before texts.
  Distinct distinct() const override {
    const auto is_before = [](const Label& a, const Label& b) {
      const auto order = compared(a, b);
      return order == std::partial_ordering::unordered ? std::holds_alternative<std::string>(b) : order < 0;
    };
    std::vector<Label> found;
    for (const Label& each : labels_)
      if (!is_missing(each)) found.push_back(each);
    std::ranges::sort(found, is_before);
    found.erase(std::ranges::unique(found, [](const Label& a, const Label& b) { return compared(a, b) == 0; }).begin(),
                found.end());
    Distinct out;
    for (const Label& each : labels_)
      out.of.push_back(is_missing(each) ? -1 : std::ranges::lower_bound(found, each, is_before) - found.begin());
    out.labels = coordinates(std::move(found));
    return out;
  }
  std::optional<std::vector<double>> numbers() const override {
    std::vector<double> out;
    for (const Label& each : labels_) {
      if (std::holds_alternative<std::string>(each)) return {};
      const auto* integer = std::get_if<std::int64_t>(&each);
      out.push_back(integer ? double(*integer) : std::get<double>(each));
    }
    return out;
  }

 private:
  static const Label& of(const Coordinates& wanted, std::int64_t which) {
    const auto* labels = dynamic_cast<const Labels*>(&wanted);
    if (!labels) throw TypeError("sel: expected labels of the same language as the coordinates");
    return labels->labels_[std::size_t(which)];
  }

  const std::vector<Label> labels_;
};

}  // namespace

CoordinatesRef coordinates(std::vector<Label> labels) { return make_ref<const Labels>(std::move(labels)); }

std::string label_text(const Label& label) {
  if (const auto* text = std::get_if<std::string>(&label)) return cat('"', *text, '"');
  if (const auto* number = std::get_if<double>(&label)) return number_text(*number);
  return cat(std::get<std::int64_t>(label));
}

Dim::Dim(std::string name) : name_(std::move(name)) {
  if (name_.empty()) throw ValueError("xtensor: expected the name of a dimension, got an empty string");
}

Dim::Dim(std::string name, std::optional<std::int64_t> length, CoordinatesRef coordinates) : Dim(std::move(name)) {
  declared_ = true;
  length_ = length;
  coordinates_ = std::move(coordinates);
  if (length_ && *length_ < 0)
    throw ValueError(cat("xtensor: dimension \"", name_, "\": expected a length of at least 0, got ", *length_));
  if (!coordinates_) return;
  if (length_ && *length_ != coordinates_->count())
    throw ValueError(cat("xtensor: dimension \"", name_, "\" has length ", *length_, ", but ", coordinates_->count(),
                         " coordinates"));
  length_ = coordinates_->count();
}

Dim Dim::with(CoordinatesRef coordinates) const {
  Dim out = *this;
  out.length_ = coordinates ? std::optional(coordinates->count()) : std::nullopt;
  out.coordinates_ = std::move(coordinates);
  return out;
}

Dim Dim::renamed(const Dim& to) const {
  Dim out = to;
  if (!out.coordinates_) out.coordinates_ = coordinates_;
  if (!out.length_) out.length_ = length_;
  return out;
}

std::string Dim::str() const { return length_ ? cat(name_, ": ", *length_) : name_; }

std::string names_text(std::span<const std::string> names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(cat('"', name, '"'));
  return cat('(', join(quoted, ", "), quoted.size() == 1 ? ",)" : ")");
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  const std::string near = closest(name, candidates);
  return near.empty() ? std::string() : cat("; did you mean \"", near, "\"?");
}

}  // namespace bitale::xtensor
