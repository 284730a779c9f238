#pragma once

namespace stoker {

// x to the power y, with IEEE's special cases, in plain double arithmetic: the
// same bits on every machine, which the library's pow does not promise. Errors
// stay below 0.6 of the last place, so what is exact comes out exact.
double power_of(double x, double y);

}  // namespace stoker
