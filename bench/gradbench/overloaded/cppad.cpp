// Derivatives by CppAD: a recorded ADFun, optimized without the comparisons that only tell whether a tape still holds.
#include <cppad/cppad.hpp>

namespace CppAD {

inline AD<double> fmin(const AD<double>& a, const AD<double>& b) { return CondExpLt(a, b, a, b); }
inline AD<double> fmax(const AD<double>& a, const AD<double>& b) { return CondExpGt(a, b, a, b); }

}  // namespace CppAD

#include "evals.hpp"

namespace {

using gradbench::Values;

class Tape {
 public:
  using Scalar = CppAD::AD<double>;

  template <class Function>
  Tape(Function function, const Values& x) {
    std::vector<Scalar> independents(x.begin(), x.end());
    CppAD::Independent(independents);
    const std::vector<Scalar> results = function(independents);
    function_.Dependent(independents, results);
    function_.optimize("no_compare_op");
    function_.check_for_nan(false);
  }

  void gradient(const Values& x, Values& out) {
    function_.Forward(0, x);
    out = function_.Reverse(1, one_);
  }

  void curvature(const Values& x, const Values& v, Values& slopes, Values& products) {
    function_.Forward(0, x);
    function_.Forward(1, v);
    const Values both = function_.Reverse(2, one_);
    for (std::size_t i = 0; i < x.size(); ++i) {
      slopes[i] = both[2 * i];
      products[i] = both[2 * i + 1];
    }
  }

  void jacobian(const Values& x, Values& out) { out = function_.Jacobian(x); }

  void pushforward(const Values& x, const Values& v, std::size_t n, Values& out) {
    function_.Forward(0, x);
    out = function_.Forward(1, n, v);
  }

 private:
  CppAD::ADFun<double> function_;
  const Values one_{1.};
};

}  // namespace

int main() {
  CppAD::thread_alloc::hold_memory(true);
  gradbench::serve_tapes<Tape>(CPPAD_PACKAGE_STRING);
}
