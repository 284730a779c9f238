#pragma once

#include "stoker/core/array.h"
#include "stoker/core/rng.h"
#include "stoker/core/spec.h"

namespace stoker {

// TensorFlow's numbers for a seed of two: those of tf.random.stateless_uniform.
class StatelessDraws {
 public:
  // `seed` is of shape [2], int32 or int64.
  static Result<StatelessDraws> of(const Array& seed);

  float uniform();                                // of [0, 1), 23 bits
  float between(float lower, float upper);        // of [lower, upper)
  int64_t between(int64_t lower, int64_t upper);  // of [lower, upper), at most 2^32 apart

 private:
  explicit StatelessDraws(Philox philox) : philox_(philox) {}
  Philox philox_;
};

Result<void> check_seed_spec(const LeafSpec& seed);

}  // namespace stoker
