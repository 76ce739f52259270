// Other programs, which compile or link: found as a shell finds them, run with their messages, in a temporary folder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitale::codegen::c {

// The file of a program, as a shell would find it; empty when there is none.
std::string found_in_path(const std::string& program);

// Runs a command; returns its exit status, 127 when it could not be started, and its output. An interruption ends it,
// and throws.
std::pair<int, std::string> run(const std::vector<std::string>& command);

// Removed, with its files, when it goes out of scope. NotImplementedError where none can be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(std::string_view name) const;
  // Writes a file, and returns its path. NotImplementedError where that fails.
  std::string write(std::string_view name, const std::string& text) const;

 private:
  std::string path_;
};

// Empty for a file that is not there.
std::string contents(const std::string& file);

}  // namespace bitale::codegen::c
