#include "pdl/train/communicator.h"

#include <cassert>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/error.h"
#include "runtime/distributed/background_thread.h"

namespace pdl {

char RankError::ID = 0;
void RankError::log(llvm::raw_ostream& os) const { os << message_; }
std::error_code RankError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

char ReportedByOtherRank::ID = 0;
void ReportedByOtherRank::log(llvm::raw_ostream& os) const {
  os << "another rank reports the error";
}
std::error_code ReportedByOtherRank::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

StartedExchange::~StartedExchange() = default;

Communicator::Communicator(int rank, int size, bool allows_any_thread)
    : rank_(rank), size_(size), allows_any_thread_(allows_any_thread) {}
Communicator::~Communicator() = default;

BackgroundThread& Communicator::background() {
  if (!background_) background_ = std::make_unique<BackgroundThread>();
  return *background_;
}

llvm::Error Communicator::Exchange(llvm::ArrayRef<SentBytes> send,
                                   llvm::ArrayRef<ReceivedBytes> receive) {
  auto started = Start(send, receive);
  return started ? Finish(std::move(*started)) : started.takeError();
}

llvm::Expected<std::unique_ptr<StartedExchange>> Communicator::Start(
    llvm::ArrayRef<SentBytes> send, llvm::ArrayRef<ReceivedBytes> receive) {
  assert(send.size() == static_cast<size_t>(size_) && receive.size() == send.size());
  for (const auto& [rank, bytes] : llvm::enumerate(send))
    if (static_cast<int>(rank) != rank_) bytes_sent_ += static_cast<int64_t>(bytes.size());
  return StartTransfer(send, receive);
}

llvm::Error Communicator::Finish(std::unique_ptr<StartedExchange> exchange) {
  std::vector<int> missing;
  llvm::Error error = exchange->Wait(timeout_, &missing);
  if (missing.empty()) return error;
  llvm::consumeError(std::move(error));
  const auto names = llvm::map_range(missing, [](int rank) { return std::to_string(rank); });
  std::string message;
  llvm::raw_string_ostream(message)
      << (missing.size() == 1 ? "rank " : "ranks ") << llvm::join(names, ", ")
      << llvm::format(" did not answer within %g s", timeout_);
  return llvm::make_error<RankError>(message);
}

llvm::Error Communicator::Broadcast(int root, ReceivedBytes bytes) {
  std::vector<SentBytes> send(static_cast<size_t>(size_));
  std::vector<ReceivedBytes> receive(static_cast<size_t>(size_));
  if (rank_ == root) {
    for (SentBytes& each : send) each = bytes;
  } else {
    receive[static_cast<size_t>(root)] = bytes;
  }
  return Exchange(send, receive);
}

llvm::Expected<std::vector<std::string>> Communicator::AllGather(llvm::StringRef own) {
  const auto count = static_cast<size_t>(size_);
  struct Messages {
    std::string own;
    uint64_t own_length;
    std::vector<uint64_t> lengths;
    std::vector<std::string> texts;
  };
  const auto messages = std::make_shared<Messages>(
      Messages{own.str(), own.size(), std::vector<uint64_t>(count, own.size()), {}});
  const auto as_bytes = [](uint64_t& value) {
    return ReceivedBytes(reinterpret_cast<char*>(&value), sizeof(value));
  };
  std::vector<ReceivedBytes> receive;
  for (uint64_t& length : messages->lengths) receive.push_back(as_bytes(length));
  const std::vector<SentBytes> size(count, as_bytes(messages->own_length));
  if (llvm::Error error = KeepIfFailed(Exchange(size, receive), messages)) return error;
  messages->texts.resize(count);
  receive.clear();
  for (auto [text, length] : llvm::zip_equal(messages->texts, messages->lengths)) {
    text.resize(length);
    receive.emplace_back(text.data(), text.size());
  }
  const std::vector<SentBytes> bytes(count, SentBytes(messages->own.data(), own.size()));
  if (llvm::Error error = KeepIfFailed(Exchange(bytes, receive), messages)) return error;
  messages->texts[static_cast<size_t>(rank_)] = own.str();
  return std::move(messages->texts);
}

llvm::Error Communicator::CheckAgreement(
    llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> facts) {
  std::string own;
  for (const auto& [name, value] : facts) own += value + '\n';
  llvm::Expected<std::vector<std::string>> texts = AllGather(own);
  if (!texts) return texts.takeError();
  std::vector<std::string> differences;
  llvm::SmallVector<llvm::StringRef, 16> first, other;
  llvm::StringRef(texts->front()).split(first, '\n');
  for (size_t rank = 1; rank < texts->size(); ++rank) {
    other.clear();
    llvm::StringRef((*texts)[rank]).split(other, '\n');
    for (size_t i = 0; i < facts.size() && i < other.size(); ++i) {
      if (first[i] == other[i]) continue;
      differences.push_back(
          ("rank " + llvm::Twine(rank) + " differs from rank 0 in the " + facts[i].first).str());
      break;
    }
  }
  if (differences.empty()) return llvm::Error::success();
  return MakeUserError(Code::kTrainingData, "the ranks do not agree: {0}",
                       llvm::join(differences, ", "));
}

llvm::Error Communicator::Barrier() { return AllGather("").takeError(); }

}  // namespace pdl
