// Your own type: variables whose values are C++ objects, in a compiled function together with tensors.
#include <bitale/bitale.hpp>
#include <bitale/compile/shared.hpp>
#include <cmath>
#include <iostream>

namespace bt = bitale;

namespace {

// What a value is. It does not change once it is given.
struct Text final : bt::HostObject {
  explicit Text(std::string letters) : letters(std::move(letters)) {}
  const std::string letters;
  bool equals(const bt::HostObject& other) const override {
    auto* text = dynamic_cast<const Text*>(&other);
    return text && text->letters == letters;
  }
  std::string str() const override { return letters; }
};

const bt::Type text_type = bt::host_type<Text>("TextType");

bt::Array holding(std::string letters) { return bt::Array::holding(bt::make_ref<const Text>(std::move(letters))); }
const std::string& letters_of(const bt::Array& value) { return dynamic_cast<const Text&>(*value.object()).letters; }

// How often each letter from a to z occurs.
class LetterCounts final : public bt::OpOf<LetterCounts> {
 public:
  static constexpr auto fields = bt::attribute_list();
  std::string_view name() const override { return "LetterCounts"; }

  bt::Apply make_node(std::span<const bt::Variable> inputs) const override {
    return bt::Apply(bt::OpRef(this), {inputs[0]}, {bt::tensor_type(bt::DType::Int64, bt::Dims{26})});
  }
  void perform(const bt::Apply&, std::span<const bt::Array> in, std::span<bt::Array> out) const override {
    out[0] = bt::Array::full(bt::DType::Int64, bt::Dims{26}, 0);
    for (char c : letters_of(in[0]))
      if (c >= 'a' && c <= 'z') ++out[0].mutable_data_as<std::int64_t>()[c - 'a'];
  }
};

class Reverse final : public bt::OpOf<Reverse> {
 public:
  static constexpr auto fields = bt::attribute_list();
  std::string_view name() const override { return "Reverse"; }

  bt::Apply make_node(std::span<const bt::Variable> inputs) const override {
    return bt::Apply(bt::OpRef(this), {inputs[0]}, {text_type});
  }
  void perform(const bt::Apply&, std::span<const bt::Array> in, std::span<bt::Array> out) const override {
    const std::string& letters = letters_of(in[0]);
    out[0] = holding({letters.rbegin(), letters.rend()});
  }
};

}  // namespace

int main() {
  const bt::Variable text(text_type, "text");
  auto counts = (*bt::make_ref<LetterCounts>())({text});
  auto shares = counts / bt::sum(counts);
  auto entropy = -bt::sum(bt::where(bt::eq(counts, 0), 0., shares * bt::log2(bt::maximum(shares, 1e-300))));

  auto f = bt::function({text}, {entropy, (*bt::make_ref<Reverse>())({text})});
  const auto results = f({holding("hello world")});
  const double bits = results[0].item();
  std::cout << bits << " bits per letter, " << letters_of(results[1]) << "\n";

  // A shared variable of the type; functions update it.
  const bt::Variable last = bt::shared_of(text_type, holding("none yet"), "last");
  auto remember = bt::function({text}, {last}, {.updates = {{last, text}}});
  const std::string before = letters_of(remember({holding("first")})[0]);
  std::cout << before << ", then " << letters_of(bt::get_value(last)) << "\n";

  bool is_refused = false;
  try {
    f({bt::Array(3.0)});
  } catch (const bt::TypeError& error) {
    is_refused = true;
    std::cout << error.what() << "\n";
  }
  const bool right = std::abs(bits - 2.646) < 1e-3 && letters_of(results[1]) == "dlrow olleh" && before == "none yet" &&
                     letters_of(bt::get_value(last)) == "first";
  return right && is_refused ? 0 : 1;
}
