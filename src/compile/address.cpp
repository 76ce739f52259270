#include "bitale/compile/address.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "bitale/core/warning.hpp"
#include "codegen/object/bound.hpp"
#include "compile/function_impl.hpp"

namespace bitale {

namespace {

// What a call needs to know of its function.
struct Context {
  Function function;
  std::size_t input_count;
  bool takes_vector;
  bool grad_first;
  // Where the type declares the length: code that needs no more than addresses, and that length.
  const link::DirectCode* code = nullptr;
  std::size_t length = 0;
  std::shared_ptr<std::atomic<bool>> has_warned = std::make_shared<std::atomic<bool>>(false);
};

thread_local std::string last_error;

// Callers in other languages see only a status, and report no more than that to users.
void warn_once(const Context& context) {
  if (context.has_warned->exchange(true)) return;
  try {
    warn(cat("a function that was called by its address failed (it warns only once): ", last_error));
  } catch (...) {  // an exception of a handler can't be reported
  }
}

constexpr std::int64_t step = sizeof(double);

View scalar_view(const double* x) { return {const_cast<double*>(x), nullptr, nullptr}; }

// Exceptions must not propagate through C.
template <class Action>
bool succeeds(const Context& context, Action&& action) {
  const NoInterruption alone;  // the caller may be written in any language
  try {
    action();
    return true;
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an unknown error";
  }
  warn_once(context);
  return false;
}

// An empty array may have a null address.
const double* somewhere(const double* x) {
  static const double nothing = 0;
  return x ? x : &nothing;
}

int value_and_grad(std::size_t n, const double* x, double* grad, double* value, const void*, const Context* context) {
  if (context->code && n == context->length) {
    void* const memory[] = {const_cast<double*>(x), context->grad_first ? grad : value,
                            context->grad_first ? value : grad};
    if (context->code->run_at(memory)) return 0;
  }
  const bool ok = succeeds(*context, [&] {
    const std::int64_t length = std::int64_t(n);
    const View input{const_cast<double*>(somewhere(x)), &length, &step};
    // Each is written where it is read: a copy by vector registers would wait for the stores of its parts.
    std::array<View, 2> outputs;
    outputs[context->grad_first ? 0 : 1] = {const_cast<double*>(somewhere(grad)), &length, &step};
    outputs[context->grad_first ? 1 : 0] = scalar_view(value);
    context->function.run_into(std::span(&input, 1), outputs);
  });
  return ok ? 0 : 1;
}

// Samplers reject a point where the value or the gradient is not finite.
int finite_value_and_grad(std::size_t n, const double* x, double* grad, double* value, const void* user,
                          const Context* context) {
  const int status = value_and_grad(n, x, grad, value, user, context);
  if (status != 0) return status;
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(grad[i])) return 3;
  return std::isfinite(*value) ? 0 : 4;
}

int vector_to_vector(std::size_t n, std::size_t m, const double* x, double* out, const void*, const Context* context) {
  const bool ok = succeeds(*context, [&] {
    const std::int64_t length = std::int64_t(n), out_length = std::int64_t(m);
    const View input{const_cast<double*>(somewhere(x)), &length, &step};
    const View output{const_cast<double*>(somewhere(out)), &out_length, &step};
    context->function.run_into(std::span(&input, 1), std::span(&output, 1));
  });
  return ok ? 0 : 1;
}

double scalar(double x, const Context* context) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const bool ok = succeeds(*context, [&] {
    const View input = scalar_view(&x), output = scalar_view(&value);
    context->function.run_into(std::span(&input, 1), std::span(&output, 1));
  });
  return ok ? value : std::numeric_limits<double>::quiet_NaN();
}
double scalar_user(double x, void*, const Context* context) { return scalar(x, context); }

double several(int n, double* x, const Context* context) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const bool ok = succeeds(*context, [&] {
    const std::int64_t length = n;
    const View output = scalar_view(&value);
    if (context->takes_vector) {
      const View input{const_cast<double*>(somewhere(x)), &length, &step};
      return context->function.run_into(std::span(&input, 1), std::span(&output, 1));
    }
    if (n < 0 || std::size_t(n) != context->input_count)
      throw TypeError(cat("address: the function takes ", context->input_count, " numbers, got ", n));
    SmallVector<View, 8> inputs;
    for (int i = 0; i < n; ++i) inputs.push_back(scalar_view(x + i));
    context->function.run_into(std::span<const View>(inputs.data(), inputs.size()), std::span(&output, 1));
  });
  return ok ? value : std::numeric_limits<double>::quiet_NaN();
}
double several_user(int n, double* x, void*, const Context* context) { return several(n, x, context); }

enum class ArgumentForm { vector_with_grad, vector, scalar, numbers };

struct Form {
  std::string_view name;
  ArgumentForm takes;
  void* target;
  int position;  // of the context among the arguments that are not floats
};

const std::vector<Form>& forms() {
  const auto at = [](auto* function) { return reinterpret_cast<void*>(function); };
  static const std::vector<Form> table{
      {"value_and_grad", ArgumentForm::vector_with_grad, at(value_and_grad), 5},
      {"finite_value_and_grad", ArgumentForm::vector_with_grad, at(finite_value_and_grad), 5},
      {"vector", ArgumentForm::vector, at(vector_to_vector), 5},
      {"double (double)", ArgumentForm::scalar, at(scalar), 0},
      {"double (double, void *)", ArgumentForm::scalar, at(scalar_user), 1},
      {"double (int, double *)", ArgumentForm::numbers, at(several), 2},
      {"double (int, double *, void *)", ArgumentForm::numbers, at(several_user), 3},
  };
  return table;
}

const Form& form_named(std::string_view name) {
  std::vector<std::string> names;
  for (auto& form : forms()) {
    if (form.name == name) return form;
    names.push_back(cat("`", form.name, "`"));
  }
  throw ValueError(cat("address: there is no form `", name, "`; forms are ", join(names, ", ")));
}

bool is_double(const Variable& variable, int ndim) {
  return variable.dtype() == DType::Float64 && variable.ndim() == ndim;
}

Context context_for(const Function& function, const Form& form) {
  const Variables& inputs = function.inputs();
  Variables outputs = function.graph().outputs();
  outputs.resize(function.output_count());
  const auto refuse = [&](std::string_view expected) {
    std::vector<std::string> got, gave;
    for (auto& input : inputs) got.push_back(input.type()->str());
    for (auto& output : outputs) gave.push_back(output.type()->str());
    throw TypeError(cat("address: ", form.name, " needs a function of ", expected, "; this one takes (",
                        join(got, ", "), ") and gives (", join(gave, ", "), ")"));
  };
  const bool one_vector = inputs.size() == 1 && is_double(inputs[0], 1);
  Context context{.function = function, .input_count = inputs.size(), .takes_vector = one_vector, .grad_first = false};
  if (form.takes == ArgumentForm::vector_with_grad) {
    const bool two = one_vector && outputs.size() == 2;
    context.grad_first = two && is_double(outputs[0], 1);
    if (!two || !is_double(outputs[context.grad_first ? 0 : 1], 1) ||
        !is_double(outputs[context.grad_first ? 1 : 0], 0))
      refuse("one float64 vector with a float64 scalar and a float64 vector as outputs");
    const link::DirectCode* code = direct_code_of(function);
    if (code && code->has_known_lengths()) {
      context.code = code;
      context.length = std::size_t(inputs[0].static_shape()[0]);
    }
    return context;
  }
  if (form.takes == ArgumentForm::vector) {
    if (!one_vector || outputs.size() != 1 || !is_double(outputs[0], 1))
      refuse("one float64 vector with one float64 vector as output");
    return context;
  }
  bool scalars = !inputs.empty();
  for (auto& input : inputs) scalars = scalars && is_double(input, 0);
  const bool one_value = outputs.size() == 1 && is_double(outputs[0], 0);
  if (form.takes == ArgumentForm::scalar && !(one_value && scalars && inputs.size() == 1))
    refuse("one float64 scalar with one such output");
  if (form.takes == ArgumentForm::numbers && !(one_value && (scalars || one_vector)))
    refuse("float64 scalars, or of one float64 vector, with one float64 scalar as output");
  return context;
}

}  // namespace

void* address(const Function& function, std::string_view form_name) {
  const Form& form = form_named(form_name);
  // A function that has an address is kept for ever, and so is its graph, which is the key here.
  struct Bound {
    std::unique_ptr<Context> context;
    void* address = nullptr;
  };
  struct Known {
    std::mutex mutex;
    std::map<std::pair<const FunctionGraph*, std::string_view>, Bound> addresses;
  };
  static Known& known = *new Known;
  const std::lock_guard lock(known.mutex);
  const std::pair<const FunctionGraph*, std::string_view> key(&function.graph(), form.name);
  if (auto found = known.addresses.find(key); found != known.addresses.end()) return found->second.address;
  auto context = std::make_unique<Context>(context_for(function, form));
  void* made = codegen::bind_argument(form.target, form.position, context.get());
  known.addresses[key] = {std::move(context), made};
  return made;
}

const std::string& last_address_error() { return last_error; }

}  // namespace bitale
