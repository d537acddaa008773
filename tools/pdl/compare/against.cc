#include "tools/pdl/compare/against.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "pdl/runtime/packed_value.h"
#include "tools/pdl/support/tensor_archive.h"

namespace pdl {
namespace {

/// Compares the values of a run with the arrays of a file.
class FileObserver : public RunObserver {
 public:
  FileObserver(llvm::ArrayRef<NamedTensor> arrays, const Tolerance& tolerance,
               CompareReport& report)
      : tolerance_(tolerance), report_(report) {
    for (const auto& [name, tensor] : arrays) arrays_[name] = tensor;
  }
  bool Observes(llvm::StringRef name) const override {
    return arrays_.count(name) != 0 && !compared_.contains(name);
  }
  llvm::Error See(const Result& result) override {
    Compare(ComparedValue::Kind::kCall, result.name,
            {result.tensor, result.op.str(), result.place.str()});
    return llvm::Error::success();
  }
  bool Has(llvm::StringRef name) const { return arrays_.count(name) != 0; }
  bool IsCompared(llvm::StringRef name) const { return compared_.contains(name); }
  void Compare(ComparedValue::Kind kind, llvm::StringRef name, const SeenValue& value) {
    compared_.insert(name);
    report_.Add(CompareValues(kind, name, value, {arrays_.lookup(name), "", ""}, tolerance_));
  }

 private:
  llvm::StringMap<Tensor> arrays_;
  llvm::StringSet<> compared_;
  const Tolerance& tolerance_;
  CompareReport& report_;
};

}  // namespace

llvm::Error CompareWithFile(Side& side, llvm::StringRef file, RunOptions options,
                            const Tolerance& tolerance, CompareReport& report) {
  llvm::Expected<std::vector<NamedTensor>> arrays = ReadArchive(file);
  if (!arrays) return arrays.takeError();
  FileObserver observer(*arrays, tolerance, report);
  options.observer = &observer;
  if (llvm::Error error = side.network->Run(&side.scope, side.context.get(), options)) return error;
  const Graph& graph = side.network->graph();
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs()) {
    if (!options.outputs.empty() && !llvm::is_contained(options.outputs, output.name)) continue;
    for (const PartType& part : PartsOf(output.name, output.value->type())) {
      const std::string name = PartName(output.name, part.part);
      names.push_back(name);
      if (observer.Has(name)) {
        SeenValue value = FindSeen(side.scope, name);
        value.place = PlaceOf(graph, *output.value);
        observer.Compare(ComparedValue::Kind::kOutput, name, value);
      } else {
        report.only_in_first.push_back(name);
      }
    }
  }
  bool is_any = false;
  std::vector<std::string> stored;
  for (const auto& [name, tensor] : *arrays) {
    stored.push_back(name);
    is_any |= observer.IsCompared(name);
    if (!observer.IsCompared(name)) report.only_in_second.push_back(name);
  }
  if (is_any) return llvm::Error::success();
  return MakeUserError(Code::kBadFile,
                       "no array in {0} has the name of an output or another value: it has {1}, "
                       "the outputs are {2}",
                       file, stored.empty() ? "none" : llvm::join(stored, ", "),
                       llvm::join(names, ", "));
}

}  // namespace pdl
