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
#include "bitale/ops/registry.hpp"
#include "bitale/rewriting/rules.hpp"
#include "rewriting/database.hpp"
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

// The output of the compiler, or nothing if it succeeds. The arguments are passed in a file, since they may be many.
std::string compile_errors(const std::string& compiler, const std::string& arguments, const std::string& folder,
                           const std::string& language = "-std=c99") {
  const std::string log_file = folder + "/log", argument_file = folder + "/arguments";
  std::ofstream(argument_file) << "-Wall -Wextra -Werror -pedantic " << language << " " << arguments;
  const bool ok = std::system(cat(compiler, " @", argument_file, " >", log_file, " 2>&1").c_str()) == 0;
  return ok ? "" : cat(compiler, " ", language, ":\n", contents(log_file));
}

// Checks that files of C, and the headers beside them as C++, compile without a warning.
void check_files(const std::vector<std::string>& sources, const std::string& folder) {
  std::string all, headers;
  for (auto& source : sources) {
    all += source + " ";
    headers += source.substr(0, source.size() - 1) + "h ";
  }
  for (auto& compiler : compilers()) {
    const std::string trouble = compile_errors(compiler, "-fsyntax-only " + all, folder);
    CHECK_MESSAGE(trouble.empty(), trouble);
    for (const char* language : {"-std=c++11 -x c++", "-std=c++20 -x c++"}) {
      const std::string of_headers = compile_errors(compiler, "-fsyntax-only " + headers, folder, language);
      CHECK_MESSAGE(of_headers.empty(), of_headers);
    }
  }
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
      const auto message = library.find<const char*(int)>("model_message");
      const auto message_of = [&](std::int64_t columns, void* workspace) -> std::string {
        const double two[2] = {1, 2};
        double rows[2], total, product;
        std::int64_t sorted[2];
        return message(model(two, 2, two, 1, columns, 0.5, &total, rows, &product, sorted, workspace));
      };
      std::vector<char> workspace(100000);
      CHECK(message_of(2, workspace.data()) == "no error");
      CHECK(message_of(1, workspace.data()).find("length") != std::string::npos);
      CHECK(message_of(2, nullptr) == "workspace is NULL, and model_sizes asks for one");
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

TEST_CASE("export: no name of an input, a result or a function clashes with C, C++ or their headers") {
  constexpr std::string_view words =
      "auto break case char const continue default do double else enum extern float for goto if inline int long "
      "register "
      "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while and and_eq "
      "alignas alignof asm bitand bitor bool catch char16_t char8_t class co_await compl concept consteval constexpr "
      "constinit const_cast decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept "
      "not "
      "not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert static_cast "
      "template this thread_local throw true try typeid typename typeof using virtual wchar_t xor xor_eq "
      "size sizes workspace starts room end code k lane status int64_t uint8_t int32_t size_t intmax_t INT64_MIN "
      "INT64_C "
      "UINT64_C SIZE_MAX NULL NAN INFINITY HUGE_VAL FP_NAN M_PI M_1 isnan signbit math stdint errno complex std "
      "log logf logl sin sinh exp2 sqrt fabs frexp ldexp lgamma tgamma gamma y0 y1 jn div abs labs pow remainder "
      "printf malloc free memcpy strlen write read time index signal exit abort rand qsort strdup alloca ffs stpcpy "
      "main linux unix bt_div_i64 bt_starts bt_x x x_n0 fn fn_size fn_sizes fn_layout fn_message x_size _x __x 2x";
  const testing::TemporaryDirectory directory;
  std::vector<std::string> sources;
  // Each word is the name of an input beside all others, that of a result, and that of a function.
  const Variable m = matrix("m");
  Variables inputs{m}, results{softmax(dot(exp(m), m)) + log(cumsum(m, 0))};
  Variable total = sum(results[0]);
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    const std::string word(words.substr(at, end - at));
    at = end + 1;
    inputs.push_back(vector(word));
    total = total + sum(inputs.back());
    results.push_back(sin(inputs.back()) + log(exp2(m)));
    results.back().set_name(word);
    const Function own = function({inputs.back(), m}, {results.back()}, {.name = word});
    sources.push_back(export_c(own, cat(directory.path(), "/", sources.size()))[0]);
  }
  const auto add = [&](const Variables& given, const Variables& outputs) {
    const Function f = function(given, outputs, {.on_unused_input = OnUnusedInput::Ignore});
    sources.push_back(export_c(f, cat(directory.path(), "/", sources.size()), {.name = "fn"})[0]);
  };
  add(inputs, {total});
  add(inputs, results);
  check_files(sources, directory.path());
}

// What rewriting makes of a function can be exported where the function can: all that a rule may introduce has C code.
TEST_CASE("export: ops of the registry and samples of rules compile, rewritten; all with BITALE_TEST_C=all") {
  const char* all = std::getenv("BITALE_TEST_C");
  const std::size_t stride = all && std::string(all) == "all" ? 1 : 41;
  const testing::TemporaryDirectory directory;
  std::vector<std::string> sources;
  std::size_t count = 0;
  // What can't be exported, or nothing.
  const auto trouble_of = [&](const Variables& outputs, const std::string& optimizer) -> std::string {
    try {
      const Function f = function(graph_inputs(outputs), outputs,
                                  {.mode = Mode("vm", optimizer), .on_unused_input = OnUnusedInput::Ignore});
      sources.push_back(export_c(f, directory.path(), {.name = cat("f", sources.size())})[0]);
    } catch (const NotImplementedError& error) {
      return error.what();
    }
    return {};
  };
  const auto check = [&](const Variables& outputs) {
    if (!trouble_of(outputs, "None").empty()) return;
    const std::string trouble = trouble_of(outputs, "fast_run");
    CHECK_MESSAGE(trouble.empty(), trouble);
  };
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples())
      if (count++ % stride == 0) check(sample.node.outputs());
  for (const auto& rule : rewriting::OptDB::instance().rules())
    for (auto& sample : rule->samples())
      if (count++ % stride == 0) check({sample()});
  CHECK(sources.size() > 20);
  check_files(sources, directory.path());
}

TEST_CASE("export: systems that share a factorization") {
  const testing::TemporaryDirectory directory;
  const Variable a = matrix("a"), b = matrix("b"), d = vector("d"), e = vector("e");
  const Variable x = solve(a, b), inverse = inv(a);
  const Variable of_diagonals = solve_tridiagonal(-0.5 * e, d, e, b);
  const Variable grads[] = {grad(sum(x), a), grad(sum(inverse), a), grad(sum(sqr(of_diagonals)), d)};
  const Variables outputs{grads[0], grads[1], grads[2], x + solve(transpose(a), b), det(a) * inverse};
  const Function f = function({a, b, d, e}, outputs, {.name = "shared"});
  const auto files = export_c(f, directory.path());
  check_files({files[0]}, directory.path());
  for (auto& compiler : compilers()) {
    const Library library(compiler, "-O2", directory.path(), "shared");
    using Shared =
        int(const double*, std::int64_t, std::int64_t, const double*, std::int64_t, std::int64_t, const double*,
            std::int64_t, const double*, std::int64_t, double*, double*, double*, double*, double*, void*);
    const auto shared = library.find<Shared>("shared");
    for (const std::int64_t n : {1, 2, 3, 7, 40}) {
      // Sines of equidistant arguments alone are a matrix of rank 2.
      Array regular = numbers({n, n}, 1.7);
      for (std::int64_t i = 0; i < n; ++i) regular.mutable_data_as<double>()[i * (n + 1)] += 9;
      const Array given[] = {regular, numbers({n, 2}, 0.9), numbers({n}, 2.3), numbers({n - 1}, 0.4)};
      const Results expected = f({given[0], given[1], given[2], given[3]});
      const auto data = [&](int i) { return static_cast<const double*>(given[i].data()); };
      std::vector<Array> out;
      for (auto& each : expected) out.push_back(Array::empty(DType::Float64, each.shape()));
      const auto to = [&](int i) { return static_cast<double*>(out[std::size_t(i)].mutable_data()); };
      std::vector<double> workspace(100000);
      CHECK(shared(data(0), n, n, data(1), n, 2, data(2), n, data(3), n - 1, to(0), to(1), to(2), to(3), to(4),
                   workspace.data()) == 0);
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(allclose(out[i], expected[i], 1e-6, 1e-8));
    }
  }
}
