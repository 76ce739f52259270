"""Models of `tests/pymc/models.py` as Stan programs, which stanli interprets: each has the same log density, up to a constant, of the
same unconstrained vector. Data have the names of the local variables and of the observed variables of the model's function.

`pymc_stan.py` compares densities and gradients with PyTensor's."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

INDICES = {"county", "group", "person", "item", "row", "column"}  # which count from 1 in Stan


@dataclass(frozen=True)
class Program:
    data: str
    parameters: str
    model: str

    @property
    def text(self):
        return "\n".join(
            f"{block} {{ {text} }}"
            for block, text in (
                ("data", self.data),
                ("parameters", self.parameters),
                ("model", self.model),
            )
        )


SCHOOLS = "vector[8] y; vector[8] sigma;"
PROGRAMS = {
    "eight_schools_centred": Program(
        SCHOOLS, "real mu; real<lower=0> tau; vector[8] theta;",
        "mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, sigma);",
    ),
    "eight_schools_not_centred": Program(
        SCHOOLS, "real mu; real<lower=0> tau; vector[8] eta;",
        "mu ~ normal(0, 5); tau ~ cauchy(0, 5); eta ~ std_normal(); y ~ normal(mu + tau * eta, sigma);",
    ),
    "radon": Program(
        "array[120] int county; vector[120] floor; vector[120] y;",
        "real mu; real<lower=0> tau; vector[12] alpha; real beta; real<lower=0> sigma;",
        "mu ~ normal(0, 10); tau ~ normal(0, 1); alpha ~ normal(mu, tau); beta ~ normal(0, 10); sigma ~ cauchy(0, 5);"
        "y ~ normal(alpha[county] + beta * floor, sigma);",
    ),
    "logistic_hierarchical": Program(
        "array[150] int group; vector[150] x; array[150] int y;", "real<lower=0> sd; vector[10] z; vector[2] b;",
        "sd ~ std_normal(); z ~ std_normal(); b ~ std_normal(); y ~ bernoulli_logit(b[1] + b[2] * x + sd * z[group]);",
    ),
    "linear_regression": Program(
        "matrix[100, 3] x; vector[100] y;", "real a; vector[3] b; real<lower=0> sigma;",
        "a ~ normal(0, 10); b ~ normal(0, 10); sigma ~ cauchy(0, 2.5); y ~ normal_id_glm(x, a, b, sigma);",
    ),
    "poisson_exposure": Program(
        "matrix[80, 3] x; vector[80] exposure; array[80] int y;", "real a; vector[3] b;",
        "a ~ normal(0, 2); b ~ std_normal(); y ~ poisson_log(a + x * b + log(exposure));",
    ),
    "negative_binomial_exposure": Program(
        "matrix[80, 2] x; vector[80] exposure; array[80] int y;", "real a; vector[2] b; real<lower=0> alpha;",
        "a ~ std_normal(); b ~ std_normal(); alpha ~ exponential(1); y ~ neg_binomial_2_log(a + x * b + log(exposure), alpha);",
    ),
    "zero_inflated_poisson": Program(
        "array[60] int y;", "real<lower=0, upper=1> psi; real<lower=0> mu;",
        "psi ~ beta(2, 2); mu ~ gamma(2, 1);"
        "for (i in 1:60) target += y[i] == 0 ? log_mix(psi, poisson_lpmf(0 | mu), 0) : log(psi) + poisson_lpmf(y[i] | mu);",
    ),
    "zero_inflated_negative_binomial": Program(
        "vector[80] x; array[80] int y;", "real a; real b; real<lower=0> alpha; real<lower=0, upper=1> psi;",
        "a ~ std_normal(); b ~ std_normal(); alpha ~ exponential(1); psi ~ beta(2, 2);"
        "for (i in 1:80) { real d = neg_binomial_2_log_lpmf(y[i] | a + b * x[i], alpha); target += y[i] == 0 ? log_mix(psi, d, 0) : log(psi) + d; }",
    ),
    "hurdle_gamma": Program(
        "vector[60] y;", "real<lower=0, upper=1> psi; real<lower=0> mu; real<lower=0> sigma;",
        "psi ~ beta(2, 2); mu ~ gamma(2, 1); sigma ~ normal(0, 2);"
        "for (i in 1:60) target += y[i] == 0 ? log1m(psi) : log(psi) + gamma_lpdf(y[i] | square(mu / sigma), mu / square(sigma));",
    ),
    "beta_binomial": Program(
        "array[40] int n; array[40] int y;", "real<lower=0, upper=1> mean_; real<lower=0> size_;",
        "mean_ ~ beta(2, 2); size_ ~ gamma(2, 0.1); y ~ beta_binomial(n, mean_ * size_, (1 - mean_) * size_);",
    ),
    "ordered_logistic": Program(
        "vector[70] x; array[70] int y;", "real b; ordered[3] cut;",
        "b ~ std_normal(); cut ~ normal([-4, 0, 4]', 0.5); for (i in 1:70) target += ordered_logistic_lpmf(y[i] + 1 | b * x[i], cut);",
    ),
    "multinomial_softmax": Program(
        "matrix[50, 3] x; array[50] int y;", "array[3] vector[4] w;",
        "for (k in 1:3) w[k] ~ std_normal();"
        "for (i in 1:50) target += categorical_logit_lpmf(y[i] + 1 | x[i, 1] * w[1] + x[i, 2] * w[2] + x[i, 3] * w[3]);",
    ),
    "survival_censored": Program(
        "vector[60] x; vector[60] y;", "real a; real b; real<lower=0> alpha;",
        "a ~ std_normal(); b ~ std_normal(); alpha ~ std_normal();"
        "for (i in 1:60) { real s = exp(a + b * x[i]); target += y[i] < 1.2 ? weibull_lpdf(y[i] | alpha, s) : weibull_lccdf(1.2 | alpha, s); }",
    ),
    "robust_regression": Program(
        "vector[70] x; vector[70] y;", "real<lower=0> nu; real<lower=0> sigma; real a; real b;",
        "nu ~ gamma(2, 0.1); sigma ~ std_normal(); a ~ std_normal(); b ~ std_normal(); y ~ student_t(nu, a + b * x, sigma);",
    ),
    "horseshoe": Program(
        "matrix[60, 12] x; vector[60] y;",
        "real<lower=0> tau; vector<lower=0>[12] lam; vector[12] z; real<lower=0> c2; real<lower=0> sigma;",
        "tau ~ cauchy(0, 0.1); lam ~ student_t(3, 0, 1); z ~ std_normal(); c2 ~ inv_gamma(2, 2); sigma ~ std_normal();"
        "y ~ normal_id_glm(x, 0, z .* (tau * lam .* sqrt(c2 ./ (c2 + tau^2 * square(lam)))), sigma);",
    ),
    "item_response": Program(
        "array[150] int person; array[150] int item; array[150] int y;",
        "vector[15] ability; vector[8] difficulty; vector<lower=0>[8] discrimination;",
        "ability ~ std_normal(); difficulty ~ std_normal(); discrimination ~ lognormal(0, 0.5);"
        "y ~ bernoulli_logit(discrimination[item] .* (ability[person] - difficulty[item]));",
    ),
    "measurement_error": Program(
        "vector[40] seen; vector[40] y;", "vector[40] true_; real a; real b; real<lower=0> sigma;",
        "true_ ~ normal(0, 2); a ~ std_normal(); b ~ double_exponential(0, 1); sigma ~ exponential(1);"
        "seen ~ normal(true_, 0.3); y ~ normal(a + b * true_, sigma);",
    ),
    "change_point": Program(
        "array[110] int y;", "real<lower=0> early; real<lower=0> late;",
        "vector[111] one = rep_vector(0, 111); vector[111] two = rep_vector(0, 111); early ~ exponential(1); late ~ exponential(1);"
        "for (i in 1:110) { one[i + 1] = one[i] + poisson_lpmf(y[i] | early); two[i + 1] = two[i] + poisson_lpmf(y[i] | late); }"
        "target += log_sum_exp(one[2:111] + two[111] - two[2:111]);",
    ),
    "autoregression": Program(
        "vector[60] y;", "vector[3] rho; real<lower=0> sigma;",
        "rho ~ normal(0, 0.5); sigma ~ std_normal(); y[3:60] ~ normal(rho[1] + rho[2] * y[2:59] + rho[3] * y[1:58], sigma);",
    ),
    "random_walk": Program(
        "vector[50] y;", "real<lower=0> sigma; vector[50] level;",
        "sigma ~ exponential(5); level[1] ~ std_normal(); level[2:50] ~ normal(level[1:49], sigma); y ~ normal(level, 0.5);",
    ),
    "stochastic_volatility": Program(
        "vector[60] r;", "real<lower=0> step; real<lower=0> nu; vector[60] h;",
        "step ~ exponential(10); nu ~ exponential(0.1); h[1] ~ std_normal(); h[2:60] ~ normal(h[1:59], step); r ~ student_t(nu, 0, exp(h));",
    ),
    "garch": Program(
        "vector[80] y;", "real mu; real<lower=0> a0; real<lower=0, upper=1> a1; real<lower=0, upper=1 - a1> b1;",
        "vector[80] v; v[1] = 1; for (t in 2:80) v[t] = a0 + a1 * square(y[t - 1] - mu) + b1 * v[t - 1];"
        "mu ~ normal(0, 5); a0 ~ normal(0, 2); target += -log1m(a1); y ~ normal(mu, sqrt(v));",
    ),
    "hidden_markov": Program(
        "vector[100] y;", "vector<lower=0, upper=1>[2] stay; vector[2] mu; real<lower=0> sigma;",
        "matrix[2, 2] change = log([[stay[1], 1 - stay[1]], [1 - stay[2], stay[2]]]); vector[2] state; vector[2] next;"
        "stay ~ beta(5, 2); mu ~ normal([-1, 1]', 1); sigma ~ std_normal();"
        "for (k in 1:2) state[k] = normal_lpdf(y[1] | mu[k], sigma);"
        "for (t in 2:100) { for (k in 1:2) next[k] = log_sum_exp(state + change[, k]) + normal_lpdf(y[t] | mu[k], sigma); state = next; }"
        "target += log_sum_exp(state);",
    ),
    "state_space_scan": Program(
        "vector[30] y;", "real<lower=0> q; real<lower=0> r;",
        "real m = 0; real p = 1; q ~ std_normal(); r ~ std_normal();"
        "for (t in 1:30) { real total; real gain; p += q^2; total = p + r^2; gain = p / total;"
        "target += normal_lpdf(y[t] | m, sqrt(total)); m += gain * (y[t] - m); p = (1 - gain) * p; }",
    ),
    "ode_scan": Program(
        "vector[40] y;", "real<lower=0> rate; real<lower=0> capacity;",
        "vector[40] n; real last = 0.5; rate ~ lognormal(-1, 0.5); capacity ~ lognormal(2, 0.5);"
        "for (t in 1:40) { last += 0.2 * rate * last * (1 - last / capacity); n[t] = last; } y ~ normal(n, 0.5);",
    ),
    "gp_marginal": Program(
        "array[25] vector[1] x; vector[25] y;", "real<lower=0> length; real<lower=0> eta; real<lower=0> sigma;",
        "length ~ gamma(2, 1); eta ~ normal(0, 2); sigma ~ std_normal();"
        "y ~ multi_normal_cholesky(rep_vector(0, 25), cholesky_decompose(add_diag(gp_matern52_cov(x, eta, length), square(sigma) + 1e-6)));",
    ),
    "gp_latent": Program(
        "array[20] vector[1] x; array[20] int y;", "real<lower=0> eta; real<lower=0> length; vector[20] f;",
        "eta ~ normal(0, 2); length ~ gamma(2, 1); f ~ std_normal();"
        "y ~ bernoulli_logit(cholesky_decompose(add_diag(gp_exp_quad_cov(x, eta, length), 1e-6)) * f);",
    ),
    "matrix_factorisation": Program(
        "array[70] int row; array[70] int column; vector[70] y;", "array[9] vector[3] u; array[7] vector[3] v; real<lower=0> sigma;",
        "vector[70] m; for (i in 1:70) m[i] = dot_product(u[row[i]], v[column[i]]);"
        "for (i in 1:9) u[i] ~ std_normal(); for (i in 1:7) v[i] ~ std_normal(); sigma ~ std_normal(); y ~ normal(m, sigma);",
    ),
    "spatial_bym2": Program(
        "array[16] int y;", "vector[16] phi; vector[16] theta; real<lower=0> sigma; real<lower=0, upper=1> rho; real a;",
        "target += -0.5 * (dot_self(phi[2:16] - phi[1:15]) + square(phi[16] - phi[1])); sum(phi) ~ normal(0, 0.016); theta ~ std_normal();"
        "sigma ~ std_normal(); rho ~ beta(0.5, 0.5); a ~ std_normal(); y ~ poisson_log(a + sigma * (sqrt(rho) * phi + sqrt(1 - rho) * theta));",
    ),
    "splines": Program(
        "matrix[60, 6] basis; vector[60] y;", "real<lower=0> tau; vector[6] w; real a; real<lower=0> sigma;",
        "tau ~ cauchy(0, 1); w ~ normal(0, tau); a ~ normal(0, 5); sigma ~ std_normal(); y ~ normal_id_glm(basis, a, w, sigma);",
    ),
    "truncated": Program(
        "vector[50] y;", "real mu; real<lower=0> sigma;",
        "mu ~ std_normal(); sigma ~ std_normal(); target += normal_lpdf(y | mu, sigma)"
        "- 50 * log_diff_exp(normal_lcdf(2 | mu, sigma), normal_lcdf(-1 | mu, sigma));",
    ),
}  # fmt: skip


def data_of(build, names):
    """The model of a function of `models.py`, and the values of these local or observed variables."""
    local = {}

    def watch(frame, event, _):
        if event == "return" and frame.f_code is build.__wrapped__.__code__:
            local.update(frame.f_locals)

    sys.setprofile(watch)
    try:
        model = build()
    finally:
        sys.setprofile(None)
    observed = {v.name: model.rvs_to_values[v].data for v in model.observed_RVs}
    values = {
        name: np.asarray(
            observed[name] if name in observed else getattr(local[name], "data", local[name])
        )
        for name in names
    }
    return model, {name: (value + (name in INDICES)).tolist() for name, value in values.items()}


def compiled(name, build):
    """stanli's model of a program, and PyMC's model."""
    import stanli

    program = PROGRAMS[name]
    model, data = data_of(build, re.findall(r"(\w+);", program.data))
    return stanli.Model(stan_code=program.text, data=data), model


def main():
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "pymc"))
    from compare import points
    from models import MODELS

    for name in sys.argv[1:] or PROGRAMS:
        stan, model = compiled(name, MODELS[name])
        ours = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
        ours.set_extra_values({})
        found = [(*ours(at), *stan.log_prob_grad(at)) for at in points(model)[:4]]
        constant = found[0][0] - found[0][2]
        value = max(abs(a - b - constant) for a, _, b, _ in found)
        gradient = max(np.max(np.abs(a - b)) / np.max(np.abs(b)) for _, a, _, b in found)
        print(f"{name}: density {value:.0e}, gradient {gradient:.0e} of the largest", flush=True)


if __name__ == "__main__":
    main()
