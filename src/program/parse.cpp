#include "program/parse.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/interpret.hpp"
#include "program/residual.hpp"
#include "program/schedule_text.hpp"
#include "program/steps.hpp"

namespace bitale::program {

namespace {

constexpr Combiner combiners[] = {Combiner::add, Combiner::mul,     Combiner::min,
                                  Combiner::max, Combiner::bit_and, Combiner::bit_or};
constexpr std::int64_t max_indices = 1 << 20;
constexpr std::string_view update_texts[] = {"+=", "*=", "min=", "max=", "&=", "|="};

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '%'; }
bool in_word(char c) { return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '\'' || c == '.'; }

std::optional<DType> dtype_of(std::string_view name) {
  for (int k = 0; k < dtype_count; ++k)
    if (dtype_short_name(DType(k)) == name) return DType(k);
  return {};
}
std::optional<Code> code_of(std::string_view text) {
#define X(name, arity, infix) \
  if (text == std::string_view(infix) && !text.empty()) return Code::name;
  BITALE_PROGRAM_CODES(X)
#undef X
  return {};
}
// v3, v-1
std::optional<std::int64_t> number_after(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return {};
  std::int64_t out = 0;
  const auto digits = word.substr(prefix.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return {};
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : pool_(*program_.pool) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = text.substr(at, end - at);
      ++line_number_;
      at = end + 1;
      const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
      if (start == line.size()) continue;
      lines_.push_back({line_number_, int(start / 2), line.substr(start)});
    }
  }

  Program run() {
    if (lines_.empty()) throw ValueError("program: the text is empty");
    open(lines_[next_++]);
    header();
    program_.steps = steps(1);
    if (next_ < lines_.size()) {
      open(lines_[next_]);
      fail("a line that is not indented so far");
    }
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
      program_.input_count = std::max(program_.input_count, slots_after(b, Role::input));
      program_.output_count = std::max(program_.output_count, slots_after(b, Role::output));
    }
    return std::move(program_);
  }

 private:
  struct Line {
    int number;
    int depth;
    std::string_view text;
  };

  // ---- one line ----
  void open(const Line& line) {
    line_ = line;
    at_ = 0;
  }
  [[noreturn]] void fail(std::string_view expected) const {
    throw ValueError(cat("program, line ", line_.number, ", column ", 2 * line_.depth + int(at_) + 1, ": expected ",
                         expected, "\n  ", line_.text));
  }
  char peek() const { return at_ < line_.text.size() ? line_.text[at_] : '\0'; }
  void skip() {
    while (peek() == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (!line_.text.substr(at_).starts_with(token)) return false;
    const bool is_word = in_word(token.back());
    if (is_word && at_ + token.size() < line_.text.size() && in_word(line_.text[at_ + token.size()])) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(cat("`", token, "`"));
  }
  bool at_end() {
    skip();
    return at_ == line_.text.size();
  }
  void end() {
    if (!at_end()) fail("the end of the line");
  }
  std::string_view word() {
    skip();
    if (peek() == '`') {  // any text in backquotes
      const std::size_t end = line_.text.find('`', at_ + 1);
      if (end == std::string_view::npos) fail("a closing `");
      const std::size_t start = std::exchange(at_, end + 1) + 1;
      return line_.text.substr(start, end - start);
    }
    const std::size_t start = at_;
    if (!starts_word(peek())) fail("a name");
    while (in_word(peek()) || (peek() == '-' && line_.text.substr(start, at_ - start) == "v")) ++at_;
    return line_.text.substr(start, at_ - start);
  }
  std::int64_t integer() {
    skip();
    std::int64_t out = 0;
    const auto [rest, error] = std::from_chars(line_.text.data() + at_, line_.text.data() + line_.text.size(), out);
    if (error != std::errc()) fail("an integer");
    at_ = std::size_t(rest - line_.text.data());
    return out;
  }
  // The colon before a dtype, as opposed to the one at the end of a loop's head.
  bool take_suffix() {
    const std::size_t dtype = line_.text.find_first_not_of(' ', at_ + 1);
    return dtype != std::string_view::npos && peek() == ':' && take(":");
  }
  DType dtype() {
    const auto found = dtype_of(word());
    if (!found) fail("a dtype, as f64 or i32");
    return *found;
  }

  // ---- buffers ----
  int slots_after(std::size_t b, Role role) const {
    return program_.buffers[b].role == role ? program_.buffers[b].slot + 1 : 0;
  }
  std::int64_t buffer(std::string_view name) const {
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) fail(cat("a buffer, which `", name, "` is not"));
    return found->second;
  }
  // "x: f64[?, 3] per worker"; unknown lengths of inputs are dim expressions.
  std::int64_t declare(Role role, int slot) {
    const std::string name(word());
    expect(":");
    const auto [known, is_new] = buffers_.try_emplace(name, std::int64_t(program_.buffers.size()));
    if (is_new) {
      program_.buffers.emplace_back();
      Buffer& made = program_.buffers.back();
      made.name = name;
      made.role = role;
      made.slot = slot;
    }
    const std::int64_t id = known->second;
    program_.buffers[std::size_t(id)].dtype = dtype();
    std::vector<Expr> shape;
    in_shape_ = true;
    if (take("[")) {
      do {
        const int axis = int(shape.size());
        shape.push_back(take("?") ? pool_.dim(id, axis) : typed(expression(), DType::Int64));
      } while (take(","));
      expect("]");
    }
    in_shape_ = false;
    Buffer& out = program_.buffers[std::size_t(id)];
    out.shape = std::move(shape);
    out.per_worker = take("per worker");
    return id;
  }
  void declarations(Role role) {
    int slot = 0;
    if (at_end() || peek() == ')') return;
    do declare(role, slot++);
    while (take(","));
  }
  void header() {
    expect("program");
    skip();
    const std::size_t end_of_name = std::min(line_.text.find('(', at_), line_.text.size());
    program_.name = std::string(line_.text.substr(at_, end_of_name - at_));
    at_ = end_of_name;
    if (at_end()) return;
    expect("(");
    declarations(Role::input);
    expect(")");
    expect("->");
    declarations(Role::output);
    end();
  }
  // buffer b3: f64[3] temporary 2 stack {1, 2, 3}
  void buffer_line() {
    const std::int64_t id = declare(Role::temporary, -1);
    Buffer& made = program_.buffers[std::size_t(id)];
    if (take("input"))
      made.role = Role::input, made.slot = int(integer());
    else if (take("output"))
      made.role = Role::output, made.slot = int(integer());
    else if (take("temporary"))
      made.slot = int(integer());
    else if (take("constant"))
      made.role = Role::constant;
    made.on_stack = take("stack");
    if (made.role == Role::constant) constant_value(made);
    end();
  }
  void constant_value(Buffer& made) {
    Dims shape;
    for (auto& length : made.shape) shape.push_back(length.payload());
    Array array = Array::zeros(made.dtype, shape);
    expect("{");
    visit_dtype(made.dtype, [&]<class T>() {
      for (std::int64_t k = 0; k < array.size(); ++k) {
        if (k) expect(",");
        const Expr value = constant(made.dtype);
        static_cast<T*>(array.mutable_data())[k] = is_float(made.dtype) ? T(as_double(value)) : T(value.payload());
      }
    });
    expect("}");
    made.value = array;
  }
  static double as_double(Expr value) { return from_bits(value.payload(), value.dtype()); }

  // ---- expressions ----
  // A constant whose dtype is not given takes that of the expression that it is combined with.
  struct Term {
    Expr value;          // or
    std::string number;  // of an unknown dtype
  };
  Expr typed(const Term& term, DType dtype) {
    if (term.value.defined()) return term.value;
    const bool real = is_float(dtype);
    if (term.number == "true" || term.number == "false") return pool_.integer(term.number == "true", dtype);
    if (real) return pool_.number(std::strtod(term.number.c_str(), nullptr), dtype);
    std::int64_t out = 0;
    const char* last = term.number.data() + term.number.size();
    const auto [rest, error] = std::from_chars(term.number.data(), last, out);
    if (error != std::errc() || rest != last) fail(cat("an integer, which ", term.number, " is not"));
    return pool_.integer(out, dtype);
  }
  Expr typed(const Term& term) {
    if (term.value.defined()) return term.value;
    if (term.number == "true" || term.number == "false") return typed(term, DType::Bool);
    const bool is_integer = term.number.find_first_not_of("-0123456789") == std::string::npos;
    return typed(term, is_integer ? DType::Int64 : DType::Float64);
  }
  void unify(Term& a, Term& b) {
    if (!a.value.defined() && b.value.defined()) a.value = typed(a, b.value.dtype());
    if (!a.value.defined()) a.value = typed(a);
    if (!b.value.defined()) b.value = typed(b, a.value.dtype());
  }
  Expr constant(DType dtype) {
    const Term term = expression();
    return typed(term, dtype);
  }
  // 3, -0.5, 1e-3, inf, nan, true; with a suffix ":f32", of that dtype.
  std::optional<Term> number() {
    skip();
    const std::size_t start = at_;
    std::string text;
    for (std::string_view name : {"true", "false", "nan", "-nan", "inf", "-inf"})
      if (take(name)) {
        text = std::string(name);
        break;
      }
    if (text.empty()) {
      std::size_t end = at_ + (peek() == '-');
      const auto digit = [&] {
        return end < line_.text.size() && std::isdigit(static_cast<unsigned char>(line_.text[end]));
      };
      if (!digit()) return {};
      while (digit()) ++end;
      if (end < line_.text.size() && line_.text[end] == '.') {
        ++end;
        while (digit()) ++end;
      }
      if (end < line_.text.size() && line_.text[end] == 'e') {
        ++end;
        if (end < line_.text.size() && (line_.text[end] == '-' || line_.text[end] == '+')) ++end;
        while (digit()) ++end;
      }
      text = std::string(line_.text.substr(start, end - start));
      at_ = end;
    }
    Term out{{}, text};
    if (take_suffix()) {
      const DType dtype = this->dtype();
      if (take("bits"))
        out.value = pool_.make(Code::constant, dtype, {}, integer());
      else
        out.value = typed(out, dtype);
    }
    return out;
  }
  Expr node(Code code, DType dtype, std::initializer_list<Expr> arguments) {
    return pool_.make(code, dtype, std::vector<Expr>(arguments));
  }

  Term expression() {
    if (auto found = number()) return *found;
    if (take("(")) {
      Term a = expression();
      skip();
      static constexpr std::string_view infix[] = {"==", "!=", "<<", ">>", "<=", ">=", "<", ">",
                                                   "+",  "-",  "*",  "/",  "&",  "|",  "^"};
      for (auto text : infix) {
        if (!take(text)) continue;
        Term b = expression();
        expect(")");
        unify(a, b);
        const Code code = *code_of(text);
        const bool compares = code >= Code::eq && code <= Code::ge;
        return {node(code, compares ? DType::Bool : a.value.dtype(), {a.value, b.value}), {}};
      }
      fail("an operator");
    }
    if (take("-")) {
      const Expr a = typed(expression());
      return {node(Code::neg, a.dtype(), {a}), {}};
    }
    if (take("~")) {
      const Expr a = typed(expression());
      return {node(Code::bit_not, a.dtype(), {a}), {}};
    }
    const std::string name(word());
    if (name[0] == '%') {
      const auto found = shared_.find(name);
      if (found == shared_.end()) fail(cat("a shared expression, which ", name, " is not"));
      return {found->second, {}};
    }
    std::optional<DType> called;
    if (take_suffix()) called = dtype();
    if (take("(")) return {function(name, called), {}};
    if (auto var = number_after(name, "v")) {
      const auto known = variables_.find(*var);
      if (called || (known == variables_.end() && in_shape_))
        return {pool_.var(*var, called.value_or(DType::Int64)), {}};
      if (known == variables_.end()) fail(cat("a variable that is known, which ", name, " is not"));
      return {known->second, {}};
    }
    if (const auto index = indices_.find(name); index != indices_.end()) return {index->second, {}};
    return {pool_.load(buffer(name), program_.buffers[std::size_t(buffer(name))].dtype, multi_index()), {}};
  }
  std::vector<Expr> multi_index() {
    std::vector<Expr> at;
    if (!take("[")) return at;
    do at.push_back(typed(expression(), DType::Int64));
    while (take(","));
    expect("]");
    return at;
  }

  Expr function(const std::string& name, std::optional<DType> called) {
    if (name == "len") {
      const std::int64_t of = buffer(word());
      expect(",");
      const std::int64_t axis = integer();
      expect(")");
      return pool_.dim(of, int(axis));
    }
    std::vector<Term> terms;
    if (!take(")")) {
      do terms.push_back(expression());
      while (take(","));
      expect(")");
    }
    const auto argument = [&](std::size_t i) {
      if (i >= terms.size()) fail(cat("more arguments of ", name));
      return typed(terms[i]);
    };
    if (const auto to = dtype_of(name)) return node(Code::cast, *to, {argument(0)});
    if (name.starts_with("bitcast_"))
      if (const auto to = dtype_of(name.substr(8))) return node(Code::bitcast, *to, {argument(0)});
    const std::size_t first = name == "select" || name == "lookup" ? 1 : 0;  // where arguments of one dtype start
    if (name == "select" && terms.size() > 0) terms[0].value = typed(terms[0], DType::Bool);
    for (std::size_t i = first; i < terms.size(); ++i)
      for (std::size_t k = first; k < terms.size(); ++k)
        if (!terms[i].value.defined() && terms[k].value.defined())
          terms[i].value = typed(terms[i], terms[k].value.dtype());
    std::vector<Expr> arguments;
    for (std::size_t i = 0; i < terms.size(); ++i) arguments.push_back(argument(i));
    if (name == "neg") return node(Code::neg, argument(0).dtype(), {argument(0)});
    if (name == "residual") return residual(argument(0), argument(1), argument(2));
    if (name.starts_with("rare'")) {
      if (arguments.size() < 2) fail("a condition and what is so otherwise");
      return pool_.rare_call(name.substr(5), arguments[0], arguments[1], std::span(arguments).subspan(2));
    }
    const auto code = code_of(name);
    if (code && !called) return pool_.make(*code, argument(first).dtype(), arguments);
    const DType dtype = called ? *called : arguments.empty() ? DType::Float64 : arguments[0].dtype();
    return pool_.call(name, dtype, arguments);
  }

  // ---- steps ----
  Steps steps(int depth) {
    Steps out;
    while (next_ < lines_.size() && lines_[next_].depth >= depth) {
      open(lines_[next_++]);
      if (line_.depth > depth) fail(cat("a line at a depth of ", 2 * depth));
      step(out, depth);
    }
    return out;
  }

  void step(Steps& out, int depth) {
    if (take("buffer")) return buffer_line();
    if (take("workspace")) {
      program_.workspace_slots = int(integer());
      return end();
    }
    if (take("function")) return function_line();
    if (take("for")) return out.push_back({loop(depth)});
    if (take("output")) return out.push_back({Allocate{ended(declare(Role::output, -1))}});
    if (take("temporary")) return out.push_back({Allocate{ended(declare(Role::temporary, -1))}});
    if (take("stack")) {
      const std::int64_t id = ended(declare(Role::temporary, -1));
      program_.buffers[std::size_t(id)].on_stack = true;
      return out.push_back({Allocate{id}});
    }
    if (take("allocate")) return out.push_back({Allocate{ended(buffer(word()))}});
    if (take("next")) {
      const auto var = number_after(word(), "v");
      if (!var || !variables_.contains(*var)) fail("a state of the loop around");
      expect("=");
      const Expr value = constant(variables_[*var].dtype());
      end();
      return out.push_back({Next{variables_[*var], value}});
    }
    if (take("until")) {
      if (depth == 1) fail("`until` in a loop");
      until_ = constant(DType::Bool);
      return end();
    }
    if (take("if")) {
      If made{constant(DType::Bool), {}, {}};
      expect(":");
      end();
      made.then = steps(depth + 1);
      if (next_ < lines_.size() && lines_[next_].depth == depth && lines_[next_].text == "else:") {
        ++next_;
        made.otherwise = steps(depth + 1);
      }
      return out.push_back({std::move(made)});
    }
    if (take("fill")) {
      const std::int64_t id = buffer(word());
      const Expr value = constant(program_.buffers[std::size_t(id)].dtype);
      end();
      return out.push_back({Fill{id, value}});
    }
    if (take("call")) return out.push_back({call({})});
    if (take("require")) {
      const Expr condition = constant(DType::Bool);
      std::int64_t check = std::int64_t(program_.checks.size());
      if (take(", check")) check = integer();
      end();
      while (std::int64_t(program_.checks.size()) <= check)
        program_.checks.push_back(cat("check ", program_.checks.size()));
      return out.push_back({Check{condition, int(check)}});
    }
    if (line_.text.find("= perform ") != std::string_view::npos) return out.push_back({host_call()});
    assignment(out, depth);
  }
  std::int64_t ended(std::int64_t id) {
    end();
    return id;
  }

  void assignment(Steps& out, int depth) {
    const std::string name(word());
    if (name[0] == '%') {  // a shared expression
      expect("=");
      shared_[name] = typed(expression());
      return end();
    }
    if (auto var = number_after(name, "v")) {
      if (take("=")) {
        if (take("call")) {
          const Expr status = pool_.var(*var, DType::Int64);
          variables_[*var] = status;
          return out.push_back({call(status)});
        }
        const Expr value = typed(expression());
        end();
        variables_[*var] = pool_.var(*var, value.dtype());
        return out.push_back({Let{variables_[*var], value}});
      }
      const Combiner combiner = this->combiner();
      const auto known = variables_.find(*var);
      const Expr value = known == variables_.end() ? typed(expression()) : constant(known->second.dtype());
      end();
      Update update{pool_.var(*var, value.dtype()), combiner, value};
      variables_[*var] = update.var;
      if (next_ < lines_.size() && lines_[next_].depth == depth + 1) {
        open(lines_[next_++]);
        expect("position:");
        const auto position = number_after(word(), "v");
        if (!position) fail("a variable");
        expect("=");
        update.position = typed(expression());
        update.position_var = variables_[*position] = pool_.var(*position, update.position.dtype());
        kinds_[*var] = CarryKind::arg_reduce, kinds_[*position] = CarryKind::position;
        end();
      }
      return out.push_back({std::move(update)});
    }
    const std::int64_t id = buffer(name);
    std::vector<Expr> at = multi_index();
    const DType dtype = program_.buffers[std::size_t(id)].dtype;
    if (take("=")) {
      const Expr value = constant(dtype);
      end();
      return out.push_back({Store{id, std::move(at), value}});
    }
    const Combiner combiner = this->combiner();
    const Expr value = constant(dtype);
    const bool by_runs = take("by runs");
    end();
    out.push_back({Accumulate{id, std::move(at), combiner, value, by_runs}});
  }
  Combiner combiner() {
    for (auto each : combiners)
      if (take(update_texts[int(each)])) return each;
    fail("`=` or how values are combined, as +=");
  }

  Loop loop(int depth) {
    const std::string name(word());
    auto& names = program_.index_names;
    // Each name has one index: the one of its number, if that is free.
    std::size_t id = std::size_t(std::find(names.begin(), names.end(), name) - names.begin());
    if (id == names.size())
      if (auto number = number_after(name, "i"); number && *number >= 0 && *number < max_indices)
        if (std::size_t(*number) >= names.size() || names[std::size_t(*number)].empty()) id = std::size_t(*number);
    if (names.size() <= id) names.resize(id + 1);
    names[id] = name;
    const Expr index = pool_.index(std::int64_t(id));
    const auto outside = indices_.find(name);
    const std::optional<Expr> before = outside == indices_.end() ? std::nullopt : std::optional(outside->second);
    expect("in");
    Loop out{index, typed(expression(), DType::Int64), {}, {}, false};
    std::vector<std::int64_t> vars;
    while (take(",")) {
      if (take("vector")) {
        out.vector = true;
        if (take("of")) out.schedule.lanes = int(integer());
        if (take("x")) out.schedule.accumulators = int(integer());
      } else if (take("in one pass")) {
        out.schedule.single_pass = true;
      } else if (take("pairwise")) {
        out.schedule.pairwise = true;
      } else if (take("straight up to")) {
        out.schedule.straight_passes = int(integer());
      } else if (take("by runs of step")) {
        out.schedule.runs_of = int(integer());
      } else if (take("streaming")) {
        do {
          out.schedule.streamed.push_back(buffer(word()));
          skip();
        } while (peek() != ',' && peek() != ':');
      } else if (take("in chunks")) {
        out.parallel_cost = take("of") ? typed(expression(), DType::Int64) : pool_.integer(1);
      } else if (take("ahead")) {
        out.prefetch_distance = integer();
      } else if (take("transposing")) {
        out.transposes = true;
      } else if (take("lanes of")) {
        out.lane_order.element_bytes = int(integer());
        expect("x");
        out.lane_order.accumulators = int(integer());
      } else if (take("state")) {
        const auto var = number_after(word(), "v");
        if (!var) fail("a variable");
        Carry carry{{}, CarryKind::state};
        carry.init = take_suffix() ? typed_state() : (expect("="), typed(expression()));
        variables_[*var] = pool_.var(*var, carry.init.dtype());
        vars.push_back(*var);
        out.carries.push_back(carry);
      } else {
        Carry carry;
        if (take("prefix")) carry.kind = CarryKind::prefix;
        bool known = false;
        for (auto each : combiners)
          if (!known && take(combiner_name(each))) carry.combiner = each, known = true;
        if (!known) fail("what the loop carries, as `sum v0`");
        const auto var = number_after(word(), "v");
        if (!var) fail("a variable");
        if (take_suffix()) variables_[*var] = pool_.var(*var, dtype());
        vars.push_back(*var);
        out.carries.push_back(carry);
      }
    }
    expect(":");
    end();
    const Line head = line_;
    indices_[name] = index;
    const Expr outer = std::exchange(until_, Expr());
    out.body = steps(depth + 1);
    out.until = std::exchange(until_, outer);
    for (std::size_t k = 0; k < vars.size(); ++k) {
      const auto known = variables_.find(vars[k]);
      if (known == variables_.end()) {
        open(head);
        fail(cat("a loop that updates v", vars[k]));
      }
      out.carries[k].var = known->second;
      if (const auto kind = kinds_.find(vars[k]); kind != kinds_.end()) out.carries[k].kind = kind->second;
    }
    if (before)
      indices_[name] = *before;
    else
      indices_.erase(name);
    return out;
  }

  // f64 = 0.5
  Expr typed_state() {
    const DType wanted = dtype();
    expect("=");
    return constant(wanted);
  }

  Call call(Expr status) {
    Call out{std::string(word()), {}, status};
    expect("(");
    if (!take(")")) {
      do {
        std::optional<AccessKind> kind;
        if (take("in")) kind = AccessKind::read;
        if (take("out")) kind = AccessKind::write;
        if (take("inout")) kind = AccessKind::combine;
        if (!kind) {
          out.arguments.emplace_back(typed(expression()));
          continue;
        }
        const std::int64_t id = buffer(word());
        const Expr offset = take("from") ? typed(expression(), DType::Int64) : Expr();
        out.arguments.emplace_back(BufferArgument{id, *kind, offset});
      } while (take(","));
      expect(")");
    }
    end();
    return out;
  }

  HostCall host_call() {
    HostCall out{int(program_.callbacks.size()), {}, {}};
    while (!take("= perform")) {
      out.outputs.push_back(buffer(word()));
      take(",");
    }
    skip();
    if (std::isdigit(static_cast<unsigned char>(peek()))) out.callback = int(integer());
    skip();
    const std::size_t inputs = line_.text.rfind('(');
    if (inputs == std::string_view::npos) fail("the inputs of a host call");
    const std::string name(line_.text.substr(at_, inputs - at_));
    at_ = inputs + 1;
    if (program_.callbacks.size() <= std::size_t(out.callback))
      program_.callbacks.resize(std::size_t(out.callback) + 1);
    program_.callbacks[std::size_t(out.callback)] = name;
    if (!take(")")) {
      do out.inputs.push_back(buffer(word()));
      while (take(","));
      expect(")");
    }
    end();
    return out;
  }

  // function name(v-1: f64, v-2: f64) = ...
  void function_line() {
    const std::string name(word());
    Function made;
    expect("(");
    do {
      const auto var = number_after(word(), "v");
      if (!var) fail("a parameter, as v-1");
      expect(":");
      made.parameters.push_back(pool_.var(*var, dtype()));
      variables_[*var] = made.parameters.back();
    } while (take(","));
    expect(")");
    expect("=");
    made.body = typed(expression());
    end();
    const std::int64_t id = pool_.call(name, made.body.dtype(), made.parameters).payload();
    program_.functions.emplace(id, std::move(made));
  }

  Program program_;
  ExprPool& pool_;
  std::vector<Line> lines_;
  std::size_t next_ = 0;
  int line_number_ = 0;
  Line line_{0, 0, {}};
  std::size_t at_ = 0;
  Expr until_;             // of the loop being read
  bool in_shape_ = false;  // where unknown variables, of later steps, are lengths
  std::map<std::string, std::int64_t, std::less<>> buffers_;
  std::map<std::string, Expr, std::less<>> indices_, shared_;
  std::map<std::int64_t, Expr> variables_;
  std::map<std::int64_t, CarryKind> kinds_;  // of extremes and their positions, known from their updates
};

// ---- the whole of a Program as text ---------------------------------------------------------------------------------

class Source {
 public:
  explicit Source(const Program& program) : program_(program) {}

  std::string print() {
    line(0, "program p");
    if (program_.workspace_slots) line(1, cat("workspace ", program_.workspace_slots));
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) declare(b);
    std::map<std::int64_t, const Function*> ordered;
    for (auto& [payload, function] : program_.functions) ordered[payload] = &function;
    // Functions may call those that were created before them.
    for (auto& [payload, function] : ordered) {
      const std::string body = text(function->body, 1);
      std::vector<std::string> parameters;
      for (auto& each : function->parameters)
        parameters.push_back(cat("v", each.payload(), ": ", dtype_short_name(each.dtype())));
      line(1, cat("function `", program_.pool->function_name(payload), "`(", join(parameters, ", "), ") = ", body));
    }
    steps(program_.steps, 1);
    return std::move(out_);
  }

 private:
  void line(int depth, const std::string& text) { out_ += cat(std::string(std::size_t(2 * depth), ' '), text, "\n"); }
  static std::string name(std::int64_t buffer) { return cat("b", buffer); }

  void declare(std::size_t b) {
    const Buffer& buffer = program_.buffers[b];
    std::vector<std::string> lengths;
    for (auto& length : buffer.shape) lengths.push_back(text(length, 1));
    std::string out = cat("buffer b", b, ": ", dtype_short_name(buffer.dtype));
    if (!lengths.empty()) out += cat("[", join(lengths, ", "), "]");
    if (buffer.per_worker) out += " per worker";
    constexpr std::string_view roles[] = {" input ", " output ", " constant", " temporary "};
    out += roles[int(buffer.role)];
    if (buffer.role != Role::constant) out += std::to_string(buffer.slot);
    if (buffer.on_stack) out += " stack";
    if (buffer.role == Role::constant) out += cat(" {", elements(buffer), "}");
    line(1, out);
  }
  std::string elements(const Buffer& buffer) const {
    const Array array = buffer.value.contiguous();
    std::vector<std::string> out;
    visit_dtype(array.dtype(), [&]<class T>() {
      const T* data = static_cast<const T*>(array.data());
      for (std::int64_t k = 0; k < array.size(); ++k) {
        if constexpr (is_float_type<T>)
          out.push_back(number_text(double(data[k])));
        else
          out.push_back(std::to_string(std::int64_t(data[k])));
      }
    });
    return join(out, ", ");
  }

  // ---- expressions ----
  // The text of an expression. A long sub-expression gets a line of its own before it.
  std::string text(Expr root, int depth) {
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
      const Expr expr = stack.back();
      if (texts_.count(expr.id())) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      for (std::size_t i = expr.argument_count(); i-- > 0;)
        if (!texts_.count(expr.argument(i).id())) stack.push_back(expr.argument(i));
      if (stack.size() != before) continue;
      stack.pop_back();
      std::string made = text_of(expr);
      constexpr std::size_t longest = 40;
      if (made.size() > longest && !(expr == root)) {
        line(depth, cat("%", expr.id(), " = ", made));
        made = cat("%", expr.id());
      }
      texts_[expr.id()] = std::move(made);
    }
    return texts_.at(root.id());
  }
  static std::string constant(Expr expr) {
    const std::string_view dtype = dtype_short_name(expr.dtype());
    if (!is_float(expr.dtype())) return cat(expr.payload(), ":", dtype);
    const double value = from_bits(expr.payload(), expr.dtype());
    if (value != value) return cat("nan:", dtype, " bits ", expr.payload());
    return cat(number_text(value), ":", dtype);
  }
  std::string text_of(Expr expr) const {
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) arguments.push_back(texts_.at(expr.argument(i).id()));
    const auto called = [&](std::string_view function) { return cat(function, "(", join(arguments, ", "), ")"); };
    const std::string_view dtype = dtype_short_name(expr.dtype());
    switch (expr.code()) {
      case Code::constant: return constant(expr);
      case Code::index: return cat("i", expr.payload());
      case Code::var: return cat("v", expr.payload(), ":", dtype);
      case Code::dim: return cat("len(b", expr.payload() >> 8, ", ", expr.payload() & 0xff, ")");
      case Code::load:
        return arguments.empty() ? name(expr.payload()) : cat(name(expr.payload()), "[", join(arguments, ", "), "]");
      case Code::call: return called(cat("`", expr.pool().function_name(expr.payload()), "`:", dtype));
      case Code::rare_call: return called(cat("`rare'", expr.pool().function_name(expr.payload()), "`"));
      case Code::neg: return called("neg");
      case Code::fma: return called(is_residual(expr) ? "residual" : "fma");
      case Code::cast: return called(dtype);
      case Code::bitcast: return called(cat("bitcast_", dtype));
      case Code::bit_not: return cat("~", arguments[0]);
      default: break;
    }
    const std::string_view text = code_text(expr.code());
    const bool infix = arguments.size() == 2 && !(text[0] >= 'a' && text[0] <= 'z');
    return infix ? cat("(", arguments[0], " ", text, " ", arguments[1], ")") : called(text);
  }
  std::string element(std::int64_t buffer, std::span<const Expr> at, int depth) {
    std::vector<std::string> indices;
    for (auto& index : at) indices.push_back(text(index, depth));
    return at.empty() ? name(buffer) : cat(name(buffer), "[", join(indices, ", "), "]");
  }
  static std::string var(Expr var) { return cat("v", var.payload()); }
  static std::string typed_var(Expr var) { return cat("v", var.payload(), ": ", dtype_short_name(var.dtype())); }

  // ---- steps ----
  void steps(const Steps& list, int depth) {
    for (auto& step : list) print(step, depth);
  }
  void print(const Step& step, int depth) {
    match(
        step,
        [&](const Store& s) {
          const std::string to = element(s.buffer, s.at, depth), value = text(s.value, depth);
          line(depth, cat(to, " = ", value));
        },
        [&](const Accumulate& s) {
          const std::string to = element(s.buffer, s.at, depth), value = text(s.value, depth);
          line(depth, cat(to, " ", update_texts[int(s.combiner)], " ", value, s.by_runs ? " by runs" : ""));
        },
        [&](const Let& s) {
          const std::string value = text(s.value, depth);
          line(depth, cat(var(s.var), " = ", value));
        },
        [&](const Update& s) {
          const std::string value = text(s.value, depth),
                            position = s.position_var.defined() ? text(s.position, depth) : std::string();
          line(depth, cat(var(s.var), " ", update_texts[int(s.combiner)], " ", value));
          if (s.position_var.defined()) line(depth + 1, cat("position: ", var(s.position_var), " = ", position));
        },
        [&](const Loop& s) {
          const std::string extent = text(s.extent, depth),
                            work = s.parallel_cost.defined() ? text(s.parallel_cost, depth) : std::string();
          std::string head = cat("for i", s.index.payload(), " in ", extent);
          if (s.vector) head += ", vector";
          head += schedule_text(s.schedule, [&](std::int64_t buffer) { return name(buffer); });
          if (s.parallel_cost.defined()) head += cat(", in chunks of ", work);
          if (s.prefetch_distance) head += cat(", ahead ", s.prefetch_distance);
          if (s.transposes) head += ", transposing";
          if (s.lane_order) head += cat(", lanes of ", s.lane_order.element_bytes, " x ", s.lane_order.accumulators);
          for (auto& carry : s.carries)
            head += carry.is_state() ? cat(", state ", typed_var(carry.var), " = ", text(carry.init, depth))
                                     : cat(carry.kind == CarryKind::prefix ? ", prefix " : ", ",
                                           combiner_name(carry.combiner), " ", typed_var(carry.var));
          line(depth, head + ":");
          steps(s.body, depth + 1);
          if (!s.until.defined()) return;
          const std::string until = text(s.until, depth + 1);
          line(depth + 1, cat("until ", until));
        },
        [&](const Next& s) {
          const std::string value = text(s.value, depth);
          line(depth, cat("next ", var(s.var), " = ", value));
        },
        [&](const If& s) {
          const std::string condition = text(s.condition, depth);
          line(depth, cat("if ", condition, ":"));
          steps(s.then, depth + 1);
          if (s.otherwise.empty()) return;
          line(depth, "else:");
          steps(s.otherwise, depth + 1);
        },
        [&](const Allocate& s) { line(depth, cat("allocate ", name(s.buffer))); },
        [&](const Fill& s) { line(depth, cat("fill ", name(s.buffer), " ", constant(s.value))); },
        [&](const Call& s) {
          std::vector<std::string> parts;
          for (auto& argument : s.arguments) {
            if (auto* expr = std::get_if<Expr>(&argument)) {
              parts.push_back(text(*expr, depth));
              continue;
            }
            auto& [buffer, kind, offset] = std::get<BufferArgument>(argument);
            constexpr std::string_view kinds[] = {"in ", "out ", "inout "};
            parts.push_back(
                cat(kinds[int(kind)], name(buffer), offset.defined() ? cat(" from ", text(offset, depth)) : ""));
          }
          line(depth, cat(s.status.defined() ? cat(var(s.status), " = ") : "", "call ", s.function, "(",
                          join(parts, ", "), ")"));
        },
        [&](const Check& s) {
          const std::string condition = text(s.condition, depth);
          line(depth, cat("require ", condition, ", check ", s.check));
        },
        [&](const HostCall& s) {
          std::vector<std::string> in, out;
          for (auto b : s.inputs) in.push_back(name(b));
          for (auto b : s.outputs) out.push_back(name(b));
          line(depth, cat(join(out, ", "), " = perform ", s.callback, " op(", join(in, ", "), ")"));
        });
  }

  const Program& program_;
  std::map<std::uint32_t, std::string> texts_;
  std::string out_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).run(); }
std::string source_of(const Program& program) { return Source(program).print(); }

}  // namespace bitale::program
