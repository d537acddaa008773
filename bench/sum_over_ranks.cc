// The sum of gradients over ranks, compared with MPI_Allreduce, and the bytes that it sends:
//   mpirun -n 2 build/release/bin/pdl_sum_bench_openmpi [MEGABYTES [REPETITIONS]]
// Both are measured by turns; times are medians of the slowest rank's.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/distributed/transport_library.h"
#include "runtime/distributed/tree_sum.h"

namespace pdl::bench {
namespace {

/// The seconds that the slowest rank needs.
double Seconds(llvm::function_ref<void()> work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  work();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int Run(size_t elements, int repetitions) {
  char* error = nullptr;
  const Rendezvous rendezvous;
  const std::unique_ptr<Communicator> ranks(pdl_transport_create(&rendezvous, &error));
  if (!ranks) {
    std::fprintf(stderr, "error: %s\n", error);
    return 1;
  }
  std::vector<double> of_mpi, of_tree;
  std::vector<float> values(elements, 1.0f);
  int64_t sent = 0;
  for (int i = 0; i < repetitions + 2; ++i) {
    const double mpi = Seconds([&] {
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(elements), MPI_FLOAT, MPI_SUM,
                    MPI_COMM_WORLD);
    });
    std::fill(values.begin(), values.end(), 1.0f);
    TreeSum own(ranks->rank());
    own.AddLeaf({std::move(values), {}});
    SumNote note{i};
    const int64_t before = ranks->bytes_sent();
    const double tree = Seconds([&] {
      llvm::Expected<TreeValues> sum =
          SumOverRanks(std::move(own), ranks->size(), {{elements, 0}, {}}, *ranks, &note);
      values = std::move(llvm::cantFail(std::move(sum)).f32);
    });
    sent = ranks->bytes_sent() - before;
    if (values[elements / 2] != static_cast<float>(ranks->size())) std::abort();
    // The first ones allocate memory and connections.
    if (i < 2) continue;
    of_mpi.push_back(mpi);
    of_tree.push_back(tree);
  }
  const double n = ranks->size(), bytes = 4.0 * static_cast<double>(elements);
  if (ranks->rank() == 0)
    std::printf(
        "%d ranks, %.1f MB: MPI_Allreduce %.2f ms, sum over the tree %.2f ms (%.2f times), "
        "%.4f of 2 (n - 1) / n of the bytes sent\n",
        ranks->size(), bytes / 1e6, 1e3 * Median(of_mpi), 1e3 * Median(of_tree),
        Median(of_tree) / Median(of_mpi), static_cast<double>(sent) / (2 * (n - 1) / n * bytes));
  return 0;
}

}  // namespace
}  // namespace pdl::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double megabytes = argc > 1 ? std::atof(argv[1]) : 25;
  const int status =
      pdl::bench::Run(static_cast<size_t>(megabytes * 1e6 / 4), argc > 2 ? std::atoi(argv[2]) : 50);
  MPI_Finalize();
  return status;
}
