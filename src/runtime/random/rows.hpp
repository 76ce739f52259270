// Draws of whole rows: shares that sum to 1, counts, and choices among positions. The methods are NumPy's, draw by
// draw.
#pragma once

#include <cstdint>

#include "bitale/core/bit_generator.hpp"

namespace bitale::runtime::random {

// Each fills `rows` rows of `length` elements; parameters have one row for all (step 0) or one for each, `step`
// elements apart. Returns 0, or 1 if parameters are outside their domain (refuse_* returns which), and then nothing was
// drawn.
std::int64_t dirichlet(std::int64_t generator, std::int64_t rows, std::int64_t length, std::uint64_t* state,
                       const double* alpha, std::int64_t alpha_step, double* out);
std::int64_t multinomial(std::int64_t generator, std::int64_t rows, std::int64_t length, std::uint64_t* state,
                         const std::int64_t* n, std::int64_t n_step, const double* p, std::int64_t p_step,
                         std::int64_t* out);
// All positions in random order; `length` of those below `population`, with fewer draws if that is few.
std::int64_t permutation(std::int64_t generator, std::int64_t rows, std::int64_t length, std::uint64_t* state,
                         std::int64_t* out);
std::int64_t choice(std::int64_t generator, std::int64_t rows, std::int64_t length, std::int64_t population,
                    std::uint64_t* state, std::int64_t* out);
// The same with the given probabilities.
std::int64_t weighted_choice(std::int64_t generator, std::int64_t rows, std::int64_t length, std::int64_t population,
                             std::uint64_t* state, const double* p, std::int64_t p_step, std::int64_t* out);

// The error in the parameters of a row, or null if there is none.
const char* refuse_dirichlet(std::int64_t length, const double* alpha);
const char* refuse_multinomial(std::int64_t length, std::int64_t n, const double* p);
const char* refuse_choice(std::int64_t length, std::int64_t population);
const char* refuse_weights(std::int64_t length, std::int64_t population, const double* p);

}  // namespace bitale::runtime::random
