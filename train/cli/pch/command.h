// Precompiled for the sources of the command: the library that reads command lines, which is all header.
#include <CLI/CLI.hpp>
