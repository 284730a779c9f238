#pragma once

// Includes what most programs need: Dataset, Loader, all stages and operations,
// and Watch.
#include "stoker/all_stages.h"
#include "stoker/api/dataset.h"
#include "stoker/api/loader.h"
#include "stoker/graph/stage_of.h"
#include "stoker/watch/watch.h"
