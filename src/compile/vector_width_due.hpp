// When the width of vectors is measured without a request: once a process has spent a second on native code, of which
// the measurement is a small part, and no measurement is recorded for this machine. Only later processes use the
// result, so that the width never changes within a process.
#pragma once

namespace bitale {

// To be called for each function that is linked, with the time that its native code took. Throws nothing.
void note_code_generation(double milliseconds);

// The measurement that is made then. Throws nothing.
void measure_vector_width_if_unknown();

}  // namespace bitale
