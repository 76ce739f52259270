// GradBench's evals in Bitale, as a tool of their protocol: https://github.com/gradbench/gradbench
#include <iostream>

#include "evals.hpp"

int main() {
  using namespace gradbench;
  const std::vector<Eval> evals{ba(),   det(), gmm(),  hello(), ht(),       kmeans(),
                                llsq(), lse(), lstm(), ode(),   particle(), saddle()};
  serve("bitale", evals, std::cin, std::cout);
}
