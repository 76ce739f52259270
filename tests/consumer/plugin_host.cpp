// Opens the plugin when functions have been compiled already, closes it, and goes on using its op and its rule.
//
//     plugin_host PLUGIN
#include <bitale/bitale.hpp>
#include <bitale/ops/registry.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <string>

namespace bt = bitale;

int main(int argc, char** argv) {
  const auto x = bt::vector("x");
  const double sum = bt::function({x}, bt::sum(x))({bt::Array{1., 2.}}).item();
  void* const plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (!plugin) {
    std::fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: plugin_host PLUGIN");
    return 1;
  }
  dlclose(plugin);
  const auto smooth = bt::op_from("Smooth", {{"times", std::int64_t(2)}});
  const auto f = bt::function({x}, (*smooth)({-x}) * 8);
  const std::string y = f({bt::Array{0., 0., 1., 0., 0.}})[0].str(), program = f.dprint("program");
  std::printf("%g %s\n%s", sum, y.c_str(), program.c_str());
  const bool is_native = program.find("call own_smooth_f64") != program.npos;
  return y == "[-0. -2. -3. -2. -0.]" && is_native && f.rewrite_report().hits("smooth_of_neg") == 1 ? 0 : 1;
}
