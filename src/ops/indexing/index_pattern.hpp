// IndexPattern: the form of a basic index, one entry per leading dimension: an integer, or a slice with some of start,
// stop and step. The values are inputs of the node, in the order in which they are written. Dimensions without an entry
// are kept whole.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/attributes.hpp"

namespace bitale {

struct DimIndex {
  bool integer = false;
  bool start = false, stop = false, step = false;  // of a slice
  bool is_full() const { return !integer && !start && !stop && !step; }
  int input_count() const { return integer ? 1 : start + stop + step; }
  bool operator==(const DimIndex&) const = default;
};

class IndexPattern {
 public:
  IndexPattern() = default;
  // Trailing full slices are redundant and dropped.
  explicit IndexPattern(std::vector<DimIndex> dims);

  const std::vector<DimIndex>& dims() const { return dims_; }
  int input_count() const;
  int dropped_count() const;  // dimensions that an integer removes
  bool is_single_integer() const { return dims_.size() == 1 && dims_[0].integer; }
  // The same index after `count` dimensions that are kept whole.
  IndexPattern behind(int count) const;
  std::string text() const;  // "start:stop, i, ::step"
  // The pattern that has this text; some other pattern if there is none.
  static IndexPattern parse(std::string_view text);
  // The text with values in place of the names: "0:3, k, ::2".
  std::string text(std::span<const std::string> values) const;

 private:
  std::vector<DimIndex> dims_;
};

inline AttributeValue to_attribute(const IndexPattern& pattern) { return pattern.text(); }
bool from_attribute(const AttributeValue& value, IndexPattern& out);

}  // namespace bitale
