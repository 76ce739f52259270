// Runs checks of generated code for several targets, those that this processor can run.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "codegen/target.hpp"

namespace bitale::test {

// check(name), with the flag `target` set to that name.
template <class Check>
void for_each_target(std::initializer_list<const char*> names, Check check) {
  for (const char* name : names) {
    CAPTURE(std::string(name));
    try {
      codegen::target_named(name);
    } catch (const ValueError&) {
      continue;  // this processor does not reach it
    }
    const config::Change target("target", name);
    check(std::string(name));
  }
}

}  // namespace bitale::test
