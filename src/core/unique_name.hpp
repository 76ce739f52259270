// A name for each object that registers something where it is defined, and is not named anywhere else.
#pragma once

#define BITALE_JOINED_(a, b) a##b
#define BITALE_JOINED(a, b) BITALE_JOINED_(a, b)
// `prefix` with a number that no other use in this translation unit has.
#define BITALE_UNIQUE_NAME(prefix) BITALE_JOINED(prefix, __COUNTER__)
