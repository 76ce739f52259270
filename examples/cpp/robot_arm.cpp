// A robot arm of six joints draws a curve: the angles that bring its hand to each point, by damped least squares with a
// Jacobian by automatic differentiation. One step is one function, which is compiled once and called thousands of
// times. Fails when the hand misses the curve. `robot_arm FILE.svg` draws the arm.
//
// Denavit and Hartenberg (1955): each joint turns about the z axis of the frame before it; Wampler (1986): the damping.
#include <algorithm>
#include <array>
#include <bitale/bitale.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numbers>

#include "table.hpp"

namespace bt = bitale;
using std::numbers::pi;

namespace {

struct Joint {
  double length, offset, twist;  // along the new x axis, along the old z axis, about the new x axis
};
constexpr Joint arm[] = {{0, 0.089, pi / 2}, {-0.425, 0, 0},      {-0.392, 0, 0},
                         {0, 0.109, pi / 2}, {0, 0.095, -pi / 2}, {0, 0.082, 0}};
constexpr std::size_t joints = std::size(arm);
using Angles = std::array<double, joints>;
using Point = std::array<double, 3>;

struct Frame {
  bt::Variable x, y, z, origin;
};

// The frame behind a joint, as an expression of the frame before it and the angle.
Frame behind(const Frame& before, const Joint& joint, const bt::Variable& angle) {
  const auto c = bt::cos(angle), s = bt::sin(angle);
  const auto x = c * before.x + s * before.y, y = c * before.y - s * before.x;
  const double ct = std::cos(joint.twist), st = std::sin(joint.twist);
  return {x, ct * y + st * before.z, ct * before.z - st * y,
          before.origin + joint.offset * before.z + joint.length * x};
}

// A figure of eight on a board that stands across the x axis.
Point on_curve(double t) { return {-0.5, 0.3 * std::sin(t), 0.4 + 0.15 * std::sin(2 * t)}; }

// The arm seen from the side and a little from above, in units of the picture.
struct Seen {
  double u, v;
};
Seen seen(const double* p) {
  return {430 - 420 * (0.55 * p[1] - 0.85 * p[0]), 330 - 420 * (p[2] + 0.2 * p[1] + 0.1 * p[0])};
}

std::string polyline(const std::vector<Seen>& points, const std::string& style) {
  std::string text = "<polyline fill=\"none\" " + style + " points=\"";
  char one[64];
  for (const Seen& at : points) {
    std::snprintf(one, sizeof one, "%.1f,%.1f ", at.u, at.v);
    text += one;
  }
  return text + "\"/>\n";
}

int run(const char* picture) {
  const auto angles = bt::tensor("angles", bt::DType::Float64, {joints});
  const auto target = bt::tensor("target", bt::DType::Float64, {3});

  const auto axis = [](double x, double y, double z) { return bt::constant(bt::Array{x, y, z}); };
  Frame frame{axis(1, 0, 0), axis(0, 1, 0), axis(0, 0, 1), axis(0, 0, 0)};
  bt::Variables origins{frame.origin};
  for (std::size_t k = 0; k < joints; ++k) {
    frame = behind(frame, arm[k], bt::subtensor(angles, {int(k)}));
    origins.push_back(frame.origin);
  }
  // The hand shall be at the target and point along the board's normal: six numbers that shall be zero. The last joint
  // changes none of them, so that the Jacobian is singular, which the damping allows for.
  const auto missing = bt::join(0, {frame.origin - target, frame.z - axis(-1, 0, 0)});
  const auto jacobian = bt::jacobian(missing, angles);
  const auto normal = bt::dot(bt::transpose(jacobian), jacobian) + 1e-4 * bt::eye(std::int64_t(joints));
  const auto next =
      angles - bt::solve(normal, bt::dot(bt::transpose(jacobian), missing), {.assume_a = bt::Assume::PositiveDefinite});
  const auto error = bt::sqrt(bt::sum(bt::sqr(missing)));

  const auto compiled = bt::function({angles, target}, {error, next});
  const auto step = compiled.as<double(std::span<const double>, std::span<const double>, std::span<double>)>();
  const auto places = bt::function({angles}, bt::stack(origins));

  const int points = quick() ? 100 : 2000;
  Angles at{0.1, -1.2, 1.8, -2.2, -1.6, 0};
  std::vector<Seen> drawn;
  std::string arms;
  double worst = 0;
  long steps = 0;
  std::chrono::duration<double, std::micro> spent{};
  for (int k = 0; k <= points; ++k) {
    const Point to = on_curve(2 * pi * k / points);
    double left = 1;
    const auto begin = std::chrono::steady_clock::now();
    for (int tries = 0; left > 1e-9 && tries < 500; ++tries, ++steps) {
      Angles better;
      left = step(at, to, better);
      at = better;
    }
    spent += std::chrono::steady_clock::now() - begin;
    worst = std::max(worst, left);

    const bt::Array now = places({bt::Array::from(at.data(), bt::DType::Float64, {joints})})[0];
    const double* p = now.data_as<double>();
    drawn.push_back(seen(p + 3 * joints));
    if (k % (points / 10) == 0) {
      std::vector<Seen> bones;
      for (std::size_t j = 0; j <= joints; ++j) bones.push_back(seen(p + 3 * j));
      const double share = double(k) / points;
      arms += polyline(
          bones, "stroke=\"#1f77b4\" stroke-width=\"7\" stroke-linejoin=\"round\" stroke-linecap=\"round\" opacity=\"" +
                     std::to_string(0.15 + 0.85 * share * share * share) + "\"");
    }
  }
  std::printf("%d points of the curve, %.1f steps for each, of %.2f us; the largest error is %.1e\n", points + 1,
              double(steps) / (points + 1), spent.count() / double(steps), worst);
  if (picture != nullptr) {
    std::ofstream(picture)
        << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"80 75 460 270\" width=\"700\" height=\"411\">\n"
        << arms << polyline(drawn, "stroke=\"#d95f02\" stroke-width=\"3\"") << "</svg>\n";
  }
  return worst < 1e-8 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
