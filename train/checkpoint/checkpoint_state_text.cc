// The state file's text, both ways. Protobuf's parser reads it; our own lines are written, since the bytes
// that TensorFlow writes depend on its protobuf's version.
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <charconv>
#include <cmath>

#include "runnel/checkpoint_state.pb.h"
#include "train/checkpoint/checkpoint_state.h"

namespace runnel {
namespace {

class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text.empty()) text = cat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  void AddWarning(int, google::protobuf::io::ColumnNumber, const std::string&) override {}

  std::string text;
};

// Control characters as octal numbers of three digits, so that a digit may follow; bytes of UTF-8 as they
// are.
std::string quoted_path(const std::string& path) {
  std::string out = "\"";
  for (const unsigned char c : path) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (c >= 0x20 && c != 0x7f)
          out += static_cast<char>(c);
        else
          out += {'\\', static_cast<char>('0' + (c >> 6)), static_cast<char>('0' + (c >> 3 & 7)),
                  static_cast<char>('0' + (c & 7))};
    }
  }
  return out + "\"";
}

// The shortest decimal number that reads back, with ".0" where it would look like an integer.
std::string shortest(double value) {
  char digits[40];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  std::string out(digits, end);
  return std::isfinite(value) && out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

}  // namespace

std::string text_of(const CheckpointState& state) {
  std::string out;
  const auto line = [&](const char* name, const std::string& value) { out += cat(name, ": ", value, "\n"); };
  if (!state.model_checkpoint_path.empty())
    line("model_checkpoint_path", quoted_path(state.model_checkpoint_path));
  for (const auto& path : state.all_model_checkpoint_paths)
    line("all_model_checkpoint_paths", quoted_path(path));
  for (const double time : state.all_model_checkpoint_timestamps)
    line("all_model_checkpoint_timestamps", shortest(time));
  if (state.last_preserved_timestamp != 0)
    line("last_preserved_timestamp", shortest(state.last_preserved_timestamp));
  return out;
}

CheckpointState parse_checkpoint_state(std::string_view text) {
  if (text.size() > kMostStateBytes) throw DataLoss(cat("a state file of ", text.size(), " bytes"));
  pb::CheckpointState proto;
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.MergeFromString(std::string(text), &proto)) throw DataLoss(error.text);
  if (proto.model_checkpoint_path().empty()) throw DataLoss("it names no model_checkpoint_path");
  CheckpointState state;
  state.model_checkpoint_path = proto.model_checkpoint_path();
  state.all_model_checkpoint_paths = {proto.all_model_checkpoint_paths().begin(),
                                      proto.all_model_checkpoint_paths().end()};
  state.all_model_checkpoint_timestamps = {proto.all_model_checkpoint_timestamps().begin(),
                                           proto.all_model_checkpoint_timestamps().end()};
  state.last_preserved_timestamp = proto.last_preserved_timestamp();
  return state;
}

}  // namespace runnel
