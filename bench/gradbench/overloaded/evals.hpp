// The derivatives that GradBench's evals ask for, by a library's tapes, as a tool of their protocol.
#pragma once

#include <iostream>

#include "ba.hpp"
#include "det.hpp"
#include "gmm.hpp"
#include "ht.hpp"
#include "kmeans.hpp"
#include "llsq.hpp"
#include "lse.hpp"
#include "lstm.hpp"
#include "ode.hpp"

namespace gradbench {

template <class Tape>
void serve_tapes(const char* name) {
  const std::vector<Eval> evals{
      {"det", {{"gradient", det<Tape>}}}, {"llsq", {{"gradient", llsq<Tape>}}}, {"lse", {{"gradient", lse<Tape>}}},
      {"ode", {{"gradient", ode<Tape>}}}, {"lstm", {{"jacobian", lstm<Tape>}}}, {"kmeans", {{"dir", kmeans<Tape>}}},
      {"gmm", {{"jacobian", gmm<Tape>}}}, {"ba", {{"jacobian", ba<Tape>}}},     {"ht", {{"jacobian", ht<Tape>}}}};
  serve(name, evals, std::cin, std::cout);
}

}  // namespace gradbench
