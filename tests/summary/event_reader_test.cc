// One event file: what its values become, cut at every byte, every bit turned, damaged and skipped.
#include "summary/events/event_reader.h"

#include <doctest/doctest.h>

#include "tests/summary/event_file_bytes.h"

using namespace runnel;

namespace {

std::vector<std::int64_t> steps_left(EventReader& reader) {
  std::vector<std::int64_t> out;
  for (const Event& event : reader)
    if (event.kind == EventKind::kSummary) out.push_back(event.at.step);
  return out;
}

std::vector<std::int64_t> steps_before_damage(EventReader& reader, std::string& message) {
  std::vector<std::int64_t> out;
  try {
    while (const std::optional<Event> event = reader.next())
      if (event->kind == EventKind::kSummary) out.push_back(event->at.step);
  } catch (const DataLoss& error) {
    message = error.message();
  }
  return out;
}

// The only value of the only event.
template <class Fill>
EventValue read_back(const Fill& fill) {
  MemoryFileSystem files;
  put(files, "d/f", value_record(fill));
  std::optional<Event> event = EventReader("d/f", {.files = &files}).next();
  REQUIRE(event);
  REQUIRE(event->values.size() == 1);
  return event->values[0];
}

// Five scalars of steps 1 to 5, without a version record; each record takes as many bytes.
std::string five() {
  std::string out;
  for (int step = 1; step <= 5; ++step) out += scalar_record("a", 0.5f, step);
  return out;
}
const std::size_t kRecord = five().size() / 5;

}  // namespace

TEST_CASE("an event has its time, its step and its values") {
  MemoryFileSystem files;
  put(files, "d/f", version_record(7) + scalar_record("loss", 0.25f, 3, 12.5) + start_record(4));
  EventReader reader("d/f", {.files = &files});
  const std::optional<Event> version = reader.next(), loss = reader.next(), start = reader.next();
  CHECK(version->kind == EventKind::kVersion);
  CHECK(version->text == "brain.Event:2");
  CHECK(loss->at.wall == 12.5);
  CHECK(loss->at.step == 3);
  CHECK(loss->values.at(0).tag == "loss");
  CHECK(loss->values.at(0).plugin == "scalars");
  CHECK(loss->values.at(0).tensor == Tensor::scalar(0.25f));
  CHECK(start->session_status == static_cast<int>(SessionStatus::kStart));
  CHECK_FALSE(reader.next());
}

TEST_CASE("an old histogram loses the empty buckets at its ends and ends at min and max") {
  const EventValue value = read_back([](pb::Summary::Value& v) {
    pb::HistogramProto& h = *v.mutable_histo();
    h.set_min(1), h.set_max(3);
    for (const double limit : {0.5, 2.0, 4.0, 1e308}) h.add_bucket_limit(limit);
    for (const double count : {0.0, 5.0, 6.0, 0.0}) h.add_bucket(count);
  });
  CHECK(value.plugin == "histograms");
  CHECK(value.tensor == Tensor::matrix<float>({{1, 2, 5}, {2, 3, 6}}));
}

TEST_CASE("an old histogram of nothing has no buckets") {
  const EventValue value = read_back([](pb::Summary::Value& v) {
    v.mutable_histo()->add_bucket_limit(1e308);
    v.mutable_histo()->add_bucket(0);
  });
  CHECK(value.tensor == Tensor::zeros(DType::kFloat, Shape{0, 3}));
}

TEST_CASE("an old picture is its width, its height and its bytes") {
  const EventValue value = read_back([](pb::Summary::Value& v) {
    v.mutable_image()->set_width(12), v.mutable_image()->set_height(34);
    v.mutable_image()->set_encoded_image_string("png");
  });
  CHECK(value.plugin == "images");
  CHECK(value.tensor == Tensor::vector<std::string>({"12", "34", "png"}));
}

TEST_CASE("sounds come without labels, old and new") {
  const EventValue old =
      read_back([](pb::Summary::Value& v) { v.mutable_audio()->set_encoded_audio_string("wav"); });
  CHECK(old.plugin == "audio");
  CHECK(old.tensor == Tensor::vector<std::string>({"wav"}));
  const EventValue labelled = read_back([](pb::Summary::Value& v) {
    v.mutable_metadata()->mutable_plugin_data()->set_plugin_name("audio");
    v.mutable_tensor()->set_dtype(pb::DT_STRING);
    for (const int size : {2, 2}) v.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(size);
    for (const char* text : {"one", "label", "two", ""}) v.mutable_tensor()->add_string_val(text);
  });
  CHECK(labelled.tensor == Tensor::vector<std::string>({"one", "two"}));
}

TEST_CASE("a value that cannot be read says why and hides no other") {
  MemoryFileSystem files;
  pb::Event event;
  pb::TensorProto& huge = *event.mutable_summary()->add_value()->mutable_tensor();
  huge.set_dtype(pb::DT_FLOAT);
  for (int i = 0; i < 3; ++i) huge.mutable_tensor_shape()->add_dim()->set_size(1 << 20);
  event.mutable_summary()->add_value()->mutable_histo()->add_bucket(1);
  event.mutable_summary()->add_value()->set_simple_value(2);
  put(files, "d/f", record_of(event));
  const std::optional<Event> read = EventReader("d/f", {.files = &files}).next();
  CHECK(read->values.at(0).problem.starts_with("a tensor claims 1152921504606846976 elements in "));
  CHECK(read->values.at(1).problem == "a histogram has 1 counts and 0 limits");
  CHECK(read->values.at(2).tensor == Tensor::scalar(2.0f));
}

TEST_CASE("many small claims of one event may not take more together than one") {
  pb::Event event;
  for (int i = 0; i < 3; ++i) {
    pb::TensorProto& tensor = *event.mutable_summary()->add_value()->mutable_tensor();
    tensor.set_dtype(pb::DT_FLOAT);
    tensor.mutable_tensor_shape()->add_dim()->set_size(400'000);
    tensor.add_float_val(1);
  }
  MemoryFileSystem files;
  put(files, "d/f", record_of(event));
  const std::optional<Event> read = EventReader("d/f", {.files = &files}).next();
  CHECK(read->values.at(1).tensor.elements() == 400'000);
  CHECK_FALSE(read->values.at(2).problem.empty());
}

TEST_CASE("a file cut at any byte gives its whole events, and the rest when it has come") {
  MemoryFileSystem files;
  for (std::size_t cut = 0; cut <= five().size(); ++cut) {
    CAPTURE(cut);
    put(files, "d/f", five().substr(0, cut));
    EventReader reader("d/f", {.files = &files});
    CHECK(steps_left(reader).size() == cut / kRecord);
    CHECK(reader.truncated() == (cut % kRecord != 0));
    CHECK(reader.offset() == cut / kRecord * kRecord);
    put(files, "d/f", five());
    EventReader rest("d/f", {.offset = reader.offset(), .files = &files});
    CHECK(steps_left(rest).size() == 5 - cut / kRecord);
  }
}

TEST_CASE("any bit turned leaves the events before it, and its record is named") {
  MemoryFileSystem files;
  for (std::size_t bit = 0; bit < five().size() * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = five();
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    put(files, "d/f", bytes);
    EventReader reader("d/f", {.files = &files});
    std::string message;
    const std::size_t record = bit / 8 / kRecord;
    CHECK(steps_before_damage(reader, message).size() == record);
    CHECK(message.find(cat("d/f: at byte ", record * kRecord, " ")) == 0);
    CHECK(reader.offset() == record * kRecord);
  }
}

TEST_CASE("any bit turned costs a reader that skips one event, or all from a damaged length on") {
  MemoryFileSystem files;
  for (std::size_t bit = 0; bit < five().size() * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = five(), message;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    put(files, "d/f", bytes);
    EventReader reader("d/f", {.skip_damaged = true, .files = &files});
    const std::vector<std::int64_t> steps = steps_before_damage(reader, message);
    const std::size_t record = bit / 8 / kRecord;
    if (bit / 8 % kRecord < kRecordHeaderBytes) {
      CHECK(steps.size() == record);
      CHECK(message.find(cat("at byte ", record * kRecord)) != std::string::npos);
    } else {
      CHECK(steps.size() == 4);
      CHECK(message.empty());
      CHECK(reader.skipped() == std::vector<std::uint64_t>{record * kRecord});
    }
  }
}

TEST_CASE("skipping a damaged third record of five gives the others") {
  MemoryFileSystem files;
  std::string bytes = five();
  bytes[2 * kRecord + 20] ^= 1;
  put(files, "d/f", bytes);
  EventReader reader("d/f", {.skip_damaged = true, .files = &files});
  CHECK(steps_left(reader) == std::vector<std::int64_t>{1, 2, 4, 5});
}

TEST_CASE("a sound record that holds no event is damage at its place, and can be skipped") {
  MemoryFileSystem files;
  std::string bytes = scalar_record("a", 1, 1);
  const std::size_t at = bytes.size();
  append_record(bytes, "\xff\xff\xff");
  put(files, "d/f", bytes + scalar_record("a", 2, 2));
  EventReader strict("d/f", {.files = &files}), skipping("d/f", {.skip_damaged = true, .files = &files});
  std::string message;
  CHECK(steps_before_damage(strict, message) == std::vector<std::int64_t>{1});
  CHECK(message.find(cat("d/f: at byte ", at, " is a sound record that holds no event")) == 0);
  CHECK(strict.offset() == at);
  CHECK(steps_left(skipping) == std::vector<std::int64_t>{1, 2});
  CHECK(skipping.skipped() == std::vector<std::uint64_t>{at});
}
