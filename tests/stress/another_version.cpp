// The key of cached code as another version of the library makes it: this program's definition goes before the
// library's.
#include "codegen/key.cpp"
