// The loops of bench/python/scans.py, handwritten in C++, with their gradients derived by hand. Built with the same
// strict floating point as Bitale's own code.
#include <cmath>
#include <cstdint>
#include <vector>

#if __has_include(<eigen3/Eigen/Dense>)  // Debian: libeigen3-dev
#include <eigen3/Eigen/Dense>
#define HAS_EIGEN 1
#endif

using Size = std::int64_t;
using In = const double* __restrict;
using Out = double* __restrict;

// The log density of an AR(1) process, and its derivatives by mu, phi and log(sigma).
extern "C" void ar1(Size n, In y, double mu, double phi, double log_sigma, Out value, Out by_mu, Out by_phi,
                    Out by_sigma) {
  const double inverse = std::exp(-log_sigma), constant = log_sigma + 0.91893853320467274178;
  double total = 0, mu_bar = 0, phi_bar = 0, sigma_bar = 0, before = mu;
  for (Size t = 0; t < n; ++t) {
    const double z = (y[t] - mu - phi * (before - mu)) * inverse;
    total += -0.5 * z * z - constant;
    const double scaled = z * inverse;
    mu_bar += scaled * (1 - (t ? phi : 0));
    phi_bar += scaled * (before - mu);
    sigma_bar += z * z - 1;
    before = y[t];
  }
  *value = total, *by_mu = mu_bar, *by_phi = phi_bar, *by_sigma = sigma_bar;
}

// Exponential smoothing: the sum of squared errors of its forecasts, and its derivatives.
extern "C" void smoothing(Size n, In x, double a, double s0, Out value, Out by_a, Out by_s0) {
  double total = 0, s = s0, ds = 0, d0 = 1, a_bar = 0, s0_bar = 0;
  const double rest = 1 - a;
  for (Size t = 0; t < n; ++t) {
    const double error = x[t] - s;
    total += error * error;
    a_bar -= 2 * error * ds;
    s0_bar -= 2 * error * d0;
    ds = error + rest * ds;
    d0 = rest * d0;
    s = a * x[t] + rest * s;
  }
  *value = total, *by_a = a_bar, *by_s0 = s0_bar;
}

// A recurrent network of 8 units with 4 inputs.
constexpr Size units = 8, features = 4;

static inline void rnn_step(const double* x, const double* before, const double* w, const double* u, const double* b,
                            double* h) {
  double sum[units];
  for (Size i = 0; i < units; ++i) sum[i] = b[i];
  for (Size j = 0; j < features; ++j)
    for (Size i = 0; i < units; ++i) sum[i] += x[j] * u[j * units + i];
  for (Size j = 0; j < units; ++j)
    for (Size i = 0; i < units; ++i) sum[i] += before[j] * w[j * units + i];
  for (Size i = 0; i < units; ++i) h[i] = std::tanh(sum[i]);
}

extern "C" void rnn_value(Size n, In x, In h0, In w, In u, In b, Out value) {
  double total = 0, h[2][units];
  for (Size i = 0; i < units; ++i) h[0][i] = h0[i];
  for (Size t = 0; t < n; ++t) {
    rnn_step(x + t * features, h[t & 1], w, u, b, h[~t & 1]);
    for (Size i = 0; i < units; ++i) total += h[~t & 1][i] * h[~t & 1][i];
  }
  *value = total;
}

extern "C" void rnn_gradient(Size n, In x, In h0, In w, In u, In b, Out value, Out h0_bar, Out w_bar, Out u_bar,
                             Out b_bar) {
  static std::vector<double> kept;
  kept.resize((n + 1) * units);
  double total = 0, bar[units] = {}, sum_w[units * units] = {}, sum_u[features * units] = {}, sum_b[units] = {};
  for (Size i = 0; i < units; ++i) kept[i] = h0[i];
  for (Size t = 0; t < n; ++t) {
    double* h = &kept[(t + 1) * units];
    rnn_step(x + t * features, h - units, w, u, b, h);
    for (Size i = 0; i < units; ++i) total += h[i] * h[i];
  }
  for (Size t = n; t-- > 0;) {
    const double *h = &kept[(t + 1) * units], *before = h - units;
    double inner[units];
    for (Size i = 0; i < units; ++i) inner[i] = (bar[i] + 2 * h[i]) * (1 - h[i] * h[i]);
    for (Size i = 0; i < units; ++i) sum_b[i] += inner[i];
    for (Size j = 0; j < features; ++j)
      for (Size i = 0; i < units; ++i) sum_u[j * units + i] += x[t * features + j] * inner[i];
    for (Size j = 0; j < units; ++j)
      for (Size i = 0; i < units; ++i) sum_w[j * units + i] += before[j] * inner[i];
    for (Size j = 0; j < units; ++j) {
      double sum = 0;
      for (Size i = 0; i < units; ++i) sum += w[j * units + i] * inner[i];
      bar[j] = sum;
    }
  }
  *value = total;
  for (Size i = 0; i < units; ++i) h0_bar[i] = bar[i], b_bar[i] = sum_b[i];
  for (Size i = 0; i < units * units; ++i) w_bar[i] = sum_w[i];
  for (Size i = 0; i < features * units; ++i) u_bar[i] = sum_u[i];
}

// Lotka-Volterra by the Runge-Kutta method of order 4: the sum of all states' squares, and its derivatives.
namespace {
struct Pair {
  double prey, predator;
};
inline Pair operator+(Pair a, Pair b) { return {a.prey + b.prey, a.predator + b.predator}; }
inline Pair operator*(double a, Pair b) { return {a * b.prey, a * b.predator}; }

inline Pair change(const double* r, Pair s) {
  return {r[0] * s.prey - r[1] * s.prey * s.predator, r[3] * s.prey * s.predator - r[2] * s.predator};
}
// The pullback of change(r, s): adds the cotangent of r for the cotangent k, and returns that of s.
inline Pair pull(const double* r, Pair s, Pair k, double* r_bar) {
  const double product = s.prey * s.predator, both = r[3] * k.predator - r[1] * k.prey;
  r_bar[0] += k.prey * s.prey;
  r_bar[1] -= k.prey * product;
  r_bar[2] -= k.predator * s.predator;
  r_bar[3] += k.predator * product;
  return {r[0] * k.prey + both * s.predator, both * s.prey - r[2] * k.predator};
}
}  // namespace

extern "C" void lotka_volterra(Size n, double dt, In rates, In start, Out value, Out by_rates, Out by_start) {
  static std::vector<Pair> kept;
  kept.resize(n + 1);
  const double r[4] = {rates[0], rates[1], rates[2], rates[3]};
  Pair s = kept[0] = {start[0], start[1]};
  double total = 0;
  for (Size t = 0; t < n; ++t) {
    const Pair k1 = change(r, s), k2 = change(r, s + 0.5 * dt * k1), k3 = change(r, s + 0.5 * dt * k2),
               k4 = change(r, s + dt * k3);
    s = kept[t + 1] = s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    total += s.prey * s.prey + s.predator * s.predator;
  }
  double r_bar[4] = {};
  Pair bar = {0, 0};
  for (Size t = n; t-- > 0;) {
    const Pair s = kept[t], k1 = change(r, s), s2 = s + 0.5 * dt * k1, k2 = change(r, s2), s3 = s + 0.5 * dt * k2,
               k3 = change(r, s3), s4 = s + dt * k3;
    bar = bar + 2 * kept[t + 1];
    const Pair p4 = pull(r, s4, dt / 6 * bar, r_bar), p3 = pull(r, s3, dt / 3 * bar + dt * p4, r_bar),
               p2 = pull(r, s2, dt / 3 * bar + 0.5 * dt * p3, r_bar),
               p1 = pull(r, s, dt / 6 * bar + 0.5 * dt * p2, r_bar);
    bar = bar + p1 + p2 + p3 + p4;
  }
  *value = total;
  for (Size i = 0; i < 4; ++i) by_rates[i] = r_bar[i];
  by_start[0] = bar.prey, by_start[1] = bar.predator;
}

// A loop in a loop: an inner recurrence whose length is that of a row.
extern "C" void nested(Size n, Size m, In x, double a, double b, Out out) {
  double s = 0;
  for (Size i = 0; i < n; ++i) {
    double inner = s;
    for (Size j = 0; j < m; ++j) inner = a * inner + x[i * m + j];
    s = out[i] = b * inner;
  }
}

// The Kalman filter with 4 states, of which 2 are observed: the log likelihood, and its derivatives by the transition
// matrix and both covariances.
#if HAS_EIGEN
namespace {
using Mat4 = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
using Mat2 = Eigen::Matrix<double, 2, 2, Eigen::RowMajor>;
using Mat42 = Eigen::Matrix<double, 4, 2, Eigen::RowMajor>;
using Mat24 = Eigen::Matrix<double, 2, 4, Eigen::RowMajor>;
using Vec4 = Eigen::Matrix<double, 4, 1>;
using Vec2 = Eigen::Matrix<double, 2, 1>;
struct KalmanStep {
  Mat4 before, predicted;
  Vec4 mean;
  Mat42 gain;
  Mat2 inverse;
  Vec2 error;
};
}  // namespace

extern "C" void kalman(Size n, In ys, In fs, In hs, In qs, In rs, Out value, Out f_out, Out q_out, Out r_out) {
  static std::vector<KalmanStep> kept;
  kept.resize(n);
  const Eigen::Map<const Mat4> f(fs), q(qs);
  const Eigen::Map<const Mat24> h(hs);
  const Eigen::Map<const Mat2> r(rs);
  Vec4 m = Vec4::Zero();
  Mat4 p = Mat4::Identity();
  double total = 0;
  for (Size t = 0; t < n; ++t) {
    KalmanStep& k = kept[t];
    k.mean = m, k.before = p;
    const Vec4 m1 = f * m;
    k.predicted.noalias() = f * p * f.transpose() + q;
    k.error = Eigen::Map<const Vec2>(ys + 2 * t) - h * m1;
    const Mat42 pht = k.predicted * h.transpose();
    const Mat2 s = h * pht + r;
    k.inverse = s.inverse();
    k.gain.noalias() = pht * k.inverse;
    m = m1 + k.gain * k.error;
    p = k.predicted - k.gain * pht.transpose();
    total -= 0.5 * (std::log(s.determinant()) + k.error.dot(k.inverse * k.error) + 2 * 1.8378770664093454836);
  }
  Mat4 f_bar = Mat4::Zero(), q_bar = Mat4::Zero(), p_bar = Mat4::Zero();
  Mat2 r_bar = Mat2::Zero();
  Vec4 m_bar = Vec4::Zero();
  for (Size t = n; t-- > 0;) {
    const KalmanStep& k = kept[t];
    const Mat42 pht = k.predicted * h.transpose();
    const Mat42 gain_bar = m_bar * k.error.transpose() - p_bar * pht;
    const Vec2 scaled = k.inverse * k.error, error_bar = k.gain.transpose() * m_bar - scaled;
    const Mat2 inverse_bar = pht.transpose() * gain_bar - 0.5 * k.error * k.error.transpose();
    const Mat2 s_bar = -0.5 * k.inverse - k.inverse * inverse_bar * k.inverse;
    // p = predicted - gain (h predicted), gain = predicted h' inverse
    const Mat4 p1_bar =
        p_bar - h.transpose() * (k.gain.transpose() * p_bar) + (gain_bar * k.inverse) * h + h.transpose() * s_bar * h;
    const Vec4 m1_bar = m_bar - h.transpose() * error_bar;
    q_bar += p1_bar;
    r_bar += s_bar;
    const Mat4 through = f * k.before;
    f_bar += p1_bar * through + p1_bar.transpose() * through + m1_bar * k.mean.transpose();
    p_bar = f.transpose() * p1_bar * f;
    m_bar = f.transpose() * m1_bar;
  }
  *value = total;
  Eigen::Map<Mat4>{f_out} = f_bar;
  Eigen::Map<Mat4>{q_out} = q_bar;
  Eigen::Map<Mat2>{r_out} = r_bar;
}
#endif
