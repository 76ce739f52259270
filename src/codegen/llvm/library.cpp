#include "codegen/llvm/library.hpp"

#include <set>
#include <string_view>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale::codegen {

namespace {

struct Definition {
  std::string_view name, text;
};

// What the C library has under another name; of the float64 version.
constexpr Definition renamed[] = {{"bt_sin_huge", "sin"},
                                  {"bt_cos_huge", "cos"},
                                  {"bt_tan_huge", "tan"},
                                  {"bt_gamma", "tgamma"},
                                  {"bt_lgamma", "lgamma"}};

// Of floats, the float64 version; that of float32, name + "f", calls it. Expansions ask for erfcx, digamma and trigamma
// at few arguments only: huge ones, and those that are not positive.
constexpr Definition reals[] = {
    {"bt_erfcx", R"(; of |x| beyond 1e15: 1 / (sqrt(pi) x), or infinity
define double @bt_erfcx(double %x) nounwind {
  %far = fdiv double 0x3FE20DD750429B6D, %x
  %low = fcmp olt double %x, 0.0
  %out = select i1 %low, double 0x7FF0000000000000, double %far
  ret double %out
}
)"},
    {"bt_digamma",
     R"(; of x <= 0, by reflection: digamma(1 - x) - pi / tan(pi x) (Abramowitz and Stegun 6.3.7); beyond 12
; by the asymptotic series (6.3.18), to which the recurrence (6.3.5) leads
define double @bt_digamma(double %x) nounwind {
  %zero = fcmp oeq double %x, 0.0
  br i1 %zero, label %pole, label %other
pole:
  %sided = call double @llvm.copysign.f64(double 0x7FF0000000000000, double %x)
  %at_zero = fneg double %sided
  ret double %at_zero
other:
  %whole = call double @llvm.rint.f64(double %x)
  %r = fsub double %x, %whole
  %angle = fmul double %r, 0x400921FB54442D18
  %tangent = call double @tan(double %angle)
  %reflected = fdiv double 0x400921FB54442D18, %tangent
  %start = fsub double 1.0, %x
  br label %loop
loop:
  %z = phi double [ %start, %other ], [ %next, %step ]
  %sum = phi double [ 0.0, %other ], [ %less, %step ]
  %small = fcmp olt double %z, 12.0
  br i1 %small, label %step, label %series
step:
  %inverse = fdiv double 1.0, %z
  %less = fsub double %sum, %inverse
  %next = fadd double %z, 1.0
  br label %loop
series:
  %square = fmul double %z, %z
  %s = fdiv double 1.0, %square
  %c5 = call double @llvm.fma.f64(double %s, double 0xBF95995995995996, double 0x3F7F07C1F07C1F08)
  %c4 = call double @llvm.fma.f64(double %s, double %c5, double 0xBF71111111111111)
  %c3 = call double @llvm.fma.f64(double %s, double %c4, double 0x3F70410410410410)
  %c2 = call double @llvm.fma.f64(double %s, double %c3, double 0xBF81111111111111)
  %c1 = call double @llvm.fma.f64(double %s, double %c2, double 0x3FB5555555555555)
  %tail = fmul double %s, %c1
  %log = call double @log(double %z)
  %half = fdiv double 0.5, %z
  %a = fsub double %log, %half
  %b = fsub double %a, %tail
  %positive = fadd double %sum, %b
  %value = fsub double %positive, %reflected
  %infinite = fcmp oeq double %x, 0xFFF0000000000000
  %integer = fcmp oeq double %r, 0.0
  %none = or i1 %infinite, %integer
  %out = select i1 %none, double 0x7FF8000000000000, double %value
  ret double %out
}
)"},
    {"bt_trigamma", R"(; of x <= 0, by reflection: pi^2 / sin(pi x)^2 - trigamma(1 - x) (6.4.7), likewise
define double @bt_trigamma(double %x) nounwind {
  %whole = call double @llvm.rint.f64(double %x)
  %r = fsub double %x, %whole
  %angle = fmul double %r, 0x400921FB54442D18
  %sine = call double @sin(double %angle)
  %ratio = fdiv double 0x400921FB54442D18, %sine
  %reflected = fmul double %ratio, %ratio
  %start = fsub double 1.0, %x
  br label %loop
loop:
  %z = phi double [ %start, %0 ], [ %next, %step ]
  %sum = phi double [ 0.0, %0 ], [ %more, %step ]
  %small = fcmp olt double %z, 12.0
  br i1 %small, label %step, label %series
step:
  %square_of = fmul double %z, %z
  %inverse_of = fdiv double 1.0, %square_of
  %more = fadd double %sum, %inverse_of
  %next = fadd double %z, 1.0
  br label %loop
series:
  %inverse = fdiv double 1.0, %z
  %s = fmul double %inverse, %inverse
  %c5 = call double @llvm.fma.f64(double %s, double 0xBFD0330330330330, double 0x3FB364D9364D9365)
  %c4 = call double @llvm.fma.f64(double %s, double %c5, double 0xBFA1111111111111)
  %c3 = call double @llvm.fma.f64(double %s, double %c4, double 0x3F98618618618618)
  %c2 = call double @llvm.fma.f64(double %s, double %c3, double 0xBFA1111111111111)
  %c1 = call double @llvm.fma.f64(double %s, double %c2, double 0x3FC5555555555555)
  %cube = fmul double %inverse, %s
  %tail = fmul double %cube, %c1
  %half = fmul double %s, 0.5
  %a = fadd double %inverse, %half
  %b = fadd double %a, %tail
  %positive = fadd double %sum, %b
  %value = fsub double %reflected, %positive
  %integer = fcmp oeq double %r, 0.0
  %at_pole = select i1 %integer, double 0x7FF0000000000000, double %value
  %infinite = fcmp oeq double %x, 0xFFF0000000000000
  %out = select i1 %infinite, double 0x7FF8000000000000, double %at_pole
  ret double %out
}
)"},
};

constexpr Definition others[] = {
    {"bt_fill", R"(define void @bt_fill(ptr %data, i64 %count, i64 %bytes, i64 %bits) nounwind {
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
)"},
    {"bt_pow_u64", R"(define i64 @bt_pow_u64(i64 %x, i64 %n) nounwind {
  br label %loop
loop:
  %left = phi i64 [ %n, %0 ], [ %half, %step ]
  %base = phi i64 [ %x, %0 ], [ %square, %step ]
  %power = phi i64 [ 1, %0 ], [ %taken, %step ]
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %step
step:
  %bit = trunc i64 %left to i1
  %more = mul i64 %power, %base
  %taken = select i1 %bit, i64 %more, i64 %power
  %square = mul i64 %base, %base
  %half = lshr i64 %left, 1
  br label %loop
end:
  ret i64 %power
}
)"},
    {"bt_pow_i64", R"(; of a negative power, rounded towards 0
define i64 @bt_pow_i64(i64 %x, i64 %n) nounwind {
  %inverse = icmp slt i64 %n, 0
  br i1 %inverse, label %small, label %usual
small:
  %odd = and i64 %n, 1
  %is_odd = icmp ne i64 %odd, 0
  %sign = select i1 %is_odd, i64 -1, i64 1
  %is_minus = icmp eq i64 %x, -1
  %minus = select i1 %is_minus, i64 %sign, i64 0
  %is_one = icmp eq i64 %x, 1
  %out = select i1 %is_one, i64 1, i64 %minus
  ret i64 %out
usual:
  %power = call i64 @bt_pow_u64(i64 %x, i64 %n)
  ret i64 %power
}
)"},
};

template <class Table>
const Definition* find(const Table& table, std::string_view name) {
  for (auto& each : table)
    if (each.name == name) return &each;
  return nullptr;
}

// name, which is the float32 version of `wide`
std::string narrow_text(std::string_view wide) {
  return cat("define float @", wide, "f(float %x) nounwind {\n  %wide = fpext float %x to double\n",
             "  %value = call double @", wide, "(double %wide)\n  %out = fptrunc double %value to float\n",
             "  ret float %out\n}\n");
}

class Library {
 public:
  void add(const std::string& name) {
    if (!known_.insert(name).second) return;
    const std::string wide = name.ends_with('f') ? name.substr(0, name.size() - 1) : "";
    if (const Definition* found = find(others, name)) {
      if (name == "bt_pow_i64") add("bt_pow_u64");
      text_ += found->text;
    } else if (const Definition* real = find(reals, name)) {
      text_ += real->text;
    } else if (const Definition* other = find(renamed, name)) {
      declare(other->text);
      text_ += cat("define double @", name, "(double %x) nounwind {\n  %out = call double @", other->text,
                   "(double %x)\n  ret double %out\n}\n");
    } else if (!wide.empty() && (find(reals, wide) || find(renamed, wide))) {
      add(wide);
      text_ += narrow_text(wide);
    } else {
      throw NotImplementedError(
          cat("export: the function calls ", name, ", which an object file has no code for; C code may (export_c)"));
    }
  }
  std::string text() {
    for (const std::string_view name : {"sin", "tan", "log"}) declare(name);
    return cat(declarations_,
               "declare double @llvm.copysign.f64(double, double)\ndeclare double @llvm.rint.f64(double)\n",
               "declare double @llvm.fma.f64(double, double, double)\n",
               "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n", text_);
  }

 private:
  void declare(std::string_view name) {
    if (declared_.insert(std::string(name)).second) declarations_ += cat("declare double @", name, "(double)\n");
  }

  std::set<std::string> known_, declared_;
  std::string declarations_, text_;
};

}  // namespace

std::string library_text(const std::vector<std::string>& functions) {
  Library library;
  for (auto& name : functions) library.add(name);
  return library.text();
}

}  // namespace bitale::codegen
