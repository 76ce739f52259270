// Selection by labels: they are looked up in the coordinates while the expression is built, so a selection by labels is
// one by positions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bitale/xtensor/indexing.hpp"

namespace bitale::xtensor {

// What selects along a dimension. A language binding makes the parts of its own coordinates.
struct OneLabel {  // drops the dimension
  CoordinatesRef label;
};
struct SeveralLabels {
  CoordinatesRef labels;
  std::optional<std::pair<Dims, DimList>> points = {};  // their shape and dimensions, if they have names of their own
};
struct LabelRange {  // from one label to another, which is included; null: without an end
  CoordinatesRef first, last;
  std::optional<std::int64_t> step = {};
};
class Labelled : public std::variant<OneLabel, SeveralLabels, LabelRange> {
 public:
  using variant::variant;
  Labelled(Label label) : variant(OneLabel{coordinates({std::move(label)})}) {}
  Labelled(const char* label) : Labelled(Label(std::string(label))) {}
  Labelled(int label) : Labelled(Label(std::int64_t(label))) {}
  Labelled(double label) : Labelled(Label(label)) {}
  Labelled(std::vector<Label> labels) : variant(SeveralLabels{coordinates(std::move(labels))}) {}
};
Labelled between(std::optional<Label> first, std::optional<Label> last);

// Which position a label has that is not there: none, that of the nearest number, of the last one before it, or of the
// first one after it, if it is not further away than `tolerance`.
enum class Inexact { None, Nearest, Pad, Backfill };
struct LookupOptions {
  Inexact method = Inexact::None;
  std::optional<double> tolerance = {};
};

// The positions that labels stand for. ValueError for a dimension without coordinates; KeyError, with the nearest one,
// for a label that is not there, and for one of several that is at more than one position (one label alone selects all
// of its positions); ValueError for an inexact lookup in coordinates that do not ascend or descend; NotImplementedError
// for a nearest label or a tolerance where labels are not numbers.
Index positions(const Dim& dim, const Labelled& labels, const LookupOptions& options = {});

// The elements with these labels along the named dimensions. Errors as above, and of isel.
XVariable sel(const XOperand& x, const std::vector<std::pair<std::string, Labelled>>& labels,
              const LookupOptions& options = {});

}  // namespace bitale::xtensor
