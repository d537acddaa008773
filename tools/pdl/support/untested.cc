#include "tools/pdl/support/untested.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "pdl/op/error.h"
#include "pdl/runtime/io.h"
#include "tools/pdl/support/elements.h"
#include "tools/pdl/test/calls.h"

namespace pdl {
namespace {

using Calls = llvm::ArrayRef<TestCall>;

// Dtypes without literals and without calls that compute them: their values come only from files.
constexpr DTypeSet kOnlyStored =
    DTypeSet(DType::kI16) | DTypeSet(DType::kU16) | DTypeSet(DType::kU32) | DTypeSet(DType::kU64);

struct Waiver {
  std::string op, what;
  unsigned line = 0;
  bool is_used = false;
};

llvm::Expected<std::vector<Waiver>> ReadWaivers(llvm::StringRef path) {
  std::vector<Waiver> waivers;
  if (!llvm::sys::fs::exists(path)) return waivers;
  auto buffer = ReadFile(path);
  if (!buffer) return buffer.takeError();
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const llvm::StringRef line = lines[i].trim();
    if (line.empty() || line.starts_with("#")) continue;
    llvm::SmallVector<llvm::StringRef, 3> parts;
    line.split(parts, ": ", 2);
    if (parts.size() != 3) {
      return MakeUserError(Code::kBadFile, "{0}:{1}: expected 'operator: what: reason'", path,
                           i + 1);
    }
    waivers.push_back({parts[0].str(), parts[1].str(), static_cast<unsigned>(i + 1)});
  }
  return waivers;
}

bool HasElement(Calls calls, llvm::function_ref<bool(double)> is_it) {
  for (const TestCall& call : calls) {
    for (const Tensor& operand : call.operands)
      if (IsFloat(operand.dtype()) && llvm::any_of(ToReals(operand), is_it)) return true;
  }
  return false;
}

// Whether the sizes of any operand or result satisfy the predicate.
bool HasSizes(Calls calls, llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> are_they) {
  for (const TestCall& call : calls) {
    for (const Tensor& operand : call.operands)
      if (are_they(operand.sizes())) return true;
    for (const Sizes& sizes : call.results)
      if (are_they(sizes)) return true;
  }
  return false;
}

// The operands of an input.
llvm::ArrayRef<Tensor> OperandsOf(const TestCall& call, unsigned input) {
  const llvm::ArrayRef<Tensor> operands = call.operands;
  if (call.def->signature.has_counts()) {
    const size_t begin = call.def->signature.FirstOperand(input, call.attributes);
    const size_t end = call.def->signature.FirstOperand(input + 1, call.attributes);
    return operands.drop_front(std::min(begin, operands.size()))
        .take_front(std::min(end, operands.size()) - std::min(begin, operands.size()));
  }
  if (input >= operands.size()) return {};
  return call.def->signature.inputs[input].repeatable ? operands.drop_front(input)
                                                      : operands.slice(input, 1);
}

std::vector<std::string> MissingOf(const OpDef& def, Calls calls) {
  std::vector<std::string> missing;
  const OpSignature& signature = def.signature;
  bool takes_floats = false;
  for (unsigned i = 0; i < signature.inputs.size(); ++i) {
    const InputDecl& input = signature.inputs[i];
    for (int number = 1; number < kNumDTypes; ++number) {
      const DType dtype = static_cast<DType>(number);
      if (!input.dtypes.Contains(dtype) || kOnlyStored.Contains(dtype)) continue;
      takes_floats |= IsFloat(dtype);
      const bool is_there = llvm::any_of(calls, [&](const TestCall& call) {
        return llvm::any_of(OperandsOf(call, i),
                            [&](const Tensor& operand) { return operand.dtype() == dtype; });
      });
      if (!is_there) missing.push_back(("dtype " + DTypeName(dtype) + " of " + input.name).str());
    }
  }
  for (size_t i = 0; i < signature.attributes.size(); ++i) {
    const AttributeDecl& decl = signature.attributes[i];
    if (decl.counted) continue;
    const auto has = [&](llvm::function_ref<bool(const AttributeValue&)> is_it) {
      return llvm::any_of(calls, [&](const TestCall& call) { return is_it(call.attributes[i]); });
    };
    for (const std::string& choice : decl.choices) {
      if (!has([&](const AttributeValue& value) { return value == AttributeValue(choice); }))
        missing.push_back(decl.name + "=\"" + choice + "\"");
    }
    if (!decl.choices.empty()) continue;
    if (!has([&](const AttributeValue& value) { return !(value == decl.default_value); }))
      missing.push_back("another " + decl.name + " than the default");
  }
  using Ints = llvm::ArrayRef<int64_t>;
  if (!HasSizes(calls, [](Ints sizes) { return llvm::is_contained(sizes, 0); }))
    missing.push_back("an empty tensor");
  if (!HasSizes(calls, [](Ints sizes) {
        return llvm::is_contained(sizes, 0) && llvm::any_of(sizes, [](int64_t n) { return n > 0; });
      })) {
    missing.push_back("a size of 0 beside others");
  }
  if (takes_floats) {
    if (!HasElement(calls, [](double x) { return std::isnan(x); })) missing.push_back("nan");
    if (!HasElement(calls, [](double x) { return x > 0 && std::isinf(x); }))
      missing.push_back("inf");
    if (!HasElement(calls, [](double x) { return x < 0 && std::isinf(x); }))
      missing.push_back("-inf");
  }
  return missing;
}

}  // namespace

llvm::Expected<std::vector<std::string>> FindUntested(llvm::StringRef folder,
                                                      llvm::ArrayRef<const OpDef*> ops,
                                                      const CommonOptions& options) {
  llvm::SmallString<128> waivers_path(folder);
  llvm::sys::path::append(waivers_path, "waivers.txt");
  auto waivers = ReadWaivers(waivers_path);
  if (!waivers) return waivers.takeError();
  std::vector<std::string> lines;
  for (const OpDef* def : ops) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, def->name() + ".pdl");
    std::vector<std::string> missing = {"a file"};
    if (llvm::sys::fs::exists(path)) {
      auto calls = CallsOfTests(path, options);
      if (!calls) return calls.takeError();
      llvm::erase_if(*calls, [&](const TestCall& call) { return call.def != def; });
      missing = MissingOf(*def, *calls);
    }
    for (const std::string& what : missing) {
      const auto waiver = llvm::find_if(*waivers, [&](const Waiver& waiver) {
        return waiver.op == def->name() && (waiver.what == what || waiver.what == "*");
      });
      if (waiver == waivers->end()) {
        lines.push_back(def->name() + ": " + what);
      } else {
        waiver->is_used = true;
      }
    }
  }
  for (const Waiver& waiver : *waivers) {
    const bool is_asked =
        llvm::any_of(ops, [&](const OpDef* def) { return def->name() == waiver.op; });
    if (waiver.is_used || !is_asked) continue;
    lines.push_back(llvm::formatv("{0}:{1}: '{2}: {3}' is tested, and needs no waiver",
                                  waivers_path, waiver.line, waiver.op, waiver.what));
  }
  return lines;
}

}  // namespace pdl
