// Messages to structs and back.
#include "train/checkpoint/bundle_entry.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <climits>

#include "graph/error.h"
#include "runnel/tensor_bundle.pb.h"

namespace runnel {
namespace {

constexpr int kVersion = 1;          // of the bundle format; the only one there is
constexpr int kMostDims = 254;       // TensorFlow's limit
constexpr int kMostSlices = 10'000;  // parts are compared in pairs when they are joined

[[noreturn]] void damaged(const std::string& name, const std::string& what) {
  throw DataLoss(cat("the index entry of ", quoted(name), " is damaged: ", what));
}

Shape read_shape(const pb::TensorShapeProto& proto, const std::string& name) {
  if (proto.unknown_rank() || proto.dim_size() > kMostDims) damaged(name, "its rank");
  Shape shape;
  std::int64_t elements = 1;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < 0) damaged(name, cat("a dimension of ", dim.size()));
    shape.push_back(dim.size());
    if (dim.size() > 0 && elements > INT64_MAX / dim.size()) damaged(name, "more than 2^63 elements");
    elements *= dim.size();
  }
  return shape;
}

std::vector<TensorSlice> read_slices(const pb::BundleEntryProto& proto, const Shape& full,
                                     const std::string& name) {
  if (proto.slices_size() > kMostSlices) damaged(name, cat(proto.slices_size(), " slices"));
  std::vector<TensorSlice> slices;
  for (const auto& part : proto.slices()) {
    TensorSlice slice;
    for (const auto& extent : part.extent()) {
      if (extent.has_length() && extent.length() < 0) damaged(name, "a slice of negative length");
      slice.extents.push_back(
          {extent.start(), extent.has_length() ? extent.length() : TensorSlice::Extent::kWhole});
    }
    try {
      slice.within(full);
    } catch (const InvalidArgument& e) {
      damaged(name, e.message());
    }
    slices.push_back(std::move(slice));
  }
  return slices;
}

void write_shape(const Shape& shape, pb::TensorShapeProto& proto) {
  for (const std::int64_t dim : shape.dims()) proto.add_dim()->set_size(dim);
}

void write_slice(const TensorSlice& slice, pb::TensorSliceProto& proto) {
  for (const auto& extent : slice.extents) {
    auto& out = *proto.add_extent();
    out.set_start(extent.start);
    if (extent.length != TensorSlice::Extent::kWhole) out.set_length(extent.length);
  }
}

// Reads a message; false if the bytes are none. Requires: a LogSilencer, or Protobuf would print what it
// dislikes to stderr.
template <class Message>
bool read_message(std::string_view bytes, Message& message) {
  return bytes.size() <= INT_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

std::string quoted(const std::string& name) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (const unsigned char c : name) {
    if (c >= 0x20 && c != 0x7f)
      out += static_cast<char>(c);
    else
      out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
  }
  return out + "'";
}

BundleEntry BundleEntry::parse(std::string_view bytes, const std::string& name, int shards) {
  return BundleEntryCodec().parse(bytes, name, shards);
}

struct BundleEntryCodec::Message {
  google::protobuf::LogSilencer quiet;
  pb::BundleEntryProto proto;
};
BundleEntryCodec::BundleEntryCodec() : message_(std::make_unique<Message>()) {}
BundleEntryCodec::~BundleEntryCodec() = default;

BundleEntry BundleEntryCodec::parse(std::string_view bytes, const std::string& name, int shards) {
  pb::BundleEntryProto& proto = message_->proto;
  if (!read_message(bytes, proto)) damaged(name, "not a message");
  BundleEntry entry;
  entry.dtype = static_cast<DType>(proto.dtype());
  entry.shape = read_shape(proto.shape(), name);
  entry.shard = proto.shard_id();
  if (entry.shard < 0 || entry.shard >= shards) damaged(name, cat("data file ", entry.shard, " of ", shards));
  if (proto.offset() < 0 || proto.size() < 0 || proto.offset() > INT64_MAX - proto.size())
    damaged(name, cat(proto.size(), " bytes at ", proto.offset()));
  entry.offset = static_cast<std::uint64_t>(proto.offset());
  entry.size = static_cast<std::uint64_t>(proto.size());
  entry.crc = proto.crc32c();
  entry.slices = read_slices(proto, entry.shape, name);
  return entry;
}

std::string BundleEntry::bytes() const { return BundleEntryCodec().bytes(*this); }

std::string BundleEntryCodec::bytes(const BundleEntry& entry) {
  pb::BundleEntryProto& proto = message_->proto;
  proto.Clear();
  proto.set_dtype(static_cast<pb::DataType>(entry.dtype));
  write_shape(entry.shape, *proto.mutable_shape());  // there even when it is empty, as for scalars
  proto.set_shard_id(entry.shard);
  proto.set_offset(static_cast<std::int64_t>(entry.offset));
  proto.set_size(static_cast<std::int64_t>(entry.size));
  proto.set_crc32c(entry.crc);
  for (const auto& slice : entry.slices) write_slice(slice, *proto.add_slices());
  return proto.SerializeAsString();
}

int parse_header(std::string_view bytes) {
  const google::protobuf::LogSilencer quiet;
  pb::BundleHeaderProto proto;
  if (!read_message(bytes, proto)) throw DataLoss("the checkpoint's header is damaged");
  if (proto.endianness() != pb::BundleHeaderProto::LITTLE)
    throw Unimplemented(
        "the checkpoint was written by a big-endian machine; load and save it again with TensorFlow");
  const auto& version = proto.version();
  if (version.min_consumer() > kVersion || std::ranges::count(version.bad_consumers(), kVersion) > 0)
    throw Unimplemented(cat("the checkpoint demands a reader of version ", version.min_consumer()));
  if (proto.num_shards() < 0 || proto.num_shards() > kMostShards)
    throw DataLoss(cat("the checkpoint's header is damaged: ", proto.num_shards(), " data files"));
  return proto.num_shards();
}

std::string header_bytes(int shards) {
  pb::BundleHeaderProto proto;
  proto.set_num_shards(shards);
  proto.mutable_version()->set_producer(kVersion);
  return proto.SerializeAsString();
}

}  // namespace runnel
