#pragma once

// All of Stoker: the data set, the loader, every stage and operation, the watch.
#include "stoker/all_stages.h"
#include "stoker/api/dataset.h"
#include "stoker/api/loader.h"
#include "stoker/graph/stage_of.h"
#include "stoker/watch/watch.h"
