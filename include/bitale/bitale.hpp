// Everything a user of Bitale needs.
#pragma once

#include "bitale/autodiff/gradient.hpp"
#include "bitale/compile/address.hpp"
#include "bitale/compile/export.hpp"
#include "bitale/compile/function.hpp"
#include "bitale/compile/monitor.hpp"
#include "bitale/compile/page.hpp"
#include "bitale/core/array.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/ifelse.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/ordered.hpp"
#include "bitale/printing/picture.hpp"
#include "bitale/printing/printing.hpp"
#include "bitale/rewriting/rewriting.hpp"
