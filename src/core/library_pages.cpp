#include "core/library_pages.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>

namespace bitale {

namespace {

using Address = ElfW(Addr);
using Segment = ElfW(Phdr);

bool is_loaded(const Segment& segment) { return segment.p_type == PT_LOAD; }

int give_back_if_there(dl_phdr_info* library, std::size_t, void* wanted) {
  const std::span<const Segment> segments(library->dlpi_phdr, library->dlpi_phnum);
  const auto address = *static_cast<const Address*>(wanted) - library->dlpi_addr;
  bool is_here = false;
  for (const Segment& s : segments) is_here |= is_loaded(s) && address >= s.p_vaddr && address < s.p_vaddr + s.p_memsz;
  if (!is_here) return 0;
  const auto page = Address(sysconf(_SC_PAGESIZE));
  for (const Segment& s : segments) {
    if (!is_loaded(s) || (s.p_flags & PF_W)) continue;  // written pages are not in the file
    const Address begin = (library->dlpi_addr + s.p_vaddr + page - 1) & ~(page - 1);
    const Address end = (library->dlpi_addr + s.p_vaddr + s.p_memsz) & ~(page - 1);
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // a hint only
  }
  return 1;
}

}  // namespace

void give_back_pages(const void* address) {
  auto wanted = reinterpret_cast<Address>(address);
  dl_iterate_phdr(give_back_if_there, &wanted);
}

}  // namespace bitale
