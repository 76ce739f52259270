#include "support/program_interpreter.hpp"

#include <bit>
#include <map>
#include <optional>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "graph/evaluate.hpp"
#include "program/interpret.hpp"

namespace bitale::test {

namespace {

using namespace program;

// The bits of a scalar, if it is known: memory that was never written has no value. A select ignores the side that it
// does not choose.
struct Scalar {
  std::int64_t bits = 0;
  bool known = false;
};

struct Memory {
  Dims shape;
  std::vector<Scalar> elements;
  bool exists = false;
  bool stored = false;  // something was written to it
};

struct CheckFailed {
  int check;
};

std::vector<Scalar> elements_of(const Array& given) {
  const Array array = (is_complex(given.dtype()) ? given.as_pairs() : given).contiguous();
  std::vector<Scalar> out(std::size_t(array.size()));
  visit_dtype(array.dtype(), [&]<class T>() {
    const T* data = static_cast<const T*>(array.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, double>)
        out[i] = {std::bit_cast<std::int64_t>(data[i]), true};
      else if constexpr (std::is_same_v<T, float>)
        out[i] = {std::int64_t(std::bit_cast<std::uint32_t>(data[i])), true};
      else if constexpr (std::is_same_v<T, Half>)
        out[i] = {std::int64_t(std::bit_cast<std::uint16_t>(data[i])), true};
      else
        out[i] = {std::int64_t(data[i]), true};
    }
  });
  return out;
}

Array array_of(const Memory& memory, DType dtype) {
  Array out = Array::zeros(dtype, memory.shape);
  visit_dtype(dtype, [&]<class T>() {
    T* data = static_cast<T*>(out.mutable_data());
    for (std::size_t i = 0; i < memory.elements.size(); ++i) {
      const std::int64_t bits = memory.elements[i].bits;
      if constexpr (std::is_same_v<T, double>)
        data[i] = std::bit_cast<double>(bits);
      else if constexpr (std::is_same_v<T, float>)
        data[i] = std::bit_cast<float>(std::uint32_t(bits));
      else if constexpr (std::is_same_v<T, Half>)
        data[i] = std::bit_cast<Half>(std::uint16_t(bits));
      else
        data[i] = T(bits);
    }
  });
  return out;
}

class Machine {
 public:
  Machine(const Program& program, std::span<const Apply> callbacks, std::span<const Array> inputs)
      : program_(program), callbacks_(callbacks), memory_(program.buffers.size()) {
    for (std::size_t b = 0; b < memory_.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.role == Role::input) bind(b, inputs[std::size_t(buffer.slot)]);
      if (buffer.role == Role::constant) bind(b, buffer.value);
    }
  }

  ProgramRun run() {
    ProgramRun out;
    try {
      run(program_.steps);
    } catch (const CheckFailed& failed) {
      out.failed_check = failed.check;
      return out;
    }
    out.outputs.resize(std::size_t(program_.output_count));
    for (std::size_t b = 0; b < memory_.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      if (buffer.role != Role::output) continue;
      const Memory& memory = allocated(std::int64_t(b));
      for (auto& element : memory.elements)
        if (!element.known) fail(cat("output ", buffer.name, " is not completely written"));
      out.outputs[std::size_t(buffer.slot)] = array_of(memory, buffer.dtype);
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw BrokenProgram(cat(what, "\n", to_string(program_))); }

  void bind(std::size_t buffer, const Array& value) {
    const bool in_pairs = is_complex(value.dtype());  // native code sees complex numbers as pairs
    memory_[buffer] = {in_pairs ? value.as_pairs().shape() : value.shape(), elements_of(value), true, true};
  }

  const std::string& name(std::int64_t buffer) const { return program_.buffers[std::size_t(buffer)].name; }

  // Before the memory pass, buffers are created at their first use.
  Memory& allocated(std::int64_t buffer) {
    Memory& memory = memory_[std::size_t(buffer)];
    if (memory.exists) return memory;
    Dims shape;
    for (auto& length : program_.buffers[std::size_t(buffer)].shape) {
      shape.push_back(integer(length));
      if (shape.back() < 0) fail(cat("buffer ", name(buffer), " has a negative length"));
    }
    memory = {shape, std::vector<Scalar>(std::size_t(product(shape))), true, false};
    return memory;
  }

  // The offset of an element in memory. The last index may run through all rows if the one before it is 0, which is how
  // collapsed loops index (lowering/collapse.cpp).
  std::size_t offset(std::int64_t buffer, const Memory& memory, std::span<const Scalar> at) const {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < at.size(); ++k) {
      if (!at[k].known) fail(cat("an index of ", name(buffer), " is not known"));
      const bool is_last = k + 1 == at.size();
      const std::int64_t rows = is_last && k > 0 && at[k - 1].bits == 0 ? memory.shape[k - 1] : 1;
      if (at[k].bits < 0 || at[k].bits >= rows * memory.shape[k])
        fail(cat("index ", at[k].bits, " along axis ", k, " of ", name(buffer), ", whose length is ", memory.shape[k]));
      offset = offset * memory.shape[k] + at[k].bits;
    }
    return std::size_t(offset);
  }

  // ---- expressions ----
  struct Node {
    Expr expr;
    std::optional<Operation> operation;
    std::vector<std::uint32_t> arguments;  // their positions in the order
  };
  using Order = std::vector<Node>;  // arguments first

  const Order& order_of(Expr root) {
    const auto [found, is_new] = orders_.try_emplace(root.id());
    if (!is_new) return found->second;
    std::vector<Expr> stack{root};
    std::unordered_map<std::uint32_t, std::uint32_t> slots;
    std::unordered_map<std::uint32_t, bool> opened;
    while (!stack.empty()) {
      const Expr expr = stack.back();
      if (!opened[expr.id()]) {
        opened[expr.id()] = true;
        for (std::size_t i = 0; i < expr.argument_count(); ++i)
          if (!opened[expr.argument(i).id()]) stack.push_back(expr.argument(i));
        continue;
      }
      stack.pop_back();
      if (!slots.try_emplace(expr.id(), std::uint32_t(found->second.size())).second) continue;
      const bool is_plain = expr.code() != Code::load && expr.code() != Code::index && expr.code() != Code::dim &&
                            expr.code() != Code::var && !program_.function_of(expr);
      std::vector<std::uint32_t> arguments;
      for (std::size_t i = 0; i < expr.argument_count(); ++i) arguments.push_back(slots.at(expr.argument(i).id()));
      found->second.push_back({expr, is_plain ? std::optional(operation_of(expr, runtime::find_symbol)) : std::nullopt,
                               std::move(arguments)});
    }
    return found->second;
  }

  Scalar value(Expr root) {
    const Order& order = order_of(root);
    std::vector<Scalar> values;
    values.reserve(order.size());
    for (auto& node : order) values.push_back(value(node, values));
    return values.back();
  }

  Scalar value(const Node& node, std::span<const Scalar> values) {
    const Expr expr = node.expr;
    constexpr std::size_t usual = 8;
    Scalar few[usual];
    std::vector<Scalar> many(node.arguments.size() > usual ? node.arguments.size() : 0);
    const std::span<Scalar> arguments(many.empty() ? few : many.data(), node.arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = values[node.arguments[i]];
    switch (expr.code()) {
      case Code::index: return lookup(indices_, expr.payload(), "index");
      case Code::var: return lookup(variables_, expr.payload(), "variable");
      case Code::dim: {
        const Memory& memory = memory_[std::size_t(expr.payload() >> 8)];
        if (!memory.exists) fail(cat("a length of ", name(expr.payload() >> 8), " is read before it is known"));
        return {memory.shape[std::size_t(expr.payload() & 0xff)], true};
      }
      case Code::load: {
        const Memory& memory = allocated(expr.payload());
        return memory.elements[offset(expr.payload(), memory, arguments)];
      }
      case Code::select:
        if (!arguments[0].known) return {};
        return arguments[arguments[0].bits ? 1 : 2];
      default: break;
    }
    for (auto& argument : arguments)
      if (!argument.known) return {};
    if (const Function* function = program_.function_of(expr)) {
      std::vector<std::int64_t> bits;
      for (auto& argument : arguments) bits.push_back(argument.bits);
      return {Interpreter(function->body, function->parameters, runtime::find_symbol).bits(bits), true};
    }
    const Scalar* operands = many.empty() ? few : many.data();
    return {evaluate(*node.operation, operands[0].bits, operands[1].bits, operands[2].bits, operands[3].bits,
                     operands[4].bits),
            true};
  }

  Scalar lookup(const std::unordered_map<std::int64_t, Scalar>& from, std::int64_t which, std::string_view kind) const {
    const auto found = from.find(which);
    if (found == from.end()) fail(cat(kind, " ", which, " is not known here"));
    return found->second;
  }

  std::int64_t known(Expr expr, std::string_view what) {
    const Scalar result = value(expr);
    if (!result.known) fail(cat(what, " depends on memory that was never written"));
    return result.bits;
  }
  std::int64_t integer(Expr expr) { return known(expr, "a length"); }

  // `combined` is combine(a, b); `is_more_extreme` is whether a replaces b.
  std::int64_t combined(Combiner combiner, DType dtype, std::int64_t a, std::int64_t b) {
    const auto key = std::pair(combiner, dtype);
    auto found = combiners_.find(key);
    if (found == combiners_.end()) {
      const Expr x = own_pool_.var(0, dtype), y = own_pool_.var(1, dtype);
      const Expr variables[] = {x, y};
      found = combiners_.emplace(key, Interpreter(combine(combiner, x, y), variables)).first;
    }
    const std::int64_t bits[] = {a, b};
    return found->second.bits(bits);
  }
  bool is_more_extreme(Combiner combiner, DType dtype, std::int64_t a, std::int64_t b) {
    const Expr x = own_pool_.var(0, dtype), y = own_pool_.var(1, dtype);
    const Expr variables[] = {x, y};
    const std::int64_t bits[] = {a, b};
    return Interpreter(more_extreme(combiner, x, y), variables).bits(bits) != 0;
  }
  std::int64_t identity_of(Combiner combiner, DType dtype) { return identity(combiner, own_pool_, dtype).payload(); }

  // ---- steps ----
  void run(const Steps& steps) {
    for (auto& step : steps) std::visit([&](auto& s) { run(s); }, step.what);
  }

  Scalar& element(std::int64_t buffer, std::span<const Expr> at) {
    std::vector<Scalar> position;
    for (auto& index : at) position.push_back({known(index, cat("an index of ", name(buffer))), true});
    Memory& memory = allocated(buffer);
    memory.stored = true;
    return memory.elements[offset(buffer, memory, position)];
  }
  void run(const Store& s) {
    const std::int64_t bits = known(s.value, cat("the value stored to ", name(s.buffer)));
    element(s.buffer, s.at) = {bits, true};
  }
  void run(const Accumulate& s) {
    const std::int64_t bits = known(s.value, cat("the value added to ", name(s.buffer)));
    Scalar& to = element(s.buffer, s.at);
    if (!to.known) fail(cat("an element of ", name(s.buffer), " is accumulated in before it has a value"));
    to.bits = combined(s.combiner, s.value.dtype(), to.bits, bits);
  }
  void run(const Let& s) { variables_[s.var.payload()] = {known(s.value, "a named value"), true}; }
  void run(const Update& s) {
    const std::int64_t bits = known(s.value, "an update");
    Scalar& to = carried_.at(s.var.payload());
    if (s.position_var.defined()) {
      const std::int64_t position = known(s.position, "the position of an update");
      if (is_more_extreme(s.combiner, s.var.dtype(), bits, to.bits))
        carried_.at(s.position_var.payload()) = {position, true};
    }
    to.bits = combined(s.combiner, s.var.dtype(), to.bits, bits);
    if (prefixes_.count(s.var.payload())) variables_[s.var.payload()] = to;
  }
  void run(const Loop& s) {
    const std::int64_t extent = known(s.extent, "a loop's extent");
    for (auto& carry : s.carries) {
      const DType dtype = carry.var.dtype();
      if (carry.is_state()) {
        carried_[carry.var.payload()] = {known(carry.init, "the initial value of a state"), true};
        continue;
      }
      carried_[carry.var.payload()] = {identity_of(carry.combiner, dtype), true};
      prefixes_.erase(carry.var.payload());
      if (carry.kind == program::CarryKind::prefix) prefixes_[carry.var.payload()] = true;
      variables_.erase(carry.var.payload());
    }
    for (std::int64_t i = 0; i < extent; ++i) {
      indices_[s.index.payload()] = {i, true};
      for (auto& carry : s.carries)
        if (carry.is_state()) variables_[carry.var.payload()] = carried_.at(carry.var.payload());
      run(s.body);
      if (s.until.defined() && known(s.until, "the end of a loop")) break;
    }
    indices_.erase(s.index.payload());
    for (auto& carry : s.carries) variables_[carry.var.payload()] = carried_.at(carry.var.payload());
  }
  void run(const Next& s) { carried_.at(s.var.payload()) = {known(s.value, "the next value of a state"), true}; }
  void run(const If& s) { run(known(s.condition, "the condition of a branch") ? s.then : s.otherwise); }
  void run(const Allocate& s) {
    if (memory_[std::size_t(s.buffer)].exists) fail(cat("buffer ", name(s.buffer), " exists already"));
    allocated(s.buffer);
    end_others(s.buffer);
  }
  // A temporary that takes over a slot of the workspace ends the lives of those that had it: their elements have no
  // values any more.
  void end_others(std::int64_t buffer) {
    const auto& buffers = program_.buffers;
    const int slot = buffers[std::size_t(buffer)].slot;
    if (slot < 0 || buffers[std::size_t(buffer)].role != Role::temporary) return;
    for (std::size_t b = 0; b < buffers.size(); ++b)
      if (std::int64_t(b) != buffer && buffers[b].role == Role::temporary && buffers[b].slot == slot)
        memory_[b].elements.assign(memory_[b].elements.size(), Scalar());
  }
  void run(const Fill& s) {
    Memory& memory = allocated(s.buffer);
    if (memory.stored) fail(cat("buffer ", name(s.buffer), " is filled after something was stored to it"));
    memory.stored = true;
    const std::int64_t bits = known(s.value, "the value of a fill");
    for (auto& element : memory.elements) element = {bits, true};
  }
  // The ABIs of 64-bit Linux pass integers and pointers in other registers than floats; excess arguments are harmless.
  void run(const Call& s) {
    constexpr std::size_t most = 24;
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::map<std::int64_t, std::pair<Array, bool>> arrays;  // by buffer; whether it is written
    for (auto& argument : s.arguments) {
      if (auto* memory = std::get_if<BufferArgument>(&argument)) {
        const DType dtype = program_.buffers[std::size_t(memory->buffer)].dtype;
        const auto [found, is_new] = arrays.try_emplace(memory->buffer);
        auto& [array, is_written] = found->second;
        if (is_new) array = array_of(allocated(memory->buffer), dtype);
        is_written |= memory->kind != AccessKind::read;
        const std::int64_t offset =
            memory->offset.defined() ? known(memory->offset, cat("an offset in ", name(memory->buffer))) : 0;
        if (offset < 0 || offset > array.size())
          fail(cat("offset ", offset, " in ", name(memory->buffer), ", which has ", array.size(), " elements"));
        char* data = static_cast<char*>(array.mutable_data()) + offset * std::int64_t(itemsize(dtype));
        integers.push_back(std::int64_t(reinterpret_cast<std::intptr_t>(data)));
      } else {
        const Expr expr = std::get<Expr>(argument);
        const std::int64_t bits = known(expr, cat("an argument of ", s.function));
        if (expr.dtype() == DType::Float64)
          reals.push_back(std::bit_cast<double>(bits));
        else
          integers.push_back(bits);
      }
    }
    if (integers.size() > most || reals.size() > 4) fail(cat("too many arguments of ", s.function));
    integers.resize(most);
    reals.resize(4);
    void* address = runtime::find_symbol(s.function);
    if (!address) fail(cat("no function ", s.function));
    using I = std::int64_t;
    using F = double;
    const auto call =
        reinterpret_cast<I (*)(I, I, I, I, I, I, F, F, F, F, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I)>(
            address);
    const auto& i = integers;
    const I status =
        call(i[0], i[1], i[2], i[3], i[4], i[5], reals[0], reals[1], reals[2], reals[3], i[6], i[7], i[8], i[9], i[10],
             i[11], i[12], i[13], i[14], i[15], i[16], i[17], i[18], i[19], i[20], i[21], i[22], i[23]);
    for (auto& [buffer, used] : arrays)
      if (used.second) bind(std::size_t(buffer), used.first);
    if (s.status.defined()) variables_[s.status.payload()] = {status, true};
  }
  void run(const Check& s) {
    if (!known(s.condition, "a check")) throw CheckFailed{s.check};
  }
  void run(const HostCall& s) {
    const Apply& node = callbacks_[std::size_t(s.callback)];
    std::vector<Array> in, out(node.output_count());
    for (std::size_t k = 0; k < s.inputs.size(); ++k) {
      const Memory& memory = allocated(s.inputs[k]);
      for (auto& element : memory.elements)
        if (!element.known) fail(cat("a host call reads ", name(s.inputs[k]), " before it is completely written"));
      in.push_back(array_of(memory, program_.buffers[std::size_t(s.inputs[k])].dtype));
      if (is_complex(node.input(int(k)))) in.back() = in.back().take_index(in.back().ndim() - 1, 0).as_complex();
    }
    perform_node(node, in, out);
    for (std::size_t k = 0; k < s.outputs.size(); ++k) bind(std::size_t(s.outputs[k]), out[k]);
  }

  const Program& program_;
  std::span<const Apply> callbacks_;
  std::vector<Memory> memory_;
  std::unordered_map<std::uint32_t, Order> orders_;
  std::unordered_map<std::int64_t, Scalar> indices_, variables_, carried_;
  std::unordered_map<std::int64_t, bool> prefixes_;
  ExprPool own_pool_;
  std::map<std::pair<Combiner, DType>, Interpreter> combiners_;
};

}  // namespace

ProgramRun interpret(const Program& program, std::span<const Apply> callbacks, std::span<const Array> inputs) {
  return Machine(program, callbacks, inputs).run();
}

}  // namespace bitale::test
