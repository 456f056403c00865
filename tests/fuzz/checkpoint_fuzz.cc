// Damaged checkpoints: an index, its values under good checksums, its blocks under good checksums, data files
// and the state file. Whatever the bytes, the answer is a runnel::Error or, where checksums were not made
// good again, the values of the undamaged file. Usage: checkpoint_fuzz [ROUNDS [SEED]]; a failure prints
// both.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "graph/io/crc32c.h"
#include "graph/io/memory_file_system.h"
#include "tests/fuzz/mutate.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/index_table.h"

using namespace runnel;

namespace {

// A checkpoint of one data file as bytes.
struct Files {
  std::string index;
  std::string data;
};

std::string golden_bytes(const std::string& name) {
  return read_file(real_file_system(), std::string(RUNNEL_GOLDEN) + "/" + name);
}

std::vector<Tensor> read_all(const Files& files) {
  MemoryFileSystem memory;
  write_file_atomically(memory, "m.index", files.index);
  write_file_atomically(memory, "m.data-00000-of-00001", files.data);
  const CheckpointReader reader("m", {.file_system = &memory});
  std::vector<Tensor> values;
  for (const auto& variable : reader.variables())
    if (variable.dtype != DType::kVariant) values.push_back(reader.read(variable.name));
  return values;
}

std::uint64_t varint(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

// A table of one data block with one byte of a block changed and all three checksums made good again.
std::string with_damaged_block(std::string table, Dice& dice) {
  std::size_t at = table.size() - 48;
  const std::uint64_t meta = varint(table, at), meta_size = varint(table, at);
  const std::uint64_t index = varint(table, at), index_size = varint(table, at);
  for (std::size_t edits = 1 + dice.below(3); edits > 0; --edits) {
    const bool in_index = dice.one_in(2);
    const std::size_t begin = in_index ? index : 0, size = in_index ? index_size : meta - 5;
    table[begin + dice.below(size)] = static_cast<char>(dice.one_in(2) ? 0xff : dice.roll());
  }
  const auto seal = [&](std::uint64_t begin, std::uint64_t size) {
    const std::uint32_t crc = mask_crc(crc32c(std::string_view(table).substr(begin, size + 1)));
    std::memcpy(&table[begin + size + 1], &crc, sizeof crc);
  };
  seal(0, meta - 5);
  seal(meta, meta_size);
  seal(index, index_size);
  return table;
}

// The index with some keys and values changed, in a table that is sound.
std::string with_damaged_entries(const std::string& index, Dice& dice) {
  MemoryFileSystem memory;
  write_file_atomically(memory, "i", index);
  IndexEntries entries = read_index(*memory.open_for_reading("i"));
  for (std::size_t edits = 1 + dice.below(3); edits > 0; --edits) {
    auto it = std::next(entries.begin(), static_cast<std::ptrdiff_t>(dice.below(entries.size())));
    if (dice.one_in(8)) {
      entries[mutated(it->first, dice)] = it->second;
    } else {
      it->second = mutated(it->second, dice);
    }
  }
  return index_bytes(entries);
}

// True if an error was reported.
template <class Call>
bool refuses(Call call) {
  try {
    call();
    return false;
  } catch (const Error&) {
    return true;
  }
}

bool round(const Files& good, const std::vector<Tensor>& values, const std::string& state, Dice& dice) {
  bool same = true;
  const auto check = [&](const Files& damaged) { same = same && read_all(damaged) == values; };
  refuses([&] { check({mutated(good.index, dice), good.data}); });
  refuses([&] { check({good.index, mutated(good.data + '\0', dice)}); });
  refuses([&] { read_all({with_damaged_entries(good.index, dice), good.data}); });
  refuses([&] { read_all({with_damaged_block(good.index, dice), good.data}); });
  refuses([&] {
    const CheckpointState read = parse_checkpoint_state(mutated(state, dice));
    same = same && parse_checkpoint_state(text_of(read)) == read;
  });
  return same;
}

}  // namespace

int main(int count, char** arguments) {
  const long rounds = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 5000;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const char* const names[] = {"linear_ref/linear.ckpt-100", "partitioned/odd.ckpt", "dtypes/all.ckpt",
                               "names/names.ckpt"};
  const std::string state =
      golden_bytes("state/checkpoint_timestamps") + golden_bytes("state/checkpoint_odd_control");
  for (const char* name : names) {
    const Files good{golden_bytes(std::string(name) + ".index"),
                     golden_bytes(std::string(name) + ".data-00000-of-00001")};
    std::vector<Tensor> values;
    refuses([&] { values = read_all(good); });
    for (long i = 0; i < rounds; ++i) {
      const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(i);
      Dice dice(own_seed);
      if (round(good, values, state, dice)) continue;
      std::printf("%s: wrong values came back, seed %llu: run checkpoint_fuzz 1 %llu\n", name,
                  static_cast<unsigned long long>(own_seed), static_cast<unsigned long long>(own_seed));
      return 1;
    }
  }
  std::printf("%ld damaged copies of %zu checkpoints: an error or the right values each time\n", 5 * rounds,
              std::size(names));
}
