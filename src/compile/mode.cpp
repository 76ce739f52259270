#include "bitale/compile/mode.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "bitale/compile/debug_mode.hpp"
#include "bitale/compile/maker.hpp"
#include "bitale/compile/monitor.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "core/config_table.hpp"
#include "link/linker.hpp"

namespace bitale {

namespace {

struct NamedMode {
  std::string_view name, linker, optimizer;
  Linker (*make_linker)() = nullptr;  // replaces `linker`
  std::shared_ptr<const MakerFactory> (*maker)() = nullptr;
};
std::shared_ptr<const MakerFactory> debug_maker() { return debug_mode().maker(); }
// An empty linker or optimizer: the value of the config flag.
constexpr NamedMode modes[] = {
    {"FAST_RUN", "", "fast_run"},
    {"FAST_START", "tiered", "fast_run"},
    {"FAST_COMPILE", "vm", "fast_compile"},
    {"Mode", "", ""},
    {"C", "c", "fast_run"},
    {"JAX", "jax", "fast_run"},
    {"VM", "vm", "fast_run"},
    {"CVM", "opwise", "fast_run"},
    {"NanGuardMode", "vm", "", [] { return nan_guard_linker(); }},
    {"DebugMode", "", "fast_run", nullptr, debug_maker},
    {"DEBUG_MODE", "", "fast_run", nullptr, debug_maker},
};

void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  for (auto& each : known)
    if (each == name) return;
  const std::string near = closest(name, known);
  throw ValueError(cat("there is no ", what, " `", name, "`; known are ", join(known, ", "),
                       near.empty() ? "" : cat("; did you mean `", near, "`?")));
}

std::vector<std::string> joined(std::vector<std::string> list, std::vector<std::string> more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

// A linker may name rewrites that nobody has registered here.
std::vector<std::string> known_among(std::vector<std::string> tags) {
  std::erase_if(tags, [](auto& tag) { return !is_rewrite_tag(tag); });
  return tags;
}

// The tags of a config flag: "a:b".
std::vector<std::string> tags_of(std::string_view flag) {
  std::vector<std::string> tags;
  std::string text = config::get(flag);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    if (end > at) tags.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return tags;
}

}  // namespace

Mode::Mode(const Linker& linker, std::string optimizer) : linker_(linker), optimizer_(std::move(optimizer)) {
  require_known("optimizer", optimizer_, optimizer_names());
}

Mode::Mode(const Linker& linker, const RewriteQuery& query) : linker_(linker), optimizer_(query.str()), given_(query) {}

Mode Mode::including(std::vector<std::string> tags) const {
  Mode mode = *this;
  mode.included_ = joined(mode.included_, std::move(tags));
  return mode;
}
Mode Mode::excluding(std::vector<std::string> tags) const {
  Mode mode = *this;
  mode.excluded_ = joined(mode.excluded_, std::move(tags));
  return mode;
}
Mode Mode::requiring(std::vector<std::string> tags) const {
  Mode mode = *this;
  mode.required_ = joined(mode.required_, std::move(tags));
  return mode;
}

Mode Mode::registering(std::vector<ExtraRewrite> rewrites) const {
  Mode mode = *this;
  mode.own_ = own_.registering(std::move(rewrites));
  return mode;
}

Mode Mode::making(std::shared_ptr<const MakerFactory> maker) const {
  Mode mode = *this;
  mode.maker_ = std::move(maker);
  return mode;
}

RewriteQuery Mode::query() const {
  RewriteQuery out = given_ ? *given_ : query_of(optimizer_);
  const bool is_full = std::find(out.include.begin(), out.include.end(), "fast_run") != out.include.end();
  if (is_full || linker_.link_graph) out = out.including(known_among(link::required_rewrites(linker_)));
  out = out.excluding(known_among(linker_.excluded_rewrites));
  out = out.including(included_).excluding(excluded_).requiring(required_);
  out.extra.insert(out.extra.end(), own_.extra.begin(), own_.extra.end());
  return out;
}

std::string Mode::str() const {
  std::string text = cat(maker_ ? maker_->name() : "Mode", "(linker=", linker_.name, ", optimizer=", optimizer_);
  const auto list = [&](std::string_view label, const std::vector<std::string>& tags) {
    if (!tags.empty()) text += cat(", ", label, "=[", join(tags, ", "), "]");
  };
  list("including", included_);
  list("excluding", excluded_);
  list("requiring", required_);
  std::vector<std::string> own;
  for (auto& rewrite : own_.extra) own.push_back(cat(rewrite->name, " at ", rewrite->position));
  list("registered", own);
  return text + ")";
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (auto& mode : modes) names.emplace_back(mode.name);
  return names;
}
const config::RegisterChoices register_mode_choices("mode", mode_names);

Mode get_mode(const std::string& name) {
  require_known("mode", name, mode_names());
  for (auto& named : modes) {
    if (named.name != name) continue;
    Mode mode(named.make_linker      ? named.make_linker()
              : named.linker.empty() ? Linker(config::get("linker"))
                                     : Linker(named.linker),
              named.optimizer.empty() ? config::get("optimizer") : std::string(named.optimizer));
    if (named.maker) mode = mode.making(named.maker());
    return mode.including(tags_of("optimizer_including"))
        .excluding(tags_of("optimizer_excluding"))
        .requiring(tags_of("optimizer_requiring"));
  }
  throw InternalError("a known mode vanished");
}

namespace {

struct DefaultMode {
  std::mutex mutex;
  std::optional<Mode> mode;
};
// Never destroyed: a mode may hold objects of Python, which end before.
DefaultMode& default_mode() {
  static auto& state = *new DefaultMode;
  return state;
}

}  // namespace

Mode get_default_mode() {
  {
    std::lock_guard lock(default_mode().mutex);
    if (default_mode().mode) return *default_mode().mode;
  }
  return get_mode(config::get("mode"));
}

void set_default_mode(std::optional<Mode> mode) {
  std::lock_guard lock(default_mode().mutex);
  default_mode().mode.swap(mode);
}

}  // namespace bitale
