#include "ops/sorting/search_sorted.hpp"

#include <cmath>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/search.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/blockwise.hpp"
#include "ops/sample_values.hpp"
#include "runtime/search.hpp"

namespace bitale {

namespace {

template <class T>
void search(std::int64_t length, std::int64_t count, bool right, const T* x, const T* v, std::int64_t* to);
#define X(id, name, suffix, T, ...)                                                                               \
  template <>                                                                                                     \
  void search<T>(std::int64_t length, std::int64_t count, bool right, const T* x, const T* v, std::int64_t* to) { \
    bt_searchsorted_##suffix(length, count, right, x, v, to);                                                     \
  }
BITALE_SORTED_DTYPES(X)
#undef X

}  // namespace

Apply SearchSorted::make_node(std::span<const Variable> inputs) const {
  if (side != "left" && side != "right")
    throw ValueError(cat("searchsorted: expected side \"left\" or \"right\", got \"", side, "\""));
  require_inputs(*this, inputs, 2);
  const Variable &x = inputs[0], &v = inputs[1];
  if (x.ndim() != 1)
    throw ValueError(
        cat("searchsorted: expected a vector to search in, got ", x.str(), " with ", x.ndim(), " dimensions"));
  const DType dtype = computing_dtype(promote(x.dtype(), v.dtype()));
  return Apply(OpRef(this), {cast(x, dtype), cast(v, dtype)}, {tensor_type(DType::Int64, v.static_shape())});
}

std::vector<Shape> SearchSorted::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[1]}; }

void SearchSorted::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  const Array x = in[0].contiguous(), v = in[1].contiguous();
  out[0] = Array::empty(DType::Int64, v.shape());
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (is_half<T>)
      throw InternalError("searchsorted: float16 is cast");
    else
      search<T>(x.size(), v.size(), side == "right", static_cast<const T*>(x.data()), static_cast<const T*>(v.data()),
                out[0].mutable_data_as<std::int64_t>());
  });
}

bool SearchSorted::emit(Lowering& to, const Apply& node) const {
  Expr count = to.pool().integer(1);
  for (auto& length : to.shape_in(1)) count = count * length;
  to.call(cat("bt_searchsorted_", dtype_short_name(node.input(0).dtype())),
          {to.shape_in(0)[0], count, to.pool().integer(side == "right"), InputData{0}, InputData{1}, OutputData{0}});
  return true;
}

// Positions are counted: every element is compared with the whole vector.
void SearchSorted::emit_tensors(TensorLowering& to, const Apply&) const {
  TensorBuilder& builder = to.builder();
  const auto comparable = [&](int input) {
    const TensorValue x = to.in(input);
    return builder.convert(x, x.dtype == DType::Bool ? DType::UInt8 : computing_dtype(x.dtype));
  };
  const TensorValue sorted = comparable(0), values = comparable(1);
  Dims lengths = values.lengths;
  lengths.push_back(sorted.lengths[0]);
  const std::vector<int> of_value = axes_below(values.ndim());
  const int last[] = {values.ndim()};
  const auto before = [](const Expr& a, const Expr& b) {
    return is_float(a.dtype()) ? (a < b) | (is_nan(b) & ~is_nan(a)) : a < b;
  };
  const TensorValue comes_first = builder.map(
      DType::Int64, {builder.broadcast(sorted, lengths, last), builder.broadcast(values, lengths, of_value)},
      [&](std::span<const Expr> in) {
        return program::cast(side == "left" ? before(in[0], in[1]) : ~before(in[1], in[0]), DType::Int64);
      });
  to.out(0, builder.reduce(comes_first, program::Combiner::add, last));
}

Variables SearchSorted::pullback(const Apply& node, std::span<const Variable>) const { return no_gradients(node); }
Variables SearchSorted::pushforward(const Apply&, std::span<const Variable>) const { return {disconnected()}; }

Apply SearchSorted::vectorize(const Apply& node, std::span<const Variable> batched) const {
  if (Batch{node, batched}.ndim(0) == 0) return make_node(batched);
  // "(n),(a,b)->(a,b)" where v is a matrix.
  std::string v;
  for (int axis = 0; axis < node.input(1).ndim(); ++axis) v += cat(axis ? "," : "", std::string(1, char('a' + axis)));
  return blockwise(OpRef(this), cat("(n),(", v, ")->(", v, ")"), batched);
}

Variable searchsorted(const Operand& x, const Operand& v, SearchSide side, const std::optional<Operand>& sorter) {
  const LocationScope here(x.where);
  const Variable sorted = sorter ? take(x, *sorter, 0) : x.variable;
  return (*make_ref<SearchSorted>(side == SearchSide::Left ? "left" : "right"))({sorted, v.variable});
}

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

std::vector<Sample> search_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  auto add = [&](const char* side, DType dtype, const Dims& type, const Array& x, const Array& v) {
    const Variable inputs[] = {sample_input(dtype, {any}, "x"), sample_input(dtype, type, "v")};
    out.push_back({make_ref<SearchSorted>(side)->make_node(inputs), {x, v}});
  };
  for (const char* side : {"left", "right"}) {
    for (DType dtype : real_dtypes())
      add(side, dtype, {any, 3}, Array{0.0, 1.0, 1.0, 4.0, 7.0}.astype(dtype), sample_values(dtype, {4, 3}));
    add(side, DType::Float64, {}, Array{1.0, 2.0}, Array(2.0));
    add(side, DType::Float64, {any}, Array::empty(DType::Float64, {0}), Array{2.0, 3.0});
    add(side, DType::Float64, {any}, Array{-HUGE_VAL, 0.0, HUGE_VAL, std::nan("")},
        Array{std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0, 0.0, 1.0});
  }
  return out;
}

BITALE_REGISTER_OP(SearchSorted, "The indices of values in an increasing vector, by binary search.", search_samples);

}  // namespace

}  // namespace bitale
