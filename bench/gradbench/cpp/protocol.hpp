// GradBench's protocol: a tool reads messages and writes replies, each a line of JSON. This part knows no library:
// evals are names and functions, so that Bitale's program and those it is measured beside are the same but for their
// evals.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradbench {

using Json = nlohmann::json;

// An input that a function can't take: the reply says why.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is left to do after an input was read and its expression compiled: `run` is what is timed.
struct Prepared {
  std::function<void()> run;
  std::function<Json()> output;  // of the last run
};

struct EvalFunction {
  std::string name;
  std::function<Prepared(const Json& input)> prepare;
};

struct Eval {
  std::string name;
  std::vector<EvalFunction> functions;
};

// Answers each line of `messages` by a line of `replies`, until the input ends. A message that can't be answered gets a
// reply with `success` false and an `error`: malformed JSON, unknown evals and functions, inputs that don't fit.
void serve(const std::string& tool, std::span<const Eval> evals, std::istream& messages, std::ostream& replies);

}  // namespace gradbench
