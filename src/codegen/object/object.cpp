#include "codegen/object/object.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/object/machine.hpp"

namespace bitale::codegen {

namespace {

[[noreturn]] void refuse(std::string_view what) { throw ValueError(cat("object file: ", what)); }

void require(bool ok, std::string_view what) {
  if (!ok) refuse(what);
}

// The file's tables, each access checked against its end.
class File {
 public:
  explicit File(std::string_view bytes) : bytes_(bytes) {
    header_ = get<Elf64_Ehdr>(0);
    require(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_ident[EI_CLASS] == ELFCLASS64 &&
                header_.e_ident[EI_DATA] == ELFDATA2LSB && header_.e_type == ET_REL,
            "not a relocatable 64-bit ELF file");
    require(header_.e_machine == this_machine()->elf_machine, "made for another processor");
    require(header_.e_shentsize == sizeof(Elf64_Shdr), "unusual section headers");
    for (std::size_t i = 0; i < header_.e_shnum; ++i)
      sections_.push_back(get<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    for (auto& section : sections_)
      if (section.sh_type == SHT_SYMTAB) {
        require(section.sh_entsize == sizeof(Elf64_Sym) && section.sh_link < sections_.size(), "a bad symbol table");
        symbols_ = table<Elf64_Sym>(section);
        names_ = contents(sections_[section.sh_link]);
      }
    require(header_.e_shstrndx < sections_.size(), "no names of sections");
    section_names_ = contents(sections_[header_.e_shstrndx]);
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }

  std::string_view contents(const Elf64_Shdr& section) const {
    require(section.sh_offset <= bytes_.size() && section.sh_size <= bytes_.size() - section.sh_offset,
            "a section beyond its end");
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  template <class T>
  std::vector<T> table(const Elf64_Shdr& section) const {
    const std::string_view from = contents(section);
    std::vector<T> out(from.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), from.data(), out.size() * sizeof(T));
    return out;
  }
  std::string_view name_of(const Elf64_Sym& symbol) const { return text(names_, symbol.st_name); }
  std::string_view name_of(const Elf64_Shdr& section) const { return text(section_names_, section.sh_name); }

 private:
  template <class T>
  T get(std::uint64_t offset) const {
    require(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset, "it is cut short");
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return out;
  }
  static std::string_view text(std::string_view table, std::uint64_t offset) {
    require(offset < table.size(), "a name beyond its table");
    const std::size_t end = table.find('\0', offset);
    require(end != table.npos, "a name without end");
    return table.substr(offset, end - offset);
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::string_view names_, section_names_;
};

// Sections that go into memory. Tables for unwinding do not: no exception passes through generated code.
bool is_loaded(const File& file, const Elf64_Shdr& section) {
  if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0) return false;
  const std::string_view name = file.name_of(section);
  if (name == ".eh_frame") return false;
  require(section.sh_type == SHT_PROGBITS, "a section of a kind that is not known");
  // Data may be written by relocations, but not by the code: calls must not share state.
  require(!(section.sh_flags & SHF_WRITE) || name.starts_with(".data.rel.ro"), "writable data");
  return true;
}

// Where everything goes: the sections, then a jump and an address for each outside function.
struct Layout {
  std::vector<bool> loaded;                              // of each section: it goes into memory
  std::vector<std::uint64_t> at;                         // of each section that does
  std::unordered_map<std::size_t, std::size_t> outside;  // symbol -> number of its jump
  std::vector<void*> addresses;                          // of outside functions
  std::uint64_t jumps = 0, slots = 0, size = 0;
};

Layout lay_out(const File& file, const Resolve& resolve) {
  constexpr std::uint64_t most = std::uint64_t(1) << 30;  // distances between parts fit 32 bits
  Layout layout;
  for (auto& section : file.sections()) {
    const bool loaded = is_loaded(file, section);
    const std::uint64_t align = section.sh_addralign ? section.sh_addralign : 1;
    if (loaded) {
      require(std::has_single_bit(align) && align <= 4096, "a bad alignment");
      require(section.sh_size < most && layout.size < most, "too large");
      layout.size = (layout.size + align - 1) & ~(align - 1);
    }
    layout.loaded.push_back(loaded);
    layout.at.push_back(layout.size);
    if (loaded) layout.size += section.sh_size;
  }
  for (std::size_t i = 1; i < file.symbols().size(); ++i) {
    const Elf64_Sym& symbol = file.symbols()[i];
    if (symbol.st_shndx != SHN_UNDEF) continue;
    const std::string name(file.name_of(symbol));
    void* address = resolve(name);
    require(address != nullptr, cat("nobody defines `", name, "`"));
    layout.outside.emplace(i, layout.addresses.size());
    layout.addresses.push_back(address);
  }
  layout.jumps = (layout.size + 15) & ~std::uint64_t(15);
  layout.slots = layout.jumps + layout.addresses.size() * this_machine()->jump_bytes;
  layout.slots = (layout.slots + 7) & ~std::uint64_t(7);
  layout.size = layout.slots + layout.addresses.size() * sizeof(void*);
  require(layout.size < most, "too large");
  return layout;
}

class Loader {
 public:
  Loader(const File& file, const Layout& layout, std::uint8_t* memory)
      : file_(file), layout_(layout), memory_(memory) {}

  void copy() const {
    for (std::size_t i = 0; i < file_.sections().size(); ++i) {
      if (!layout_.loaded[i]) continue;
      const std::string_view from = file_.contents(file_.sections()[i]);
      std::memcpy(memory_ + layout_.at[i], from.data(), from.size());
    }
    for (std::size_t k = 0; k < layout_.addresses.size(); ++k) {
      std::memcpy(memory_ + layout_.slots + k * sizeof(void*), &layout_.addresses[k], sizeof(void*));
      this_machine()->write_jump(memory_ + layout_.jumps + k * this_machine()->jump_bytes, slot(k));
    }
  }

  void relocate() const {
    for (auto& section : file_.sections()) {
      require(section.sh_type != SHT_REL, "relocations without addends");
      if (section.sh_type != SHT_RELA) continue;
      require(section.sh_info < file_.sections().size(), "relocations of no section");
      if (!layout_.loaded[section.sh_info]) continue;
      for (auto& entry : file_.table<Elf64_Rela>(section))
        relocate(entry, file_.sections()[section.sh_info].sh_size, layout_.at[section.sh_info]);
    }
  }

  std::uint8_t* find(const std::string& name) const {
    for (auto& symbol : file_.symbols())
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && file_.name_of(symbol) == name)
        return memory_ + offset_of(symbol);
    refuse(cat("it has no function `", name, "`"));
  }

 private:
  std::uint64_t slot(std::size_t k) const { return address(layout_.slots + k * sizeof(void*)); }
  std::uint64_t address(std::uint64_t offset) const { return reinterpret_cast<std::uintptr_t>(memory_) + offset; }

  std::uint64_t offset_of(const Elf64_Sym& symbol) const {
    require(symbol.st_shndx < file_.sections().size(), "a symbol of no section");
    const bool inside = symbol.st_value <= file_.sections()[symbol.st_shndx].sh_size;
    require(layout_.loaded[symbol.st_shndx] && inside, "a symbol outside its section");
    return layout_.at[symbol.st_shndx] + symbol.st_value;
  }

  // In a section of that size, which lies at `at`.
  void relocate(const Elf64_Rela& entry, std::uint64_t size, std::uint64_t at) const {
    const std::size_t index = ELF64_R_SYM(entry.r_info);
    require(index < file_.symbols().size() && entry.r_offset < size, "a relocation beyond its tables");
    Relocation r{};
    r.type = std::uint32_t(ELF64_R_TYPE(entry.r_info));
    r.place = memory_ + at + entry.r_offset;
    r.room = size - entry.r_offset;
    r.addend = entry.r_addend;
    if (auto found = layout_.outside.find(index); found != layout_.outside.end()) {
      r.target = address(layout_.jumps + found->second * this_machine()->jump_bytes);
      r.slot = slot(found->second);
    } else {
      r.target = address(offset_of(file_.symbols()[index]));
    }
    if (!this_machine()->relocate(r)) refuse(cat("relocation ", r.type, " is unknown or does not fit"));
  }

  const File& file_;
  const Layout& layout_;
  std::uint8_t* memory_;
};

}  // namespace

std::shared_ptr<const Object> Object::load(std::string_view bytes, const Resolve& resolve, const std::string& entry) {
  if (!this_machine()) throw NotImplementedError("native code is not implemented for this processor");
  const File file(bytes);
  const Layout layout = lay_out(file, resolve);
  std::shared_ptr<Object> object(new Object);
  const auto page = std::size_t(sysconf(_SC_PAGESIZE));
  const std::size_t size = (std::size_t(layout.size) + page - 1) / page * page;
  const auto no_memory = [&] {
    throw OutOfMemoryError(cat("the system gives no ", size, " bytes of memory for code: ", std::strerror(errno)));
  };
  void* memory = size ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) no_memory();
  object->memory_ = memory;
  object->size_ = size;
  const Loader loader(file, layout, static_cast<std::uint8_t*>(memory));
  loader.copy();
  loader.relocate();
  object->entry_ = loader.find(entry);
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) no_memory();
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + size);
  return object;
}

Object::~Object() {
  if (memory_) munmap(memory_, size_);
}

}  // namespace bitale::codegen
