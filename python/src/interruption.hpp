// Ctrl-C in long calls.
#pragma once

namespace bitale::python {

// To be called once, when the module is loaded.
void begin_interruption();

}  // namespace bitale::python
