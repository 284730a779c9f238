#pragma once

#include "stoker/core/array.h"
#include "stoker/core/rng.h"
#include "stoker/core/spec.h"

namespace stoker {

// Draws TensorFlow's numbers for a seed of two integers: those of tf.random.stateless_uniform.
class StatelessDraws {
 public:
  // `seed` has shape [2] and type int32 or int64; otherwise the result is InvalidArgument.
  static Result<StatelessDraws> of(const Array& seed);

  float uniform();                                // in [0, 1), with 23 random bits
  float between(float lower, float upper);        // in [lower, upper)
  int64_t between(int64_t lower, int64_t upper);  // in [lower, upper), which spans at most 2^32

 private:
  explicit StatelessDraws(Philox philox) : philox_(philox) {}
  Philox philox_;
};

Result<void> check_seed_spec(const LeafSpec& seed);

}  // namespace stoker
