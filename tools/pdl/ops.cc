// pdl ops: the operators, from what they declare.
#include "pdl/error.h"
#include "pdl/op_docs.h"
#include "pdl/op_registry.h"
#include "pdl/serialize.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/common_options.h"
#include "tools/pdl/console.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl ops", "[NAME]... [OPTION]...",
    R"(Lists the operators, or tells all about those named: what they compute, their
inputs, outputs and attributes with defaults and ranges.
)",
    R"(pdl ops
pdl ops cos matmul
pdl ops --format=markdown > operators.md
pdl ops --plugin=./libmy_op.so my_op
)"};

llvm::Error PrintOps(llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef format,
                     const CommonOptions& options) {
  if (llvm::Error error = LoadPlugins(options)) return error;
  const OpRegistry& all = GlobalRegistry();
  OpRegistry chosen;
  std::vector<const OpDef*> defs;
  for (llvm::StringRef name : names) {
    const OpDef* def = all.Find(name);
    if (def == nullptr) {
      std::vector<llvm::StringRef> candidates;
      for (const OpDef* candidate : all.All()) candidates.push_back(candidate->name());
      return MakeUserError(Code::kUnknownOperator, "no operator is called '{0}'{1}", name,
                           DidYouMean(name, candidates));
    }
    if (chosen.Find(name) != nullptr) continue;
    chosen.Add(*def);
    defs.push_back(def);
  }
  const OpRegistry& shown = names.empty() ? all : chosen;

  llvm::raw_ostream& os = llvm::outs();
  if (format == "json") {
    os << OpProtosToJson(shown);
  } else if (format == "markdown") {
    os << OpDocsMarkdown(shown);
  } else if (format == "proto") {
    os << SerializeOpProtos(shown);
  } else if (names.empty()) {
    // Nothing is cut for another program.
    os << OpListText(shown, llvm::outs().is_displayed() ? OutputWidth() : 1000);
  } else {
    for (const OpDef* def : defs)
      os << (def == defs[0] ? "" : "\n") << OpDocText(*def, OutputWidth());
  }
  return llvm::Error::success();
}

}  // namespace

int OpsMain(Arguments arguments) {
  CommonOptions options;
  std::string format = "text";
  CommandLine line(kHelp);
  line.AddChoice("--format", {"text", "json", "markdown", "proto"},
                 "json and proto are for programs: the OpProtoList of pdl.proto, in protobuf's "
                 "JSON and in its bytes",
                 &format);
  line.AddValue("--plugin", "FILE.so", "load operators from a shared library",
                [&](llvm::StringRef file) {
                  options.plugins.push_back(file.str());
                  return llvm::Error::success();
                });
  AddMessageOptions(line);
  auto names = line.Parse(arguments);
  if (!names) return Finish(names.takeError());
  if (!*names) return kWell;
  return Finish(PrintOps(**names, format, options));
}

}  // namespace pdl
