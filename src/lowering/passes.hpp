// The passes over a Program that has its loops, in the order in which `lower` runs them.
#pragma once

#include "lowering/declarations.hpp"
#include "lowering/lengths.hpp"

namespace bitale::lowering {

using program::Program;

// Values stored and read in the same place stay scalars; unread temporaries vanish.
void forward_stores(Program& program);
// Temporaries used row by row become rows.
void narrow_temporaries(Program& program);
// Loops over a batch, or over rows of small matrices, in the steps of a scan become one loop of straight code, and
// buffers have the batch last.
void batches_in_lanes(Program& program, Declarations& declare, const Lengths& lengths);
// Whether that can be done with these steps of a loop.
bool suits_lanes(const program::Steps& steps);
// Small buffers in loops whose iterations follow one another become variables.
void promote_elements(Program& program, Declarations& declare);
// Loops over rows and columns that are one loop over elements.
void collapse_loops(Program& program, Declarations& declare, const Lengths& lengths);
// Loops that read along rows and columns go through tiles.
void tile_loops(Program& program, Declarations& declare);
// Marks innermost loops whose iterations may run as vector lanes.
void vectorize(Program& program);
// Loops whose iterations several threads may share.
void parallelize_loops(Program& program, Declarations& declare);
// Places for temporaries in the workspace.
void plan_memory(Program& program);

}  // namespace bitale::lowering
