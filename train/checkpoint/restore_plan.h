// A restore, planned before anything is assigned: each variable's value is looked for in the checkpoint's
// index, under its name or a renamed one, and everything that does not fit is put into one table. Then all
// values are read, by the session's threads, and the variables take them in one step. Only where the restore
// operation of a foreign graph does more than that does it run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/runtime/session.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/restore_options.h"
#include "train/checkpoint/restored_tensors.h"
#include "train/checkpoint/saver_graph.h"

namespace runnel {

class RestorePlan {
 public:
  // Throws an error with a line a difference - variables that are not in the file, with near names; those of
  // another dtype or shape, with both; what is in the file and not wanted - if `options` do not allow for it:
  // NotFound if a variable is missing, else InvalidArgument. InvalidArgument for renames that cannot be. The
  // reader and what is wanted must outlive the plan.
  RestorePlan(const CheckpointReader& reader, const RestoredTensors& wanted, const RestoreOptions& options);

  // Gives the variables their values, all in one step, after all have been read. Throws DataLoss for damage,
  // InvalidArgument for a number that a cast would change; then nothing is assigned.
  void run(Session& session, const SaverNodes& nodes) const;
  const RestoreReport& report() const { return report_; }

 private:
  // A variable, and the value that it takes.
  struct Read {
    const RestoredTensor* into;
    const VariableInfo* stored;
  };

  bool restored_by_operation() const;
  void run_operation(Session& session, const SaverNodes& nodes) const;
  std::vector<Tensor> values(const RunAll& run_all) const;
  Tensor fitted(const Read& one, Tensor value) const;

  const CheckpointReader& reader_;
  const bool operation_does_more_;
  std::vector<Read> reads_;
  RestoreReport report_;
};

}  // namespace runnel
