#!/usr/bin/env bash
# Follows the steps of CONTRIBUTING.md, "Adding a stage" and "Adding an operation", in a
# copy of the tree: header, test and line. Then builds stages_tests and runs the tests of
# the new stage and operation. Also fails if the page and the example files differ.
set -euo pipefail
source "$(dirname "$0")/setup.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 - CONTRIBUTING.md examples/add_a_stage/{stride.h,stride_test.cc,stages.def,invert.h,invert_test.cc,ops.def} <<'END'
import pathlib, sys
page, *files = map(pathlib.Path, sys.argv[1:])
missing = [str(f) for f in files if f.read_text().strip() not in page.read_text()]
sys.exit(f"{page} does not contain the text of {', '.join(missing)}; copy it into the page" if missing else 0)
END

tree_files . | tar -c --null -T - | tar -x -C "$folder"
cd "$folder"
cp examples/add_a_stage/stride.h src/stoker/transforms/
cp examples/add_a_stage/stride_test.cc tests/transforms/
cat examples/add_a_stage/stages.def >>src/stoker/api/stages.def
cp examples/add_a_stage/invert.h src/stoker/ops/
cp examples/add_a_stage/invert_test.cc tests/ops/
cat examples/add_a_stage/ops.def >>src/stoker/api/ops.def
cmake --preset release -DSTOKER_ONLY_TESTS='stride|invert' >/dev/null
build release stages_tests
build/release/bin/stages_tests --gtest_brief=1 --gtest_filter='*Stride*:*stride*:Invert.*:*invert*'
echo '#include "stoker/stoker.h"
auto every_third() { return stoker::Dataset::range({.stop = 9}).stride({.step = 3}); }' |
  g++ -std=c++20 -fsyntax-only -Isrc -Ibuild/release/generated/include -x c++ -
