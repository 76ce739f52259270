// A rule is one record: an optimiser, or what stands before or after it in a chain. It has the settings with their
// texts, the slots that it keeps for each parameter, and the formula, written once, from a gradient and slots to a
// change and new slots. Both forms of use, the bindings and the descriptions follow from the record.
//
// A new one is a struct of settings and a function in optimizers.hpp, and a Rule in the file of its kind.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/ops/ops.hpp"
#include "bitale/optimizers/optimizers.hpp"

namespace bitale::optimizers {

// What a formula knows of one parameter.
struct Leaf {
  Variable gradient;   // after the optimiser: the change of the parameter
  Variable parameter;  // before the step
  std::span<const Variable> slots;
  Variable count;     // int64 scalar: how many steps were made before; null unless the optimiser counts
  Variable over_all;  // a float64 scalar of all gradients, where the rule has one

  // Settings as float64 scalars.
  template <class... Settings>
  std::array<Variable, sizeof...(Settings)> numbers(const Settings&... settings) const {
    return {settings.at(count)...};
  }
  // A float64 scalar in the dtype of the parameter.
  Variable operator()(const Variable& number) const { return cast(number, parameter.dtype()); }
  // decay * old + (1 - decay) * now
  Variable average(const Variable& decay, const Variable& old, const Variable& now) const {
    return (*this)(decay)*old + (*this)(1 - decay) * now;
  }
  // The number of this step, from 1, as a float64 scalar.
  Variable step() const { return cast(count, DType::Float64) + 1; }
};

struct Moved {
  Variable change;  // what the next rule has as gradient; the last one's is added to the parameter
  Variables slots = {};
};

enum class Role { gradient, optimizer, average };

// How a slot begins: with zeros, with copies of a setting, or with the parameter.
enum class Start { zeros, setting, parameter };

// ---- the record as a table has it
// ------------------------------------------------------------------------------------

struct SettingRecord {
  std::string_view name, text;
  Setting::Range range = Setting::Range::any;
  Setting initial = 0;
};

struct SlotRecord {
  std::string_view name, text;
  Start start = Start::zeros;
  std::size_t setting = 0;  // of Start::setting: its position
};

struct RuleRecord {
  std::string_view name;
  Role role = Role::optimizer;
  std::string_view summary;  // one line, the first of the description
  std::string_view source;   // of the formula, for notes
  std::string_view notes;    // further lines of the description (python/src/reference)
  bool counts = false;       // whether the formula asks for the number of the step
  std::vector<SettingRecord> settings = {};
  std::vector<SlotRecord> slots = {};
  std::function<Moved(std::span<const Setting>, const Leaf&)> formula = {};
  std::function<Variable(const Variables& gradients)> over_all = {};
};

struct Optimizer::Part {
  const RuleRecord* rule;
  std::vector<Setting> settings;
};

// All rules, in the order of their names.
std::vector<const RuleRecord*> rules();
// The optimiser of one rule, with one setting each. Errors as of the functions of optimizers.hpp.
Optimizer optimizer_of(const RuleRecord& rule, std::vector<Setting> settings);

// ---- the record as it is written
// -------------------------------------------------------------------------------------

template <class Settings>
struct Definition {
  struct Field {
    std::string_view name;
    Setting Settings::*member;
    std::string_view text;
    Setting::Range range = Setting::Range::not_negative;
  };
  struct Slot {
    std::string_view name, text;
    Start start = Start::zeros;
    Setting Settings::*initial = nullptr;
  };
  std::string_view name;
  Role role = Role::optimizer;
  std::string_view summary, source = {}, notes = {};
  bool counts = false;
  std::vector<Field> settings = {};
  std::vector<Slot> slots = {};
  Moved (*formula)(const Settings&, const Leaf&);
  Variable (*over_all)(const Variables& gradients) = nullptr;
};

const RuleRecord& register_rule(RuleRecord record);

// Registers the rule, and is the function from settings to the optimiser.
template <class Settings>
class Rule {
 public:
  explicit Rule(Definition<Settings> definition)
      : definition_(std::move(definition)), record_(register_rule(record())) {}
  Optimizer operator()(const Settings& given) const {
    std::vector<Setting> settings;
    for (const auto& each : definition_.settings) settings.push_back(given.*each.member);
    return optimizer_of(record_, std::move(settings));
  }

 private:
  RuleRecord record() const {
    const Definition<Settings>& of = definition_;
    RuleRecord out{of.name, of.role, of.summary, of.source, of.notes, of.counts};
    const Settings initial;
    for (const auto& each : of.settings)
      out.settings.push_back({each.name, each.text, each.range, initial.*each.member});
    for (const auto& each : of.slots) {
      std::size_t position = 0;
      while (each.initial && of.settings[position].member != each.initial) ++position;
      out.slots.push_back({each.name, each.text, each.start, position});
    }
    out.formula = [fields = of.settings, formula = of.formula](std::span<const Setting> given, const Leaf& leaf) {
      Settings settings;
      for (std::size_t i = 0; i < fields.size(); ++i) settings.*fields[i].member = given[i];
      return formula(settings, leaf);
    };
    if (of.over_all) out.over_all = of.over_all;
    return out;
  }

  Definition<Settings> definition_;
  const RuleRecord& record_;
};

}  // namespace bitale::optimizers
