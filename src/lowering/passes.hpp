// The passes over a Program that has its loops. lower.cpp has the tables of their names and order.
#pragma once

#include "lowering/declarations.hpp"
#include "lowering/lengths.hpp"

namespace bitale::lowering {

using program::Program;

// Keeps values that are stored and read at the same index as scalars; removes dead temporaries.
void forward_stores(Program& program);
// Turns temporaries that are used row by row into single rows.
void narrow_temporaries(Program& program);
// Turns loops over a batch, or over rows of small matrices, in the steps of a scan into one loop of straight code, and
// lays buffers out with the batch last.
void batch_lanes(Program& program, Declarations& declare, const Lengths& lengths);
// Whether that is possible with these steps of a loop.
bool suits_lanes(const program::Steps& steps);
// Puts loops that seldom add anything but zeros behind branches.
void guard_additions(Program& program, Declarations& declare);
// Turns loops of many iterations around short reductions into loops of straight code, outside scans.
void short_loops(Program& program, Declarations& declare);
// Unrolls loops of few iterations around long ones, and fuses the long ones.
void unroll_and_jam(Program& program, Declarations& declare);
// Turns small buffers in serial loops into variables.
void promote_elements(Program& program, Declarations& declare);
// Runs large products, and the loops that read them, in blocks of rows.
void block_products(Program& program, Declarations& declare, const Lengths& lengths);
// Merges loops over rows and columns into one loop over elements.
void collapse_loops(Program& program, Declarations& declare, const Lengths& lengths);
// Makes loops that read along both rows and columns go through tiles.
void tile_loops(Program& program, Declarations& declare);
// Marks innermost loops whose iterations may run as vector lanes.
void vectorize(Program& program);
// Marks loops whose iterations may be shared by several threads.
void parallelize_loops(Program& program, Declarations& declare);
// Puts loops of nothing but such branches behind a branch for each strip.
void look_in_strips(Program& program, Declarations& declare);
// Lets nests of three loops and more have no iterations where an inner one has none.
void skip_empty_nests(Program& program);
// Assigns slots of the workspace to temporaries.
void plan_memory(Program& program);

}  // namespace bitale::lowering
