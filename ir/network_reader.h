#ifndef PDL_IR_NETWORK_READER_H_
#define PDL_IR_NETWORK_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/proto_convert.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/compiler/graph.h"
#include "pdl/op/op_registry.h"

namespace pdl {

/// Builds a Graph from a NetworkDesc of untrusted input. Every Error names the file and the call or
/// variable.
class NetworkReader {
 public:
  /// `size` is the length of the file.
  NetworkReader(const NetworkDesc& desc, size_t size, llvm::StringRef file,
                const OpRegistry& registry)
      : desc_(desc), file_(file), registry_(registry), values_(size) {}

  llvm::Expected<Graph> Read();

 private:
  using Names = google::protobuf::RepeatedPtrField<std::string>;

  // Tables: symbols, files, locations, blocks.
  llvm::Error ReadSymbols();
  /// The symbols of an input of an incomplete network.
  void AddInputSymbols(const DimDesc& dim);
  llvm::Error CheckInputSymbols() const;
  llvm::Error ReadLocations();
  llvm::Error ReadBlocks();
  // Variables in order; a call is read with its first result.
  llvm::Error ReadVariables();
  llvm::Error ReadVariable(const VarDesc& desc);
  llvm::Error ReadInput(const VarDesc& desc, Type type);
  llvm::Error ReadLearned(const VarDesc& desc, Type type);
  llvm::Error ReadWeight(const VarDesc& desc, const Type& type, WeightRef* out);
  llvm::Expected<int> ReadResults(int variable);
  llvm::Expected<Op*> ReadCall(const OpDesc& desc, uint32_t block);
  llvm::Error ReadOperands(const OpDesc& desc, uint32_t block,
                           llvm::SmallVectorImpl<Value*>* operands);
  llvm::Error ReadAttributes(const OpDesc& desc, const OpDef& def, uint32_t block,
                             llvm::SmallVectorImpl<NamedAttribute>* attributes);
  const OpDef* FindOp(const std::string& type);
  /// The next call of a block; null at its end.
  const OpDesc* NextCall(uint32_t block) const;
  void EnterHead(uint32_t block);
  // Properties of variables, read when all variables exist.
  llvm::Error ReadBlockEnds();
  /// Reads the inputs and outputs of a block whose calls have all been read.
  llvm::Error ReadBlockEnd(uint32_t block);
  /// Sizes that are local to a block are introduced by its inputs.
  void AddBlockSymbols(const TypeDesc& desc);
  llvm::Error CheckBlockOrder() const;
  llvm::Error ReadInitializers();
  llvm::Error CheckCopies();
  llvm::Error ReadConstraints();
  llvm::Error ReadOutputs();
  llvm::Error ReadUpdates();
  llvm::Error CheckOutputNames() const;
  llvm::Error ReadTrainings();
  /// Whether a value of the second type may update a state of the first: their sizes are equal, or
  /// a constraint says so.
  bool MayUpdate(const Type& state, const Type& value);

  /// Whether the string has no control characters but ends of lines and tabs, as comments and
  /// messages may.
  static bool IsText(llvm::StringRef text);
  llvm::Error ReadComment(const VarDesc& desc, Value* value);
  /// Checks that the name is valid and not in use.
  llvm::Error CheckName(const std::string& name) const;
  llvm::Expected<LocationId> ReadLocation(uint32_t row) const;
  /// Returns the block whose calls may read `value`.
  uint32_t HomeOf(const Value* value) const;
  /// Returns the variable if it belongs to the block.
  llvm::Expected<Value*> FindIn(uint32_t block, const std::string& name) const;

  /// Returns an Error about the file.
  template <typename... Args>
  llvm::Error Broken(const char* format, Args&&... args) const {
    return BrokenText(llvm::formatv(format, std::forward<Args>(args)...).str());
  }
  llvm::Error BrokenText(const std::string& text) const;
  /// Prefixes an Error with "FILE: WHERE: ", keeping its code.
  llvm::Error InContext(const std::string& where, llvm::Error error) const;
  llvm::Error InCall(const OpDesc& desc, llvm::Error error) const;
  std::string Describe(const OpDesc& desc) const;

  const NetworkDesc& desc_;
  llvm::StringRef file_;
  const OpRegistry& registry_;
  ProtoReader values_;
  Graph graph_;
  llvm::StringMap<const OpDef*> defs_;
  const OpDef* last_def_ = nullptr;
  /// The number of calls read so far, per block.
  std::vector<int> calls_made_;
  /// Blocks other than 0, by the first result of their next call.
  llvm::StringMap<uint32_t> heads_;
  /// The block of each variable that is an input of a block other than 0.
  llvm::StringMap<uint32_t> block_inputs_;
  llvm::DenseMap<const Value*, uint32_t> input_homes_;
  /// Blocks that are referenced by a call.
  llvm::DenseSet<uint32_t> bodies_;
  /// Which blocks have calls that reference which blocks.
  std::vector<std::pair<uint32_t, uint32_t>> block_uses_;
  std::vector<std::pair<Value*, uint32_t>> initializers_;
  llvm::StringSet<> equal_dims_;
};

}  // namespace pdl

#endif  // PDL_IR_NETWORK_READER_H_
