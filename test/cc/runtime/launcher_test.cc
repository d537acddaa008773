#include "pdl/train/launcher.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace pdl {
namespace {

/// Environment variables during a test.
class Environment {
 public:
  explicit Environment(std::initializer_list<std::pair<const char*, const char*>> variables)
      : variables_(variables) {
    for (const auto& [name, value] : variables_) setenv(name, value, 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, const char*>> variables_;
};

TEST(Launcher, ProcessesOfAMachineTakeItsGpusInTurn) {
  const auto gpu_of_rank_5 = [](int gpus) { return FindLauncher()->OwnGpu(5, gpus); };
  {
    const Environment open_mpi{{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "3"}};
    EXPECT_EQ(gpu_of_rank_5(4), 3);
    EXPECT_EQ(gpu_of_rank_5(2), 1);
    EXPECT_EQ(gpu_of_rank_5(0), 0);
  }
  {
    const Environment mpich{{"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "2"}};
    EXPECT_EQ(gpu_of_rank_5(4), 2);
  }
  {
    const Environment slurm{
        {"SLURM_STEP_NUM_TASKS", "8"}, {"PMIX_RANK", "5"}, {"SLURM_LOCALID", "1"}};
    EXPECT_EQ(gpu_of_rank_5(4), 1);
  }
  {
    // srun starts Hydra's proxies, whose processes have their SLURM_LOCALID.
    const Environment mpich_in_slurm{{"SLURM_STEP_NUM_TASKS", "2"},
                                     {"SLURM_LOCALID", "0"},
                                     {"PMI_SIZE", "8"},
                                     {"PMI_FD", "9"},
                                     {"MPI_LOCALRANKID", "3"}};
    EXPECT_EQ(gpu_of_rank_5(4), 3);
  }
  {
    const Environment torchrun{{"WORLD_SIZE", "8"}, {"RANK", "5"}, {"LOCAL_RANK", "0"}};
    EXPECT_EQ(gpu_of_rank_5(4), 0);
  }
  EXPECT_EQ(StartedByHand(5, 8, "/none").OwnGpu(5, 4), 1);
}

}  // namespace
}  // namespace pdl
