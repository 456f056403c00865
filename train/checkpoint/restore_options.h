// How Saver::restore treats a checkpoint that is not of this very graph, and what it reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace runnel {

struct RestoreOptions {
  // Variables that the file lacks keep their values (or stay without one), instead of an error.
  bool partial = false;
  // So do variables whose value in the file has another shape or dtype. Requires `partial`.
  bool skip_mismatched = false;
  // Names in the file, and what to take them for: {"old/w", "w"}, or a scope {"old/", "new/"}; "/" is the
  // root. A whole name goes before a scope and a longer scope before a shorter one; one that is renamed goes
  // before one that has the name already. One name may be given several others. A rename that leads nowhere
  // is an error.
  std::vector<std::pair<std::string, std::string>> rename = {};
  // Values of another dtype are converted: between integers and floating types, and between the complex ones.
  // Floating types are rounded; where an integer type is on either side a number that would change is an
  // error.
  bool cast = false;
  // Values of another shape with as many elements are taken, as by a Saver with `reshape`.
  bool reshape = false;
};

struct RestoreReport {
  std::vector<std::string> restored;    // keys of variables, sorted; a partitioned one is there once
  std::vector<std::string> missing;     // not in the file
  std::vector<std::string> mismatched;  // of another shape or dtype in the file, and so left as they were
  std::vector<std::string> unused;      // names in the file that no variable took

  // In one line: "restored 3 variables; not in the file, left as they were: 'new'; unused: 'old'".
  std::string text() const;
};

}  // namespace runnel
