// Functions of labelled tensors: elementwise ones, reductions, products, and changes of shape. Names and arguments
// follow PyTensor's xtensor and xarray. Errors name the function and the dimensions: ValueError for names, ShapeError
// for lengths.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bitale/xtensor/align.hpp"

namespace bitale::xtensor {

// ---- elementwise: those of ops.hpp ---------------------------------------------------------------------------------
// clang-format off
#define BITALE_LABELLED_UNARY(X) BITALE_UNARY_FUNCTIONS(X) X(logical_not) X(isfinite) X(deg2rad) X(rad2deg)
#define BITALE_LABELLED_BINARY(X) BITALE_BINARY_FUNCTIONS(X) X(logaddexp) X(logical_and) X(logical_or) X(logical_xor)
// clang-format on
#define BITALE_DECLARE(name) XVariable name(const XOperand& x);
BITALE_LABELLED_UNARY(BITALE_DECLARE)
#undef BITALE_DECLARE
#define BITALE_DECLARE(name) XVariable name(const XOperand& x, const XOperand& y);
BITALE_LABELLED_BINARY(BITALE_DECLARE)
#undef BITALE_DECLARE
XVariable where(const XOperand& condition, const XOperand& if_true, const XOperand& if_false);
XVariable clip(const XOperand& x, const XOperand& low, const XOperand& high);
XVariable cast(const XOperand& x, DType dtype);
// x with `value` where it is nan. It has the dimensions of x first.
XVariable fillna(const XOperand& x, const XOperand& value);

XVariable operator+(const XOperand& x, const XOperand& y);
XVariable operator-(const XOperand& x, const XOperand& y);
XVariable operator*(const XOperand& x, const XOperand& y);
XVariable operator/(const XOperand& x, const XOperand& y);
XVariable operator-(const XOperand& x);

// ---- reductions ----------------------------------------------------------------------------------------------------
// Over the named dimensions, or all.
// clang-format off
#define BITALE_LABELLED_REDUCTIONS(X) X(sum) X(prod) X(max) X(min) X(all) X(any) X(mean) X(logsumexp)
// clang-format on
#define BITALE_DECLARE(name) XVariable name(const XOperand& x, const Names& dim = {});
BITALE_LABELLED_REDUCTIONS(BITALE_DECLARE)
#undef BITALE_DECLARE
XVariable var(const XOperand& x, const Names& dim = {}, int ddof = 0);
XVariable std_(const XOperand& x, const Names& dim = {}, int ddof = 0);
// How many elements are not nan: int64.
XVariable count(const XOperand& x, const Names& dim = {});
// The position along a dimension.
XVariable argmax(const XOperand& x, const Dim& dim);
XVariable argmin(const XOperand& x, const Dim& dim);
// These keep the dimensions. Over several of them, cumulated along one after the other.
XVariable cumsum(const XOperand& x, const Names& dim = {});
XVariable cumprod(const XOperand& x, const Names& dim = {});
XVariable softmax(const XOperand& x, const Names& dim = {});
XVariable log_softmax(const XOperand& x, const Names& dim = {});

// ---- products -------------------------------------------------------------------------------------------------------
// The sum of products over the named dimensions, each of which at least one operand has; no names: those that both
// have. The other dimensions are aligned.
XVariable dot(const XOperand& x, const XOperand& y, const Names& dim = {});

// ---- shape ---------------------------------------------------------------------------------------------------------
enum class Missing { Raise, Warn, Ignore };  // what happens for a name that is not there
// "..." stands for the dimensions that are not named. No names: the reverse order.
XVariable transpose(const XOperand& x, const std::vector<std::string>& dims, Missing missing = Missing::Raise);
// x without dimensions of length 1. ValueError for a length that is not statically 1.
XVariable squeeze(const XOperand& x, const Names& dim = {});
// New dimensions in front, of the Dim's length or 1. ValueError for a dimension that x has.
XVariable expand_dims(const XOperand& x, const DimList& dims, const std::vector<std::optional<Operand>>& lengths = {});
// Other names, in pairs of old and new. ValueError for a result with a repeated name.
XVariable rename(const XOperand& x, const std::vector<std::pair<std::string, Dim>>& names);
// Several dimensions as one, the last of x; its elements are in row-major order of the given ones. The result has no
// coordinates along it.
XVariable stack(const XOperand& x, const Dim& dim, const std::vector<std::string>& stacked);
// One dimension as several, the last of x, of which at most one length is not given.
XVariable unstack(const XOperand& x, const std::string& dim, const DimList& dims,
                  const std::vector<std::optional<Operand>>& lengths = {});
// Along a dimension, which an operand may lack: it then counts as one of length 1. The others are aligned and repeated.
XVariable concat(const XOperands& tensors, const Dim& dim);
// All operands, each with the dimensions of all but the excluded ones.
XVariables broadcast(const XOperands& tensors, const std::vector<std::string>& exclude = {});
XVariable broadcast_like(const XOperand& x, const XOperand& other, const std::vector<std::string>& exclude = {});
// A tensor of x's dimensions and lengths whose elements are all this scalar.
XVariable full_like(const XOperand& x, const XOperand& value, std::optional<DType> dtype = {});
XVariable zeros_like(const XOperand& x, std::optional<DType> dtype = {});
XVariable ones_like(const XOperand& x, std::optional<DType> dtype = {});
// The same tensor with other coordinates along some dimensions; null: without.
XVariable assign_coords(const XOperand& x, const std::vector<std::pair<std::string, CoordinatesRef>>& coordinates);

}  // namespace bitale::xtensor
