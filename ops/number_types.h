// Lists of dtypes that many of TensorFlow's ops share, as attributes in op notation.
#pragma once

namespace runnel {

// What TensorFlow calls numbertype: everything that can be added.
inline constexpr const char* kNumberT =
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, "
    "qint16, "
    "quint16, uint16, complex128, half, uint32, uint64}";

// What it calls realnumbertype: numbers in an order, none of them quantised.
inline constexpr const char* kRealNumberT =
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}";

}  // namespace runnel
