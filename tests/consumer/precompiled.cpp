// The precompiled header is the only one.
namespace {

double squares(const bitale::Array& values) {
  auto x = bitale::vector("x");
  return bitale::function({x}, bitale::sum(bitale::sqr(x)))({values})[0].item();
}

}  // namespace

int main() { return squares(bitale::Array{1., 2., 3.}) == 14 ? 0 : 1; }
