// Uses models from several threads for a long time, as a server would, and verifies that each
// result has the bits of one that a single thread computed before, and that memory does not grow:
//
//   soak [--seconds=N] [--threads=N] [--rate=N] [--seed=N] [--log=FILE.csv] MODEL...
//
// --rate limits the operations of a thread in a second, so that other programs do not change the
// load, on which fragmentation depends.
//
// Each thread repeats a random choice of: a run with a random number of rows, also into its own
// memory; a cancelled run; a run with a wrong input; a new Session; loading the model again;
// compiling a source with an error; two training steps; a fork. All along, a timer interrupts
// system calls.
//
// At 240 times (a run of less than a minute: four times a second), all threads pause, and memory is
// measured. Each thread first loads half of its models again and runs all of them with each number
// of rows, so that the same models are in memory at each time, with the same caches. The log has a
// line for each time: seconds; the memory of the process; the same after the C library has returned
// free memory to the system, which fragmentation had kept; the bytes in use; and the number of
// operations. The exit status is 1 if a result is wrong, or if the second or third kind of memory
// has grown by more than 2 % between the second and the last quarter of the time.
#include <malloc.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pdl/op/dtype.h"
#include "pdl/pdl.h"

namespace {

using Clock = std::chrono::steady_clock;

/// Runs have 0 to this number of rows.
constexpr int64_t kMaxRows = 48;

struct Options {
  int seconds = 10;
  int threads = 8;
  /// Operations of a thread in a second; 0: as many as possible.
  int rate = 0;
  unsigned seed = 1;
  std::string log;
  std::vector<std::string> models;
};

[[noreturn]] void Fail(const std::string& model, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", model.c_str(), what.c_str());
  std::fflush(stdout);
  // Other threads may be in the middle of a run.
  std::_Exit(1);
}

/// Inputs of a model with a number of rows, and the memory that holds them.
struct Inputs {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<int64_t>> integers;
  pdl::Arrays arrays;
};

/// Values that depend on the number of rows only. Unknown sizes are the number of rows.
std::unique_ptr<Inputs> MakeInputs(const pdl::Model& model, int64_t rows) {
  auto made = std::make_unique<Inputs>();
  std::mt19937 random(static_cast<unsigned>(rows));
  for (const pdl::ValueInfo& input : model.inputs()) {
    std::vector<int64_t> sizes = input.sizes;
    std::replace(sizes.begin(), sizes.end(), int64_t{-1}, rows);
    const auto count = static_cast<size_t>(
        std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()));
    if (input.dtype == pdl::DType::kF32) {
      std::vector<float>& values = made->floats.emplace_back(count);
      std::normal_distribution<float> normal;
      for (float& value : values) value = normal(random);
      made->arrays[input.name] = pdl::Array::View(values.data(), sizes);
    } else if (input.dtype == pdl::DType::kI64) {
      std::vector<int64_t>& values = made->integers.emplace_back(count);
      for (int64_t& value : values) value = static_cast<int64_t>(random() % 3);
      made->arrays[input.name] = pdl::Array::View(values.data(), sizes);
    } else {
      Fail(input.name, "only inputs of f32 and i64 are supported");
    }
  }
  return made;
}

/// The sizes and bytes of arrays, for comparison.
std::string BytesOf(const pdl::Arrays& arrays) {
  std::string bytes;
  for (const auto& [name, array] : arrays) {
    bytes += name;
    for (const int64_t size : array.sizes) bytes += "," + std::to_string(size);
    const size_t num_bytes =
        static_cast<size_t>(array.num_elements()) * pdl::DTypeSize(array.dtype);
    if (num_bytes != 0) bytes.append(static_cast<const char*>(array.data), num_bytes);
  }
  return bytes;
}

/// One model, and the results that one thread computes on its own.
class Subject {
 public:
  explicit Subject(std::string path) : path_(std::move(path)), model_(Load(1)) {
    for (int64_t rows = 0; rows <= kMaxRows; ++rows) {
      inputs_.push_back(MakeInputs(model_, rows));
      pdl::Result<pdl::Arrays> result = model_.Run(inputs_.back()->arrays);
      if (!result.ok()) Fail(path_, result.status().ToString());
      expected_.push_back(BytesOf(*result));
    }
    trained_ = Train(model_);
  }

  const std::string& path() const { return path_; }
  const pdl::Model& model() const { return model_; }
  const pdl::Arrays& inputs(int64_t rows) const {
    return inputs_[static_cast<size_t>(rows)]->arrays;
  }

  pdl::Model Load(int threads) const {
    pdl::ModelOptions options;
    options.threads = threads;
    pdl::Result<pdl::Model> loaded = pdl::Model::Load(path_, options);
    if (!loaded.ok()) Fail(path_, loaded.status().ToString());
    return *loaded;
  }

  void Check(const pdl::Result<pdl::Arrays>& result, int64_t rows) const {
    if (!result.ok()) Fail(path_, result.status().ToString());
    if (BytesOf(*result) != expected_[static_cast<size_t>(rows)])
      Fail(path_, "another result with " + std::to_string(rows) + " rows");
  }

  /// The parameters after two steps.
  std::string Train(const pdl::Model& model) const {
    pdl::TrainRequest request;
    request.batch_size = 4;
    request.epochs = 1;
    pdl::Result<pdl::TrainedModel> trained = model.Train(inputs(8), request);
    if (!trained.ok()) Fail(path_, trained.status().ToString());
    pdl::Arrays values;
    for (const pdl::ValueInfo& parameter : trained->model.parameters())
      values[parameter.name] = trained->model.Value(parameter.name).value();
    return BytesOf(values);
  }
  void CheckTraining(const pdl::Model& model) const {
    if (Train(model) != trained_) Fail(path_, "other parameters after training");
  }

 private:
  std::string path_;
  pdl::Model model_;
  std::vector<std::unique_ptr<Inputs>> inputs_;
  /// By number of rows.
  std::vector<std::string> expected_;
  std::string trained_;
};

/// The use of one model by one thread.
class Client {
 public:
  Client(const Subject& subject, unsigned seed, std::atomic<int64_t>* operations)
      : subject_(subject),
        random_(seed),
        model_(subject.model()),
        session_(model_.NewSession()),
        operations_(*operations) {}

  /// Uses a model of its own if `own`, else the one that threads share, and fills its caches, so
  /// that memory is that of a server that has run for long, and does not depend on earlier choices.
  void Settle(bool own) {
    Use(own);
    for (int64_t rows = 0; rows <= kMaxRows; ++rows) {
      subject_.Check(session_.Run(subject_.inputs(rows)), rows);
      session_.Reset();
    }
  }

  void Act() {
    const int64_t rows = Below(kMaxRows + 1);
    const int64_t choice = Below(1000);
    if (choice < 860) {
      subject_.Check(session_.Run(subject_.inputs(rows)), rows);
    } else if (choice < 920) {
      RunIntoOwnMemory(rows);
    } else if (choice < 950) {
      Cancel(rows);
    } else if (choice < 970) {
      session_ = model_.NewSession();
    } else if (choice < 985) {
      GiveWrongInput();
    } else if (choice < 990) {
      CompileWrongSource();
    } else if (choice < 995) {
      subject_.CheckTraining(model_);
    } else if (choice < 999) {
      Use(/*own=*/Below(2) == 0);
    } else {
      Fork();
    }
    // States would make a result depend on earlier runs.
    session_.Reset();
    operations_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  void Use(bool own) {
    model_ = own ? subject_.Load(/*threads=*/1 + static_cast<int>(Below(3))) : subject_.model();
    session_ = model_.NewSession();
  }

  int64_t Below(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random_);
  }

  void RunIntoOwnMemory(int64_t rows) {
    pdl::Result<pdl::Arrays> result = session_.Run(subject_.inputs(rows));
    subject_.Check(result, rows);
    session_.Reset();
    std::vector<std::vector<char>> memory;
    pdl::Arrays own = *result;
    for (auto& [name, array] : own) {
      const size_t count = static_cast<size_t>(array.num_elements()) * pdl::DTypeSize(array.dtype);
      array.data = memory.emplace_back(count).data();
      array.owner = nullptr;
    }
    const pdl::Status status = session_.RunInto(subject_.inputs(rows), own);
    subject_.Check(status.ok() ? pdl::Result<pdl::Arrays>(own) : pdl::Result<pdl::Arrays>(status),
                   rows);
  }

  void Cancel(int64_t rows) {
    session_.Cancel();
    const pdl::Result<pdl::Arrays> cancelled = session_.Run(subject_.inputs(rows));
    if (cancelled.ok() || cancelled.status().kind() != pdl::Status::Kind::kCancelled)
      Fail(subject_.path(), "a cancelled run of " + std::to_string(rows) +
                                " rows: " + cancelled.status().ToString());
    subject_.Check(session_.Run(subject_.inputs(rows)), rows);
  }

  void GiveWrongInput() {
    pdl::Arrays inputs = subject_.inputs(2);
    for (auto& [name, array] : inputs) array.sizes.push_back(1);
    const pdl::Result<pdl::Arrays> rejected = session_.Run(inputs);
    if (rejected.ok() || rejected.status().code().empty())
      Fail(subject_.path(), "an input with another rank is accepted");
  }

  void CompileWrongSource() {
    const pdl::Result<pdl::Model> rejected =
        pdl::Model::FromSource("input x: f32[N, 3]\noutput y = softmx(x)\n");
    if (rejected.ok() || rejected.status().line() != 2) Fail(subject_.path(), "no error in line 2");
  }

  /// A process that has threads may fork, as a server does to start another program.
  void Fork() {
    const pid_t child = fork();
    if (child < 0) return;
    if (child == 0) _exit(7);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) Fail(subject_.path(), "a child failed");
  }

  const Subject& subject_;
  std::mt19937 random_;
  pdl::Model model_;
  pdl::Session session_;
  std::atomic<int64_t>& operations_;
};

/// Memory of the process that is in RAM, in bytes.
int64_t ResidentBytes() {
  long total = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return int64_t{resident} * sysconf(_SC_PAGESIZE);
}

/// Interrupts system calls of all threads, 100 times in a second.
void StartTimer() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const itimerval interval{{0, 10'000}, {0, 10'000}};
  setitimer(ITIMER_REAL, &interval, nullptr);
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--seconds")
      options.seconds = std::atoi(value.c_str());
    else if (name == "--threads")
      options.threads = std::atoi(value.c_str());
    else if (name == "--rate")
      options.rate = std::atoi(value.c_str());
    else if (name == "--seed")
      options.seed = static_cast<unsigned>(std::atoi(value.c_str()));
    else if (name == "--log")
      options.log = value;
    else
      options.models.push_back(argument);
  }
  if (options.models.empty() || options.threads < 1 || options.seconds < 1 || options.rate < 0) {
    std::fprintf(stderr,
                 "soak [--seconds=N] [--threads=N] [--rate=N] [--seed=N] [--log=FILE.csv] "
                 "MODEL...\n");
    std::exit(2);
  }
  return options;
}

/// Delays a thread so that it does at most `rate` operations in a second; 0: any number.
class Pace {
 public:
  explicit Pace(int rate)
      : interval_(rate == 0 ? Clock::duration() : Clock::duration(std::chrono::seconds(1)) / rate) {
  }

  void Wait() {
    if (interval_ == Clock::duration()) return;
    next_ = std::max(next_ + interval_, Clock::now());
    std::this_thread::sleep_until(next_);
  }

 private:
  Clock::duration interval_;
  Clock::time_point next_ = Clock::now();
};

/// Threads that run for intervals of equal length, between which all of them pause.
class Rounds {
 public:
  explicit Rounds(int num_threads) : gate_(num_threads + 1) {}

  /// In a thread: calls `act` until the rounds are over, and `settle` before each pause.
  template <class Act, class Settle>
  void RunThread(Act act, Settle settle) {
    settle();
    gate_.arrive_and_wait();
    while (!is_over_) {
      while (Clock::now() < end_) act();
      settle();
      gate_.arrive_and_wait();
      gate_.arrive_and_wait();
    }
  }

  /// Begins when all threads have called RunThread; calls `pause` after each round.
  template <class Pause>
  void Run(int64_t num_rounds, Clock::duration length, Pause pause) {
    end_ = Clock::now() + length;
    gate_.arrive_and_wait();
    for (int64_t round = 1; round <= num_rounds; ++round) {
      gate_.arrive_and_wait();
      pause(round);
      is_over_ = round == num_rounds;
      end_ = Clock::now() + length;
      gate_.arrive_and_wait();
    }
  }

 private:
  std::barrier<> gate_;
  // Changed only while the threads wait.
  Clock::time_point end_;
  bool is_over_ = false;
};

/// Memory in a pause, in bytes.
struct Sample {
  /// Of the process, after malloc_trim.
  int64_t resident = 0;
  /// In blocks that the program has allocated and not freed.
  int64_t in_use = 0;
};

/// Measures memory and writes the log.
class MemoryLog {
 public:
  explicit MemoryLog(const std::string& path)
      : file_(path.empty() ? nullptr : std::fopen(path.c_str(), "w")) {
    if (!path.empty() && file_ == nullptr) Fail(path, "cannot be written");
  }
  ~MemoryLog() {
    if (file_ != nullptr) std::fclose(file_);
  }
  MemoryLog(const MemoryLog&) = delete;
  MemoryLog& operator=(const MemoryLog&) = delete;

  void Measure(double seconds, int64_t operations) {
    const int64_t untrimmed = ResidentBytes();
    malloc_trim(0);
    const struct mallinfo2 info = mallinfo2();
    samples_.push_back({ResidentBytes(), static_cast<int64_t>(info.uordblks + info.hblkhd)});
    if (file_ == nullptr) return;
    std::fprintf(file_, "%.1f,%lld,%lld,%lld,%lld\n", seconds, static_cast<long long>(untrimmed),
                 static_cast<long long>(samples_.back().resident),
                 static_cast<long long>(samples_.back().in_use),
                 static_cast<long long>(operations));
    std::fflush(file_);
  }

  /// The mean of one member in one quarter of the samples, 0 to 3.
  double MeanOfQuarter(int64_t Sample::* member, size_t quarter) const {
    const size_t begin = samples_.size() * quarter / 4, end = samples_.size() * (quarter + 1) / 4;
    if (begin == end) return 0;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += static_cast<double>(samples_[i].*member);
    return sum / static_cast<double>(end - begin);
  }

 private:
  FILE* file_;
  std::vector<Sample> samples_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const std::string& path : options.models)
    subjects.push_back(std::make_unique<Subject>(path));

  StartTimer();
  std::atomic<int64_t> operations = 0;
  Rounds rounds(options.threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] {
      std::vector<std::unique_ptr<Client>> clients;
      const unsigned seed = options.seed * 1000 + static_cast<unsigned>(i);
      for (const std::unique_ptr<Subject>& subject : subjects)
        clients.push_back(std::make_unique<Client>(*subject, seed, &operations));
      std::mt19937 random(seed);
      Pace pace(options.rate);
      rounds.RunThread(
          [&] {
            clients[random() % clients.size()]->Act();
            pace.Wait();
          },
          [&] {
            for (size_t j = 0; j < clients.size(); ++j)
              clients[j]->Settle(/*own=*/(j + static_cast<size_t>(i)) % 2 == 0);
          });
    });
  }
  // Each pause costs more time than a short run has.
  const int64_t num_rounds = std::min(240, 4 * options.seconds);
  MemoryLog log(options.log);
  const std::chrono::duration<double> length(static_cast<double>(options.seconds) /
                                             static_cast<double>(num_rounds));
  rounds.Run(num_rounds, std::chrono::duration_cast<Clock::duration>(length), [&](int64_t round) {
    log.Measure(static_cast<double>(round) * length.count(), operations);
  });
  for (std::thread& thread : threads) thread.join();

  std::printf("%lld operations, all results as expected\n",
              static_cast<long long>(operations.load()));
  for (const auto& [what, member] : {std::pair("memory of the process", &Sample::resident),
                                     std::pair("memory in use", &Sample::in_use)}) {
    const double before = log.MeanOfQuarter(member, 1), after = log.MeanOfQuarter(member, 3);
    std::printf("%s: %.1f MiB in the second quarter, %.1f in the last\n", what, before / 1048576,
                after / 1048576);
    // A short run has too few samples.
    if (options.seconds >= 600 && after > 1.02 * before) Fail(what, "grows by more than 2 %");
  }
}
