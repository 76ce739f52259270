// Where this library lies: others that are opened when first needed lie beside it.
#pragma once

#include <string>

namespace bitale {

// With a slash at its end; empty where the system can't tell.
std::string own_folder();

}  // namespace bitale
