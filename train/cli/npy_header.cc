// A small parser of Python literals: strings, booleans and a tuple of numbers.
#include "train/cli/npy_header.h"

#include <charconv>

namespace runnel {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 1 << 16;
constexpr std::size_t kMostDims = 254;  // as in tensors of a graph

[[noreturn]] void refuse(const std::string& why) { throw DataLoss(cat("not a .npy file: ", why)); }

class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool take(char c) {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(cat("its header lacks a '", c, "'"));
  }
  std::string quoted() {
    const char quote = take('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) refuse("its header has an open quote");
    std::string out(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return out;
  }
  bool boolean() {
    take(' ');
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    refuse("fortran_order is neither True nor False");
  }
  std::int64_t number() {
    take(' ');
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) refuse("its shape holds something else than sizes");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    take('L');  // Python 2 wrote long integers so
    return value;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> out;
    expect('(');
    while (!take(')')) {
      out.push_back(number());
      if (out.size() > kMostDims) refuse(cat("its shape has more than ", kMostDims, " dimensions"));
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }
  bool at_list() { return take('['); }

 private:
  std::string_view text_;
};

// "<f4": byte order, kind, bytes.
void read_descr(const std::string& descr, NpyHeader& header) {
  std::string_view text = descr;
  if (!text.empty() && std::string_view("<>|=").find(text.front()) != std::string_view::npos) {
    header.big_endian = text.front() == '>';
    text.remove_prefix(1);
  }
  if (text == "?") text = "b1";
  if (text.starts_with('O'))
    throw Unimplemented("this .npy file holds pickled Python objects; save strings with dtype 'S'");
  if (text.starts_with('U'))
    throw Unimplemented("this .npy file holds 'U' strings; save them as bytes, with dtype 'S'");
  std::size_t size = 0;
  const auto [end, error] =
      std::from_chars(text.data() + std::min<std::size_t>(1, text.size()), text.data() + text.size(), size);
  const bool number = error == std::errc() && end == text.data() + text.size();
  if (text.empty() || !number || std::string_view("biufcS").find(text.front()) == std::string_view::npos)
    throw Unimplemented(cat("no tensor holds values of NumPy's dtype ", AttrValue(descr).text()));
  header.kind = text.front();
  header.item = size;
}

void read_dictionary(std::string_view text, NpyHeader& header) {
  Literal in(text);
  bool descr = false, order = false, shape = false;
  in.expect('{');
  while (!in.take('}')) {
    const std::string key = in.quoted();
    in.expect(':');
    if (key == "descr") {
      if (in.at_list()) throw Unimplemented("this .npy file holds records; save each field by itself");
      read_descr(in.quoted(), header);
      descr = true;
    } else if (key == "fortran_order") {
      header.fortran_order = in.boolean();
      order = true;
    } else if (key == "shape") {
      header.shape = in.tuple();
      shape = true;
    } else {
      refuse(cat("its header has an unknown key ", AttrValue(key).text()));
    }
    if (!in.take(',')) {
      in.expect('}');
      break;
    }
  }
  if (!descr || !order || !shape) refuse("its header lacks descr, fortran_order or shape");
}

}  // namespace

NpyHeader take_npy_header(std::string_view& bytes) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  if (!bytes.starts_with(kMagic)) refuse("it does not begin with \\x93NUMPY");
  const std::size_t at = kMagic.size() + 2, width = bytes.size() > at && byte(kMagic.size()) == 1 ? 2 : 4;
  if (bytes.size() < at + width) refuse("it is cut short in its header");
  if (byte(kMagic.size()) < 1 || byte(kMagic.size()) > 3)
    refuse(cat("its version ", byte(kMagic.size()), " is not 1, 2 or 3"));
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) length |= byte(at + i) << (8 * i);
  if (length > kLongestHeader)
    refuse(cat("its header of ", length, " bytes is longer than ", kLongestHeader));
  if (bytes.size() < at + width + length) refuse("it is cut short in its header");
  NpyHeader header;
  read_dictionary(bytes.substr(at + width, length), header);
  bytes.remove_prefix(at + width + length);
  return header;
}

std::string npy_header_bytes(const NpyHeader& header) {
  constexpr std::size_t kAlignment = 64;
  const bool ordered = header.item > 1 && header.kind != 'S';
  std::string text = cat("{'descr': '", ordered ? '<' : '|', header.kind, header.item,
                         "', 'fortran_order': False, 'shape': (");
  for (const std::int64_t size : header.shape) text += cat(size, header.shape.size() == 1 ? "," : ", ");
  if (header.shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  const std::size_t front = kMagic.size() + 4;
  text.append(kAlignment - (front + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string out(kMagic);
  out += {'\1', '\0', static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return out + text;
}

}  // namespace runnel
