// A program with allocation operators of its own: blocks begin with a mark, which deallocation looks for. Memory passes
// between the program and the library in both directions, so both must use these operators.
#include <bitale/bitale.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t mark = 0x6269'7461'6c65'2121;
constexpr std::size_t header = 64;  // keeps the alignment of blocks
std::atomic<long> allocated{0}, freed{0};

void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t front = alignment > header ? alignment : header;
  char* block = static_cast<char*>(std::aligned_alloc(front, (front + size + front - 1) / front * front));
  if (!block) throw std::bad_alloc();
  std::uint64_t* fields = reinterpret_cast<std::uint64_t*>(block + front) - 2;
  fields[0] = mark, fields[1] = front;
  ++allocated;
  return block + front;
}

void deallocate(void* pointer) noexcept {
  if (!pointer) return;
  std::uint64_t* fields = static_cast<std::uint64_t*>(pointer) - 2;
  if (fields[0] != mark) {
    std::fputs("freed by the program's operator delete, but not allocated by its operator new\n", stderr);
    std::abort();
  }
  fields[0] = 0;
  ++freed;
  std::free(static_cast<char*>(pointer) - fields[1]);
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, header); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate(size, std::size_t(alignment)); }
void operator delete(void* p) noexcept { deallocate(p); }
void operator delete(void* p, std::size_t) noexcept { deallocate(p); }
void operator delete(void* p, std::align_val_t) noexcept { deallocate(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { deallocate(p); }

namespace bt = bitale;

int main() {
  const long before = allocated;
  {
    auto x = bt::vector("a name that is too long to be stored in the string itself");
    std::string text = x.str() + bt::pprint(bt::exp(x));
    bt::Variables gradient = bt::grad(bt::sum(bt::exp(x)), bt::Variables{x});
    auto f = bt::function({x}, bt::Variables{gradient[0], x * 2});
    bt::Results results = f({bt::Array{0., 1., 2.}});
    text += results[0].str() + bt::dprint(gradient[0]);
    try {
      f({bt::Array{1, 2}, bt::Array{3., 4.}});
      return 1;
    } catch (const bt::Error& error) {
      text += error.what();
    }
    if (results[1].at(std::vector<std::int64_t>{2}) != 4 || text.empty()) return 1;
  }
  // The library's own allocations are made by these operators, too.
  std::printf("%ld allocated, %ld freed\n", allocated.load() - before, freed.load());
  return allocated - before > 100 && freed > 100 ? 0 : 1;
}
