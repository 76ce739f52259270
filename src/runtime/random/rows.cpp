#include "runtime/random/rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>
#include <vector>

#include "runtime/random/sampler_function.hpp"
#include "runtime/random/samplers.hpp"

namespace bitale::runtime::random {

// ---- domains --------------------------------------------------------------------------------------------------------

const char* refuse_dirichlet(std::int64_t length, const double* alpha) {
  for (std::int64_t k = 0; k < length; ++k)
    if (!(alpha[k] >= 0)) return "alpha < 0 or alpha contains NaNs";
  return nullptr;
}

const char* refuse_multinomial(std::int64_t length, std::int64_t n, const double* p) {
  if (n < 0) return "n < 0";
  double sum = 0;
  for (std::int64_t k = 0; k < length; ++k) {
    if (!(p[k] >= 0 && p[k] <= 1)) return "pvals < 0, pvals > 1 or pvals contains NaNs";
    if (k + 1 < length) sum += p[k];
  }
  return sum > 1.0 + 1e-12 ? "sum(pvals[:-1]) > 1.0" : nullptr;
}

const char* refuse_choice(std::int64_t length, std::int64_t population) {
  return length > population ? "cannot take a larger sample than population when replace is False" : nullptr;
}

const char* refuse_weights(std::int64_t length, std::int64_t population, const double* p) {
  double sum = 0;
  std::int64_t nonzero = 0;
  for (std::int64_t k = 0; k < population; ++k) {
    if (std::isnan(p[k])) return "Probabilities contain NaN";
    if (p[k] < 0) return "Probabilities are not non-negative";
    sum += p[k];
    nonzero += p[k] > 0;
  }
  if (std::fabs(sum - 1.0) > 1.4901161193847656e-08) return "Probabilities do not sum to 1";
  return nonzero < length ? "Fewer non-zero entries in p than size" : refuse_choice(length, population);
}

namespace {

template <class Refuse>
bool all_rows_fit(std::int64_t rows, bool is_fixed, Refuse refuse) {
  for (std::int64_t i = 0, end = is_fixed ? 1 : rows; i < end; ++i)
    if (refuse(i)) return false;
  return true;
}

// From the last index down to index `first`, exchanges each element with one that is not behind it. NumPy's permutation
// draws that index with a mask, its choice with a product.
template <class G>
void shuffle(G& g, std::int64_t* values, std::int64_t count, std::int64_t first = 1, bool by_mask = false) {
  for (std::int64_t i = count - 1; i >= first; --i) {
    const auto most = std::uint64_t(i);
    std::swap(values[i], values[by_mask ? masked(g, most) : bounded(g, most)]);
  }
}

// If all alphas are small, gammas underflow: shares are then split off the remainder, by draws of beta.
template <class G>
void small_shares(G& g, std::int64_t length, const double* alpha, const double* rest, double* out) {
  double left = 1;
  std::fill_n(out, length, 0.0);
  for (std::int64_t k = 0; k + 1 < length; ++k) {
    const double share = beta(g, alpha[k], rest[k + 1]);
    out[k] = left * share;
    left *= 1. - share;
    if (rest[k + 1] == 0) break;
  }
  out[length - 1] = left;
}

template <class G>
void choose(G& g, std::int64_t length, std::int64_t population, std::int64_t* out) {
  constexpr std::int64_t large = 10000, cutoff = 50;
  if (population > large && length > population / cutoff) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(population));
    std::iota(all.begin(), all.end(), 0);
    shuffle(g, all.data(), population, std::max<std::int64_t>(population - length, 1));
    std::copy(all.end() - length, all.end(), out);
    return;
  }
  // Floyd's method.
  std::unordered_set<std::int64_t> taken;
  for (std::int64_t last = population - length; last < population; ++last) {
    const auto drawn = std::int64_t(bounded(g, std::uint64_t(last)));
    const std::int64_t position = taken.insert(drawn).second ? drawn : last;
    taken.insert(position);
    *out++ = position;
  }
  shuffle(g, out - length, length);
}

// Draws all missing positions at once, without duplicates; the weights of those found before are 0.
template <class G>
void choose_weighted(G& g, std::int64_t length, std::int64_t population, const double* p, std::int64_t* out) {
  std::vector<double> left(p, p + population), sums(left.size()), drawn;
  for (std::int64_t found = 0; found < length;) {
    drawn.resize(std::size_t(length - found));
    for (auto& u : drawn) u = g.next_double();
    for (std::int64_t k = 0; k < found; ++k) left[std::size_t(out[k])] = 0;
    std::partial_sum(left.begin(), left.end(), sums.begin());
    const double total = sums.back();
    for (auto& sum : sums) sum /= total;
    const std::int64_t before = found;
    for (double u : drawn) {
      const auto position =
          std::min<std::int64_t>(std::upper_bound(sums.begin(), sums.end(), u) - sums.begin(), population - 1);
      if (std::find(out + before, out + found, position) == out + found) out[found++] = position;
    }
  }
}

}  // namespace

// ---- rows -----------------------------------------------------------------------------------------------------------

std::int64_t dirichlet(std::int64_t generator, std::int64_t rows, std::int64_t length, std::uint64_t* state,
                       const double* alpha, std::int64_t alpha_step, double* out) {
  if (!all_rows_fit(rows, alpha_step == 0,
                    [&](std::int64_t i) { return refuse_dirichlet(length, alpha + i * alpha_step); }))
    return 1;
  if (length == 0) return 0;
  with_generator(BitGenerator(generator), state, [&](auto& g) {
    std::vector<double> rest(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < rows; ++i, out += length) {
      const double* own = alpha + i * alpha_step;
      if (*std::max_element(own, own + length) < 0.1) {
        std::partial_sum(std::reverse_iterator(own + length), std::reverse_iterator(own), rest.rbegin());
        small_shares(g, length, own, rest.data(), out);
        continue;
      }
      double sum = 0;
      for (std::int64_t k = 0; k < length; ++k) sum += out[k] = standard_gamma(g, own[k]);
      const double inverse = 1 / sum;
      for (std::int64_t k = 0; k < length; ++k) out[k] *= inverse;
    }
  });
  return 0;
}

std::int64_t multinomial(std::int64_t generator, std::int64_t rows, std::int64_t length, std::uint64_t* state,
                         const std::int64_t* n, std::int64_t n_step, const double* p, std::int64_t p_step,
                         std::int64_t* out) {
  const auto refuse = [&](std::int64_t i) { return refuse_multinomial(length, n[i * n_step], p + i * p_step); };
  if (!all_rows_fit(rows, n_step == 0 && p_step == 0, refuse)) return 1;
  if (length == 0) return 0;
  with_generator(BitGenerator(generator), state, [&](auto& g) {
    Binomial binomial;
    for (std::int64_t i = 0; i < rows; ++i, out += length) {
      const double* own = p + i * p_step;
      std::fill_n(out, length, 0);
      std::int64_t trials = n[i * n_step];
      double left = 1.0;
      for (std::int64_t k = 0; k + 1 < length && trials > 0; ++k) {
        out[k] = binomial(g, trials, own[k] / left);
        trials -= out[k];
        left -= own[k];
      }
      if (trials > 0) out[length - 1] = trials;
    }
  });
  return 0;
}

std::int64_t permutation(std::int64_t generator, std::int64_t rows, std::int64_t length, std::uint64_t* state,
                         std::int64_t* out) {
  with_generator(BitGenerator(generator), state, [&](auto& g) {
    for (std::int64_t i = 0; i < rows; ++i, out += length) {
      std::iota(out, out + length, 0);
      shuffle(g, out, length, 1, true);
    }
  });
  return 0;
}

std::int64_t choice(std::int64_t generator, std::int64_t rows, std::int64_t length, std::int64_t population,
                    std::uint64_t* state, std::int64_t* out) {
  if (refuse_choice(length, population)) return 1;
  with_generator(BitGenerator(generator), state, [&](auto& g) {
    for (std::int64_t i = 0; i < rows; ++i, out += length) choose(g, length, population, out);
  });
  return 0;
}

std::int64_t weighted_choice(std::int64_t generator, std::int64_t rows, std::int64_t length, std::int64_t population,
                             std::uint64_t* state, const double* p, std::int64_t p_step, std::int64_t* out) {
  const auto refuse = [&](std::int64_t i) { return refuse_weights(length, population, p + i * p_step); };
  if (!all_rows_fit(rows, p_step == 0, refuse)) return 1;
  with_generator(BitGenerator(generator), state, [&](auto& g) {
    for (std::int64_t i = 0; i < rows; ++i, out += length) choose_weighted(g, length, population, p + i * p_step, out);
  });
  return 0;
}

namespace {

const RegisterFunctions registered{
    sampler_function("bt_random_dirichlet", dirichlet, "generator rows length inout:state alpha alpha_step out"),
    sampler_function("bt_random_multinomial", multinomial, "generator rows length inout:state n n_step p p_step out"),
    sampler_function("bt_random_permutation", permutation, "generator rows length inout:state out"),
    sampler_function("bt_random_choice", choice, "generator rows length population inout:state out"),
    sampler_function("bt_random_weighted_choice", weighted_choice,
                     "generator rows length population inout:state p p_step out"),
};

}  // namespace

}  // namespace bitale::runtime::random
