// Long compilations show themselves, and all log their stages.
#pragma once

#include <nanobind/nanobind.h>

namespace bitale::python {

// To be called once, when the module is loaded: stages are reported to the function that the package registers.
void bind_progress(nanobind::module_& m);

// To be called now and then in the main thread, with the interpreter lock: shows what this thread is compiling, if it
// has done so for longer than config.progress_after. Throws what Python's code throws.
void show_progress();

}  // namespace bitale::python
