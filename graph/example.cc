// By the message; maps are sorted, so the bytes are always the same ones.
#include "graph/example.h"

#include <type_traits>
#include <utility>

#include "runnel/example.pb.h"

#include "graph/error.h"
#include "graph/wire.h"

namespace runnel {
namespace {

void write(const Feature& from, pb::Feature& to) {
  std::visit(
      [&](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        if constexpr (std::is_same_v<Values, std::vector<std::string>>) {
          to.mutable_bytes_list()->mutable_value()->Assign(values.begin(), values.end());
        } else if constexpr (std::is_same_v<Values, std::vector<float>>) {
          to.mutable_float_list()->mutable_value()->Assign(values.begin(), values.end());
        } else if constexpr (std::is_same_v<Values, std::vector<std::int64_t>>) {
          to.mutable_int64_list()->mutable_value()->Assign(values.begin(), values.end());
        }
      },
      from);
}

template <class List>
auto values_of(const List& list) {
  return std::vector<typename std::decay_t<decltype(list.value())>::value_type>(list.value().begin(),
                                                                                list.value().end());
}

Feature read(const pb::Feature& from) {
  switch (from.kind_case()) {
    case pb::Feature::kBytesList: return values_of(from.bytes_list());
    case pb::Feature::kFloatList: return values_of(from.float_list());
    case pb::Feature::kInt64List: return values_of(from.int64_list());
    default: return {};
  }
}

}  // namespace

std::string Example::serialize() const {
  pb::Example message;
  for (const auto& [name, feature] : features) {
    pb::FeatureEntry& entry = *message.mutable_features()->add_feature();
    entry.set_key(name);
    write(feature, *entry.mutable_value());
  }
  return message_bytes(message, "an Example");
}

Example Example::parse(std::string_view bytes) {
  pb::Example message;
  if (!parse_message(bytes, message)) throw DataLoss(cat(bytes.size(), " bytes are no Example"));
  Example example;
  for (const pb::FeatureEntry& entry : message.features().feature())
    example.features.insert_or_assign(entry.key(), read(entry.value()));
  return example;
}

}  // namespace runnel
