// The implementation of a Function: the compiled part, which all functions of one maker share, and the containers of
// one function.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bitale/compile/function.hpp"
#include "bitale/compile/profile.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/resident.hpp"
#include "bitale/core/text.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "compile/profile_at_exit.hpp"
#include "compile/profiled_calls.hpp"
#include "compile/shared_access.hpp"
#include "core/pool.hpp"
#include "link/direct.hpp"
#include "link/linker.hpp"

namespace bitale {

struct Compiled {
  std::string name;
  Variables inputs, built;                     // the user's
  std::vector<const TensorType*> input_types;  // storage types: the inputs', then the shared variables'
  std::vector<const TensorType*> output_types;
  Variables shared;                  // the user's
  std::vector<std::size_t> updated;  // for each update, the position in `shared` of its target
  std::size_t output_count = 0;
  Downcast downcast = Downcast::FloatLiteral;
  Mode mode{"jit", "fast_run"};
  std::shared_ptr<const FunctionGraph> graph;
  std::shared_ptr<const link::Thunk> thunk;
  CompileTimes times;
  double build_time = 0;  // milliseconds, of `times.total`
  int threads = 1;
  RewriteReport report;  // with time_rules set if calls are to be measured
};

struct StateLayout {
  Dims shape, strides;
};

// The code of a function that direct calls may run; null where there is none.
const link::DirectCode* direct_code_of(const Function& function);

struct Function::Impl : Compiled {
  explicit Impl(const Compiled& compiled, const Variables& defaults);

  // Containers of `shared`, whose values follow the inputs, then those of defaults.
  std::vector<Ref<const Container>> containers;
  static constexpr std::size_t no_default = std::size_t(-1);
  std::vector<std::size_t> default_of;  // for each input the index into `containers`, or no_default; empty: no defaults
  std::vector<const Container*> update_targets;
  // The lengths and strides of each container, if there are updates and all lengths are known: such calls need no
  // handles.
  std::vector<StateLayout> plain_states;
  SharedClaim claim;                                // of a call with updates
  const link::DirectCode* direct = nullptr;         // of the thunk, if it has only the user's inputs and outputs
  mutable std::unique_ptr<ProfiledCalls> profiled;  // null without a profile
  std::unique_ptr<ProfileEntry> profile_entry;

  // The values that a call with shared variables keeps alive.
  struct SharedValues {
    std::vector<View> inputs;
    std::vector<const Container*> homes;  // of the inputs, if calls may keep values on a device; otherwise empty
    std::vector<const Array*> behind;     // of the inputs, in `values`
    std::vector<Array> values;
    std::vector<const Resident*> held;  // of `values`, so that no other call takes them
    std::vector<std::optional<Array>> updates;
    std::vector<Array> released;  // values that the containers gave up when they took the updates
    void release() {
      for (const Resident* resident : held) resident->unhold();
      held.clear();
      released.clear();
      values.clear();
      for (auto& update : updates) update.reset();
    }
  };
  mutable Pool<SharedValues> shared_values{[] { return std::make_unique<SharedValues>(); }};

  // Whether a call leaves out input i, so that its default is used.
  bool is_left_out(std::size_t i, const View& value) const {
    return !value.data && i < default_of.size() && default_of[i] != no_default;
  }
  std::string label(std::size_t i) const {
    const std::string& given = inputs[i].name();
    return cat(name.empty() ? std::string("function") : name, ": argument ", i,
               given.empty() ? "" : cat(" (`", given, "`)"));
  }
  void run(std::span<const View> values, Receiver& results) const;
  void run_some(std::span<const View> values, std::span<const int> outputs, Receiver& results) const;
  template <class Call>
  void named(Call call) const;
  // Passes the values of shared variables to the action after the inputs. Their new values are the results that the
  // action leaves in the receiver after the first `outputs` results. Inputs without data are replaced by their
  // defaults.
  template <class Action>
  void with_shared(std::span<const View> values, Receiver& results, std::size_t outputs, Action action) const;
  // A call that uses plain_states. False: nothing has been done, and the call must be made with handles.
  bool run_plain(std::span<const View> values, Receiver& results) const;
  void run_into(std::span<const View> values, std::span<const View> targets, Receiver* others) const;
  Profile profile() const;
  Array accept(std::size_t i, const Array& value) const;
  // Passes views of the values to the action, as inputs, converted where necessary.
  template <class Action>
  void with_views(std::span<const Array> values, Action action) const;
  Results call(std::span<const Array> values) const;
};

}  // namespace bitale
