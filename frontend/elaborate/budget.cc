// Limits on the expansion of a program: see CompileLimits.
#include "frontend/elaborate/budget.h"

#include <algorithm>

#include "frontend/elaborate/reporter.h"
#include "ir/dim_polynomial.h"
#include "llvm/ADT/STLExtras.h"

namespace pdl {

namespace {

/// Nested lists, and functions passed to functions: graph walks and destructors recurse.
constexpr unsigned kMaxDatumDepth = 256;

/// Cost of a call, in steps: a long model has many statements and many calls.
constexpr uint64_t kStepsOfCall = 64;

/// Items copied at the cost of one step: lists grow by one item per iteration.
constexpr uint64_t kItemsOfStep = 8;

/// The terms of a size, and the symbols and functions in them, written out.
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

bool Budget::IsCancelled() {
  if (!request_.is_cancelled()) return false;
  report_.Stop();
  return true;
}

bool Budget::LookAndTake(Meter& meter, uint64_t count, SourceRange place) {
  if (report_.stopped()) return false;
  if (meter.used > meter.limit || count > meter.limit - meter.used)
    return ReportLimit(meter, /*is_estimate=*/false, place);
  meter.used += count;
  meter.look = std::min(meter.limit, meter.used + meter.limit / 8);
  const double share = at_.open_loops == 0 ? 0 : ShareOfRounds();
  if (share == 0 || meter.used <= meter.before_loops) return true;
  const double all = static_cast<double>(meter.used - meter.before_loops) / share;
  return all <= 2 * static_cast<double>(meter.limit) ||
         ReportLimit(meter, /*is_estimate=*/true, place);
}

double Budget::ShareOfRounds() const {
  double share = 0;
  for (const TextFrame* frame = at_.frame; frame != nullptr; frame = frame->caller)
    for (const TextFrame::OpenLoop& loop : llvm::reverse(frame->loops))
      share = (static_cast<double>(loop.round) + share) / static_cast<double>(loop.rounds);
  return share;
}

bool Budget::ReportLimit(const Meter& meter, bool is_estimate, SourceRange place) {
  if (report_.stopped()) return false;
  const std::string most = ("more than " + llvm::Twine(meter.limit) + " " + meter.of).str();
  const std::string all =
      ("the loops and layers of this file " + llvm::StringRef(is_estimate ? "would " : "") +
       meter.verb + " " + most + ", " + llvm::Twine(meter.used) + " of them by ")
          .str();
  if (!at_.frame->loops.empty()) {
    const TextFrame::OpenLoop& loop = at_.frame->loops.back();
    Diagnostic& diagnostic = report_.Error(Code::kTextTooLong, loop.over,
                                           all + "iteration " + llvm::Twine(loop.round + 1) +
                                               " of " + llvm::Twine(loop.rounds) + " of this loop");
    report_.NoteLoops(&diagnostic, /*leave_out_innermost=*/true);
  } else if (at_.frame->caller != nullptr) {
    Diagnostic& diagnostic = report_.CallerError(Code::kTextTooLong, at_.frame->place,
                                                 all + "this call of '" + at_.frame->callee + "'");
    report_.NoteLoops(&diagnostic, /*leave_out_innermost=*/false);
  } else {
    report_.Error(Code::kTextTooLong, place, "this " + meter.verb + "s " + most);
  }
  report_.Stop();
  return false;
}

void Budget::OpenLoop() {
  if (at_.open_loops++ > 0) return;
  for (Meter* meter : {&spent_.steps, &spent_.calls, &spent_.layer_calls})
    meter->before_loops = meter->used;
}

bool Budget::Nesting::Fits(SourceRange place) const {
  if (budget_.report_.stopped()) return false;
  const unsigned limit = budget_.request_.limits.nesting;
  if (budget_.at_.nesting <= limit) return true;
  budget_.report_.Error(Code::kNestingTooDeep, place,
                        "blocks and expressions are nested deeper than " + llvm::Twine(limit) +
                            ", through all layers");
  budget_.report_.Stop();
  return false;
}

bool Budget::SpendSizes(const Datum& a, const Datum& b, SourceRange place) {
  const auto *x = a.get<Dim>(), *y = b.get<Dim>();
  if ((x == nullptr && y == nullptr) || !at_.IsRepeated()) return true;
  const Extent left = x == nullptr ? Extent() : ExtentOf(*x);
  const Extent right = y == nullptr ? Extent() : ExtentOf(*y);
  // As in a product, where each term is multiplied by each term.
  constexpr uint64_t kTermsOfStep = 4;
  return Spend((left.terms * right.atoms + right.terms * left.atoms) / kTermsOfStep, place);
}

bool Budget::SpendCheck(const DimCheck& check, SourceRange place) {
  if ((check.left.is_constant() && check.right.is_constant()) || !at_.IsRepeated()) return true;
  // Each known relation may be tried, for a few cases of each function.
  constexpr uint64_t kMaxKnown = ConstraintSet::kMaxUsed, kStepsOfTrial = 8;
  const uint64_t known = 1 + std::min<uint64_t>(graph_.constraints().size(), kMaxKnown);
  return Spend(kStepsOfTrial * known * (ExtentOf(check.left).atoms + ExtentOf(check.right).atoms),
               place);
}

bool Budget::SpendItems(uint64_t count, SourceRange place) {
  return Spend(count / kItemsOfStep, place);
}

bool Budget::SpendExtent(const Datum& datum, SourceRange place) {
  if (datum.list() == nullptr) return true;
  const bool is_written_here = datum.extent() <= uint64_t{place.end} - place.begin + 1;
  return (is_written_here && !at_.IsRepeated()) || Spend(datum.extent(), place);
}

bool Budget::SpendCalls(uint64_t count, SourceRange place) {
  if (report_.stopped()) return false;
  if (!at_.IsRepeated()) return true;
  spent_.steps.used -= std::min(spent_.steps.used, kStepsOfCall);
  return Take(spent_.calls, count, place);
}

bool Budget::SpendLayerCall(SourceRange place) {
  if (report_.stopped()) return false;
  spent_.steps.used -= std::min(spent_.steps.used, kStepsOfCall);
  return Take(spent_.layer_calls, 1, place);
}

bool Budget::MayGrow(uint64_t count, uint64_t more, SourceRange place) {
  if (report_.stopped()) return false;
  const uint64_t limit = request_.limits.list_items;
  if (count + more <= limit && *spent_.list_items <= limit - (count + more))
    return SpendItems(more, place);
  Diagnostic& diagnostic =
      report_.Error(Code::kTextTooLong, place,
                    "the lists of this file hold more than " + llvm::Twine(limit) +
                        " items; this one, of " + llvm::Twine(count + more) + ", goes beyond");
  report_.NoteLoops(&diagnostic, /*leave_out_innermost=*/false);
  report_.Stop();
  return false;
}

bool Budget::CheckDepth(unsigned depth, SourceRange place) {
  if (depth <= kMaxDatumDepth) return true;
  report_.Error(Code::kNestingTooDeep, place,
                "lists and functions are nested deeper than " + llvm::Twine(kMaxDatumDepth));
  return false;
}

Datum Budget::MakeList(std::vector<Datum> items, SourceRange place, bool is_copied) {
  // A list that is written out is no longer than its source.
  const bool is_counted = is_copied || at_.IsRepeated();
  auto list =
      std::make_shared<const DatumList>(std::move(items), is_counted ? spent_.list_items : nullptr);
  return CheckDepth(list->depth, place) ? Datum(Datum::List(std::move(list))) : Datum();
}

}  // namespace pdl
