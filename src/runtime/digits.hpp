// Functions that need numbers of hundreds of digits, in a library of their own beside this one: the constants of such
// numbers are computed when it is loaded, which takes longer than to load all else.
#pragma once

namespace bitale::runtime {

// Each is nan where even 400 digits do not suffice.
struct DigitsFunctions {
  double (*hyp2f1)(double a, double b, double c, double z);
  double (*hyp2f1_derivative)(double a, double b, double c, double z, bool is_by_c);  // by a, or by c
};

// Opens the library at the first call; where it is missing, warns, and all are nan.
const DigitsFunctions& digits();

}  // namespace bitale::runtime
