// How the bytes of a record file are compressed, under TensorFlow's names.
#pragma once

#include <string>

namespace runnel {

enum class Compression { kNone, kZlib, kGzip };

// "", "ZLIB" or "GZIP". Throws InvalidArgument for anything else.
Compression compression_named(const std::string& name);

}  // namespace runnel
