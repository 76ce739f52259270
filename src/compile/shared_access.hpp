// Access to shared variables by calls that run at the same time. A call with updates holds the variables that it writes
// exclusively, and those that it reads together with other readers, from reading to writing, so such calls are
// serializable. A call that acquires everything at once never waits while it holds something, so there is no deadlock;
// only calls inside calls (from a callback) acquire more, and a cycle among them is refused. Calls without updates hold
// nothing: they read a snapshot.
#pragma once

#include <thread>
#include <utility>
#include <vector>

#include "bitale/compile/shared.hpp"

namespace bitale {

// The variables that a call writes and those that it only reads, each sorted and without repetitions.
struct SharedClaim {
  std::vector<const Container*> written, read;
  // `containers`: all that the call uses; `written`: those among them that it updates.
  static SharedClaim of(std::vector<const Container*> containers, std::vector<const Container*> written);
};

class SharedAccess {
 public:
  // Waits until no other call holds a variable that the claim can't share. Throws an UpdateConflictError when an
  // enclosing call (in the same thread) writes the same variable, or when calls inside calls would deadlock. The claim
  // must outlive the access.
  explicit SharedAccess(const SharedClaim& claim);
  ~SharedAccess();
  SharedAccess(const SharedAccess&) = delete;
  SharedAccess& operator=(const SharedAccess&) = delete;

  // The end of the access: store() changes values, and a snapshot sees either all or none of the changes. It must not
  // throw, wait, or release memory. Other calls may proceed afterwards.
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

// Appends the values of the containers, in the form in which these hold them, all from one moment.
void append_snapshot(const std::vector<Ref<const Container>>& containers, std::vector<Array>& values);

}  // namespace bitale
