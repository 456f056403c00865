// Messages as bytes: reading binary or text form with an error that says what the bytes are instead, and
// writing both so that equal messages give equal bytes. Hidden: no exported name may speak of protobuf.
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace runnel {

// Fills `message` from binary or text form, whichever it is. `what` names it in errors ("a GraphDef"). Fields
// that are not known survive in binary form and are skipped in text. Throws DataLoss for bytes that are no
// such message and InvalidArgument for other kinds of file and for 2 GB or more.
[[gnu::visibility("hidden")]] void read_message(std::string_view bytes, google::protobuf::Message& message,
                                                std::string_view what);

// Binary form alone, for messages within messages. False if the bytes are none.
[[gnu::visibility("hidden")]] bool parse_message(std::string_view bytes, google::protobuf::Message& message);

// Throws InvalidArgument if it would be 2 GB or more.
[[gnu::visibility("hidden")]] std::string message_bytes(const google::protobuf::Message& message,
                                                        std::string_view what);
// Without fields that are not known: no reader takes them in text form.
[[gnu::visibility("hidden")]] std::string message_text(const google::protobuf::Message& message);

}  // namespace runnel
