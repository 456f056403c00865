// Text is told from binary form by its bytes: every GraphDef with a node holds the byte 0x12, the tag of
// NodeDef.op, which text does not contain.
#include "graph/wire.h"

#include <algorithm>
#include <climits>
#include <memory>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include "graph/error.h"

namespace runnel {
namespace {

constexpr int kDeepest = 100;  // nesting of messages, protobuf's own limit for binary form

bool is_text(std::string_view bytes) {
  return std::ranges::none_of(bytes, [](unsigned char c) { return c < ' ' && (c < '\t' || c > '\r'); });
}

// Keeps the first error of a text and its place.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = cat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  std::string text;
};

// Files that are often given by mistake.
std::string kind_of(std::string_view bytes) {
  if (bytes.starts_with("version https://git-lfs"))
    return "a git-lfs pointer, not the file itself; run `git lfs pull`";
  if (bytes.starts_with("model_checkpoint_path:"))
    return "a `checkpoint` text file; give the .meta of the checkpoint that it names";
  if (bytes.ends_with("\x57\xfb\x80\x8b\x24\x75\x47\xdb"))
    return "a checkpoint's .index; give the .meta beside it";
  if (bytes.starts_with("\x89HDF")) return "an HDF5 file";
  if (bytes.starts_with("PK\x03\x04")) return "a zip archive";
  if (bytes.starts_with("\x1f\x8b")) return "compressed with gzip; decompress it first";
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return "a program";
  return "";
}

void read_text(std::string_view bytes, google::protobuf::Message& message, std::string_view what) {
  const google::protobuf::LogSilencer quiet;
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kDeepest);
  if (!parser.Parse(&in, &message)) throw DataLoss(cat("this is not ", what, " in text form: ", error.text));
  // The parser lets through what no reader of the binary form takes.
  if (std::string bytes_read; !message.SerializeToString(&bytes_read) || !message.ParseFromString(bytes_read))
    throw DataLoss(cat("this is not ", what, " in text form: a name in it is not UTF-8"));
}

}  // namespace

void read_message(std::string_view bytes, google::protobuf::Message& message, std::string_view what) {
  if (const std::string kind = kind_of(bytes); !kind.empty())
    throw InvalidArgument(cat("this is not ", what, " but ", kind));
  if (bytes.size() > INT_MAX)
    throw InvalidArgument(cat(what, " of ", bytes.size(), " bytes cannot be read; the most is 2 GB"));
  if (!bytes.empty() && is_text(bytes)) return read_text(bytes, message, what);
  if (!parse_message(bytes, message))
    throw DataLoss(
        cat("these ", bytes.size(), " bytes are not ", what, ": they are cut short or something else"));
}

bool parse_message(std::string_view bytes, google::protobuf::Message& message) {
  const google::protobuf::LogSilencer quiet;  // the library never prints, and protobuf does
  return bytes.size() <= INT_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string message_bytes(const google::protobuf::Message& message, std::string_view what) {
  const std::size_t size = message.ByteSizeLong();
  if (size > INT_MAX)
    throw InvalidArgument(
        cat(what, " would take ", size, " bytes; the most is 2 GB: keep large values in variables"));
  const google::protobuf::LogSilencer quiet;
  std::string out;
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return out;
}

std::string message_text(const google::protobuf::Message& message) {
  const std::unique_ptr<google::protobuf::Message> known(message.New());
  known->CopyFrom(message);
  known->DiscardUnknownFields();
  std::string out;
  google::protobuf::TextFormat::PrintToString(*known, &out);
  return out;
}

}  // namespace runnel
