#include "frontend/elaborate/weight_loads.h"

#include "frontend/elaborate/parameter_names.h"
#include "frontend/elaborate/reporter.h"
#include "pdl/op/error.h"

namespace pdl {

void WeightLoads::ElaborateLoads() {
  for (const PendingLoad& load : pending_loads_) {
    TextFrame frame;
    frame.module = load.module;
    FrameScope scope(&at_, load.module->ast == &ast_ ? at_.frame : &frame);
    ElaborateLoad(load.statement, load.module, load.path);
  }
}

struct WeightLoads::Target {
  llvm::StringRef text;  // that names it, or the file
  SourceRange place;
  std::vector<std::string> prefixes;  // of the names of its parameters

  const std::string* PrefixOf(llvm::StringRef name) const {
    for (const std::string& prefix : prefixes)
      if (name.starts_with(prefix)) return &prefix;
    return nullptr;
  }
};

WeightLoads::Target WeightLoads::ReadTarget(const ast::LoadStatement* statement,
                                            llvm::StringRef path) {
  Target target;
  target.place = statement->path.range;
  target.prefixes = {path.str()};
  if (!statement->into.empty()) {
    target.place = {statement->into.front().range.begin, statement->into.back().range.end};
    std::string name;
    for (const ast::Identifier& part : statement->into)
      name += (name.empty() ? "" : ".") + part.text.str();
    target.prefixes = parameter_names_.PathPrefixesOf(name);
    for (std::string& prefix : target.prefixes) prefix += ".";
  }
  target.text = at_.file->Text(target.place);
  return target;
}

llvm::Expected<WeightInfo> WeightLoads::FindWeight(llvm::StringRef file, llvm::StringRef name,
                                                   std::string* tensor) {
  llvm::Expected<WeightInfo> found = request_.find_weight(file, *tensor);
  if (*tensor == name) return found;
  // A checkpoint of this network itself contains the full name.
  llvm::Expected<WeightInfo> whole = request_.find_weight(file, name);
  if (!whole) {
    llvm::consumeError(whole.takeError());
    return found;
  }
  if (!found) llvm::consumeError(found.takeError());
  *tensor = name.str();
  return whole;
}

bool WeightLoads::LoadVariable(Value* value, const std::string& file, std::string tensor,
                               SourceRange place, std::vector<std::string>* problems) {
  VariableInfo& info = value->variable();
  std::string sha256;
  if (request_.find_weight) {
    llvm::Expected<WeightInfo> found = FindWeight(file, value->name(), &tensor);
    if (!found) {
      bool is_file = false;
      llvm::handleAllErrors(
          found.takeError(),
          [&](const UserError& e) {
            is_file = e.code() != Code::kWeightMismatch;
            if (is_file) {
              report_.Error(e.code(), place, e.text());
            } else {
              problems->push_back("'" + tensor + "' is missing");
            }
          },
          [&](const llvm::ErrorInfoBase& e) {
            is_file = true;
            report_.Error(Code::kBadFile, place, e.message());
          });
      return !is_file;
    }
    const Type loaded(found->dtype, Shape(found->sizes.begin(), found->sizes.end()));
    if (loaded.dtype != value->type().dtype || loaded.dims != value->type().dims) {
      problems->push_back("'" + tensor + "' is " + loaded.ToString() + " in the file, and " +
                          value->type().ToString() + " here");
      return true;
    }
    sha256 = std::move(found->sha256);
  }
  info.weight = WeightRef{file, std::move(tensor), std::move(sha256)};
  info.initializer.reset();
  return true;
}

void WeightLoads::ElaborateLoad(const ast::LoadStatement* statement, Module* module,
                                llvm::StringRef path) {
  const Target target = ReadTarget(statement, path);
  std::vector<Value*> variables;
  for (llvm::ArrayRef<Value*> all : {graph_.parameters(), graph_.states()}) {
    for (Value* value : all) {
      if (value->name() != "step" && target.PrefixOf(value->name()) != nullptr)
        variables.push_back(value);
    }
  }
  if (variables.empty()) {
    if (report_.diagnostics().has_errors()) return;  // the calls that create them may have failed
    report_.Error(Code::kUnknownName, target.place,
                  statement->into.empty() ? llvm::Twine("there are no parameters to load")
                                          : "there are no parameters below '" + target.text + "'");
    return;
  }
  const std::string file = module->folder + statement->path.value.str();
  std::vector<std::string> problems;
  for (Value* value : variables) {
    std::string tensor = value->name().substr(target.PrefixOf(value->name())->size());
    if (!LoadVariable(value, file, std::move(tensor), statement->path.range, &problems)) return;
  }
  if (problems.empty()) return;
  Diagnostic& diagnostic =
      report_.Error(Code::kWeightMismatch, statement->path.range,
                    llvm::Twine(problems.size()) + " of " + llvm::Twine(variables.size()) +
                        " tensors do not fit \"" + statement->path.value + "\"");
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < problems.size() && i < kShown; ++i) diagnostic.Note(problems[i]);
  if (problems.size() > kShown)
    diagnostic.Note("and " + std::to_string(problems.size() - kShown) + " more");
}

}  // namespace pdl
