#!/bin/sh
# Fails if clang-format would change a file. usage: format.sh ROOT
cd "$1" || exit 1
find graph ops kernels summary train tests benches -name '*.h' -o -name '*.cc' | sort |
  xargs clang-format --dry-run -Werror
