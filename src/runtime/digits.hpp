// Functions that need numbers of hundreds of digits, in a separate library next to this one: it computes the constants
// of such numbers when it is loaded, which takes longer than loading everything else.
#pragma once

namespace bitale::runtime {

// Each returns nan if even 400 digits do not suffice.
struct DigitsFunctions {
  double (*hyp2f1)(double a, double b, double c, double z);
  double (*hyp2f1_derivative)(double a, double b, double c, double z, bool is_by_c);  // by a, or by c
};

// Opens the library at the first call; if it is missing, warns, and all functions return nan.
const DigitsFunctions& digits();

}  // namespace bitale::runtime
