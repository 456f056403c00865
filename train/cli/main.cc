// The command `runnel`: results to stdout, everything else to stderr; status 0 done, 1 failed, 2 used
// wrongly.
#include <iostream>

#include <CLI/CLI.hpp>

#include "graph/graph.h"
#include "train/cli/commands.h"

namespace {

int report(const std::string& why) {
  std::cerr << "runnel: " << why << "\n";
  return 1;
}

int run(CLI::App& program, int count, char** arguments) {
  try {
    program.parse(count, arguments);
    std::cout.flush();
    return std::cout ? 0 : report("standard output could not be written");
  } catch (const CLI::ParseError& error) {
    // A word that nobody takes is named first: for a mistyped command, CLI11 says that one is missing.
    const std::vector<std::string> extra = program.remaining(true);
    const bool mistyped = error.get_name() == "RequiredError" && !extra.empty();
    constexpr int kUsedWrongly = 2;
    const int status = mistyped ? program.exit(CLI::ExtrasError(extra)) : program.exit(error);
    return status == 0 ? 0 : kUsedWrongly;
  } catch (const std::exception& error) {
    std::cout.flush();
    return report(error.what());
  }
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App program("Runs, shows and converts TensorFlow 1 graphs without TensorFlow.", "runnel");
  program.require_subcommand(1);
  runnel::add_run_command(program);
  runnel::add_graph_command(program);
  runnel::add_ops_command(program);
  runnel::add_checkpoint_command(program);
  runnel::add_events_command(program);
  runnel::add_inspect_command(program);
  return run(program, count, arguments);
}
