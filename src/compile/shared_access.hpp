// Access to shared variables by calls that run at the same time. A call with updates holds what it writes alone, and
// what it reads together with other readers, from reading to writing, so that such calls are serializable. A call that
// takes all it needs at once never waits while it holds something, so there is no deadlock; only calls inside calls
// (from a callback) take more, and a cycle among them is refused. Calls without updates hold nothing: they read a
// snapshot.
#pragma once

#include <thread>
#include <utility>
#include <vector>

#include "bitale/compile/shared.hpp"

namespace bitale {

// What a call writes and what it only reads, each sorted and without repetitions.
struct SharedClaim {
  std::vector<const Container*> written, read;
  // `containers`: all that the call knows; `written`: those among them that it updates.
  static SharedClaim of(std::vector<const Container*> containers, std::vector<const Container*> written);
};

class SharedAccess {
 public:
  // Waits until no other call holds what the claim can't share. UpdateConflictError when a call around this one (in the
  // same thread) writes the same variable, or when calls inside calls would wait for each other for ever.
  // The claim must outlive the access.
  explicit SharedAccess(const SharedClaim& claim);
  ~SharedAccess();
  SharedAccess(const SharedAccess&) = delete;
  SharedAccess& operator=(const SharedAccess&) = delete;

  // The last thing that the access is for: store() changes values, which snapshots see all or none of. It must not
  // throw, wait, or release memory. Others may go on afterwards.
  template <class Store>
  void commit(Store store) {
    begin_commit();
    store();
    end_commit();
  }

 private:
  friend class SharedAccessTable;
  void begin_commit();
  void end_commit();

  const SharedClaim& claim_;
  const std::thread::id thread_ = std::this_thread::get_id();
  bool is_held_ = false;
};

// Appends the values of the containers, as these hold them, as they were together at one moment.
void append_snapshot(const std::vector<Ref<const Container>>& containers, std::vector<Array>& values);

}  // namespace bitale
