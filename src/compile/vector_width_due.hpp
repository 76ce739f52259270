// When the width of vectors is measured without being asked for: once a process has spent a second on native code, of
// which the measurement is a small part, and nobody has measured on this machine before. Only later processes go by
// what it finds, so that a process never changes its mind.
#pragma once

namespace bitale {

// Of each function that is linked, what its native code took. Raises nothing.
void note_code_generation(double milliseconds);

// What is done then. Raises nothing.
void measure_vector_width_if_unknown();

}  // namespace bitale
