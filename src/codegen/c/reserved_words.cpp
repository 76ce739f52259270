// The words that no identifier of generated code may be: a file that has one as the name of an input or of a function
// is refused by a compiler of C or C++, or means something else to it.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>

#include "codegen/c/spelling.hpp"

namespace bitale::codegen::c {

namespace {

constexpr std::string_view keywords =
    // C99 to C23
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while alignas "
    "alignof "
    "bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm fortran "
    // C++
    "and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept consteval "
    "constinit const_cast contract_assert decltype delete dynamic_cast explicit export friend import module mutable "
    "namespace new noexcept not not_eq operator or or_eq private protected public reflexpr reinterpret_cast requires "
    "static_cast synchronized template this throw try typeid typename using virtual wchar_t xor xor_eq "
    "atomic_cancel atomic_commit atomic_noexcept";

// Macros, types and variables of the headers that generated files include, and of others that their users include with
// them.
constexpr std::string_view headers =
    "NULL EOF BUFSIZ RAND_MAX I complex imaginary noreturn errno assert setjmp offsetof va_start va_arg va_end va_copy "
    "stdin stdout stderr ptrdiff_t size_t ssize_t max_align_t nullptr_t int8_t int16_t int32_t int64_t uint8_t "
    "uint16_t "
    "uint32_t uint64_t int_least8_t int_least16_t int_least32_t int_least64_t uint_least8_t uint_least16_t "
    "uint_least32_t uint_least64_t int_fast8_t int_fast16_t int_fast32_t int_fast64_t uint_fast8_t uint_fast16_t "
    "uint_fast32_t uint_fast64_t intptr_t uintptr_t intmax_t uintmax_t float_t double_t div_t ldiv_t lldiv_t time_t "
    "clock_t wint_t NAN INFINITY isnan isinf isfinite isnormal signbit fpclassify isgreater isgreaterequal isless "
    "islessequal islessgreater isunordered iszero issignaling signgam linux unix i386 main std";

// How further names of these headers begin, and the functions and variables that come with the code.
constexpr std::string_view beginnings[] = {
    "bt_",     "INT8",   "INT16", "INT32", "INT64", "INTMAX", "INTPTR", "INT_",   "UINT",     "SIZE_", "SIG_",
    "PTRDIFF", "WCHAR_", "WINT_", "FP_",   "HUGE_", "MATH_",  "M_",     "CBLAS",  "DBL_",     "FLT_",  "LDBL_",
    "CHAR_",   "LONG_",  "SHRT_", "SCHAR", "UCHAR", "ULONG_", "USHRT_", "cblas_", "openblas_"};

// Functions of <math.h>, of which there are versions that end in f and l.
constexpr std::string_view mathematics =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 fabs fdim "
    "finite floor fma fmax fmin fmod frexp gamma hypot ilogb infinity j0 j1 jn ldexp lgamma llrint llround log log10 "
    "log1p "
    "log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder remquo rint round scalb "
    "scalbln "
    "scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn "
    "cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh "
    "csqrt "
    "ctan ctanh";

// Functions of the C library, some of which compilers know without a header.
constexpr std::string_view library =
    "abort abs aligned_alloc alloca asctime atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc clearerr clock "
    "close ctime dgettext dcgettext difftime div execl execle execlp execv execve execvp exit fclose feof ferror "
    "fflush "
    "ffs ffsl ffsll fgetc fgetpos fgets fileno fopen fork fprintf fputc fputs fread free freopen fscanf fseek fsetpos "
    "ftell fwrite getc getchar getenv getline gets gettext gmtime index isalnum isalpha isascii isblank iscntrl "
    "isdigit "
    "isgraph islower isprint ispunct isspace isupper isxdigit kill labs ldiv link llabs lldiv localtime longjmp malloc "
    "mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memmove mempcpy memset mktime open perror pipe posix_memalign "
    "printf putc putchar puts qsort quick_exit raise rand random read realloc remove rename rewind rindex scanf select "
    "setbuf setenv setlocale setvbuf signal sleep snprintf sprintf srand sscanf stat stpcpy stpncpy strcasecmp strcat "
    "strchr strcmp strcoll strcpy strcspn strdup strerror strfmon strftime strlen strncasecmp strncat strncmp strncpy "
    "strndup strnlen strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull "
    "strxfrm "
    "system time timespec_get tmpfile tmpnam toascii tolower toupper ungetc unlink vfprintf vfscanf vprintf vscanf "
    "vsnprintf vsprintf vsscanf wait wcstombs wctomb write "
    // headers: a folder with such a file would hide them
    "cblas ctype fenv inttypes iso646 limits locale math setjmp stdalign stdarg stdatomic stdbool stdbit stdckdint "
    "stddef stdint stdio stdlib stdnoreturn string tgmath threads uchar wchar wctype";

// Names used in generated files.
constexpr std::string_view generated = "frame size sizes status workspace";

std::unordered_set<std::string> reserved_words() {
  std::unordered_set<std::string> out;
  const auto add = [&](std::string_view words, std::initializer_list<std::string_view> endings) {
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t end = std::min(words.find(' ', at), words.size());
      for (std::string_view ending : endings) out.insert(std::string(words.substr(at, end - at)).append(ending));
      at = end + 1;
    }
  };
  for (std::string_view words : {keywords, headers, library, generated}) add(words, {""});
  add(mathematics, {"", "f", "l"});
  add("gamma lgamma", {"_r", "f_r", "l_r"});
  return out;
}

}  // namespace

bool is_reserved(std::string_view word) {
  static const std::unordered_set<std::string> words = reserved_words();
  return words.contains(std::string(word));
}

bool has_reserved_beginning(std::string_view word) {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

}  // namespace bitale::codegen::c
