#pragma once

namespace stoker {

// Returns x to the power y, with the special cases of IEEE 754. Uses only double arithmetic, so
// that the result has the same bits on every machine, which the library's pow does not guarantee.
// The error is below 0.6 units in the last place, so exact results are exact.
double power_of(double x, double y);

}  // namespace stoker
