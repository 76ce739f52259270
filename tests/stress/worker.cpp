// The process that the fault tests (cache.py) start, kill and starve: it compiles numbered graphs, or uses a store, and
// compares all results with the expected ones. A wrong value is reported by status 1 and a line on stderr; a summary is
// a line of JSON on stdout. A number stands for the same graph in every process, and different numbers for different
// code.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "cache/claim.hpp"
#include "cache/inventory.hpp"
#include "cache/store.hpp"
#include "link/linker.hpp"

using namespace bitale;
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

int number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail(cat("not a number: ", text));
  return value;
}

std::string objects() { return config::get("compiledir") + "/objects"; }

// ---- graphs ----

struct Graph {
  Variable v = vector("v"), m = matrix("m");
  Variables outputs;
};

Graph graph(int number) {
  Graph g;
  const double c = 1 + number / 64.0;
  switch (number % 5) {
    case 0: g.outputs = {exp(-c * sqr(g.v)) * tanh(g.v), sum(g.m)}; break;
    case 1: g.outputs = {softmax(c * g.m, {{1}}), g.v + c}; break;
    case 2: g.outputs = {grad(sum(sigmoid(c * g.m) * g.v), g.m)}; break;
    case 3: g.outputs = {cumsum(g.v * c, 0), dot(g.m, g.v + c)}; break;
    default: g.outputs = {logsumexp(g.m + c, {{1}}), maximum(g.v, c - 1.5)}; break;
  }
  return g;
}

Array values(const Dims& shape, double from) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data_as<double>()[i] = from + 0.37 * double(i % 11);
  return out;
}

class Example {
 public:
  Example(int number, const std::string& linker) : number_(number), linker_(linker), graph_(graph(number)) {
    expected_ = linked("vm", "None")->run(values_);
  }
  // Compiles and calls; returns whether code had to be generated.
  bool check() const {
    const auto thunk = linked(linker_, "fast_run");
    const auto found = thunk->run(values_);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!allclose(found[i], expected_[i], 1e-12, 1e-12))
        fail(cat("graph ", number_, ", linker ", linker_, ": output ", i, " is wrong"));
    return thunk->times.code == "generated";
  }

 private:
  std::unique_ptr<link::Thunk> linked(const std::string& linker, const std::string& optimizer) const {
    const auto copy = std::make_shared<FunctionGraph>(Variables{graph_.v, graph_.m}, graph_.outputs);
    rewrite(*copy, Mode(linker, optimizer).query());
    return link::link(linker, copy);
  }

  int number_;
  std::string linker_;
  Graph graph_;
  std::vector<Array> values_{values({9}, -1.3), values({7, 9}, -0.8)}, expected_;
};

using Arguments = std::vector<std::string>;

// LINKER NUMBER...
void compile(const Arguments& arguments) {
  int generated = 0, kept = 0;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    ++(Example(number(arguments[i]), arguments[0]).check() ? generated : kept);
  std::printf("{\"generated\": %d, \"kept\": %d}\n", generated, kept);
}

// ---- a damaged entry ----

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// LINKER NUMBER COUNT: flips a bit and truncates the file at COUNT places of the graph's entry, one damage at a time.
void damage(const Arguments& arguments) {
  const Example example(number(arguments.at(1)), arguments[0]);
  if (!example.check()) fail("the compile directory must be empty");
  const auto entries = cache::inventory(objects()).entries;
  if (entries.size() != 1) fail(cat("expected one entry, found ", entries.size()));
  const std::string path = objects() + "/" + entries[0].name, whole = read(path);
  int rebuilt = 0;
  const auto expect_rebuilt = [&](const std::string& damaged, const std::string& how) {
    write(path, damaged);
    if (!example.check()) fail(cat("a damaged entry was used: ", how));
    if (example.check()) fail(cat("a damaged entry was not replaced: ", how));
    ++rebuilt;
  };
  const auto count = std::min<std::size_t>(std::size_t(number(arguments.at(2))), whole.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = whole.size() * i / count;
    std::string flipped = whole;
    flipped[at] = char(flipped[at] ^ (1 << at % 8));
    expect_rebuilt(flipped, cat("bit ", at % 8, " of byte ", at, " flipped"));
    expect_rebuilt(whole.substr(0, at), cat("cut off after ", at, " bytes"));
  }
  expect_rebuilt(whole + "x", "one byte too long");
  std::printf("{\"rebuilt\": %d, \"bytes\": %zu}\n", rebuilt, whole.size());
}

// ---- a store, without compiling, so that kills hit the writing of entries ----

Digest key(int number) { return digest_of(std::to_string(number)); }

std::string contents(int number) {
  std::string out;
  while (out.size() < std::size_t(5000 + 700 * (number % 20))) out += std::to_string(number) + ",";
  return out;
}

// SEED ROUNDS FIRST COUNT BYTES: loads random ones of the COUNT keys from FIRST on, in a store of BYTES bytes, and
// saves those that are missing.
void store(const Arguments& arguments) {
  const int first = number(arguments.at(2)), keys = number(arguments.at(3));
  const cache::Store store(objects(), number(arguments.at(4)));
  std::mt19937 random(unsigned(number(arguments.at(0))));
  int found = 0, saved = 0;
  for (int round = 0, rounds = number(arguments.at(1)); round < rounds; ++round) {
    const int which = first + int(random() % unsigned(keys));
    const auto load = [&] {
      auto there = store.load(key(which));
      if (there && *there != contents(which)) fail(cat("entry ", which, " holds something else"));
      return there.has_value();
    };
    if (load()) {
      ++found;
      continue;
    }
    const cache::Claim claim(store, key(which));
    if (!load()) store.save(key(which), contents(which)), ++saved;
  }
  std::printf("{\"found\": %d, \"saved\": %d}\n", found, saved);
}

// Prints the numbers of entries, damaged ones, bytes and temporary files, and whether a claim is held.
void inventory(const Arguments&) {
  const auto found = cache::inventory(objects());
  std::int64_t bytes = 0, damaged = 0;
  for (auto& entry : found.entries) {
    bytes += entry.bytes;
    damaged += !entry.intact;
  }
  std::printf("{\"entries\": %zu, \"damaged\": %lld, \"bytes\": %lld, \"temporary\": %zu, \"claimed\": %s}\n",
              found.entries.size(), static_cast<long long>(damaged), static_cast<long long>(bytes),
              found.temporary.size(), found.claimed ? "true" : "false");
}

struct Verb {
  const char* name;
  void (*run)(const Arguments&);
};
constexpr Verb verbs[] = {{"compile", compile}, {"damage", damage}, {"store", store}, {"inventory", inventory}};

}  // namespace

int main(int count, char** arguments) {
  const std::string_view name = count > 1 ? arguments[1] : "";
  const auto verb = std::find_if(std::begin(verbs), std::end(verbs), [&](auto& each) { return each.name == name; });
  if (verb == std::end(verbs)) fail("expected compile, damage, store or inventory");
  try {
    verb->run(Arguments(arguments + 2, arguments + count));
  } catch (const std::exception& error) {
    fail(error.what());
  }
}
