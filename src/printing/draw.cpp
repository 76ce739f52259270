// Graphviz's program `dot` as a function from text to picture. It reads and writes unnamed files, so that no pipe can
// fill up and no file is left behind.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/picture.hpp"

extern char** environ;

namespace bitale {

namespace {

class File {
 public:
  File() : file_(std::tmpfile()) {
    if (!file_) throw Error(cat("draw: no temporary file can be made: ", std::strerror(errno)));
  }
  ~File() { std::fclose(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return ::fileno(file_); }
  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
      throw Error(cat("draw: the temporary file can't be written: ", std::strerror(errno)));
    std::rewind(file_);
    ::lseek(descriptor(), 0, SEEK_SET);
  }
  std::string read() {
    std::string out;
    std::rewind(file_);
    char piece[1 << 16];
    for (std::size_t count; (count = std::fread(piece, 1, sizeof piece, file_)) > 0;) out.append(piece, count);
    return out;
  }

 private:
  std::FILE* file_;
};

struct Actions {
  posix_spawn_file_actions_t list;
  Actions() { posix_spawn_file_actions_init(&list); }
  ~Actions() { posix_spawn_file_actions_destroy(&list); }
};

}  // namespace

std::string draw(const std::string& text, const std::string& format) {
  if (format == "dot" || format == "gv") return text;
  File in, out, complaints;
  in.write(text);
  Actions actions;
  posix_spawn_file_actions_adddup2(&actions.list, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions.list, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.list, complaints.descriptor(), STDERR_FILENO);
  std::string name = "dot", option = "-T" + format;
  char* const arguments[] = {name.data(), option.data(), nullptr};
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, name.c_str(), &actions.list, nullptr, arguments, environ);
  if (failure == ENOENT)
    throw NotImplementedError(
        "draw: Graphviz's program `dot` is not installed (its package is graphviz); pictures of the format \"dot\" and "
        "pages of HTML work without it");
  if (failure != 0) throw Error(cat("draw: `dot` can't be started: ", std::strerror(failure)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Error(cat("draw: waiting for `dot`: ", std::strerror(errno)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
      throw NotImplementedError("draw: Graphviz's program `dot` is not installed (its package is graphviz)");
    throw ValueError(cat("draw: `dot -T", format, "` failed: ", complaints.read()));
  }
  return out.read();
}

void draw_to_file(std::span<const Variable> outputs, const std::string& file, const PictureOptions& options) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending.size() < 2)
    throw ValueError(cat("draw_to_file: the extension of \"", file, "\" must give the format, as \".svg\" does"));
  const std::string image = draw(dot_text(outputs, options), ending.substr(1));
  std::ofstream stream(file, std::ios::binary);
  stream.write(image.data(), std::streamsize(image.size()));
  stream.close();
  if (!stream) throw Error(cat("draw_to_file: \"", file, "\" can't be written: ", std::strerror(errno)));
}

}  // namespace bitale
