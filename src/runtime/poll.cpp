#include "bitale/core/interruption.hpp"
#include "runtime/frame.hpp"

namespace bitale::runtime {

std::int32_t poll(Frame*) { return is_interrupted() ? interrupted : 0; }

}  // namespace bitale::runtime
