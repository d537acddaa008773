// Bodies of loops: while one is open, the calls of nodes are added to its block, and outer values
// that they use become inputs of it.
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "onnx/import/importer.h"

namespace pdl {

Value* Importer::Inside(Value* value) {
  if (value == nullptr || body_ == nullptr) return value;
  const uint32_t home =
      value->producer() != nullptr ? value->producer()->block().index : homes_.lookup(value);
  if (home == body_->block.index) return value;
  if (Value* known = body_->inside.lookup(value)) return known;
  const Constant* constant = known_.FindConstant(value);
  if (constant != nullptr && IsLiteral(*constant, /*is_named=*/true)) {
    const Constant copied = *constant;
    llvm::Expected<Op*> literal = AddLiteral(copied);
    if (literal) {
      known_.SetConstant((*literal)->result(), copied);
      return body_->inside[value] = (*literal)->result();
    }
    llvm::consumeError(literal.takeError());
  }
  OpenBody* const here = std::exchange(body_, body_->outer);
  Value* const outside = Inside(value);
  body_ = here;
  Value* input = graph_.AddBlockInput(body_->block, NewTemporary(), value->type());
  homes_[input] = body_->block.index;
  outside_[input] = outside;
  // Inside a body, names do not repeat the path of the value.
  if (const auto suggested = suggested_.find(value); suggested != suggested_.end()) {
    const std::string name = suggested->second;
    SuggestName(input, llvm::StringRef(name).substr(llvm::StringRef(name).rfind('/') + 1));
  }
  if (const std::optional<KnownSizes> sizes = known_.FindSizes(value))
    known_.SetSizes(input, *sizes);
  body_->captured.push_back(outside);
  return body_->inside[value] = input;
}

void Importer::CaptureSizes() {
  llvm::StringSet<> bound, used;
  auto add = [&](const Dim& dim) {
    dim.ForEachSymbol([&](llvm::StringRef symbol) { used.insert(symbol); });
  };
  auto add_all = [&](const Type& type) {
    llvm::for_each(type.dims, add);
    if (type.index_bound) add(*type.index_bound);
  };
  const Block& block = graph_.block(body_->block);
  for (const Value* input : block.inputs) {
    add_all(input->type());
    for (const Dim& dim : input->type().dims) bound.insert(dim.symbol());
  }
  for (const Op* op : block.ops) {
    for (const Value* result : op->results()) add_all(result->type());
    for (const AttributeValue& value : op->attribute_values()) {
      if (const auto* dims = std::get_if<Shape>(&value)) llvm::for_each(*dims, add);
      if (const auto* lists = std::get_if<std::vector<Shape>>(&value))
        for (const Shape& dims : *lists) llvm::for_each(dims, add);
    }
    for (const DimCheck& check : op->checks()) {
      add(check.left);
      add(check.right);
    }
  }
  LearnSizes();
  std::vector<std::pair<size_t, Value*>> sources;
  for (const auto& symbol : used) {
    if (bound.contains(symbol.first())) continue;
    if (auto found = first_with_size_.find(symbol.first()); found != first_with_size_.end())
      sources.push_back(found->second);
  }
  llvm::sort(sources);
  for (const auto& [order, value] : sources) {
    const bool has_new = llvm::any_of(value->type().dims, [&](const Dim& dim) {
      return used.contains(dim.symbol()) && !bound.contains(dim.symbol());
    });
    if (!has_new) continue;
    for (const Dim& dim : value->type().dims) bound.insert(dim.symbol());
    Inside(value);
  }
}

void Importer::LearnSizes() {
  auto learn = [&](Value* value) {
    for (const Dim& dim : value->type().dims)
      if (!dim.symbol().empty())
        first_with_size_.try_emplace(dim.symbol(), first_with_size_.size(), value);
  };
  if (num_searched_ == 0) llvm::for_each(graph_.inputs(), learn);
  for (; num_searched_ < graph_.ops().size(); ++num_searched_)
    llvm::for_each(graph_.ops()[num_searched_]->results(), learn);
}

Importer::MadeBody Importer::MakeBody(
    llvm::ArrayRef<Type> types, llvm::ArrayRef<std::string> names,
    llvm::function_ref<std::vector<Value*>(llvm::ArrayRef<Value*>)> make) {
  OpenBody body;
  body.block = graph_.AddBlock();
  body.outer = std::exchange(body_, &body);
  std::vector<Value*> given;
  for (const Type& type : types) {
    given.push_back(graph_.AddBlockInput(body.block, NewTemporary(), type));
    homes_[given.back()] = body.block.index;
    if (given.size() <= names.size()) SuggestName(given.back(), names[given.size() - 1]);
  }
  std::vector<Value*> outputs = make(given);
  for (Value*& output : outputs) output = Inside(output);
  graph_.SetBlockOutputs(body.block, std::move(outputs));
  CaptureSizes();
  body_ = body.outer;
  return {body.block, std::move(body.captured)};
}

}  // namespace pdl
