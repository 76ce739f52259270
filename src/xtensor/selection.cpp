#include "bitale/xtensor/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::xtensor {

namespace {

// Quotes are no letters that texts have in common.
std::string without_quotes(const std::string& label) {
  const bool is_quoted = label.size() > 2 && (label.front() == '"' || label.front() == '\'');
  return is_quoted ? label.substr(1, label.size() - 2) : label;
}

// What may have been meant, for a message.
std::string near_label(const Coordinates& labels, const Coordinates& wanted, std::int64_t which) {
  if (const auto differences = labels.differences_from(wanted, which)) {
    const auto closer = [](double a, double b) { return std::abs(a) < std::abs(b); };
    const auto best = std::ranges::min_element(*differences, closer);
    return best == differences->end() ? "" : cat("; the nearest is ", labels.label(best - differences->begin()));
  }
  constexpr std::int64_t most = 10'000;  // a message is not worth the time that more take
  std::vector<std::string> candidates;
  for (std::int64_t i = 0; i < std::min(most, labels.count()); ++i)
    candidates.push_back(without_quotes(labels.label(i)));
  const std::string found = closest(without_quotes(wanted.label(which)), candidates);
  if (found.empty()) return "";
  return cat("; did you mean ", labels.label(std::ranges::find(candidates, found) - candidates.begin()), '?');
}

// Of `found`, the positions of a label, the only one. Python shows a KeyError by its repr, in which a double quote
// next to single ones is escaped.
std::int64_t only_one(const Dim& dim, const Coordinates& wanted, std::int64_t which,
                      const std::vector<std::int64_t>& found) {
  const Coordinates& labels = *dim.coordinates();
  if (found.size() == 1) return found[0];
  if (!found.empty())
    throw KeyError(cat("sel: the label ", wanted.label(which), " is at ", found.size(), " positions of '", dim.name(),
                       "'; isel takes positions"));
  throw KeyError(cat("sel: '", dim.name(), "' has no label ", wanted.label(which), near_label(labels, wanted, which)));
}

std::int64_t exact(const Dim& dim, const Coordinates& wanted, std::int64_t which) {
  return only_one(dim, wanted, which, dim.coordinates()->positions_of(wanted, which));
}

const char* method_name(Inexact method) {
  return method == Inexact::Nearest ? "nearest" : method == Inexact::Pad ? "pad" : "backfill";
}

// How many labels are on that side of a label, or equal to it.
template <class Predicate>
std::int64_t count_of(const Dim& dim, const Coordinates& labels, std::int64_t which, Predicate is_counted) {
  return std::ranges::count_if(dim.coordinates()->compared_to(labels, which), is_counted);
}

// xarray's rule: labels that are not there are looked up where all labels differ and have one order.
void check_inexact(const Dim& dim, Inexact method) {
  const Coordinates& labels = *dim.coordinates();
  const auto refuse = [&](const char* what) {
    throw ValueError(cat("sel: \"", dim.name(), "\": method=\"", method_name(method),
                         "\" needs coordinates that ascend or descend, but ", what));
  };
  if (labels.order() == Coordinates::Order::None) refuse("here they have no order");
  if (labels.distinct().labels->count() != labels.count()) refuse("here some are equal or missing");
}

// The position of the label that `method` takes for one that need not be there; -1: of none. As xarray has it, the
// positions decide: "pad" is the last one before the label, which is a larger number along descending coordinates.
std::int64_t inexact(const Dim& dim, const Coordinates& wanted, std::int64_t which, const LookupOptions& options) {
  const Coordinates& labels = *dim.coordinates();
  const int sign = labels.order() == Coordinates::Order::Descending ? -1 : 1;
  const std::vector<int> orders = labels.compared_to(wanted, which);
  const std::int64_t before = std::ranges::count_if(orders, [&](int order) { return sign * order < 0; });
  const std::int64_t until = before + std::ranges::count(orders, 0);
  std::int64_t found = options.method == Inexact::Backfill ? before : until - 1;
  if (options.method == Inexact::Nearest || options.tolerance) {
    const auto differences = labels.differences_from(wanted, which);
    if (!differences)
      throw NotImplementedError(cat("sel: \"", dim.name(),
                                    "\": ", options.tolerance ? "a tolerance" : "method=\"nearest\"",
                                    " of labels that are not numbers"));
    const auto distance = [&](std::int64_t at) {
      return at < 0 || at >= labels.count() ? std::numeric_limits<double>::infinity()
                                            : std::abs((*differences)[std::size_t(at)]);
    };
    // Of equal distances the larger label.
    if (options.method == Inexact::Nearest && before == until) {
      const double left = distance(until - 1), right = distance(before);
      found = left < right || (left == right && sign < 0) ? until - 1 : before;
    }
    if (!(distance(found) <= options.tolerance.value_or(std::numeric_limits<double>::max()))) return -1;
  }
  return found < labels.count() ? found : -1;
}

// The position of each label.
std::vector<std::int64_t> all_positions(const Dim& dim, const Coordinates& wanted, const LookupOptions& options) {
  std::vector<std::int64_t> out;
  if (options.method == Inexact::None) {
    for (std::int64_t i = 0; i < wanted.count(); ++i) out.push_back(exact(dim, wanted, i));
    return out;
  }
  check_inexact(dim, options.method);
  const std::vector<std::int64_t> kinds = wanted.distinct().of;  // -1: a missing label, such as nan
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    out.push_back(kinds[std::size_t(i)] < 0 ? -1 : inexact(dim, wanted, i, options));
    if (out.back() < 0)
      throw KeyError(cat("sel: '", dim.name(), "' has no label near ", wanted.label(i), " (method='",
                         method_name(options.method), '\'',
                         options.tolerance ? cat(", tolerance=", number_text(*options.tolerance)) : "", ')'));
  }
  return out;
}

// The first and the last position of a label that bounds a range. Where labels have no order, as pandas has it, it may
// repeat if its positions are adjacent.
std::pair<std::int64_t, std::int64_t> run_of(const Dim& dim, const Coordinates& label) {
  const std::vector<std::int64_t> found = dim.coordinates()->positions_of(label, 0);
  if (!found.empty() && found.back() - found.front() + 1 == std::int64_t(found.size()))
    return {found.front(), found.back()};
  const std::int64_t at = only_one(dim, label, 0, found);
  return {at, at};
}

Slice range(const Dim& dim, const LabelRange& labels) {
  std::optional<std::int64_t> start, stop;
  // With a negative step the first label is at the later end.
  const bool is_backward = labels.step && *labels.step < 0;
  const CoordinatesRef &from = is_backward ? labels.last : labels.first, &to = is_backward ? labels.first : labels.last;
  switch (dim.coordinates()->order()) {
    case Coordinates::Order::Ascending:
      if (from) start = count_of(dim, *from, 0, [](int order) { return order < 0; });
      if (to) stop = count_of(dim, *to, 0, [](int order) { return order <= 0; });
      break;
    case Coordinates::Order::Descending:
      if (from) start = count_of(dim, *from, 0, [](int order) { return order > 0; });
      if (to) stop = count_of(dim, *to, 0, [](int order) { return order >= 0; });
      break;
    case Coordinates::Order::None:
      if (from) start = run_of(dim, *from).first;
      if (to) stop = run_of(dim, *to).second + 1;
      break;
  }
  if (is_backward) {
    // Nothing is selected; -1 would count from the end.
    if (stop == 0) return {.start = Operand(std::int64_t(0)), .stop = Operand(std::int64_t(0))};
    if (stop) --*stop;
    start = start.value_or(0) > 0 ? std::optional(*start - 1) : std::nullopt;
    std::swap(start, stop);
  }
  const auto operand = [](std::optional<std::int64_t> value) {
    return value ? std::optional<Operand>(Operand(*value)) : std::nullopt;
  };
  return {.start = operand(start), .stop = operand(stop), .step = operand(labels.step)};
}

Index several(const Dim& dim, const SeveralLabels& wanted, const LookupOptions& options) {
  const Array positions(all_positions(dim, *wanted.labels, options));
  if (!wanted.points) return index_along(dim, constant(positions));
  return XVariable(constant(positions.reshape(wanted.points->first)), wanted.points->second);
}

}  // namespace

Labelled between(std::optional<Label> first, std::optional<Label> last) {
  const auto end = [](std::optional<Label>& label) {
    return label ? coordinates({std::move(*label)}) : CoordinatesRef();
  };
  return LabelRange{end(first), end(last)};
}

Index positions(const Dim& dim, const Labelled& labels, const LookupOptions& options) {
  if (!dim.coordinates())
    throw ValueError(cat("sel: \"", dim.name(),
                         "\" has no coordinates to look up labels in; isel takes positions, and "
                         "assign_coords gives coordinates"));
  if (const auto* one = std::get_if<OneLabel>(&labels)) {
    if (options.method != Inexact::None)
      return XVariable(Operand::number(all_positions(dim, *one->label, options)[0]), {});
    const auto found = dim.coordinates()->positions_of(*one->label, 0);
    // A label that repeats is all of its positions.
    if (found.size() > 1) return index_along(dim, constant(Array(found)));
    return XVariable(Operand::number(only_one(dim, *one->label, 0, found)), {});
  }
  if (const auto* wanted = std::get_if<SeveralLabels>(&labels)) return several(dim, *wanted, options);
  return range(dim, std::get<LabelRange>(labels));
}

XVariable sel(const XOperand& x, const std::vector<std::pair<std::string, Labelled>>& labels,
              const LookupOptions& options) {
  const LocationScope here(x.where);
  std::vector<std::pair<std::string, Index>> indices;
  for (const auto& [name, wanted] : labels)
    indices.emplace_back(name,
                         positions(x.variable.dims()[std::size_t(x.variable.axis(name, "sel"))], wanted, options));
  return isel(x, indices);
}

}  // namespace bitale::xtensor
