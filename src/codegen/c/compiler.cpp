#include "codegen/c/compiler.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/c/process.hpp"
#include "codegen/generate.hpp"

namespace bitale::codegen::c {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Rounding, infinities and nan are as written in the text. Errno and floating-point traps are not used, and would keep
// loops from being vectorized. The loader accepts plain sections only.
std::vector<std::string> kernel_flags(const Target& target) {
  std::vector<std::string> flags{"-x",
                                 "c",
                                 "-std=c99",
                                 "-O3",
                                 "-fPIC",
                                 "-ffp-contract=off",
                                 "-fno-math-errno",
                                 "-fno-trapping-math",
                                 "-fno-asynchronous-unwind-tables",
                                 "-fno-stack-protector",
                                 "-fno-ident",
                                 "-w"};
#if defined(__x86_64__)
  flags.insert(flags.end(), {"-march=" + target.level, "-fcf-protection=none"});
#else
  (void)target;
#endif
  return flags;
}

}  // namespace

Compiler find_compiler(const Target& target) {
  const std::string configured = config::get("cc"), wanted = configured.empty() ? config::get("cxx") : configured;
  const std::string path = wanted.empty() ? "" : found_in_path(wanted);
  if (path.empty())
    throw MissingGenerator(
        cat("linker c needs a C compiler, and ",
            wanted.empty() ? std::string("none is found in PATH") : cat("there is no `", wanted, "`"),
            "; install gcc or clang, or name one with the flag cc"));
  Compiler compiler{path, kernel_flags(target)};
  for (auto& flag : words(config::get("gcc__cxxflags"))) compiler.flags.push_back(flag);
  return compiler;
}

std::string Compiler::identity() const {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  struct stat status {};
  ::stat(path.c_str(), &status);
  return cat(error ? path : file.string(), " ", status.st_size, " ", status.st_mtim.tv_sec, " ", status.st_mtim.tv_nsec,
             " ", join(flags, " "));
}

std::string compile_text(const Compiler& compiler, const std::string& text) {
  const TemporaryFolder folder;
  const std::string source = folder.write("program.c", text), object = folder.file("program.o");
  std::vector<std::string> command{compiler.path};
  command.insert(command.end(), compiler.flags.begin(), compiler.flags.end());
  command.insert(command.end(), {"-c", source, "-o", object});
  const auto [status, said] = run(command);
  std::string made = status == 0 ? contents(object) : "";
  if (!made.empty()) return made;
  throw InternalError(cat("the C compiler ", compiler.path, " failed with status ", status,
                          " on the code of a program:\n", said.substr(0, 2000)));
}

}  // namespace bitale::codegen::c
