// The names of the options of functions (core/option_names.hpp).
#pragma once

#include "bitale/ops/arrange.hpp"
#include "bitale/ops/creation.hpp"
#include "bitale/ops/interpolate.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/signal.hpp"
#include "core/option_names.hpp"

namespace bitale {

template <>
inline constexpr OptionName<Assume> option_names<Assume>[] = {
    {Assume::General, "gen", "general"},
    {Assume::Symmetric, "sym", "symmetric"},
    {Assume::Hermitian, "her", "hermitian"},
    {Assume::PositiveDefinite, "pos", "positive definite"},
    {Assume::Diagonal, "diagonal"},
    {Assume::Tridiagonal, "tridiagonal"},
    {Assume::Banded, "banded"},
    {Assume::LowerTriangular, "lower triangular"},
    {Assume::UpperTriangular, "upper triangular"},
};

template <>
inline constexpr OptionName<QrMode> option_names<QrMode>[] = {{QrMode::Complete, "complete", "full"},
                                                              {QrMode::Reduced, "reduced", "economic"},
                                                              {QrMode::R, "r"},
                                                              {QrMode::Raw, "raw"}};

template <>
inline constexpr OptionName<EigenvalueOrder> option_names<EigenvalueOrder>[] = {
    {EigenvalueOrder::Any, ""},
    {EigenvalueOrder::LeftHalfPlane, "lhp"},
    {EigenvalueOrder::RightHalfPlane, "rhp"},
    {EigenvalueOrder::InsideUnitCircle, "iuc"},
    {EigenvalueOrder::OutsideUnitCircle, "ouc"}};

template <>
inline constexpr OptionName<LyapunovMethod> option_names<LyapunovMethod>[] = {{LyapunovMethod::Direct, "direct"},
                                                                              {LyapunovMethod::Bilinear, "bilinear"}};

template <>
inline constexpr OptionName<MatrixNorm> option_names<MatrixNorm>[] = {{MatrixNorm::Frobenius, "fro"},
                                                                      {MatrixNorm::Nuclear, "nuc"}};

template <>
inline constexpr OptionName<ConvolutionMode> option_names<ConvolutionMode>[] = {
    {ConvolutionMode::Full, "full"}, {ConvolutionMode::Valid, "valid"}, {ConvolutionMode::Same, "same"}};

template <>
inline constexpr OptionName<PadMode> option_names<PadMode>[] = {
    {PadMode::Constant, "constant"}, {PadMode::Edge, "edge"},       {PadMode::LinearRamp, "linear_ramp"},
    {PadMode::Maximum, "maximum"},   {PadMode::Minimum, "minimum"}, {PadMode::Mean, "mean"},
    {PadMode::Median, "median"},     {PadMode::Wrap, "wrap"},       {PadMode::Symmetric, "symmetric"},
    {PadMode::Reflect, "reflect"}};

template <>
inline constexpr OptionName<GridIndexing> option_names<GridIndexing>[] = {{GridIndexing::Cartesian, "xy"},
                                                                          {GridIndexing::Matrix, "ij"}};

template <>
inline constexpr OptionName<InterpolationMethod> option_names<InterpolationMethod>[] = {
    {InterpolationMethod::Linear, "linear"},
    {InterpolationMethod::Nearest, "nearest"},
    {InterpolationMethod::First, "first"},
    {InterpolationMethod::Last, "last"},
    {InterpolationMethod::Mean, "mean"}};

}  // namespace bitale
