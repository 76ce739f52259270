// The sum of squared distances of points from the nearest centroid, and Newton's direction.
#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

Eval kmeans() {
  const auto prepare = [](const Json& input, bool is_direction) {
    const auto points = numbers_field(input, "points", 2), centroids = numbers_field(input, "centroids", 2);
    if (!points.shape[0] || !centroids.shape[0]) throw InputError("there must be points and centroids");
    require_shape("centroids", centroids.shape, {centroids.shape[0], points.shape[1]});
    Arguments arguments;
    const bt::Variable p = arguments("points", points), c = arguments("centroids", centroids);
    const bt::Variable distances = bt::sum(bt::sqr(bt::expand_dims(p, 1) - bt::expand_dims(c, 0)), {{2}});
    const bt::Variable cost = bt::sum(bt::min(distances, {{1}}));
    if (!is_direction) return compiled(arguments, cost);
    // The Hessian is diagonal, so its product with ones is its diagonal.
    const bt::Variable slope = bt::grad(cost, c), curvature = bt::pushforward({slope}, {c}, {bt::ones_like(c)})[0];
    return compiled(arguments, slope / curvature);
  };
  return {"kmeans",
          {{"cost", [=](const Json& input) { return prepare(input, false); }},
           {"dir", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench
