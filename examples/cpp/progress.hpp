// A progress bar below lines that stay. If the output is not a terminal, only the lines are written.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

class Progress {
 public:
  explicit Progress(int total) : total_(total), shown_(isatty(STDOUT_FILENO) != 0) {}
  ~Progress() { erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more of `total` is done; `line` says what it gave.
  void step(const std::string& line) {
    ++done_;
    erase();
    std::printf("%s\n", line.c_str());
    draw();
  }

 private:
  void draw() const {
    if (!shown_) return;
    constexpr int width = 40;
    const int full = total_ > 0 ? width * done_ / total_ : width;
    std::string bar;
    for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
    std::printf("  %s %d/%d", bar.c_str(), done_, total_);
    std::fflush(stdout);
  }
  void erase() const {
    if (shown_) std::printf("\r\033[K");
  }

  int total_, done_ = 0;
  bool shown_;
};
