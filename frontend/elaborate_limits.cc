// What a text may expand to: see CompileLimits.
#include <algorithm>

#include "frontend/elaborator.h"
#include "ir/dim_polynomial.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

namespace {

/// Lists inside lists, and functions that are given functions: walks and destructors recurse.
constexpr unsigned kMaxDatumDepth = 256;
/// What a call may take: a long model has many statements and many calls.
constexpr uint64_t kStepsOfCall = 64;
/// Items that are copied in the time of a step: lists grow by an item a round.
constexpr uint64_t kItemsOfStep = 8;

/// Symbols and functions in a size, written out, and its terms.
struct Extent {
  uint64_t terms = 1, atoms = 1;
};

Extent ExtentOf(const Dim& dim) {
  Extent extent;
  if (dim.is_constant() || !dim.is_valid()) return extent;
  extent.terms = dim.polynomial()->terms.size();
  for (const DimTerm& term : dim.polynomial()->terms)
    for (const auto& [atom, power] : term.factors) extent.atoms += atom->size;
  return extent;
}

}  // namespace

void Elaborator::NoteLoops(Diagnostic* diagnostic, bool leave_out_innermost) {
  constexpr unsigned kShown = 4;
  unsigned shown = 0;
  for (const TextFrame* frame = frame_; frame != nullptr; frame = frame->caller) {
    llvm::ArrayRef<TextFrame::OpenLoop> loops = frame->loops;
    if (frame == frame_ && leave_out_innermost && !loops.empty()) loops = loops.drop_back();
    for (const TextFrame::OpenLoop& loop : llvm::reverse(loops)) {
      if (++shown > kShown) return;
      diagnostic->NoteAt(frame->module->file, loop.over,
                         "in round " + std::to_string(loop.round + 1) + " of " +
                             std::to_string(loop.rounds) + " of this loop");
    }
  }
}

double Elaborator::ShareOfRounds() const {
  double share = 0;
  for (const TextFrame* frame = frame_; frame != nullptr; frame = frame->caller)
    for (const TextFrame::OpenLoop& loop : llvm::reverse(frame->loops))
      share = (static_cast<double>(loop.round) + share) / static_cast<double>(loop.rounds);
  return share;
}

bool Elaborator::LookAndTake(Meter& meter, uint64_t count, SourceRange place) {
  if (stopped_) return false;
  if (meter.used > meter.limit || count > meter.limit - meter.used)
    return ReportLimit(meter, place);
  meter.used += count;
  meter.look = std::min(meter.limit, meter.used + meter.limit / 8);
  const double share = open_loops_ == 0 ? 0 : ShareOfRounds();
  if (share == 0 || meter.used <= meter.before_loops) return true;
  const double all = static_cast<double>(meter.used - meter.before_loops) / share;
  return all <= 2 * static_cast<double>(meter.limit) || ReportLimit(meter, place);
}

bool Elaborator::ReportLimit(const Meter& meter, SourceRange place) {
  if (stopped_) return false;
  const std::string most = ("more than " + llvm::Twine(meter.limit) + " " + meter.of).str();
  const std::string all = ("the loops and layers of this file " + meter.verb + " " + most + ", " +
                           llvm::Twine(meter.used) + " of them by ")
                              .str();
  if (!frame_->loops.empty()) {
    const TextFrame::OpenLoop& loop = frame_->loops.back();
    Diagnostic& diagnostic = Error(Code::kTextTooLong, loop.over,
                                   all + "round " + llvm::Twine(loop.round + 1) + " of " +
                                       llvm::Twine(loop.rounds) + " of this loop");
    NoteLoops(&diagnostic, /*leave_out_innermost=*/true);
  } else if (frame_->caller != nullptr) {
    Diagnostic& diagnostic = CallerError(Code::kTextTooLong, frame_->place,
                                         all + "this call of '" + frame_->callee + "'");
    NoteLoops(&diagnostic, /*leave_out_innermost=*/false);
  } else {
    Error(Code::kTextTooLong, place, "this " + meter.verb + "s " + most);
  }
  stopped_ = true;
  return false;
}

bool Elaborator::SpendSizes(const Datum& a, const Datum& b, SourceRange place) {
  const auto *x = a.get<Dim>(), *y = b.get<Dim>();
  if ((x == nullptr && y == nullptr) || !IsRepeated()) return true;
  const Extent left = x == nullptr ? Extent() : ExtentOf(*x);
  const Extent right = y == nullptr ? Extent() : ExtentOf(*y);
  // As in a product, in which each term meets each.
  constexpr uint64_t kTermsOfStep = 4;
  return Spend((left.terms * right.atoms + right.terms * left.atoms) / kTermsOfStep, place);
}

bool Elaborator::SpendCheck(const DimCheck& check, SourceRange place) {
  if ((check.left.is_constant() && check.right.is_constant()) || !IsRepeated()) return true;
  // Each relation that is known may be tried, for a few cases of each function.
  constexpr uint64_t kMaxKnown = ConstraintSet::kMaxUsed, kStepsOfTrial = 8;
  const uint64_t known = 1 + std::min<uint64_t>(graph_.constraints().size(), kMaxKnown);
  return Spend(kStepsOfTrial * known * (ExtentOf(check.left).atoms + ExtentOf(check.right).atoms),
               place);
}

bool Elaborator::SpendItems(uint64_t count, SourceRange place) {
  return Spend(count / kItemsOfStep, place);
}

bool Elaborator::SpendExtent(const Datum& datum, SourceRange place) {
  if (datum.list() == nullptr) return true;
  const bool is_written_here = datum.extent() <= uint64_t{place.end} - place.begin + 1;
  return (is_written_here && !IsRepeated()) || Spend(datum.extent(), place);
}

bool Elaborator::SpendCalls(uint64_t count, SourceRange place) {
  if (stopped_) return false;
  if (!IsRepeated()) return true;
  steps_.used -= std::min(steps_.used, kStepsOfCall);
  return Take(calls_, count, place);
}

bool Elaborator::SpendLayerCall(SourceRange place) {
  if (stopped_) return false;
  steps_.used -= std::min(steps_.used, kStepsOfCall);
  return Take(layer_calls_, 1, place);
}

bool Elaborator::MayGrow(uint64_t count, uint64_t more, SourceRange place) {
  if (stopped_) return false;
  const uint64_t limit = request_.limits.list_items;
  if (count + more <= limit && *list_items_ <= limit - (count + more))
    return SpendItems(more, place);
  Diagnostic& diagnostic =
      Error(Code::kTextTooLong, place,
            "the lists of this file hold more than " + llvm::Twine(limit) +
                " items; this one, of " + llvm::Twine(count + more) + ", goes beyond");
  NoteLoops(&diagnostic, /*leave_out_innermost=*/false);
  stopped_ = true;
  return false;
}

bool Elaborator::CheckDepth(unsigned depth, SourceRange place) {
  if (depth <= kMaxDatumDepth) return true;
  Error(Code::kNestingTooDeep, place,
        "lists and functions stand inside each other deeper than " + llvm::Twine(kMaxDatumDepth));
  return false;
}

Datum Elaborator::MakeList(std::vector<Datum> items, SourceRange place, bool is_copied) {
  // What stands in the text once is no longer than that.
  const bool is_counted = is_copied || IsRepeated();
  auto list =
      std::make_shared<const DatumList>(std::move(items), is_counted ? list_items_ : nullptr);
  return CheckDepth(list->depth, place) ? Datum(Datum::List(std::move(list))) : Datum();
}

bool Elaborator::Nesting::Fits(SourceRange place) const {
  Elaborator& e = *elaborator_;
  if (e.stopped_) return false;
  if (e.nesting_ <= e.request_.limits.nesting) return true;
  e.Error(Code::kNestingTooDeep, place,
          "blocks and expressions stand inside each other deeper than " +
              llvm::Twine(e.request_.limits.nesting) + ", through all layers");
  e.stopped_ = true;
  return false;
}

}  // namespace pdl
