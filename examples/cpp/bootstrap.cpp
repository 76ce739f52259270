// Random variables, and your own type: a bootstrap interval of a mean, and a table that only C++ looks into.
#include <algorithm>
#include <bitale/bitale.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace bt = bitale;

// ---- a type whose values native code passes on
// ------------------------------------------------------------------------

struct Prices final : bt::HostObject {
  explicit Prices(std::map<std::int64_t, double> of) : of(std::move(of)) {}
  const std::map<std::int64_t, double> of;
};

// An op that reads one.
class PriceOf final : public bt::Op {
 public:
  std::string_view name() const override { return "example.PriceOf"; }
  bt::Apply make_node(std::span<const bt::Variable> inputs) const override {
    return bt::Apply(bt::OpRef(this), {inputs[0], inputs[1]},
                     {bt::tensor_type(bt::DType::Float64, inputs[1].static_shape())});
  }
  void perform(const bt::Apply&, std::span<const bt::Array> in, std::span<bt::Array> out) const override {
    const auto& prices = dynamic_cast<const Prices&>(*in[0].object());
    const bt::Array items = in[1].contiguous();
    out[0] = bt::Array::empty(bt::DType::Float64, items.shape());
    for (std::int64_t i = 0; i < items.size(); ++i)
      out[0].mutable_data_as<double>()[i] = prices.of.at(items.data_as<std::int64_t>()[i]);
  }
};

int main() {
  const bt::Variable prices(bt::host_type<Prices>("Prices"), "prices"), items = bt::vector("items", bt::DType::Int64);
  const bt::Variable price = (*bt::make_ref<PriceOf>())({prices, items});
  const auto total = bt::function({prices, items}, bt::sum(price) * 1.19);
  const auto table = bt::Array::holding(bt::make_ref<const Prices>(std::map<std::int64_t, double>{{1, 10.}, {2, 5.}}));
  const bt::Array sum = total({table, bt::Array({std::int64_t(1), std::int64_t(2), std::int64_t(2)})});
  std::cout << "total " << sum << "\n";

  // A shared generator, in the state of numpy.random.default_rng(42).
  const std::int64_t resamples = std::getenv("BITALE_EXAMPLE_QUICK") ? 200 : 20000;
  const auto x = bt::vector("x");
  const auto rng = bt::shared_of(bt::random_type(), bt::random_state(42), "rng");
  const auto n = bt::shape_i(x, 0);
  const auto [next_rng, picked] = bt::random::integers(rng, 0, n, {{resamples, n}});
  const auto means = bt::mean(bt::take(x, picked), {{1}});
  const auto bootstrap = bt::function({x}, bt::sort(means), {.updates = {{rng, next_rng}}});

  bt::Array data = bt::Array::empty(bt::DType::Float64, {50});
  for (int i = 0; i < 50; ++i) data.mutable_data_as<double>()[i] = double(i % 7);
  const bt::Array sorted = bootstrap({data});
  const auto at = [&](double share) { return sorted.data_as<double>()[std::int64_t(share * double(resamples - 1))]; };
  std::cout << "95 % of resampled means lie from " << at(0.025) << " to " << at(0.975) << "\n";
  return at(0.025) < 2.94 && at(0.975) > 2.94 && std::abs(sum.item() - 23.8) < 1e-9 ? 0 : 1;
}
