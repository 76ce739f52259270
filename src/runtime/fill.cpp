// Filling memory with one element, for generated code.
#include <cstdint>
#include <cstring>

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime {

namespace {

template <class Word>
void fill_words(void* data, std::int64_t count, std::int64_t bits) {
  auto* words = static_cast<Word*>(data);
  for (std::int64_t i = 0; i < count; ++i) words[i] = Word(bits);
}

// `width` is 1, 2, 4 or 8 bytes; `bits` holds the element in its low bytes.
void fill(void* data, std::int64_t count, std::int64_t width, std::int64_t bits) {
  if (count <= 0) return;
  if (bits == 0)
    std::memset(data, 0, std::size_t(count * width));
  else if (width == 1)
    fill_words<std::uint8_t>(data, count, bits);
  else if (width == 2)
    fill_words<std::uint16_t>(data, count, bits);
  else if (width == 4)
    fill_words<std::uint32_t>(data, count, bits);
  else
    fill_words<std::uint64_t>(data, count, bits);
}

constexpr std::string_view fill_llvm = R"(define void @bt_fill(ptr %data, i64 %count, i64 %bytes, i64 %bits) nounwind {
  switch i64 %bytes, label %eight [ i64 1, label %one
                                    i64 2, label %two
                                    i64 4, label %four ]
one:
  %byte = trunc i64 %bits to i8
  call void @llvm.memset.p0.i64(ptr %data, i8 %byte, i64 %count, i1 false)
  ret void
two:
  %t = phi i64 [ 0, %0 ], [ %t_next, %store_two ]
  %t_more = icmp slt i64 %t, %count
  br i1 %t_more, label %store_two, label %done
store_two:
  %word = trunc i64 %bits to i16
  %t_at = getelementptr i16, ptr %data, i64 %t
  store i16 %word, ptr %t_at
  %t_next = add i64 %t, 1
  br label %two
four:
  %f = phi i64 [ 0, %0 ], [ %f_next, %store_four ]
  %f_more = icmp slt i64 %f, %count
  br i1 %f_more, label %store_four, label %done
store_four:
  %half = trunc i64 %bits to i32
  %f_at = getelementptr i32, ptr %data, i64 %f
  store i32 %half, ptr %f_at
  %f_next = add i64 %f, 1
  br label %four
eight:
  %e = phi i64 [ 0, %0 ], [ %e_next, %store_eight ]
  %e_more = icmp slt i64 %e, %count
  br i1 %e_more, label %store_eight, label %done
store_eight:
  %e_at = getelementptr i64, ptr %data, i64 %e
  store i64 %bits, ptr %e_at
  %e_next = add i64 %e, 1
  br label %eight
done:
  ret void
}
)";

RuntimeFunction fill_row() {
  RuntimeFunction out = runtime_function("bt_fill", fill, "data count width bits");
  out.llvm_text = fill_llvm;
  return out;
}

const RegisterFunctions fill_functions{fill_row()};

}  // namespace

}  // namespace bitale::runtime
