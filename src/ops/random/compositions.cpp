// What compositions draw from, and the domains of those whose draws are numbers.
#include "ops/random/compositions.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/random/state.hpp"

namespace bitale {

Variable DrawSource::draw(std::string_view distribution, Variables parameters, const Shape& further) {
  Shape lengths = lengths_;
  lengths.insert(lengths.end(), further.begin(), further.end());
  const random::Draw drawn = random::draw(distribution, state_, std::move(parameters), Operands(std::move(lengths)));
  state_ = drawn.next_rng;
  return drawn.value;
}

Variable DrawSource::unit() {
  const bool is_stream = is_counter_based(state_);
  const Variable u = draw("random");
  return is_stream ? maximum(u, 0x1p-54) : u;
}

Variable DrawSource::rows(std::string_view distribution, const Variable& length, const Variables& parameters) {
  const random::Draw drawn = random::rows(distribution, state_, lengths_, length, {}, parameters);
  state_ = drawn.next_rng;
  return drawn.value;
}

namespace {

bool is_allowed(Allowed range, double x) {
  switch (range) {
    case Allowed::any: break;
    case Allowed::not_negative: return x >= 0;
    case Allowed::not_negative_or_nan: return !(x < 0);
    case Allowed::positive: return x > 0;
    case Allowed::probability: return x >= 0 && x <= 1;
  }
  return true;
}

Variable allowed_condition(Allowed range, const Variable& x) {
  switch (range) {
    case Allowed::any: break;
    case Allowed::not_negative: return ge(x, 0);
    case Allowed::not_negative_or_nan: return logical_not(lt(x, 0));
    case Allowed::positive: return gt(x, 0);
    case Allowed::probability: return logical_and(ge(x, 0), le(x, 1));
  }
  return constant(Array(true));
}

std::string refusal_of(Allowed range, std::string_view name, bool is_whole) {
  switch (range) {
    case Allowed::any: break;
    case Allowed::not_negative: return is_whole ? cat(name, " < 0") : cat(name, " < 0 or ", name, " is NaN");
    case Allowed::not_negative_or_nan: return cat(name, " < 0");
    case Allowed::positive: return cat(name, " <= 0 or ", name, " is NaN");
    case Allowed::probability: return cat(name, " < 0, ", name, " > 1 or ", name, " is NaN");
  }
  return {};
}

double number_in(const runtime::random::Column& column, DType dtype) {
  return dtype == DType::Int64 ? double(*static_cast<const std::int64_t*>(column.data))
                               : *static_cast<const double*>(column.data);
}

}  // namespace

Composition composition_of_numbers(std::string_view name, std::vector<NumberParameter> parameters, DType result,
                                   Variable (*formula)(DrawSource&, const Variables&),
                                   std::optional<std::pair<std::size_t, std::size_t>> in_order) {
  Composition out{name, {}, result, formula, {}, {}, {}};
  out.domain.name = name;
  std::vector<std::string> refusals;
  for (auto& each : parameters) {
    out.parameters.push_back({each.name, each.dtype});
    out.domain.parameters.push_back(each.name);
    out.domain.dtypes.push_back(each.dtype);
    refusals.push_back(refusal_of(each.range, each.name, each.dtype == DType::Int64));
  }
  if (in_order)
    refusals.push_back(cat("not ", parameters[in_order->first].name, " <= ", parameters[in_order->second].name));
  out.domain.refuse = [parameters, in_order, refusals](auto columns, std::int64_t) -> const char* {
    const auto value = [&](std::size_t k) { return number_in(columns[k], parameters[k].dtype); };
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (!is_allowed(parameters[k].range, value(k))) return refusals[k].c_str();
    return in_order && !(value(in_order->first) <= value(in_order->second)) ? refusals.back().c_str() : nullptr;
  };
  out.holds = [parameters, in_order](const Variables& p) {
    Variable all = constant(Array(true));
    const auto also = [&](const Variable& more) {
      all = all.is_constant() ? holds_everywhere(more) : logical_and(all, holds_everywhere(more));
    };
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (parameters[k].range != Allowed::any) also(allowed_condition(parameters[k].range, p[k]));
    if (in_order) also(le(p[in_order->first], p[in_order->second]));
    return all;
  };
  return out;
}

}  // namespace bitale
