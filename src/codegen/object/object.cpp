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
#include "codegen/object/archive.hpp"
#include "codegen/object/machine.hpp"

namespace bitale::codegen {

namespace {

[[noreturn]] void refuse(std::string_view what) { throw ValueError(cat("object file: ", what)); }

void require(bool ok, std::string_view what) {
  if (!ok) refuse(what);
}

// The tables of a file; each access is checked against the end of the file.
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

constexpr std::uint64_t max_alignment = 4096;

// Whether a section is loaded into memory. Unwind tables are not: no exception passes through generated code.
bool is_loaded(const File& file, const Elf64_Shdr& section) {
  if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0) return false;
  const std::string_view name = file.name_of(section);
  if (name == ".eh_frame") return false;
  require(section.sh_type == SHT_PROGBITS, "a section of a kind that is not known");
  // Data may be written by relocations, but not by the code: calls must not share state.
  require(!(section.sh_flags & SHF_WRITE) || name.starts_with(".data.rel.ro"), "writable data");
  return true;
}

// Where a name is defined: the number of a file, and of a symbol in it.
struct Definition {
  std::size_t file, symbol;
};
using Definitions = std::unordered_map<std::string_view, Definition>;

// The symbols that the files define for each other.
Definitions definitions_of(const std::vector<File>& files) {
  Definitions out;
  for (std::size_t k = 0; k < files.size(); ++k)
    for (std::size_t i = 1; i < files[k].symbols().size(); ++i) {
      const Elf64_Sym& symbol = files[k].symbols()[i];
      if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF) continue;
      const std::string_view name = files[k].name_of(symbol);
      require(out.emplace(name, Definition{k, i}).second, cat("two files define `", name, "`"));
    }
  return out;
}

// The memory layout of a file: its sections, then a jump and an address for each outside function.
struct Layout {
  std::vector<bool> loaded;                               // per section: whether it is loaded into memory
  std::vector<std::uint64_t> at;                          // per section: its offset, if it is loaded
  std::unordered_map<std::size_t, std::size_t> outside;   // symbol -> number of its jump
  std::unordered_map<std::size_t, Definition> of_others;  // symbol -> where another file defines it
  std::vector<void*> addresses;                           // of outside functions
  std::uint64_t jumps = 0, slots = 0, end = 0;
};

// Lays out a file whose memory begins at an offset that is a multiple of every alignment.
Layout lay_out(const File& file, std::uint64_t begin, const Definitions& definitions, const Resolve& resolve) {
  constexpr std::uint64_t most = std::uint64_t(1) << 30;  // distances between parts fit 32 bits
  Layout layout;
  layout.end = begin;
  for (auto& section : file.sections()) {
    const bool loaded = is_loaded(file, section);
    const std::uint64_t align = section.sh_addralign ? section.sh_addralign : 1;
    if (loaded) {
      require(std::has_single_bit(align) && align <= max_alignment, "a bad alignment");
      require(section.sh_size < most && layout.end < most, "too large");
      layout.end = (layout.end + align - 1) & ~(align - 1);
    }
    layout.loaded.push_back(loaded);
    layout.at.push_back(layout.end);
    if (loaded) layout.end += section.sh_size;
  }
  for (std::size_t i = 1; i < file.symbols().size(); ++i) {
    const Elf64_Sym& symbol = file.symbols()[i];
    if (symbol.st_shndx != SHN_UNDEF) continue;
    const std::string name(file.name_of(symbol));
    if (const auto found = definitions.find(name); found != definitions.end()) {
      layout.of_others.emplace(i, found->second);
      continue;
    }
    void* address = resolve(name);
    require(address != nullptr, cat("nobody defines `", name, "`"));
    layout.outside.emplace(i, layout.addresses.size());
    layout.addresses.push_back(address);
  }
  layout.jumps = (layout.end + 15) & ~std::uint64_t(15);
  layout.slots = layout.jumps + layout.addresses.size() * this_machine()->jump_bytes;
  layout.slots = (layout.slots + 7) & ~std::uint64_t(7);
  layout.end = layout.slots + layout.addresses.size() * sizeof(void*);
  require(layout.end < most, "too large");
  return layout;
}

class Loader {
 public:
  Loader(const std::vector<File>& files, const std::vector<Layout>& layouts, std::size_t number, std::uint8_t* memory)
      : files_(files), layouts_(layouts), file_(files[number]), layout_(layouts[number]), memory_(memory) {}

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

  // Null when there is no such function.
  std::uint8_t* find(const std::string& name) const {
    for (auto& symbol : file_.symbols())
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && file_.name_of(symbol) == name)
        return memory_ + offset_of(file_, layout_, symbol);
    return nullptr;
  }

 private:
  std::uint64_t slot(std::size_t k) const { return address(layout_.slots + k * sizeof(void*)); }
  std::uint64_t address(std::uint64_t offset) const { return reinterpret_cast<std::uintptr_t>(memory_) + offset; }

  static std::uint64_t offset_of(const File& file, const Layout& layout, const Elf64_Sym& symbol) {
    require(symbol.st_shndx < file.sections().size(), "a symbol of no section");
    const bool inside = symbol.st_value <= file.sections()[symbol.st_shndx].sh_size;
    require(layout.loaded[symbol.st_shndx] && inside, "a symbol outside its section");
    return layout.at[symbol.st_shndx] + symbol.st_value;
  }

  // Applies a relocation in a section of that size, which is loaded at `at`.
  void relocate(const Elf64_Rela& entry, std::uint64_t size, std::uint64_t at) const {
    const std::size_t index = ELF64_R_SYM(entry.r_info);
    require(index < file_.symbols().size() && entry.r_offset < size, "a relocation beyond its tables");
    Relocation r{};
    r.type = std::uint32_t(ELF64_R_TYPE(entry.r_info));
    r.site = memory_ + at + entry.r_offset;
    r.room = size - entry.r_offset;
    r.addend = entry.r_addend;
    if (auto found = layout_.outside.find(index); found != layout_.outside.end()) {
      r.target = address(layout_.jumps + found->second * this_machine()->jump_bytes);
      r.slot = slot(found->second);
    } else if (auto other = layout_.of_others.find(index); other != layout_.of_others.end()) {
      const auto [number, symbol] = other->second;
      r.target = address(offset_of(files_[number], layouts_[number], files_[number].symbols()[symbol]));
    } else {
      r.target = address(offset_of(file_, layout_, file_.symbols()[index]));
    }
    if (!this_machine()->relocate(r)) refuse(cat("relocation ", r.type, " is unknown or does not fit"));
  }

  const std::vector<File>& files_;
  const std::vector<Layout>& layouts_;
  const File& file_;
  const Layout& layout_;
  std::uint8_t* memory_;
};

}  // namespace

std::shared_ptr<const Object> Object::load(std::string_view bytes, const Resolve& resolve, const std::string& entry) {
  if (!this_machine() || !this_machine()->relocate)
    throw NotImplementedError("native code is not implemented for this processor");
  std::vector<File> files;
  for (const std::string_view member : members_of(bytes)) files.emplace_back(member);
  const Definitions definitions = files.size() > 1 ? definitions_of(files) : Definitions();
  std::vector<Layout> layouts;
  std::uint64_t end = 0;
  for (auto& file : files) {
    layouts.push_back(lay_out(file, end, definitions, resolve));
    end = (layouts.back().end + max_alignment - 1) & ~(max_alignment - 1);
  }
  std::shared_ptr<Object> object(new Object);
  const auto page = std::size_t(sysconf(_SC_PAGESIZE));
  const std::size_t size = (std::size_t(end) + page - 1) / page * page;
  const auto no_memory = [&] {
    throw OutOfMemoryError(cat("the system gives no ", size, " bytes of memory for code: ", std::strerror(errno)));
  };
  void* memory = size ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) no_memory();
  object->memory_ = memory;
  object->size_ = size;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const Loader loader(files, layouts, k, static_cast<std::uint8_t*>(memory));
    loader.copy();
    loader.relocate();
    if (!object->entry_) object->entry_ = loader.find(entry);
  }
  require(object->entry_ != nullptr, cat("it has no function `", entry, "`"));
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) no_memory();
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + size);
  return object;
}

Object::~Object() {
  if (memory_) munmap(memory_, size_);
}

}  // namespace bitale::codegen
