#include "pdl/op/error.h"

#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "ir/error_text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "pdl/op/out_of_memory.h"

namespace pdl {
namespace {

/// The number of equal letters at the beginning and the end of two names.
size_t CommonEnds(llvm::StringRef a, llvm::StringRef b) {
  const size_t end = std::min(a.size(), b.size());
  size_t begin = 0, last = 0;
  while (begin < end && a[begin] == b[begin]) ++begin;
  while (last < end - begin && a[a.size() - 1 - last] == b[b.size() - 1 - last]) ++last;
  return begin + last;
}

/// The candidate that begins with `name`, if it is the only one.
llvm::StringRef OnlyCompletion(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  constexpr size_t kLeast = 3;
  llvm::StringRef only;
  for (llvm::StringRef candidate : candidates) {
    if (name.size() < kLeast || !candidate.starts_with_insensitive(name)) continue;
    if (!only.empty()) return "";
    only = candidate;
  }
  return only;
}

struct CodeRow {
  Code code;
  const char* title;
};
constexpr CodeRow kRows[] = {
#define PDL_CODE(enumerator, number, title) {Code::enumerator, title},
#include "pdl/op/codes.def"
#undef PDL_CODE
};
constexpr Code kCodes[] = {
#define PDL_CODE(enumerator, number, title) Code::enumerator,
#include "pdl/op/codes.def"
#undef PDL_CODE
};

/// If memory is exhausted, LLVM's containers and the C library would otherwise abort.
[[maybe_unused]] const bool throws_bad_alloc = [] {
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
  // The C library loads libgcc_s, which takes memory, when an exception first leaves one of its
  // functions, such as pthread_once, or when it first needs a stack.
  void* frame;
  backtrace(&frame, 1);
  return true;
}();

const CodeRow* FindRow(Code code) {
  for (const CodeRow& row : kRows)
    if (row.code == code) return &row;
  return nullptr;
}

}  // namespace

char UserError::ID = 0;
char DeviceError::ID = 0;
char CallError::ID = 0;

std::string CodeName(Code code) {
  char text[16];
  std::snprintf(text, sizeof text, "PDL%04d", static_cast<int>(code));
  return text;
}

llvm::StringRef CodeTitle(Code code) {
  const CodeRow* row = FindRow(code);
  return row ? row->title : "";
}

std::optional<Code> CodeFromName(llvm::StringRef name) {
  name.consume_front_insensitive("PDL");
  int number;
  if (name.getAsInteger(10, number)) return std::nullopt;
  const CodeRow* row = FindRow(static_cast<Code>(number));
  return row ? std::optional(row->code) : std::nullopt;
}

llvm::ArrayRef<Code> AllCodes() { return kCodes; }

std::string WithoutCodes(std::string message) {
  constexpr llvm::StringLiteral kBegin = " [PDL";
  constexpr size_t kDigits = 4;
  for (size_t at = 0; (at = message.find(kBegin.data(), at)) != std::string::npos;) {
    const llvm::StringRef rest = llvm::StringRef(message).drop_front(at + kBegin.size());
    const bool is_code = rest.size() > kDigits && rest[kDigits] == ']' &&
                         llvm::all_of(rest.take_front(kDigits), llvm::isDigit);
    if (is_code) {
      message.erase(at, kBegin.size() + kDigits + 1);
    } else {
      at += kBegin.size();
    }
  }
  return message;
}

void UserError::log(llvm::raw_ostream& os) const {
  os << WithoutCodes(message_) << " [" << CodeName(code_) << "]";
}
std::error_code UserError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

void DeviceError::log(llvm::raw_ostream& os) const { os << message_; }
std::error_code DeviceError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

void CallError::log(llvm::raw_ostream& os) const {
  os << WithoutCodes(message_) << " [" << CodeName(code_) << "]";
}
std::error_code CallError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

llvm::Error OutOfMemory(llvm::StringRef doing) {
  return MakeDeviceError("out of memory while {0}", doing);
}

void InternalError(const std::string& message) {
  std::fprintf(stderr, "internal error: %s\nThis is a bug in pdl; please report it.\n",
               message.c_str());
  std::abort();
}

llvm::StringRef NearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef best;
  unsigned best_distance = static_cast<unsigned>(name.size()) / 3 + 2;
  // Transposed letters are the most likely error.
  auto sorted = [](llvm::StringRef text) {
    std::string letters = text.lower();
    std::sort(letters.begin(), letters.end());
    return letters;
  };
  const std::string letters = name.size() <= 64 ? sorted(name) : "";
  for (llvm::StringRef candidate : candidates) {
    unsigned distance = name.edit_distance_insensitive(candidate, true, best_distance + 1);
    if (candidate.size() == letters.size() && distance > 1 && distance <= 2 &&
        sorted(candidate) == letters) {
      distance = 1;
    }
    if (distance > best_distance) continue;
    // Among equally near ones, prefer the one with the longest common prefix and suffix.
    // Several edits make any two short words equal, unless the ends are the same.
    const size_t ends = CommonEnds(name, candidate);
    if (distance > 1 && (name.size() <= 3 || 3 * ends < name.size())) continue;
    const bool is_nearer =
        distance < best_distance ||
        (distance == best_distance && !best.empty() && ends > CommonEnds(name, best));
    if (is_nearer && distance < name.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best.empty() ? OnlyCompletion(name, candidates) : best;
}

std::string DidYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  const llvm::StringRef near = NearestName(name, candidates);
  return near.empty() ? "" : ("; did you mean '" + near + "'?").str();
}

}  // namespace pdl
