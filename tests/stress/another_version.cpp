// The key of cached code as another version of the library computes it: the definition of this program takes precedence
// over that of the library.
#include "codegen/key.cpp"
