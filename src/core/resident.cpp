#include "bitale/core/resident.hpp"

#include "bitale/core/blocking.hpp"

namespace bitale {

bool Resident::hold() const {
  int holders = state_.load();
  while (holders >= 0)
    if (state_.compare_exchange_weak(holders, holders + 1)) return true;
  return false;
}

bool Resident::take() const {
  int nobody = 0;
  return state_.compare_exchange_strong(nobody, taken);
}

void Resident::give_back() const {
  state_.store(0);
  state_.notify_all();
}

void Resident::replace() const {
  int own = taken;
  if (state_.compare_exchange_strong(own, replaced)) state_.notify_all();
}

void Resident::wait_while_taken() const {
  if (state_.load() == taken) while_blocked([&] { state_.wait(taken); });
}

}  // namespace bitale
