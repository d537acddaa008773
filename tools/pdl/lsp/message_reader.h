#ifndef PDL_TOOLS_PDL_LSP_MESSAGE_READER_H_
#define PDL_TOOLS_PDL_LSP_MESSAGE_READER_H_

#include <optional>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace pdl::lsp {

/// Reads the messages of the base protocol from a file descriptor: headers, an empty line, and as
/// many bytes as `Content-Length` says. Unlike the reader of MLIR's transport, it survives any
/// input: garbage between messages is skipped up to the next header.
class MessageReader {
 public:
  /// Longer messages are skipped.
  static constexpr size_t kMaxLength = size_t{1} << 28;

  explicit MessageReader(int fd) : fd_(fd) {}

  /// The content of the next message, as UTF-8; nullopt at the end of the input.
  std::optional<std::string> Next();

 private:
  /// Reads more bytes into the buffer. Returns false at the end of the input.
  bool Fill();
  /// The next line, without its line end; nullopt at the end of the input.
  std::optional<std::string> ReadLine();
  bool ReadBytes(size_t count, std::string* bytes);
  bool SkipBytes(size_t count);

  int fd_;
  llvm::SmallVector<char, 0> buffer_;
  size_t at_ = 0;  // in the buffer
};

}  // namespace pdl::lsp

#endif  // PDL_TOOLS_PDL_LSP_MESSAGE_READER_H_
