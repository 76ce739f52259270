// Exported C: gcc and clang accept it without a warning, and it computes what the function does.
#include <doctest/doctest.h>

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "bitale/bitale.hpp"
#include "bitale/compile/export.hpp"
#include "bitale/core/text.hpp"
#include "ops/registry.hpp"
#include "support/directory.hpp"

using namespace bitale;

namespace {

std::string contents(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_there(const std::string& program) {
  return std::system(cat("command -v ", program, " >/dev/null 2>&1").c_str()) == 0;
}

// The compilers that are installed; reports those that are not.
std::vector<std::string> compilers() {
  std::vector<std::string> out;
  for (const char* name : {"gcc", "clang"})
    if (is_there(name))
      out.emplace_back(name);
    else
      MESSAGE(cat("SKIP: no ", name, ", so the exported code is not compiled by it"));
  return out;
}

constexpr const char* strict = " -Wall -Wextra -Werror -std=c99 -pedantic ";

// The output of the compiler, or nothing if it succeeds.
std::string compile_errors(const std::string& compiler, const std::string& arguments, const std::string& folder) {
  const std::string log_file = folder + "/log";
  const bool ok = std::system(cat(compiler, strict, arguments, " >", log_file, " 2>&1").c_str()) == 0;
  return ok ? "" : cat(compiler, " ", arguments, ":\n", contents(log_file));
}

// The functions of an exported file, compiled and loaded.
class Library {
 public:
  Library(const std::string& compiler, const std::string& flags, const std::string& folder, const std::string& name) {
    const std::string file = cat(folder, "/", compiler, std::hash<std::string>()(flags), ".so");
    const std::string trouble =
        compile_errors(compiler, cat(flags, " -shared -fPIC ", folder, "/", name, ".c -o ", file, " -lm"), folder);
    REQUIRE_MESSAGE(trouble.empty(), trouble);
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  template <class F>
  F* find(const std::string& name) const {
    F* function = reinterpret_cast<F*>(dlsym(handle_, name.c_str()));
    REQUIRE(static_cast<bool>(function));
    return function;
  }

 private:
  void* handle_ = nullptr;
};

Array numbers(const Dims& shape, double step) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    static_cast<double*>(out.mutable_data())[i] = std::sin(0.3 + step * double(i));
  return out;
}

struct Size {  // model_size
  std::int64_t workspace, rows[2], product[1], sorted[1];
};
using Sizes = void(const double*, std::int64_t, const double*, std::int64_t, std::int64_t, double, Size*);
using Model = int(const double*, std::int64_t, const double*, std::int64_t, std::int64_t, double, double*, double*,
                  double*, std::int64_t*, void*);

struct Example {
  Variable x = vector("x"), m = matrix("m"), s = scalar("s");
  Function function;
  Example() {
    Variable total = sum(sqr(x - s) * gammaln(sqr(x) + 1.0));
    Variable rows = softmax(m + sin(x), std::vector<int>{1}), product = dot(m, x), sorted = argsort(x);
    total.set_name("total");
    rows.set_name("rows");
    product.set_name("product");
    sorted.set_name("sorted");
    function = bitale::function({x, m, s}, {total, rows, product, sorted}, {.name = "model"});
  }
};

}  // namespace

TEST_CASE("export: gcc and clang compile the code without a warning, and it computes the same as the function") {
  const testing::TemporaryDirectory directory;
  const std::string folder = directory.path() + "/made/here";
  const Example example;
  const auto files = export_c(example.function, folder);
  REQUIRE(files.size() == 3);
  CHECK(contents(files[1]).find("model_sizes") != std::string::npos);
  CHECK(contents(files[2]).find("add_library(model") != std::string::npos);
  for (auto& compiler : compilers())
    for (const std::string flags : {"-O1", "-O3 -march=native", "-O1 -fsanitize=undefined -fno-sanitize-recover"}) {
      INFO(compiler, " ", flags);
      if (flags.find("sanitize") != flags.npos && compiler == "clang") continue;  // its runtime is not shared
      const Library library(compiler, flags, folder, "model");
      const auto sizes = library.find<Sizes>("model_sizes");
      const auto model = library.find<Model>("model");
      for (const std::int64_t n : {1, 3, 8, 100, 1300}) {
        const Array x = numbers({n}, 1.7), m = numbers({4, n}, 0.9);
        const auto* x_data = static_cast<const double*>(x.data());
        const auto* m_data = static_cast<const double*>(m.data());
        const Results expected = example.function({x, m, Array(0.5)});
        Size size{};
        sizes(x_data, n, m_data, 4, n, 0.5, &size);
        CHECK(size.rows[0] == 4);
        CHECK(size.rows[1] == n);
        CHECK(size.product[0] == 4);
        const auto call = [&] {
          double total = 0;
          std::vector<double> rows(std::size_t(4 * n)), product(4);
          std::vector<std::int64_t> sorted(std::size_t(n), 0);
          std::vector<char> workspace(std::size_t(size.workspace));
          const int code =
              model(x_data, n, m_data, 4, n, 0.5, &total, rows.data(), product.data(), sorted.data(), workspace.data());
          return code == 0 && total == expected[0].item() &&
                 std::memcmp(rows.data(), expected[1].data(), rows.size() * 8) == 0 &&
                 allclose(Array(product), expected[2], 1e-13) &&
                 std::memcmp(sorted.data(), expected[3].data(), sorted.size() * 8) == 0;
        };
        CHECK(call());
        if (n != 100) continue;
        bool all[3] = {};
        std::vector<std::thread> threads;
        for (auto& ok : all) threads.emplace_back([&] { ok = call() && call(); });
        for (auto& thread : threads) thread.join();
        for (auto& ok : all) CHECK(ok);
      }
      const double one[2] = {1, 2};
      CHECK(model(one, 2, one, 1, 1, 0.5, nullptr, nullptr, nullptr, nullptr, nullptr) != 0);
      const auto message = library.find<const char*(int)>("model_message");
      CHECK(std::string(message(model(one, 2, one, 1, 1, 0.5, nullptr, nullptr, nullptr, nullptr, nullptr)))
                .find("length") != std::string::npos);
    }
}

TEST_CASE("export: shared variables are inputs, their updates outputs") {
  const testing::TemporaryDirectory directory;
  const Variable w = shared(Array{1.0, 2.0}, "w"), x = vector("x");
  const Function step = function({x}, {sum(w * x)}, {.updates = {{w, w - 0.5 * x}}, .name = "step"});
  const auto files = export_c(step, directory.path());
  const std::string header = contents(files[1]);
  CHECK(header.find("double *new_w") != std::string::npos);
  CHECK(header.find("a shared variable's value") != std::string::npos);
  for (auto& compiler : compilers()) {
    const std::string trouble =
        compile_errors(compiler, cat("-c ", files[0], " -o ", directory.path(), "/o"), directory.path());
    CHECK_MESSAGE(trouble.empty(), trouble);
  }
}

TEST_CASE("export: errors name an invalid identifier") {
  const testing::TemporaryDirectory directory;
  const Variable x = vector("x");
  const auto error_message = [&](const Function& f, const ExportOptions& options = {}) -> std::string {
    try {
      export_c(f, directory.path(), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  CHECK(error_message(function({x}, {x + 1.0}), {.name = "int"}).find("`int`") != std::string::npos);
  CHECK(error_message(function({x}, {x + 1.0}), {.name = "2x"}).find("`2x`") != std::string::npos);
}

TEST_CASE("export: ops of the registry compile; all samples with BITALE_TEST_C=all") {
  const char* all = std::getenv("BITALE_TEST_C");
  const std::size_t stride = all && std::string(all) == "all" ? 1 : 97;
  const testing::TemporaryDirectory directory;
  std::string files;
  std::size_t count = 0, exported = 0;
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      if (count++ % stride != 0) continue;
      const Variables outputs = sample.node.outputs();
      try {
        const Function f =
            function(graph_inputs(outputs), outputs, {.mode = Mode("vm", "None"), .on_unused_input = "ignore"});
        files += " " + export_c(f, directory.path(), {.name = cat("f", exported)})[0];
        ++exported;
      } catch (const NotImplementedError&) {
      }
    }
  CHECK(exported > 0);
  for (auto& compiler : compilers()) {
    const std::string trouble = compile_errors(compiler, "-fsyntax-only" + files, directory.path());
    CHECK_MESSAGE(trouble.empty(), trouble);
  }
}
