// The inside of a Function: what is compiled, which functions of one maker share, and the containers of one of them.
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
  std::vector<const TensorType*> input_types;  // of the memory: the inputs', then the shared variables'
  std::vector<const TensorType*> output_types;
  Variables shared;                  // the user's
  std::vector<std::size_t> updated;  // which of `shared` each update goes to
  std::size_t output_count = 0;
  Downcast downcast = Downcast::FloatLiteral;
  Mode mode{"jit", "fast_run"};
  std::shared_ptr<const FunctionGraph> graph;
  std::shared_ptr<const link::Thunk> thunk;
  CompileTimes times;
  double build_time = 0;  // milliseconds, of `times.total`
  int threads = 1;
  RewriteReport report;  // which times rules if calls are to be measured
};

struct StateLayout {
  Dims shape, strides;
};

struct Function::Impl : Compiled {
  explicit Impl(const Compiled& compiled, const Variables& defaults);

  // Those of `shared`, whose values follow the inputs, then those of defaults.
  std::vector<Ref<const Container>> containers;
  static constexpr std::size_t no_default = std::size_t(-1);
  std::vector<std::size_t> default_of;  // for each input which of `containers`, or none; empty: no input has a default
  std::vector<const Container*> update_targets;
  // Of each container the lengths and strides, where there are updates and all are known: such calls need no handles.
  std::vector<StateLayout> plain_states;
  SharedClaim claim;                         // of a call with updates
  const link::DirectCode* direct = nullptr;  // of the thunk, where it has no more inputs and outputs than the user's
  mutable std::unique_ptr<ProfiledCalls> profiled;  // with a profile
  std::unique_ptr<ProfileEntry> profile_entry;

  // What a call with shared variables holds on to.
  struct SharedValues {
    std::vector<View> inputs;
    std::vector<const Container*> homes;  // of the inputs, where calls may keep values on a device; else empty
    std::vector<const Array*> behind;     // of the inputs, in `values`
    std::vector<Array> values;
    std::vector<const Resident*> held;  // of `values`, so that no other call takes them for itself
    std::vector<std::optional<Array>> updates;
    std::vector<Array> released;  // by the containers, when they took the updates
    void release() {
      for (const Resident* resident : held) resident->let_go();
      held.clear();
      released.clear();
      values.clear();
      for (auto& update : updates) update.reset();
    }
  };
  mutable Pool<SharedValues> shared_values{[] { return std::make_unique<SharedValues>(); }};

  // Whether a call leaves input i to its default.
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
  // Shared variables are given to the action after the inputs, and get their new values from what it leaves in the
  // receiver after so many outputs. Inputs without data are replaced by their defaults.
  template <class Action>
  void with_shared(std::span<const View> values, Receiver& results, std::size_t outputs, Action action) const;
  // A call by plain_states; false: it is to be made with handles, and nothing has been done.
  bool run_plain(std::span<const View> values, Receiver& results) const;
  void run_into(std::span<const View> values, std::span<const View> targets, Receiver* others) const;
  Profile profile() const;
  Array accept(std::size_t i, const Array& value) const;
  // The values as inputs, converted where need be, for the action.
  template <class Action>
  void with_views(std::span<const Array> values, Action action) const;
  Results call(std::span<const Array> values) const;
};

}  // namespace bitale
