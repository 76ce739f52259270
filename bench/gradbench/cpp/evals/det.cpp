// The determinant by expansion by minors along the first row. A minor that several others contain is one expression.
#include <map>

#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

namespace {

class Minors {
 public:
  Minors(const bt::Variable& a, std::int64_t size) : a_(a), size_(size) {}

  // Of the last rows, as many as there are columns.
  bt::Variable operator()(const std::vector<std::int64_t>& columns) {
    const std::int64_t row = size_ - std::int64_t(columns.size());
    if (columns.size() == 1) return bt::subtensor(a_, {int(row), int(columns[0])});
    if (const auto known = known_.find(columns); known != known_.end()) return known->second;
    bt::Variable total;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::vector<std::int64_t> others = columns;
      others.erase(others.begin() + std::ptrdiff_t(i));
      const bt::Variable term = bt::subtensor(a_, {int(row), int(columns[i])}) * (*this)(others);
      total = !total.defined() ? term : i % 2 ? total - term : total + term;
    }
    return known_[columns] = total;
  }

 private:
  bt::Variable a_;
  std::int64_t size_;
  std::map<std::vector<std::int64_t>, bt::Variable> known_;
};

}  // namespace

Eval det() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    const std::int64_t size = count_field(input, "ell");
    if (size > 20) throw InputError("`ell` is at most 20 here: there are 2^ell minors");
    const auto elements = numbers_field(input, "A", 1);
    require_shape("A", elements.shape, {size * size});
    Arguments arguments;
    const bt::Variable a = arguments("A", Numbers<double>{{size, size}, elements.values});
    std::vector<std::int64_t> columns(std::size_t(size), 0);
    for (std::int64_t i = 0; i < size; ++i) columns[std::size_t(i)] = i;
    const bt::Variable value = Minors(a, size)(columns);
    return compiled(arguments, is_derivative ? bt::flatten(bt::grad(value, a)) : value);
  };
  return {"det",
          {{"primal", [=](const Json& input) { return prepare(input, false); }},
           {"gradient", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench
