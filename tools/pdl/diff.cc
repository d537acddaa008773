// pdl diff: shows the differences between two networks.
#include "pdl/compiler/diff.h"

#include <array>
#include <cstdlib>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "tools/pdl/commands.h"
#include "tools/pdl/support/console.h"
#include "tools/pdl/support/hash_weights.h"
#include "tools/pdl/support/load_network.h"

namespace pdl {
namespace {

constexpr CommandLine::Help kHelp = {
    "pdl diff", "A B [OPTION]...",
    R"(Shows how the computations of two networks (.pdl, .pdlc, .onnx, or - for standard
input) differ: inputs, parameters, states, calls and their attributes, updates, outputs,
types and constraints. Layout, comments and the names of intermediate values are
ignored. Weights are compared by their SHA-256 if they can be read. /dev/null is an
empty network.

  + call z: f32[N] = sin(y)             only in B
  - call z: f32[N] = tanh(y)            only in A
  ~ call y: f32[N] = cos(x)             in both, as it is in A, followed by
      scale: 1.0 -> 2.0                 what differs

As a git diff driver it takes the arguments that git passes: seven or nine, or one for a
file with a merge conflict:

  git config diff.pdl.command 'pdl diff'
  echo '*.pdl diff=pdl' >> .gitattributes

Exit status: 0 no difference, 1 differences, 2 the networks could not be compared; as a
git driver always 0.
)",
    R"(pdl diff old.pdl new.pdl
pdl diff --stat model.pdl model.pdlc
git show HEAD:model.pdl | pdl diff - model.pdl
)"};

struct DiffArguments {
  CommonOptions common;
  bool stat = false;
};

constexpr int kNotCompared = 2;

llvm::Expected<Graph> Load(llvm::StringRef path, const CommonOptions& options) {
  if (path == "/dev/null") return Graph();
  llvm::Expected<LoadedNetwork> network = LoadNetwork(path, options);
  if (!network) return network.takeError();
  HashWeights(*network);
  return std::move(network->graph);
}

void PrintDifferences(llvm::ArrayRef<Difference> differences) {
  for (const Difference& difference : differences) {
    const char sign = difference.kind == DifferenceKind::kAdded     ? '+'
                      : difference.kind == DifferenceKind::kRemoved ? '-'
                                                                    : '~';
    llvm::outs() << sign << ' ' << DifferenceSubjectName(difference.subject) << ' '
                 << difference.text << '\n';
    for (const std::string& change : difference.changes) llvm::outs() << "    " << change << '\n';
  }
}

// "2 calls added, 1 input changed".
void PrintStat(llvm::ArrayRef<Difference> differences) {
  constexpr size_t kKinds = 3, kSubjects = 8;
  static constexpr const char* kVerbs[kKinds] = {"added", "removed", "changed"};
  std::array<std::array<size_t, kKinds>, kSubjects> counts{};
  for (const Difference& difference : differences)
    ++counts[static_cast<size_t>(difference.subject)][static_cast<size_t>(difference.kind)];
  std::vector<std::string> texts;
  for (size_t subject = 0; subject < kSubjects; ++subject) {
    const llvm::StringRef name = DifferenceSubjectName(static_cast<DifferenceSubject>(subject));
    for (size_t kind = 0; kind < kKinds; ++kind) {
      const size_t count = counts[subject][kind];
      if (count == 0) continue;
      texts.push_back(
          (llvm::Twine(count) + " " + name + (count == 1 ? " " : "s ") + kVerbs[kind]).str());
    }
  }
  llvm::outs() << (texts.empty() ? "no differences" : llvm::join(texts, ", ")) << '\n';
}

// Returns true if they differ.
llvm::Expected<bool> Compare(llvm::StringRef before, llvm::StringRef after,
                             const DiffArguments& arguments) {
  llvm::Expected<Graph> a = Load(before, arguments.common);
  if (!a) return a.takeError();
  llvm::Expected<Graph> b = Load(after, arguments.common);
  if (!b) return b.takeError();
  const std::vector<Difference> differences = DiffGraphs(*a, *b);
  if (arguments.stat) {
    PrintStat(differences);
  } else {
    PrintDifferences(differences);
  }
  return !differences.empty();
}

// Arguments: PATH OLD-FILE OLD-HEX OLD-MODE NEW-FILE NEW-HEX NEW-MODE, and for a renamed file its
// new path and git's description of the change. A status other than 0 would end git's output.
int DiffForGit(llvm::ArrayRef<llvm::StringRef> files, DiffArguments arguments) {
  const llvm::StringRef path = files.size() > 7 ? files[7] : files[0];
  llvm::outs() << "pdl diff " << files[0];
  if (path != files[0]) llvm::outs() << ' ' << path;
  llvm::outs() << '\n';
  // git passes temporary files; the networks refer to files relative to the original path.
  arguments.common.folder = FolderOf(path);
  llvm::Expected<bool> differ = Compare(files[1], files[4], arguments);
  if (!differ) {
    llvm::outs().flush();
    Finish(differ.takeError());
  }
  return kSuccess;
}

}  // namespace

int DiffMain(Arguments arguments) {
  DiffArguments diff;
  diff.common.without_weights = true;
  CommandLine line(kHelp);
  line.AddFlag("--stat", "print one line with the number of differences", &diff.stat);
  line.AddString("--folder", "FOLDER",
                 "folder of the files that the networks refer to (default: that of each network)",
                 &diff.common.folder);
  AddNetworkOptions(line, &diff.common);
  AddMessageOptions(line);
  line.AddSandbox();
  auto files = line.Parse(arguments);
  if (!files) return Finish(files.takeError());
  if (!*files) return kSuccess;
  const size_t count = (*files)->size();
  // git sets this for its drivers.
  if (count == 1 && std::getenv("GIT_DIFF_PATH_COUNTER") != nullptr) {
    llvm::outs() << "* Unmerged path " << (**files)[0] << '\n';
    return kSuccess;
  }
  if (count == 7 || count == 9) return DiffForGit(**files, diff);
  if (count != 2) return Finish(line.Wrong("expected two networks"));
  llvm::Expected<bool> differ = Compare((**files)[0], (**files)[1], diff);
  if (!differ) {
    Finish(differ.takeError());
    return kNotCompared;
  }
  return *differ ? 1 : kSuccess;
}

}  // namespace pdl
