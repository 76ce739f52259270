// einsum contracts two operands at a time by a matrix product, in batches over the letters that both have and that are
// still needed. Letters of only one operand that are not needed are summed first; a letter repeated within an operand
// takes its diagonal.
#include <algorithm>
#include <map>
#include <string>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/linalg.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

namespace {

// A tensor with named dimensions. The dimensions of an ellipsis are named by characters that are not letters.
struct Term {
  std::string names;
  Variable value;
  // Lengths that may be 0 in a call: those over which the value is a sum, and those over which factors of it are sums.
  // A sum over nothing is 0 whatever its terms would be, but that 0 times an infinite factor would be nan.
  Variables summed = {}, summed_in_factors = {};
};

bool has(const std::string& names, char c) { return names.find(c) != std::string::npos; }

// A part of the subscripts without blanks; character i of it is character at[i] of the whole.
struct Subscript {
  std::string text;
  std::vector<std::size_t> at;
};

// Throws a ValueError that shows the subscripts, with arrows below `count` characters from `at` on.
[[noreturn]] void refuse(std::string_view subscripts, const std::string& why, std::size_t at, std::size_t count = 1) {
  ValueError error(cat("einsum: \"", subscripts, "\": ", why));
  error.add("where", cat(subscripts, "\n", std::string(at, ' '), std::string(count, '^')));
  throw error;
}
[[noreturn]] void refuse(std::string_view subscripts, const std::string& why, const Subscript& piece) {
  if (piece.at.empty()) throw ValueError(cat("einsum: \"", subscripts, "\": ", why));
  refuse(subscripts, why, piece.at.front(), piece.at.back() - piece.at.front() + 1);
}

struct Parsed {
  std::vector<std::string> inputs;
  std::string output;
};

constexpr char first_of_ellipsis = '\x01';

Parsed parse(std::string_view subscripts, const Variables& operands) {
  const std::size_t arrow = subscripts.find("->");
  std::vector<Subscript> given(1);
  for (std::size_t i = 0; i < std::min(arrow, subscripts.size()); ++i) {
    if (subscripts[i] == ' ') continue;
    if (subscripts[i] == ',') {
      given.emplace_back();
      continue;
    }
    given.back().text += subscripts[i];
    given.back().at.push_back(i);
  }
  if (given.size() != operands.size())
    refuse(subscripts, cat("it names ", given.size(), " operands, but there are ", operands.size()), given.back());
  Parsed out;
  int most = 0;  // dimensions of an ellipsis
  // The letters, with a dot in place of an ellipsis.
  const auto letters_of = [&](const Subscript& part) {
    Subscript letters;
    const std::size_t dots = part.text.find("...");
    for (std::size_t i = 0; i < part.text.size(); ++i) {
      const char c = part.text[i];
      letters.at.push_back(part.at[i]);
      if (i == dots) {
        letters.text += '.';
        i += 2;
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        letters.text += c;
      } else {
        refuse(subscripts, cat("expected letters and \"...\", got \"", std::string(1, c), "\""), part.at[i]);
      }
    }
    return letters;
  };
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string letters = letters_of(given[i]).text;
    const int named = int(letters.size()) - int(has(letters, '.')), ndim = operands[i].ndim();
    if (named > ndim || (named < ndim && !has(letters, '.')))
      refuse(subscripts,
             cat("\"", given[i].text, "\" names ", named, " dimensions, but ", operands[i].str(), " has ", ndim),
             given[i]);
    if (has(letters, '.')) most = std::max(most, ndim - named);
    out.inputs.push_back(letters);
  }
  if (most > 20) refuse(subscripts, "too many dimensions", given.back());
  // Dimensions of an ellipsis are counted from the right.
  const auto expanded = [&](const std::string& letters, int count) {
    std::string names;
    for (char c : letters) {
      if (c != '.') {
        names += c;
        continue;
      }
      for (int k = most - count; k < most; ++k) names += char(first_of_ellipsis + k);
    }
    return names;
  };
  for (std::size_t i = 0; i < given.size(); ++i) {
    const int named = int(out.inputs[i].size()) - int(has(out.inputs[i], '.'));
    out.inputs[i] = expanded(out.inputs[i], operands[i].ndim() - named);
  }
  if (arrow != std::string_view::npos) {
    Subscript output;
    for (std::size_t i = arrow + 2; i < subscripts.size(); ++i)
      if (subscripts[i] != ' ') output.text += subscripts[i], output.at.push_back(i);
    const Subscript letters = letters_of(output);
    std::string all;
    for (auto& names : out.inputs) all += names;
    for (std::size_t i = 0; i < letters.text.size(); ++i) {
      const char c = letters.text[i];
      if (letters.text.find(c) < i)
        refuse(subscripts, cat("the output has \"", std::string(1, c), "\" twice"), letters.at[i]);
      if (c != '.' && !has(all, c))
        refuse(subscripts, cat("no operand has \"", std::string(1, c), "\", which the output has"), letters.at[i]);
    }
    out.output = expanded(letters.text, most);
    return out;
  }
  // Without an arrow, the output has the ellipsis, and then the letters that occur once, in alphabetical order.
  std::map<char, int> counts;
  for (auto& names : out.inputs)
    for (char c : names) ++counts[c];
  for (int k = 0; k < most; ++k) out.output += char(first_of_ellipsis + k);
  for (auto& [c, count] : counts)
    if (c >= 'A' && count == 1) out.output += c;
  return out;
}

int axis_of(const Term& term, char c) { return int(term.names.find(c)); }

std::string error_prefix(char c) { return c < 'A' ? "einsum" : cat("einsum, \"", std::string(1, c), "\""); }

// x, with a check that two lengths of one letter are equal; its message shows where the subscripts have the letter.
Variable with_equal_lengths(const Variable& x, const Variable& length, const Variable& other, char c,
                            std::string_view subscripts) {
  if (is_same_length(length, other)) return x;
  std::string arrows;
  for (char each : subscripts) arrows += each == (c < 'A' ? '.' : c) ? '^' : ' ';
  return check_and_raise(x, {eq(length, other)}, "ShapeError",
                         cat(error_prefix(c), ": two lengths that must be equal differ\n  where    ", subscripts,
                             "\n           ", arrows));
}

// Replaces two dimensions of a term with the same letter by their diagonal.
void take_diagonals(Term& term, std::string_view subscripts) {
  for (std::size_t i = 0; i < term.names.size(); ++i) {
    const std::size_t again = term.names.find(term.names[i], i + 1);
    if (again == std::string::npos) continue;
    const char c = term.names[i];
    // The two lengths must be equal: the diagonal of a matrix that is not square is shorter.
    std::vector<std::optional<Operand>> equal(std::size_t(term.value.ndim()));
    common_length(term.value.static_shape()[i], term.value.static_shape()[again], int(again), error_prefix(c));
    equal[again] = Operand(length_of(term.value, int(i)));
    const Variable checked =
        with_equal_lengths(term.value, length_of(term.value, int(i)), length_of(term.value, int(again)), c, subscripts);
    term.value = diagonal(specify_shape(checked, equal), 0, int(i), int(again));
    term.names.erase(again, 1);
    term.names.erase(i, 1);
    term.names += c;
    i = std::size_t(-1);
  }
}

void note_summed(Term& term, const Variables& lengths) {
  for (auto& length : lengths)
    if (static_length(length) <= 0) term.summed.push_back(length);
}

void sum_unneeded(Term& term, const std::string& needed) {
  std::vector<int> axes;
  std::string kept;
  for (std::size_t i = 0; i < term.names.size(); ++i) {
    if (has(needed, term.names[i]))
      kept += term.names[i];
    else
      axes.push_back(int(i));
  }
  if (axes.empty()) return;
  Variables lengths;
  for (int axis : axes) lengths.push_back(length_of(term.value, axis));
  note_summed(term, lengths);
  const DType dtype = term.value.dtype();
  term.value = sum(term.value, axes, KeepDims::No, dtype == DType::Bool ? std::optional<DType>() : dtype);
  term.names = kept;
}

// The term's value with its dimensions in this order; dimensions that the term lacks have length 1.
Variable arranged(const Term& term, const std::string& names) {
  std::vector<int> order;
  for (char c : names) order.push_back(has(term.names, c) ? axis_of(term, c) : new_axis);
  return dimshuffle(term.value, order);
}

// The length of a letter, from the term that has it; if both have it, from the one in which it is not 1.
Variable length_in(const Term& a, const Term& b, char c) {
  if (!has(a.names, c)) return length_of(b.value, axis_of(b, c));
  const Variable length = length_of(a.value, axis_of(a, c));
  if (!has(b.names, c) || known_integer(length) != 1) return length;
  return length_of(b.value, axis_of(b, c));
}

bool is_one(const Term& term, char c) { return term.value.static_shape()[std::size_t(axis_of(term, c))] == 1; }

// Lengths that are known to be 1 broadcast: such a dimension is removed if it is longer in the other term.
void drop_ones(Term& term, const Term& other) {
  for (std::size_t i = 0; i < term.names.size(); ++i)
    if (has(other.names, term.names[i]) && is_one(term, term.names[i]) && !is_one(other, term.names[i])) {
      term.value = squeeze(term.value, std::vector<int>{int(i)});
      term.names.erase(i, 1);
      --i;
    }
}

void require_equal_lengths(const Term& a, Term& b, std::string_view subscripts) {
  std::vector<std::optional<Operand>> equal(std::size_t(b.value.ndim()));
  bool any = false;
  for (std::size_t i = 0; i < b.names.size(); ++i) {
    if (!has(a.names, b.names[i])) continue;
    const int other = axis_of(a, b.names[i]);
    common_length(a.value.static_shape()[std::size_t(other)], b.value.static_shape()[i], int(i),
                  error_prefix(b.names[i]));
    const Variable length = length_of(a.value, other);
    b.value = with_equal_lengths(b.value, length, length_of(b.value, int(i)), b.names[i], subscripts);
    equal[i] = Operand(length);
    any = true;
  }
  if (any) b.value = specify_shape(b.value, equal);
}

// The product of two terms whose own letters are summed already, over the letters of both that are not needed.
Term product_of_sums(const Term& a, const Term& b, const std::string& needed) {
  std::string batch, rows, columns, summed;
  for (char c : a.names) (!has(b.names, c) ? rows : has(needed, c) ? batch : summed) += c;
  for (char c : b.names)
    if (!has(a.names, c)) columns += c;
  const std::string names = batch + rows + columns;
  if (summed.empty()) return {names, mul(arranged(a, names), arranged(b, names))};
  const bool is_one_number_each = rows.empty() && columns.empty() && !batch.empty();
  if (is_one_number_each && a.value.dtype() != DType::Bool && b.value.dtype() != DType::Bool) {
    // One loop over both operands, which fuses with their computation, instead of a matrix product per number.
    Term products{batch + summed, mul(arranged(a, batch + summed), arranged(b, batch + summed))};
    sum_unneeded(products, batch);
    return products;
  }
  const auto lengths = [&](const std::string& of) {
    Variables out;
    for (char c : of) out.push_back(length_in(a, b, c));
    return out;
  };
  const Variables batches = lengths(batch), row_lengths = lengths(rows), column_lengths = lengths(columns);
  const Variables summed_lengths = lengths(summed);
  const Variable depth = lengths::product(summed_lengths);
  const auto stacked = [&](const Term& term, const std::string& order, const Variable& n, const Variable& m) {
    Variables shape = batches;
    shape.insert(shape.end(), {n, m});
    return reshape(arranged(term, order), Operands(shape));
  };
  const Variable left = stacked(a, batch + rows + summed, lengths::product(row_lengths), depth);
  const Variable right = stacked(b, batch + summed + columns, depth, lengths::product(column_lengths));
  Variables shape = batches;
  shape.insert(shape.end(), row_lengths.begin(), row_lengths.end());
  shape.insert(shape.end(), column_lengths.begin(), column_lengths.end());
  Term out{names, reshape(matmul(left, right), Operands(shape))};
  note_summed(out, summed_lengths);
  return out;
}

Term product(Term a, Term b, const std::string& needed, std::string_view subscripts) {
  drop_ones(a, b);
  drop_ones(b, a);
  sum_unneeded(a, needed + b.names);
  sum_unneeded(b, needed + a.names);
  require_equal_lengths(a, b, subscripts);
  Term out = product_of_sums(a, b, needed);
  for (auto* lengths : {&a.summed, &a.summed_in_factors, &b.summed, &b.summed_in_factors})
    out.summed_in_factors.insert(out.summed_in_factors.end(), lengths->begin(), lengths->end());
  return out;
}

// The value of the last term, 0 where a factor of it is a sum over nothing.
Variable value_of(const Term& term) {
  if (is_discrete(term.value.dtype()) || term.summed_in_factors.empty()) return term.value;
  Variable is_empty;
  for (auto& length : term.summed_in_factors) {
    const Variable is_zero = eq(length, int64_constant(0));
    is_empty = is_empty.defined() ? or_(is_empty, is_zero) : is_zero;
  }
  return switch_(is_empty, 0, term.value);
}

// The cost of a product of two terms: `growth` is the size of the result less the sizes of both terms, `size` the
// number of products. Unknown lengths are guessed.
struct Cost {
  double growth, size;
  bool operator<(const Cost& other) const { return growth != other.growth ? growth < other.growth : size < other.size; }
};

double size_of(const std::vector<Term>& terms, const std::string& names) {
  constexpr double guess = 32;
  double size = 1;
  for (char c : names) {
    double length = 1;
    for (auto& term : terms)
      if (has(term.names, c)) {
        const std::int64_t known = term.value.static_shape()[std::size_t(axis_of(term, c))];
        length = std::max(length, known == unknown_length ? guess : double(known));
      }
    size *= length;
  }
  return size;
}

// The letters of the output and of all terms except i and j.
std::string needed_beside(const std::vector<Term>& terms, const std::string& output, std::size_t i, std::size_t j) {
  std::string needed = output;
  for (std::size_t k = 0; k < terms.size(); ++k)
    if (k != i && k != j) needed += terms[k].names;
  return needed;
}

}  // namespace

Variable einsum(std::string_view subscripts, const Operands& operands) {
  const LocationScope here(operands.where);
  const Parsed parsed = parse(subscripts, operands.variables);
  std::vector<Term> terms;
  for (std::size_t i = 0; i < parsed.inputs.size(); ++i) {
    terms.push_back({parsed.inputs[i], operands.variables[i]});
    take_diagonals(terms.back(), subscripts);
  }
  while (terms.size() > 1) {
    std::size_t best_i = 0, best_j = 1;
    std::optional<Cost> best;
    for (std::size_t i = 0; i < terms.size(); ++i)
      for (std::size_t j = i + 1; j < terms.size(); ++j) {
        const std::string needed = needed_beside(terms, parsed.output, i, j);
        std::string names, all = terms[i].names;
        for (char c : terms[j].names)
          if (!has(all, c)) all += c;
        for (char c : all)
          if (has(needed, c)) names += c;
        const double result = size_of(terms, names);
        const Cost cost{result - size_of(terms, terms[i].names) - size_of(terms, terms[j].names), size_of(terms, all)};
        if (best && !(cost < *best)) continue;
        best = cost;
        best_i = i;
        best_j = j;
      }
    const std::string needed = needed_beside(terms, parsed.output, best_i, best_j);
    terms[best_i] = product(terms[best_i], terms[best_j], needed, subscripts);
    terms.erase(terms.begin() + std::ptrdiff_t(best_j));
  }
  sum_unneeded(terms[0], parsed.output);
  std::vector<int> order;
  for (char c : parsed.output) order.push_back(axis_of(terms[0], c));
  return dimshuffle(value_of(terms[0]), order);
}

}  // namespace bitale
