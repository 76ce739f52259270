// Ctrl-C in calls that take long.
#pragma once

namespace bitale::python {

// Once, when the module is loaded.
void begin_interruption();

}  // namespace bitale::python
