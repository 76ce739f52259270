// Mode: how to compile, that is which rewrites (a query on optdb) and which linker.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitale/link/linker.hpp"
#include "bitale/rewriting/rewriting.hpp"

namespace bitale {

class MakerFactory;

class Mode {
 public:
  // ValueError with a suggestion for an unknown optimizer.
  Mode(const Linker& linker, std::string optimizer);
  // optimizer() is the query as text.
  Mode(const Linker& linker, const RewriteQuery& query);
  const Linker& linker() const { return linker_; }
  const std::string& optimizer() const { return optimizer_; }  // "fast_run", "fast_compile", "None", ...
  const std::vector<std::string>& included() const { return included_; }
  const std::vector<std::string>& excluded() const { return excluded_; }
  const std::vector<std::string>& required() const { return required_; }
  // The same mode with rewrites of these tags or names added, removed, or required.
  Mode including(std::vector<std::string> tags) const;
  Mode excluding(std::vector<std::string> tags) const;
  Mode requiring(std::vector<std::string> tags) const;
  // The same mode with additional rewrites, each run at its position among the phases (PyTensor's Mode.register).
  // ValueError for one without a name or function.
  Mode registering(std::vector<ExtraRewrite> rewrites) const;
  // The same mode, with functions built by makers of this kind (bitale/compile/maker.hpp); null: in the usual way.
  Mode making(std::shared_ptr<const MakerFactory> maker) const;
  const std::shared_ptr<const MakerFactory>& maker() const { return maker_; }
  // The query on optdb that the mode stands for, with the mode's own rewrites.
  RewriteQuery query() const;
  const std::optional<RewriteQuery>& given_query() const { return given_; }  // of a mode that was made with one
  std::string str() const;

 private:
  Linker linker_;
  std::string optimizer_;
  std::optional<RewriteQuery> given_;
  std::vector<std::string> included_, excluded_, required_;
  RewriteQuery own_;  // only its extra rewrites
  std::shared_ptr<const MakerFactory> maker_;
};

// FAST_RUN, FAST_COMPILE, DebugMode (or DEBUG_MODE), or "Mode" (as the config says); ValueError with a suggestion
// otherwise.
Mode get_mode(const std::string& name);
// The mode last passed to set_default_mode, or else the mode that config.mode names.
Mode get_default_mode();
// The mode of functions that are made without one; none: the one that config.mode names.
void set_default_mode(std::optional<Mode> mode);
std::vector<std::string> mode_names();

}  // namespace bitale
