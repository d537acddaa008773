// A Trainer of a linear model, and its results.
#ifndef PDL_TEST_CC_TESTING_TRAINER_TESTING_H_
#define PDL_TEST_CC_TESTING_TRAINER_TESTING_H_

#include <memory>
#include <string>

#include "pdl/train/trainer.h"
#include "test/cc/testing/training_testing.h"

namespace pdl {

struct Training {
  explicit Training(TrainerOptions options, const std::string& text = kLine, int64_t rows = 50,
                    int threads = 1)
      : context(threads) {
    const Graph graph = MakeGraph(text);
    auto data = Dataset::FromTensors(LinePoints(rows), graph);
    if (!data) {
      message = Message(data.takeError());
      return;
    }
    auto made =
        Trainer::Create(graph, std::move(*data), std::move(options), &context, GlobalRegistry());
    if (made) {
      trainer = std::move(*made);
    } else {
      message = Message(made.takeError());
    }
  }

  CPUContext context;
  std::unique_ptr<Trainer> trainer;
  std::string message;
};

inline TrainerOptions Options(int64_t epochs, const std::string& folder = "") {
  TrainerOptions options;
  options.batch_size = 8;
  options.epochs = epochs;
  options.folder = folder;
  options.seed = 3;
  return options;
}

/// All results of a run, as bytes.
inline std::string Result(const Trainer& trainer) {
  std::string bytes;
  for (const char* name : {"w", "b", "count"}) bytes += Bytes(Unwrap(trainer.ValueOf(name)));
  return bytes;
}

}  // namespace pdl

#endif  // PDL_TEST_CC_TESTING_TRAINER_TESTING_H_
