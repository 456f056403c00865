#!/bin/sh
# Fails if a header does not compile alone. usage: headers.sh ROOT BUILD COMPILER
cd "$1" || exit 1
export BUILD="$2" COMPILER="$3"
find graph ops kernels summary train -name '*.h' | sort | xargs -P 2 -I{} sh -c '
  echo "#include \"{}\"" | "$COMPILER" -std=c++20 -fsyntax-only -I. -I"$BUILD/graph/proto" -I"$BUILD/summary/proto" \
    -I"$BUILD/train/proto" -I"$BUILD/graph/include" -x c++ - || { echo "{} does not compile alone"; exit 255; }'
