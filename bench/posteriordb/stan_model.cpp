// A Stan program as a shared library with one function, the value and gradient of its log density on the unconstrained
// space. MODEL is the file that Stan's compiler made of the program; compile_stan.py compiles this.
#include <stan/model/model_header.hpp>

#include MODEL

#include <fstream>
#include <iostream>
#include <stan/io/json/json_data.hpp>

// The program with the data of a file, or null.
extern "C" void* stan_new(const char* file) {
  try {
    std::ifstream in(file);
    stan::json::json_data data(in);
    return &new_model(data, 1, nullptr);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return nullptr;
  }
}

// As stanli's function of that kind; constants are dropped.
extern "C" int stan_grad(void* handle, const double* q, double* value, double* gradient) {
  auto& model = *static_cast<stan::model::model_base*>(handle);
  try {
    const stan::math::nested_rev_autodiff nested;
    Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1> x(model.num_params_r());
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = q[i];
    stan::math::var density = model.log_prob_propto_jacobian(x, nullptr);
    stan::math::grad(density.vi_);
    *value = density.val();
    for (Eigen::Index i = 0; i < x.size(); ++i) gradient[i] = x[i].adj();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}
