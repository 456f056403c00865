#!/bin/sh
# Fails if the ops and their signatures are not those of tests/golden/ops.txt. After a change that is meant:
#   build/train/cli/runnel ops >tests/golden/ops.txt
"$2" ops | diff -u "$1/tests/golden/ops.txt" - && echo "ops are those of tests/golden/ops.txt"
