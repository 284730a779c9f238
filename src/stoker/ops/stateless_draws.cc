#include "stoker/ops/stateless_draws.h"

#include <bit>

namespace stoker {
namespace {

Result<void> check_seed_type(DType type) {
  if (type == DType::kInt32 || type == DType::kInt64) return {};
  return Error::invalid("the seed must be int32 or int64, got ", name_of(type));
}

Result<void> check_seed_shape(Dims dims) {
  if (dims.size() == 1 && (dims[0] == 2 || dims[0] < 0)) return {};
  return Error::invalid("the seed must be two numbers, got shape ", shape_text(dims));
}

uint64_t number_at(const Array& seed, size_t i) {
  if (seed.type() == DType::kInt64) return static_cast<uint64_t>(seed.values<int64_t>()[i]);
  return static_cast<uint64_t>(int64_t{seed.values<int32_t>()[i]});
}

uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
uint64_t joined(uint32_t low_half, uint32_t high_half) { return uint64_t{low_half} | uint64_t{high_half} << 32; }

}  // namespace

// As in TensorFlow, one Philox block under a fixed key scrambles the seed.
Result<StatelessDraws> StatelessDraws::of(const Array& seed) {
  STOKER_TRY(check_seed_type(seed.type()));
  STOKER_TRY(check_seed_shape(seed.shape()));
  const uint64_t first = number_at(seed, 0), second = number_at(seed, 1);
  const auto mixed = philox_block({low(first), high(first), low(second), high(second)}, {0x3EC8F720u, 0x02461E29u});
  return StatelessDraws(Philox(joined(mixed[0], mixed[1]), joined(mixed[2], mixed[3])));
}

float StatelessDraws::uniform() { return std::bit_cast<float>((philox_.next() & 0x7fffffu) | 0x3f800000u) - 1.0f; }

float StatelessDraws::between(float lower, float upper) { return uniform() * (upper - lower) + lower; }

int64_t StatelessDraws::between(int64_t lower, int64_t upper) { return lower + philox_.next() % (upper - lower); }

Result<void> check_seed_spec(const LeafSpec& seed) {
  if (seed.type) STOKER_TRY(check_seed_type(*seed.type));
  if (seed.shape) STOKER_TRY(check_seed_shape(*seed.shape));
  return {};
}

}  // namespace stoker
