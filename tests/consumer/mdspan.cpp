// Views as std::mdspan, and back, by a standard library that has it: libc++, with which the library itself is not
// linked, so this is a program without it.
#include <bitale/core/array.hpp>
#include <concepts>
#include <mdspan>

using bitale::ArrayView;

void bitale::refuse_stride(std::int64_t stride, std::size_t) { throw stride; }

static_assert(requires(const bitale::Array& array) {
  { array.view_as<double, 2>().mdspan() } -> std::same_as<ArrayView<const double, 2>::Mdspan>;
  { array.mutable_view_as<double, 2>().mdspan() } -> std::same_as<ArrayView<double, 2>::Mdspan>;
});

int main() {
  double data[] = {1, 2, 3, 4, 5, 6};
  const ArrayView<double, 2> columns(data, {3, 2}, {8, 24});
  auto span = columns.mdspan();
  span[2, 1] = 60;
  const ArrayView<double, 2> back(span);
  const ArrayView<double, 1> of_layout_right(std::mdspan(data, 6));
  bool refuses = false;
  try {
    (void)ArrayView<double, 1>(data, {2}, {12}).mdspan();
  } catch (std::int64_t stride) {
    refuses = stride == 12;
  }
  return data[5] == 60 && span.extent(0) == 3 && back(2, 1) == 60 && back.strides() == columns.strides() &&
                 of_layout_right[5] == 60 && refuses
             ? 0
             : 1;
}
