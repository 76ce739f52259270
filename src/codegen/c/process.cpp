#include "codegen/c/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"

extern char** environ;

namespace bitale::codegen::c {

namespace fs = std::filesystem;

std::string found_in_path(const std::string& program) {
  if (program.find('/') != program.npos) return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + program;
    if (end > begin && ::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  path_ = ((error ? fs::path("/tmp") : parent) / "bitale-XXXXXX").string();
  if (!::mkdtemp(path_.data()))
    throw NotImplementedError(cat("the C linker can't make a temporary directory ", path_, ": ", std::strerror(errno)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(std::string_view name) const { return cat(path_, "/", name); }

std::string TemporaryFolder::write(std::string_view name, const std::string& text) const {
  std::string path = file(name);
  if (std::ofstream out(path, std::ios::binary); !(out << text).flush())
    throw NotImplementedError(cat("the C linker can't write to the temporary directory ", path_));
  return path;
}

namespace {

constexpr int poll_milliseconds = 20;

// Throws what an interruption throws.
std::string read_to_the_end(int file) {
  std::string out;
  char part[4096];
  while (true) {
    pollfd ready{file, POLLIN, 0};
    const int found = ::poll(&ready, 1, poll_milliseconds);
    throw_if_interrupted();
    if (found == 0 || (found < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(file, part, sizeof part);
    if (count > 0) out.append(part, std::size_t(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return out;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

}  // namespace

std::pair<int, std::string> run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {127, std::strerror(errno)};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, command[0].c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  std::string said;
  try {
    said = failed ? std::strerror(failed) : read_to_the_end(ends[0]);
  } catch (...) {
    ::close(ends[0]);
    ::kill(child, SIGTERM);
    wait_for(child);
    throw;
  }
  ::close(ends[0]);
  if (failed) return {127, said};
  const int status = wait_for(child);
  if (status < 0) return {127, said};
  if (WIFSIGNALED(status)) {  // Ctrl-C in a terminal ends the compiler, too
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * poll_milliseconds));
    throw_if_interrupted();
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, said};
}

}  // namespace bitale::codegen::c
