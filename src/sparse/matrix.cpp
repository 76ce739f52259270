#include "bitale/sparse/matrix.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "sparse/merge.hpp"

namespace bitale::sparse {

Matrix::Matrix(Pattern pattern, const Operand& data, std::string name)
    : pattern_(std::move(pattern)), data_(data.variable), name_(std::move(name)) {
  if (data_.ndim() != 1)
    throw TypeError(cat("sparse: data: expected a vector, got ", data_.str(), " of type ", data_.type()->str()));
  const auto given = known_integer(length_of(data_, 0)), stored = known_integer(pattern_.count());
  if (given && stored && *given != *stored)
    throw ShapeError(cat("sparse: data: expected ", *stored, " elements, one for each that is stored, got ", *given));
}

std::string Matrix::str() const {
  const auto length_text = [&](int axis) {
    const auto known = known_integer(length(axis));
    return known ? std::to_string(*known) : std::string("?");
  };
  return cat(name_.empty() ? "" : name_ + ": ", format_name(format()), "[", dtype_name(dtype()), ", ", length_text(0),
             " x ", length_text(1), "]");
}

Matrix Matrix::to(Format format) const {
  if (format == pattern_.format()) return *this;
  if (!pattern_.is_static()) return recompressed(*this);
  const Compressed compressed = compress(elements_of(pattern_, format == Format::csr ? "tocsr" : "tocsc"), format);
  std::vector<std::int64_t> source(compressed.stored.size());
  for (std::size_t k = 0; k < source.size(); ++k) source[std::size_t(compressed.stored[k])] = std::int64_t(k);
  return Matrix(compressed.pattern, subtensor(data_, {IndexItem(constant(Array(source)))}), name_);
}

}  // namespace bitale::sparse
