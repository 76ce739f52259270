// What Bitale detected on this machine, and the directory of compiled code, for the command line.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "bitale/compile/vector_width.hpp"
#include "bitale/core/error.hpp"
#include "cache/inventory.hpp"
#include "codegen/generate.hpp"
#include "codegen/processor.hpp"
#include "codegen/target.hpp"
#include "define.hpp"
#include "runtime/blas.hpp"

namespace bitale::python {

namespace {

nb::dict system_report() {
  nb::dict out;
  out["cpu_features"] = codegen::processor_features();
  const codegen::Target* target = &codegen::target_named("native");
  try {
    target = &codegen::this_target();
  } catch (const ValueError&) {  // the flag `target` is invalid: reported elsewhere
  }
  out["target"] = target->level;
  out["vector_bytes"] = target->vector_bytes;
  try {
    out["llvm"] = codegen::generator_version();
    out["llvm_error"] = nb::none();
  } catch (const codegen::MissingGenerator& error) {
    out["llvm"] = nb::none();
    out["llvm_error"] = std::string(error.what());
  }
  try {
    out["blas"] = runtime::blas_library();
    out["blas_kernels"] = runtime::blas_kernels();
    out["blas_error"] = nb::none();
  } catch (const ValueError& error) {  // the flag blas__library is invalid
    out["blas"] = "";
    out["blas_kernels"] = "";
    out["blas_error"] = std::string(error.what());
  }
  return out;
}

nb::dict vector_width() {
  VectorWidth found;
  {
    nb::gil_scoped_release unlocked;
    found = measure_vector_width();
  }
  nb::dict out, times;
  for (auto& each : found.times) times[nb::int_(each.bits)] = nb::make_tuple(each.elementary, each.plain);
  out["bits"] = found.bits;
  out["times"] = times;
  out["is_kept"] = found.is_kept;
  return out;
}

nb::dict cache_inventory(const std::string& directory) {
  const cache::Inventory found = cache::inventory(directory);
  nb::list entries, temporary;
  for (auto& entry : found.entries) {
    nb::dict each;
    each["key"] = entry.name;
    each["bytes"] = entry.bytes;
    each["used"] = std::int64_t(entry.used);
    each["intact"] = entry.intact;
    entries.append(each);
  }
  for (auto& file : found.temporary) {
    nb::dict each;
    each["name"] = file.name;
    each["bytes"] = file.bytes;
    each["abandoned"] = file.abandoned;
    temporary.append(each);
  }
  nb::dict out;
  out["entries"] = entries;
  out["temporary"] = temporary;
  out["claimed"] = found.claimed;
  return out;
}

nb::dict removed_dict(const cache::Removed& removed) {
  nb::dict out;
  out["files"] = removed.files;
  out["bytes"] = removed.bytes;
  return out;
}

}  // namespace

void bind_system(nb::module_& m) {
  m.def("system_report", system_report, "What was found: processor, LLVM, BLAS.");
  m.def("measure_vector_width", vector_width);
  m.def("cache_inventory", cache_inventory, "directory"_a, "What lies in a directory of compiled code.");
  m.def(
      "cache_remove_all", [](const std::string& directory) { return removed_dict(cache::remove_all(directory)); },
      "directory"_a, "Removes all compiled code.");
  m.def(
      "cache_remove_useless",
      [](const std::string& directory) { return removed_dict(cache::remove_useless(directory)); }, "directory"_a,
      "Removes damaged entries and what killed processes left behind.");
}

}  // namespace bitale::python
