// Ctrl-C ends long calls: an exception raised by a signal handler, such as Python's of SIGINT, propagates out of the
// call.
#include "interruption.hpp"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <atomic>

#include "bitale/core/interruption.hpp"
#include "codegen/background.hpp"
#include "progress.hpp"

namespace bitale::python {

namespace nb = nanobind;

namespace {

// Signals are handled only in Python's main thread. Other threads must not wait here for the interpreter lock, which
// the main thread may hold until they have finished.
std::atomic<unsigned long> main_thread{0};

void after_fork() { main_thread = PyThread_get_thread_ident(); }

void raise_for_signals() {
  if (PyThread_get_thread_ident() != main_thread || !Py_IsInitialized()) return;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  show_progress();
}

// KeyboardInterrupt, SystemExit and others that are no Exception.
bool ends_the_program(const std::exception& error) {
  const auto* raised = dynamic_cast<const nb::python_error*>(&error);
  if (!raised) return false;
  const nb::gil_scoped_acquire locked;
  return !raised->matches(PyExc_Exception);
}

}  // namespace

void begin_interruption() {
  // Where no program has imported `threading`, whose import takes a millisecond, this thread is the only one.
  const nb::object threading = nb::module_::import_("sys").attr("modules").attr("get")("threading");
  main_thread = threading.is_none() ? PyThread_get_thread_ident()
                                    : nb::cast<unsigned long>(threading.attr("main_thread")().attr("ident"));
  pthread_atfork(nullptr, nullptr, after_fork);
  set_interruption_check(raise_for_signals, ends_the_program);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    const nb::gil_scoped_release unlocked;
    codegen::end_background_work();
  }));
}

}  // namespace bitale::python
