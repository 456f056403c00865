// Damaged .npy files and command lines: a runnel::Error, or an array that goes out and comes in again as it
// is. Usage: npy_fuzz [ROUNDS [SEED]]; a failure prints both.
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tests/fuzz/mutate.h"
#include "train/cli/command_line.h"
#include "train/cli/json.h"
#include "train/cli/npy.h"

using namespace runnel;

namespace {

bool npy_holds(const std::string& bytes) {
  try {
    const Tensor tensor = npy_tensor(bytes);
    return npy_tensor(npy_bytes(tensor)) == tensor;
  } catch (const Error& error) {
    return error.code() != Code::kInternal;
  }
}

// A word that is quoted comes back as it is.
bool line_holds(const std::string& line) {
  try {
    std::string again;
    const std::vector<std::string> words = split_words(line);
    for (const std::string& word : words) {
      again += again.empty() ? "\"" : " \"";
      for (const char c : word) again += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
      again += '"';
      json_text(word);
    }
    return split_words(again) == words;
  } catch (const InvalidArgument&) {
    return true;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const long rounds = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 20000;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const Tensor tensors[] = {Tensor::vector<float>({1, 2, 3}), Tensor::vector<std::string>({"a", "bcd", ""}),
                            Tensor::zeros(DType::kBool, Shape{2, 3}),
                            Tensor::zeros(DType::kComplex128, Shape{0, 5}), Tensor::scalar<std::int16_t>(7)};
  const std::string line = "run 'a b.meta' --feed x:0=\"x \\\" y.npy\" --fetch y:0 # comment";
  for (long i = 0; i < rounds; ++i) {
    const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(i);
    Dice dice(own_seed);
    if (npy_holds(mutated(npy_bytes(tensors[dice.below(std::size(tensors))]), dice)) &&
        line_holds(mutated(line, dice)))
      continue;
    std::printf("seed %llu: run npy_fuzz 1 %llu\n", static_cast<unsigned long long>(own_seed),
                static_cast<unsigned long long>(own_seed));
    return 1;
  }
  std::printf("%ld damaged arrays and command lines: an error, or the same again\n", rounds);
}
