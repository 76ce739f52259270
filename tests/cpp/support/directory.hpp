// A temporary directory that is removed with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

namespace bitale::testing {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : TemporaryDirectory(make()) {}
  explicit TemporaryDirectory(std::string existing) : path_(std::move(existing)) {}
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

  // Creates one that no object owns yet.
  static std::string make() {
    std::string name = (std::filesystem::temp_directory_path() / "bitale-test-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    return name;
  }

 private:
  std::string path_;
};

}  // namespace bitale::testing
