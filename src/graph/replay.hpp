// Replay: nodes run a second time on the same values, to diagnose a failure. Ops with visible output stay silent during
// a replay.
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
