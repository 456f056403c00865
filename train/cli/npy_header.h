// The header of a .npy file: a Python dictionary of three keys, read without Python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace runnel {

struct NpyHeader {
  char kind = 'f';       // NumPy's letter: b i u f c S
  std::size_t item = 0;  // bytes an element takes
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Reads magic, version and header from the front and removes them from `bytes`. Throws DataLoss,
// Unimplemented.
NpyHeader take_npy_header(std::string_view& bytes);

// Magic, version 1 and header, padded so that the values begin at a multiple of 64.
std::string npy_header_bytes(const NpyHeader& header);

}  // namespace runnel
