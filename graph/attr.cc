// Comparing and printing attribute values.
#include "graph/attr.h"

#include <sstream>

namespace runnel {
namespace {

void print(std::ostream& out, const EmptyList&) { out << "[]"; }
void print(std::ostream& out, const std::string& value) {
  static const char* kHex = "0123456789abcdef";
  out << '"';
  for (const char c : value) {
    if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
      out << c;
    } else {
      out << "\\x" << kHex[static_cast<unsigned char>(c) >> 4] << kHex[c & 15];
    }
  }
  out << '"';
}
void print(std::ostream& out, std::int64_t value) { out << value; }
void print(std::ostream& out, float value) { out << value; }
void print(std::ostream& out, bool value) { out << (value ? "true" : "false"); }
void print(std::ostream& out, DType value) { out << value; }
void print(std::ostream& out, const Shape& value) { out << value; }
void print(std::ostream& out, const Tensor& value) { out << value; }
void print(std::ostream& out, const FunctionName& value) { out << value.name; }
void print(std::ostream& out, const AttrPlaceholder& value) { out << "$" << value.name; }
void print(std::ostream& out, const RawAttr& value) { out << value.bytes.size() << " raw bytes"; }
template <class T>
void print(std::ostream& out, const std::vector<T>& list) {
  out << "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out << ", ";
    print(out, static_cast<const T&>(list[i]));
  }
  out << "]";
}

}  // namespace

bool FunctionName::operator==(const FunctionName& other) const {
  if (name != other.name) return false;
  static const Attrs kNone;
  return (attrs ? *attrs : kNone) == (other.attrs ? *other.attrs : kNone);
}

std::string AttrValue::text() const {
  std::ostringstream out;
  std::visit([&](const auto& value) { print(out, value); }, value_);
  return std::move(out).str();
}

}  // namespace runnel
