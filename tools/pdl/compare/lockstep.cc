#include "tools/pdl/compare/lockstep.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace pdl {
namespace {

// Two threads take turns, and only the one that has the turn accesses this state. The first network
// leads: it passes the turn on when it needs a value of the other one.
class Lockstep {
 public:
  enum Turn : uint8_t { kFirst, kSecond };

  explicit Lockstep(const LockstepHandler& handler) : handler_(handler) {}

  void WaitFor(Turn turn) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == turn; });
  }
  void Give(Turn turn) {
    {
      std::lock_guard lock(mutex_);
      turn_ = turn;
    }
    changed_.notify_all();
  }

  bool Observes(Turn side, llvm::StringRef name) const {
    return !name.empty() && !seen_[side].contains(name) && handler_.observes(name);
  }

  // The first network has computed a value.
  void SeeFirst(llvm::StringRef name, SeenValue value) {
    seen_[kFirst].insert(name);
    if (Meet(name, value, kFirst)) return;
    if (!coming_.contains(name)) return Keep(name, std::move(value));
    awaited_ = name.str();
    awaited_value_ = &value;
    Give(kSecond);
    WaitFor(kFirst);
    awaited_value_ = nullptr;
  }

  // The second network has computed a value.
  void SeeSecond(llvm::StringRef name, SeenValue value) {
    seen_[kSecond].insert(name);
    coming_.erase(name);
    if (awaited_value_ != nullptr && awaited_ == name) {
      handler_.compare(name, *awaited_value_, value);
      Give(kFirst);
      WaitFor(kSecond);
    } else if (!Meet(name, value, kSecond)) {
      Keep(name, std::move(value));
    }
  }

  // The second network is about to compute these values.
  void Expect(llvm::ArrayRef<std::string> names) {
    coming_.clear();
    for (const std::string& name : names) coming_.insert(name);
    if (has_begun_) return;
    has_begun_ = true;
    Give(kFirst);
    WaitFor(kSecond);
  }

  void EndFirst() {
    is_done_[kFirst] = true;
    Give(kSecond);
  }
  void EndSecond() {
    is_done_[kSecond] = true;
    coming_.clear();
    Give(kFirst);
  }

  std::atomic<bool> cancel = false;
  std::vector<std::string> left_out;

 private:
  // Compares the value with the kept one of the same name, if any.
  bool Meet(llvm::StringRef name, const SeenValue& value, Turn side) {
    const auto found = kept_.find(name);
    if (found == kept_.end()) return false;
    free_bytes_ += found->second.tensor.num_bytes();
    if (side == kFirst) {
      handler_.compare(name, value, found->second);
    } else {
      handler_.compare(name, found->second, value);
    }
    kept_.erase(found);
    return true;
  }

  void Keep(llvm::StringRef name, SeenValue value) {
    if (is_done_[kFirst] || is_done_[kSecond]) return;
    const int64_t bytes = value.tensor.num_bytes();
    if (bytes > free_bytes_) {
      left_out.push_back(name.str());
      return;
    }
    // The observed tensor is valid only during the call.
    value.tensor = Tensor::FromConstant(
        Constant::Copy(value.tensor.dtype(), value.tensor.sizes(), value.tensor.raw()));
    free_bytes_ -= bytes;
    kept_[name] = std::move(value);
  }

  const LockstepHandler& handler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = kSecond;
  bool has_begun_ = false;
  bool is_done_[2] = {false, false};
  std::string awaited_;
  const SeenValue* awaited_value_ = nullptr;
  llvm::StringSet<> seen_[2];
  llvm::StringSet<> coming_;
  llvm::StringMap<SeenValue> kept_;
  int64_t free_bytes_ = int64_t{256} << 20;
};

SeenValue ToSeen(const RunObserver::Result& result) {
  return {result.tensor, result.op.str(), result.place.str()};
}

class FirstObserver : public RunObserver {
 public:
  explicit FirstObserver(Lockstep& lockstep) : lockstep_(lockstep) {}
  bool Observes(llvm::StringRef name) const override {
    return lockstep_.Observes(Lockstep::kFirst, name);
  }
  llvm::Error See(const Result& result) override {
    lockstep_.SeeFirst(result.name, ToSeen(result));
    return llvm::Error::success();
  }

 private:
  Lockstep& lockstep_;
};

class SecondObserver : public RunObserver {
 public:
  SecondObserver(Lockstep& lockstep, const Pairs& pairs) : lockstep_(lockstep), pairs_(pairs) {}
  void Begin(llvm::ArrayRef<llvm::StringRef> names) override {
    std::vector<std::string> first;
    for (llvm::StringRef name : names) first.push_back(pairs_.FirstOf(name));
    lockstep_.Expect(first);
  }
  bool Observes(llvm::StringRef name) const override {
    return lockstep_.Observes(Lockstep::kSecond, pairs_.FirstOf(name));
  }
  llvm::Error See(const Result& result) override {
    lockstep_.SeeSecond(pairs_.FirstOf(result.name), ToSeen(result));
    return llvm::Error::success();
  }

 private:
  Lockstep& lockstep_;
  const Pairs& pairs_;
};

}  // namespace

SeenValue FindSeen(const Scope& scope, llvm::StringRef name) {
  const Variable* variable = scope.Find(name);
  const Tensor* tensor = variable ? variable->Get<Tensor>() : nullptr;
  return tensor ? SeenValue{*tensor, "", ""} : SeenValue();
}

std::string PlaceOf(const Graph& graph, const Value& value) {
  return graph.PathToString(value.location());
}

llvm::Error RunLockstep(Side& first, Side& second, const Pairs& pairs, const RunOptions& options_a,
                        const RunOptions& options_b, const LockstepHandler& handler,
                        std::vector<std::string>* left_out) {
  Lockstep lockstep(handler);
  FirstObserver first_observer(lockstep);
  SecondObserver second_observer(lockstep, pairs);
  // The run that fails cancels the other one, whose Error then says that it was cancelled.
  bool first_failed_first = false;
  std::optional<llvm::Error> second_error;
  std::thread thread([&] {
    lockstep.WaitFor(Lockstep::kSecond);
    RunOptions options = options_b;
    options.observer = &second_observer;
    options.cancel = &lockstep.cancel;
    second_error = second.network->Run(&second.scope, second.context.get(), options);
    if (*second_error && !first_failed_first) lockstep.cancel = true;
    lockstep.EndSecond();
  });
  lockstep.WaitFor(Lockstep::kFirst);
  RunOptions options = options_a;
  options.observer = &first_observer;
  options.cancel = &lockstep.cancel;
  llvm::Error first_error = first.network->Run(&first.scope, first.context.get(), options);
  if (first_error && !lockstep.cancel) {
    first_failed_first = true;
    lockstep.cancel = true;
  }
  lockstep.EndFirst();
  thread.join();
  *left_out = std::move(lockstep.left_out);
  llvm::consumeError(first_failed_first ? std::move(*second_error) : llvm::Error::success());
  if (first_failed_first) return first_error;
  if (*second_error) {
    llvm::consumeError(std::move(first_error));
    return std::move(*second_error);
  }
  return first_error;
}

}  // namespace pdl
