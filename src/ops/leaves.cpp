// Symbolic inputs: variables with a dtype and a rank, without an owner.
#include "bitale/core/config.hpp"
#include "bitale/ops/constructors.hpp"

namespace bitale {

namespace {

Variable of_rank(std::string name, std::optional<DType> dtype, std::size_t rank) {
  return tensor(std::move(name), dtype.value_or(config::float_x()), Dims(rank, unknown_length));
}

}  // namespace

Variable tensor(std::string name, DType dtype, const Dims& shape) {
  return Variable(tensor_type(dtype, shape), std::move(name));
}

Variable scalar(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 0); }
Variable vector(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 1); }
Variable matrix(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 2); }
Variable tensor3(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 3); }
Variable tensor4(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 4); }
Variable tensor5(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 5); }
Variable tensor6(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 6); }
Variable tensor7(std::string name, std::optional<DType> dtype) { return of_rank(std::move(name), dtype, 7); }
Variable row(std::string name, std::optional<DType> dtype) {
  return tensor(std::move(name), dtype.value_or(config::float_x()), {1, unknown_length});
}
Variable col(std::string name, std::optional<DType> dtype) {
  return tensor(std::move(name), dtype.value_or(config::float_x()), {unknown_length, 1});
}

Variable lscalar(std::string name) { return scalar(std::move(name), DType::Int64); }
Variable lvector(std::string name) { return vector(std::move(name), DType::Int64); }
Variable lmatrix(std::string name) { return matrix(std::move(name), DType::Int64); }
Variable dscalar(std::string name) { return scalar(std::move(name), DType::Float64); }
Variable dvector(std::string name) { return vector(std::move(name), DType::Float64); }
Variable dmatrix(std::string name) { return matrix(std::move(name), DType::Float64); }
Variable fscalar(std::string name) { return scalar(std::move(name), DType::Float32); }
Variable fvector(std::string name) { return vector(std::move(name), DType::Float32); }
Variable fmatrix(std::string name) { return matrix(std::move(name), DType::Float32); }

}  // namespace bitale
