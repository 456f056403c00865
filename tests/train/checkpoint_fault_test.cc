// Saves that fail, are killed or lose power at every single file operation: an older checkpoint, or the new
// one, is always whole, and the next save leaves nothing behind.
#include <doctest/doctest.h>

#include "tests/train/faulty_disk.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/checkpoint_writer.h"

using namespace runnel;

namespace {

void save(FileSystem& files, const std::string& prefix, int value) {
  CheckpointWriter writer(prefix, {.file_system = &files});
  writer.add("v", Tensor::scalar(value));
  writer.add("w", Tensor::vector<std::string>({cat("text ", value), "x"}));
  writer.finish();
}

// The value of a checkpoint whose two tensors belong together; throws if they do not.
int load(FileSystem& files, const std::string& prefix) {
  const CheckpointReader reader(prefix, {.file_system = &files});
  const int value = reader.read("v").scalar<int>();
  if (reader.read("w").values<std::string>()[0] != cat("text ", value)) throw DataLoss("mixed");
  return value;
}

// Saves value 2 with a fault at the nth operation.
FaultyDisk::Outcome save_with_fault(FaultyDisk& disk, const std::string& prefix, int nth, Fault fault) {
  return disk.with_fault(nth, fault, [&] { save(disk.files, prefix, 2); });
}

}  // namespace

TEST_CASE("a save to a new prefix that fails at any operation leaves the directory as it was") {
  for (const Fault fault : kFailures)
    for (int nth = 1;; ++nth) {
      CAPTURE(nth);
      FaultyDisk disk;
      save(disk.files, "d/m-1", 1);
      const auto before = disk.memory.contents();
      const auto save_2 = save_with_fault(disk, "d/m-2", nth, fault);
      CHECK(load(disk.memory, "d/m-1") == 1);
      if (save_2.done) CHECK(load(disk.memory, "d/m-2") == 2);
      const auto after = disk.memory.contents();
      CHECK((after == before || (after.size() == 4 && load(disk.memory, "d/m-2") == 2)));
      if (save_2.finished) break;
    }
}

TEST_CASE("a save over an older checkpoint that fails at any operation leaves one of them whole") {
  for (const Fault fault : kFailures)
    for (int nth = 1;; ++nth) {
      CAPTURE(nth);
      FaultyDisk disk;
      save(disk.files, "d/m", 1);
      const auto save_2 = save_with_fault(disk, "d/m", nth, fault);
      const int value = load(disk.memory, "d/m");
      CHECK((value == 2 || (value == 1 && !save_2.done)));
      save(disk.memory, "d/m", 3);
      CHECK(load(disk.memory, "d/m") == 3);
      CHECK(disk.memory.list("d").size() == 2);
      if (save_2.finished) break;
    }
}

TEST_CASE(
    "a save that is killed or loses power at any operation leaves old or new, and the next save cleans up") {
  for (const PowerCut cut : kPowerCuts)
    for (const bool power : {false, true})
      for (int nth = 1;; ++nth) {
        CAPTURE(nth);
        CAPTURE(power);
        FaultyDisk disk;
        save(disk.files, "d/m", 1);
        const auto save_2 = save_with_fault(disk, "d/m", nth, Fault::kStop);
        if (power) disk.memory.reboot(cut);
        disk.disown_temporaries();
        const int value = load(disk.memory, "d/m");
        CHECK((value == 2 || (value == 1 && !save_2.done)));
        clean_up_interrupted_saves(disk.memory, "d", "m");
        CHECK(load(disk.memory, "d/m") == value);
        CHECK(disk.memory.list("d").size() == 2);
        save(disk.memory, "d/m", 3);
        CHECK(load(disk.memory, "d/m") == 3);
        CHECK(disk.memory.list("d").size() == 2);
        if (save_2.finished) break;
      }
}

TEST_CASE("a first save that is killed at any operation is whole or gone after cleaning up") {
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    FaultyDisk disk;
    disk.memory.make_directory("d");
    const auto save = save_with_fault(disk, "d/m", nth, Fault::kStop);
    disk.disown_temporaries();
    clean_up_interrupted_saves(disk.memory, "d", "m");
    CHECK((disk.memory.list("d").empty() || load(disk.memory, "d/m") == 2));
    if (save.finished) break;
  }
}

TEST_CASE("a save killed while it puts another killed save right leaves old or new") {
  bool finished = false;
  for (int first = 1; !finished; ++first)
    for (int second = 1;; ++second) {
      CAPTURE(first);
      CAPTURE(second);
      FaultyDisk disk;
      save(disk.files, "d/m", 1);
      finished = save_with_fault(disk, "d/m", first, Fault::kStop).finished;
      disk.disown_temporaries();
      const auto repair = save_with_fault(disk, "d/m", second, Fault::kStop);
      disk.memory.reboot(PowerCut::kLosesAllUnsynced);
      const int value = load(disk.memory, "d/m");
      CHECK((value == 1 || value == 2));
      if (repair.finished) break;
    }
}

TEST_CASE("what this process is writing is left alone by cleaning up") {
  MemoryFileSystem files;
  CheckpointWriter writer("d/m", {.file_system = &files});
  writer.add("v", Tensor::scalar(1));
  clean_up_interrupted_saves(files, "d", "");
  writer.finish();
  CHECK(CheckpointReader("d/m", {.file_system = &files}).has("v"));
}

TEST_CASE("a power cut right after a save to new directories loses nothing") {
  for (const PowerCut cut : kPowerCuts) {
    MemoryFileSystem memory;
    save(memory, "new/d/m", 7);
    memory.reboot(cut);
    CHECK(load(memory, "new/d/m") == 7);
  }
}

TEST_CASE("a read error while a checkpoint is read is reported, not taken for the value") {
  FaultyDisk disk;
  save(disk.memory, "m", 1);
  for (int nth = 1;; ++nth) {
    CAPTURE(nth);
    const auto reading = disk.with_fault(nth, Fault::kInputError, [&] { CHECK(load(disk.files, "m") == 1); });
    CHECK(reading.done == reading.finished);
    if (reading.finished) break;
  }
}
