// One table row a type: number, name, bytes. Everything else is looked up in it.
#include "graph/dtype.h"

#include <array>
#include <ostream>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr int kRefOffset = 100;

struct Row {
  const char* name;
  std::size_t bytes;
};

// Indexed by the type's number. Sizes as in TensorFlow's checkpoints.
constexpr std::array<Row, 34> kRows{{
    {"invalid", 0},
    {"float", 4},
    {"double", 8},
    {"int32", 4},
    {"uint8", 1},
    {"int16", 2},
    {"int8", 1},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"qint16", 2},
    {"quint16", 2},
    {"uint16", 2},
    {"complex128", 16},
    {"half", 2},
    {"resource", 0},
    {"variant", 0},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"int4", 1},
    {"uint4", 1},
    {"int2", 1},
    {"uint2", 1},
    {"float4_e2m1fn", 1},
}};

const Row* row_of(DType type) {
  const int number = static_cast<int>(base_of(type));
  if (number <= 0 || number >= static_cast<int>(kRows.size())) return nullptr;
  return &kRows[static_cast<std::size_t>(number)];
}

}  // namespace

bool is_ref(DType type) { return static_cast<int>(type) > kRefOffset; }

DType ref_of(DType type) {
  return is_ref(type) ? type : static_cast<DType>(static_cast<int>(type) + kRefOffset);
}

DType base_of(DType type) {
  return is_ref(type) ? static_cast<DType>(static_cast<int>(type) - kRefOffset) : type;
}

bool is_known(DType type) { return row_of(type) != nullptr; }

std::size_t size_of(DType type) {
  const Row* row = row_of(type);
  return row ? row->bytes : 0;
}

std::string name_of(DType type) {
  const Row* row = row_of(type);
  if (!row) return cat("dtype(", static_cast<int>(type), ")");
  return is_ref(type) ? std::string(row->name) + "_ref" : row->name;
}

DType dtype_named(std::string_view name) {
  if (name == "float32") return DType::kFloat;
  if (name == "float64") return DType::kDouble;
  if (name == "float16") return DType::kHalf;
  if (name.ends_with("_ref")) return ref_of(dtype_named(name.substr(0, name.size() - 4)));
  for (std::size_t i = 1; i < kRows.size(); ++i)
    if (name == kRows[i].name) return static_cast<DType>(i);
  return DType::kInvalid;
}

std::ostream& operator<<(std::ostream& out, DType type) { return out << name_of(type); }

bool is_floating(DType type) {
  return type == DType::kFloat || type == DType::kDouble || type == DType::kHalf || type == DType::kBfloat16;
}

bool is_integer(DType type) {
  switch (type) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64: return true;
    default: return false;
  }
}

bool is_complex(DType type) { return type == DType::kComplex64 || type == DType::kComplex128; }

}  // namespace runnel
