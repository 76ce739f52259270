// The context that an error reports about the node that failed: its inputs with shapes, strides and a summary of their
// values, and the line that built it. All of it is collected after the failure; a call that succeeds has no overhead.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "bitale/core/config.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/failing_node.hpp"
#include "core/strided.hpp"
#include "graph/aliasing.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

constexpr std::int64_t shown_elements = 5;
constexpr std::size_t shown_inputs = 16, shown_stored = 20;

std::string node_text(const Apply& node) {
  std::vector<std::string> inputs;
  for (const Variable& input : node.inputs()) {
    if (inputs.size() == shown_inputs) {
      inputs.push_back("...");
      break;
    }
    inputs.push_back(input.str());
  }
  return cat(node.op().label(), "(", join(inputs, ", "), ")");
}

// ---- values ---------------------------------------------------------------------------------------------------------

template <class T>
std::string number(T value) {
  return Array(value).str();
}

// The first part of an array, small enough to be scanned for a message.
Array beginning(Array value) {
  constexpr std::int64_t max_elements = std::int64_t(1) << 22;
  for (int axis = 0; axis < value.ndim() && value.size() > max_elements; ++axis) {
    const std::int64_t others = value.size() / value.shape(axis);
    value = value.slice(axis, 0, std::max<std::int64_t>(1, max_elements / others), 1);
  }
  return value;
}

// "from -1.0 to 2.5, 1 nan". For an array of one number the element itself is printed instead.
std::string range_text(const Array& whole) {
  const Array value = beginning(whole);
  if (value.size() < whole.size()) return cat(range_text(value), " in the first ", value.size(), " elements");
  if (is_complex(value.dtype()))
    return cat("real parts ", range_text(value.component(0)), ", imaginary parts ", range_text(value.component(1)));
  return visit_dtype(value.dtype(), [&]<class T>() -> std::string {
    T least{}, largest{};
    std::int64_t nans = 0, numbers = 0;
    StridedWalk(value.shape(), value.strides(), value.strides())
        .for_each_run([&](std::int64_t count, std::int64_t offset, std::int64_t stride, std::int64_t, std::int64_t) {
          const char* at = static_cast<const char*>(value.data()) + offset;
          for (std::int64_t i = 0; i < count; ++i, at += stride) {
            const T element = *reinterpret_cast<const T*>(at);
            if constexpr (is_float_type<T>)
              if (std::isnan(element)) {
                ++nans;
                continue;
              }
            if (numbers++ == 0) least = largest = element;
            least = std::min(least, element);
            largest = std::max(largest, element);
          }
        });
    if (!numbers) return "all nan";
    return cat("from ", number(least), " to ", number(largest), nans ? cat(", ", nans, " nan") : std::string());
  });
}

std::string first_elements(const Array& value) {
  const std::int64_t count = std::min(value.size(), shown_elements);
  std::vector<std::string> texts;
  Dims position(std::size_t(value.ndim()), 0);
  for (std::int64_t k = 0; k < count; ++k) {
    const void* at = static_cast<const char*>(value.data()) + value.offset_of(position);
    texts.push_back(Array::scalar(value.dtype(), at).str());
    for (std::size_t axis = position.size(); axis-- > 0;) {
      if (++position[axis] < value.shape()[axis]) break;
      position[axis] = 0;
    }
  }
  if (count < value.size()) texts.push_back("...");
  return cat("[", join(texts, ", "), "]");
}

// `destroyed`: the failed op destroys this input, and may have done so already.
std::string value_text(const Variable& variable, const Array& value, bool destroyed) {
  if (!as_tensor(variable.type()))
    return cat(variable.str(), ": ", variable.type()->str(), value.object() ? cat(" ", value.str()) : std::string());
  std::string text = cat(variable.str(), ": ", dtype_short_name(value.dtype()), " ", tuple_text(value.shape()));
  if (value.ndim()) text += cat(", strides ", tuple_text(value.strides()));
  if (value.size() == 0) return text;
  text += destroyed ? ", overwritten by the op or about to be, now " : ", ";
  if (value.size() > 1 && value.dtype() != DType::Bool) text += cat(range_text(value), ", ");
  return text + (value.ndim() ? first_elements(value) : value.str());
}

using Line = std::pair<std::string, std::string>;  // label, text

std::vector<Line> context_lines(const Apply& node, std::span<const Array> in) {
  std::vector<Line> lines{{"node", node_text(node)}};
  std::vector<std::string> inputs;
  const std::vector<int> destroyed = destroyed_inputs(node);
  for (std::size_t i = 0; i < std::min(in.size(), shown_inputs); ++i)
    inputs.push_back(
        value_text(node.inputs()[i], in[i], std::find(destroyed.begin(), destroyed.end(), int(i)) != destroyed.end()));
  if (in.size() > shown_inputs) inputs.push_back(cat("and ", in.size() - shown_inputs, " more"));
  if (!inputs.empty()) lines.emplace_back("inputs", join(inputs, "\n"));
  if (const Location& where = node.provenance().where) lines.emplace_back("built at", where.str_with_callers());
  if (node.provenance().rule) lines.emplace_back("made by", node.provenance().rule);
  return lines;
}

std::atomic<Describer> foreign_describer{nullptr};

// If `error` is exactly of one of these classes, throws a new exception of that class; otherwise returns.
template <class... Classes>
void throw_longer(const std::exception& error, const std::string& lines) {
  const auto try_class = [&]<class Class>(const Class*) {
    if (typeid(error) == typeid(Class)) throw Class(cat(error.what(), "\n", lines));
  };
  (try_class(static_cast<const Classes*>(nullptr)), ...);
}

// The last exception of an unknown class in this thread.
struct OwnFailure {
  std::exception_ptr error;
  std::string lines;
};
thread_local OwnFailure own_failure;

void remember(const std::string& lines) {
  const std::exception_ptr present = std::current_exception();
  if (own_failure.error != present) own_failure = {present, ""};
  own_failure.lines += cat(own_failure.lines.empty() ? "" : "\n", lines);
}

void note_foreign(const Apply* node, const std::vector<Line>& lines) {
  Error text("");
  for (auto& [label, line] : lines) text.add(label, line);
  const std::string noted = std::string(text.what()).substr(1);
  const Describer describer = foreign_describer;
  if (describer && describer(std::current_exception(), node, noted)) return;
  try {
    throw;
  } catch (const std::exception& error) {
    throw_longer<std::runtime_error, std::logic_error, std::invalid_argument, std::domain_error, std::length_error,
                 std::out_of_range, std::range_error, std::overflow_error, std::underflow_error>(error, noted);
    remember(noted);
  } catch (...) {  // a class without a message
    remember(noted);
  }
}

}  // namespace

std::string failure_context() {
  return own_failure.error && own_failure.error == std::current_exception() ? own_failure.lines : std::string();
}

void add_node_context(Error& error, const Apply& node, std::span<const Array> in) {
  for (auto& [label, text] : context_lines(node, in)) error.add(label, text);
  error.about(std::make_shared<const FailingNode>(node));
}

void add_storage(Error& error, std::vector<StoredValue> stored) {
  if (config::get("exception_verbosity") != "high") return;
  std::stable_sort(stored.begin(), stored.end(),
                   [](auto& a, auto& b) { return a.value->nbytes() > b.value->nbytes(); });
  std::int64_t total = 0;
  std::vector<std::string> texts;
  for (auto& [variable, value] : stored) {
    total += value->nbytes();
    if (texts.size() < shown_stored)
      texts.push_back(cat(Variable::of(const_cast<VariableNode*>(variable)).str(), ": ",
                          dtype_short_name(value->dtype()), " ", tuple_text(value->shape()), ", ", value->nbytes(),
                          " bytes"));
  }
  if (stored.size() > texts.size()) texts.push_back(cat("and ", stored.size() - texts.size(), " more"));
  texts.insert(texts.begin(), cat(total, " bytes in ", stored.size(), " values"));
  error.add("storage", join(texts, "\n"));
}

void set_foreign_error_describer(Describer describer) { foreign_describer = describer; }

void describe_foreign_error(const Apply& node, std::span<const Array> in) {
  note_foreign(&node, context_lines(node, in));
}

void add_to_foreign_error(const std::string& label, const std::string& text) { note_foreign(nullptr, {{label, text}}); }

}  // namespace bitale
