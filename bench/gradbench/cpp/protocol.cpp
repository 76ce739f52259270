#include "protocol.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <istream>
#include <ostream>

namespace gradbench {

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

Json timing(const char* name, std::int64_t nanoseconds) { return {{"name", name}, {"nanoseconds", nanoseconds}}; }

template <class Named>
std::string names_of(const std::vector<Named>& all) {
  std::string out;
  for (const Named& each : all) out += (out.empty() ? "" : ", ") + each.name;
  return out;
}

template <class Named>
const Named& find(const std::vector<Named>& all, const std::string& what, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  if (found == all.end()) throw InputError("there is no " + what + " `" + name + "`; there are: " + names_of(all));
  return *found;
}

std::string text_field(const Json& message, const char* name) {
  if (!message.contains(name) || !message[name].is_string())
    throw InputError(std::string("the message has no text `") + name + "`");
  return message[name].get<std::string>();
}

// How often a function is to be run: at least `runs` times, and for `seconds`.
struct Effort {
  std::int64_t runs = 1;
  double seconds = 0;
};

Effort effort_of(const Json& input) {
  Effort effort;
  if (input.contains("min_runs")) {
    if (!input["min_runs"].is_number_integer() || input["min_runs"].get<std::int64_t>() < 1)
      throw InputError("`min_runs` must be an integer from 1, got " + input["min_runs"].dump());
    effort.runs = input["min_runs"].get<std::int64_t>();
  }
  if (input.contains("min_seconds")) {
    if (!input["min_seconds"].is_number() || !(input["min_seconds"].get<double>() >= 0))
      throw InputError("`min_seconds` must be a number from 0, got " + input["min_seconds"].dump());
    effort.seconds = input["min_seconds"].get<double>();
  }
  return effort;
}

Json evaluated(const EvalFunction& function, const Json& input) {
  const Effort effort = input.is_object() ? effort_of(input) : Effort{};
  Json timings = Json::array();
  const auto begin = Clock::now();
  const Prepared prepared = function.prepare(input);
  timings.push_back(timing("prepare", nanoseconds_since(begin)));
  double seconds = 0;
  for (std::int64_t run = 0; run < effort.runs || seconds < effort.seconds; ++run) {
    const auto start = Clock::now();
    prepared.run();
    const std::int64_t nanoseconds = nanoseconds_since(start);
    timings.push_back(timing("evaluate", nanoseconds));
    seconds += double(nanoseconds) * 1e-9;
  }
  return {{"success", true}, {"output", prepared.output()}, {"timings", std::move(timings)}};
}

Json reply_to(const Json& message, const std::string& tool, const std::vector<Eval>& evals) {
  const std::string kind = text_field(message, "kind");
  if (kind == "start") return {{"tool", tool}};
  if (kind == "define") {
    find(evals, "eval", text_field(message, "module"));
    return {{"success", true}};
  }
  if (kind == "evaluate") {
    const Eval& eval = find(evals, "eval", text_field(message, "module"));
    const EvalFunction& function = find(eval.functions, "function of " + eval.name, text_field(message, "function"));
    if (!message.contains("input")) throw InputError("the message has no `input`");
    return evaluated(function, message["input"]);
  }
  return Json::object();  // the protocol wants an answer to kinds that are not for tools, too
}

Json parsed(const std::string& line) {
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw InputError(std::string("the message is not JSON: ") + error.what());
  }
}

Json reply_to_line(const std::string& line, const std::string& tool, const std::vector<Eval>& evals) {
  Json id, reply;
  try {
    const Json message = parsed(line);
    if (!message.is_object()) throw InputError("expected an object as message");
    if (message.contains("id") && (message["id"].is_number() || message["id"].is_string())) id = message["id"];
    reply = reply_to(message, tool, evals);
  } catch (const std::exception& error) {
    reply = {{"success", false}, {"error", error.what()}};
  }
  reply["id"] = std::move(id);
  return reply;
}

}  // namespace

void serve(const std::string& tool, std::span<const Eval> evals, std::istream& messages, std::ostream& replies) {
  const std::vector<Eval> all(evals.begin(), evals.end());
  for (std::string line; std::getline(messages, line);)
    replies << reply_to_line(line, tool, all).dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace gradbench
