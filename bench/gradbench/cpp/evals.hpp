// The evals, each in a file of its name.
#pragma once

#include "protocol.hpp"

namespace gradbench {

Eval ba();
Eval det();
Eval gmm();
Eval hello();
Eval ht();
Eval kmeans();
Eval llsq();
Eval lse();
Eval lstm();
Eval ode();
Eval particle();
Eval saddle();

}  // namespace gradbench
