#pragma once

#include <algorithm>

#include "stoker/core/buffer.h"

namespace stoker {

// An account with a limit of its own, which also applies to small memory.
class LimitedAccount final : public Account {
 public:
  explicit LimitedAccount(int64_t limit) : limit_(limit) {}

  bool take(int64_t bytes, bool) override {
    if (held_ + bytes > limit_) return false;
    held_ += bytes;
    most_ = std::max(most_, held_);
    return true;
  }
  void give_back(int64_t bytes) override { held_ -= bytes; }
  int64_t held() const { return held_; }
  int64_t most() const { return most_; }

 private:
  const int64_t limit_;
  int64_t held_ = 0;
  int64_t most_ = 0;
};

}  // namespace stoker
