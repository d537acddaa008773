// The page that shows a network as boxes: `pdl view`, and networks in notebooks.
// Module: view
#ifndef PDL_COMPILER_VIEW_H_
#define PDL_COMPILER_VIEW_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "pdl/compiler/diff.h"
#include "pdl/compiler/export.h"
#include "pdl/compiler/graph.h"
#include "pdl/compiler/source.h"

namespace pdl {

/// Statistics of a value in one run.
struct ViewStatistics {
  /// With the sizes of the run: "f32[8, 64]".
  std::string type;
  int64_t elements = 0, nans = 0, infinities = 0;
  /// Of the finite elements; 0 if there are none. `deviation` is the standard deviation.
  double min = 0, max = 0, mean = 0, deviation = 0;
  /// The number of finite elements in each of equally wide intervals from `min` to `max`.
  std::vector<int64_t> bins;
};

/// The time of one step of a plan, which is a call or a fused group.
struct ViewTime {
  double seconds = 0;
  /// The operators of the step: "conv2d, add, relu".
  std::string calls;
};

/// How a value differs from that of the same name in another network.
struct ViewDeviation {
  bool is_near = false;
  double max_error = 0;
};

/// Facts about the calls and values of a network, by the name of a value: for calls, that of their
/// first result. Names that the network does not have are ignored; the groups that are not set are
/// not offered by the page.
struct ViewFacts {
  std::optional<llvm::StringMap<ViewTime>> times;
  /// The bytes of the values that are live while a call runs.
  std::optional<llvm::StringMap<int64_t>> live_bytes;
  std::optional<llvm::StringMap<ViewStatistics>> statistics;
  /// The differences from another network, `before`, whose name for people is `before_name`.
  std::optional<std::vector<Difference>> differences;
  std::optional<llvm::StringMap<ViewDeviation>> deviations;
  std::string before_name;
};

struct ViewOptions {
  /// The heading: the name of the network's file.
  std::string title;
  /// The sources that the network's locations refer to, by their names. Those of the standard
  /// layers need not be given. If there are none, the flat source of the network is shown.
  std::vector<std::shared_ptr<const SourceFile>> sources;
  ViewFacts facts;
  /// The program of Graphviz that arranges boxes, found in PATH; it is ended after ten seconds. If
  /// it is missing or fails, or the name is empty, boxes are nested lists.
  std::string layout_program = "dot";
};

/// Returns an HTML page that shows a network: layers and loop bodies as boxes that open, types,
/// parameters and their sizes, the source, and the given facts. The page is complete in itself: it
/// contacts no server, and its Content-Security-Policy allows only its own script. Names of the
/// network are never interpreted as HTML or script, and characters that change the direction of
/// writing are shown by their code points.
PDL_API std::string RenderPage(const Graph& graph, const ViewOptions& options);

/// Returns the sources of the files that a network's locations name, for ViewOptions::sources:
/// `source` itself and those that `read_import` finds for the other files, whose paths are relative
/// to `folder`. Files that cannot be read are left out.
PDL_API std::vector<std::shared_ptr<const SourceFile>> FindViewSources(
    const Graph& graph, std::shared_ptr<const SourceFile> source, llvm::StringRef folder,
    llvm::function_ref<llvm::Expected<std::shared_ptr<const SourceFile>>(llvm::StringRef path)>
        read_import);

/// Returns the bytes of the values that are live while each call runs, by the name of the call's
/// first result: the network's inputs, and the results that were computed before and are needed by
/// it or later, in the order of the graph and without fused or in-place calls. An Error if the size
/// of a symbol is not in `sizes`; values with data-dependent sizes count as 0 bytes.
PDL_API llvm::Expected<llvm::StringMap<int64_t>> FindLiveBytes(
    const Graph& graph, const llvm::StringMap<int64_t>& sizes);

}  // namespace pdl

#endif  // PDL_COMPILER_VIEW_H_
