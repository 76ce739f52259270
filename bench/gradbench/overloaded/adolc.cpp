// Derivatives by ADOL-C: a trace, evaluated by its drivers.
#include <adolc/adolc.h>

#include <algorithm>
#include <iterator>

#include "evals.hpp"

namespace {

using gradbench::Values;

// Pointers to the rows of n values.
std::vector<double*> rows_of(double* values, std::size_t count, std::size_t n) {
  std::vector<double*> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = values + i * n;
  return out;
}

class Tape {
 public:
  using Scalar = adouble;

  // Traces that exceed their buffers are written to files, so long ones are recorded again with larger buffers, memory
  // for which is taken as it is used, but at each evaluation again.
  template <class Function>
  Tape(Function function, const Values& x) : tag_(next_tag_++) {
    constexpr unsigned small = 1u << 18, large = 1u << 28;
    record(function, x, small);
    std::size_t statistics[STAT_SIZE];
    tapestats(tag_, statistics);
    const std::size_t lengths[] = {statistics[NUM_OPERATIONS], statistics[NUM_LOCATIONS], statistics[NUM_VALUES],
                                   2 * statistics[TAY_STACK_SIZE]};
    if (*std::max_element(std::begin(lengths), std::end(lengths)) <= small) return;
    removeTape(tag_, ADOLC_REMOVE_COMPLETELY);  // a tag keeps the lengths of its buffers
    tag_ = next_tag_++;
    record(function, x, large);
  }
  ~Tape() { removeTape(tag_, ADOLC_REMOVE_COMPLETELY); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  void gradient(const Values& x, Values& out) {
    check(::gradient(tag_, int(x.size()), const_cast<double*>(x.data()), out.data()));
  }

  void curvature(const Values& x, const Values& v, Values& slopes, Values& products) {
    const std::size_t n = x.size();
    double slope = 0, one = 1;
    Values both(2 * n);
    std::vector<double*> rows = rows_of(both.data(), n, 2);
    check(fos_forward(tag_, 1, int(n), 2, const_cast<double*>(x.data()), const_cast<double*>(v.data()), values_.data(),
                      &slope));
    check(hos_reverse(tag_, 1, int(n), 1, &one, rows.data()));
    for (std::size_t i = 0; i < n; ++i) {
      slopes[i] = both[2 * i];
      products[i] = both[2 * i + 1];
    }
  }

  void jacobian(const Values& x, Values& out) {
    std::vector<double*> rows = rows_of(out.data(), values_.size(), x.size());
    check(::jacobian(tag_, int(values_.size()), int(x.size()), x.data(), rows.data()));
  }

  void pushforward(const Values& x, const Values& v, std::size_t n, Values& out) {
    std::vector<double*> tangents = rows_of(const_cast<double*>(v.data()), x.size(), n),
                         rows = rows_of(out.data(), values_.size(), n);
    check(fov_forward(tag_, int(values_.size()), int(x.size()), int(n), const_cast<double*>(x.data()), tangents.data(),
                      values_.data(), rows.data()));
  }

 private:
  template <class Function>
  void record(Function function, const Values& x, unsigned buffer) {
    trace_on(tag_, 0, buffer, buffer, buffer, buffer, 1);
    std::vector<adouble> independents(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) independents[i] <<= x[i];
    std::vector<adouble> results = function(independents);
    values_.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) results[i] >>= values_[i];
    trace_off();
  }

  static void check(int status) {
    if (status < 0) throw gradbench::InputError("ADOL-C's trace does not hold for this input");
  }

  static inline short next_tag_ = 1;
  short tag_;
  Values values_;
};

}  // namespace

int main() { gradbench::serve_tapes<Tape>("ADOL-C"); }
