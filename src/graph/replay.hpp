// Replay: nodes run a second time on values that they have had, to find out what went wrong. Ops that show something
// to people stay silent then.
#pragma once

namespace bitale {

class Replay {
 public:
  Replay();
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  static bool is_running();  // in this thread
};

}  // namespace bitale
