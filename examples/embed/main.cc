// Loads a compiled network, feeds each input with 0, 1, 2, …, runs it, and prints its outputs.
#include <numeric>

#include "llvm/Support/raw_ostream.h"
#include "pdl/network.h"
#include "pdl/op_registry.h"

/// 0, 1, 2, …, f32, with the size 2 where the network leaves a size open.
static llvm::Expected<pdl::Tensor> Count(const pdl::Type& type) {
  pdl::Sizes sizes;
  for (const pdl::Dim& dim : type.dims) sizes.push_back(dim.is_constant() ? dim.constant() : 2);
  llvm::Expected<pdl::Tensor> tensor = pdl::Tensor::Allocate(pdl::DType::kF32, sizes);
  if (tensor) std::iota(tensor->data<float>(), tensor->data<float>() + tensor->num_elements(), 0.f);
  return tensor;
}

static llvm::Error RunFile(const char* path) {
  auto network = pdl::Network::Load(path, {}, pdl::GlobalRegistry());
  if (!network) return network.takeError();

  pdl::Scope scope;
  for (const pdl::Value* input : (*network)->graph().inputs()) {
    llvm::Expected<pdl::Tensor> tensor = Count(input->type());
    if (!tensor) return tensor.takeError();
    scope.Create(input->name())->Set(*tensor);
  }
  pdl::CPUContext context;
  if (llvm::Error error = (*network)->Run(&scope, &context)) return error;

  for (const pdl::GraphOutput& output : (*network)->graph().outputs()) {
    const pdl::Tensor& tensor = *scope.Find(output.name)->Get<pdl::Tensor>();
    llvm::outs() << output.name << ": " << tensor.TypeString() << " = "
                 << pdl::TensorToString(tensor) << "\n";
  }
  return llvm::Error::success();
}

int main(int argc, char** argv) {
  if (argc != 2) return llvm::errs() << "usage: embed NETWORK.pdlc\n", 2;
  if (llvm::Error error = RunFile(argv[1]))
    return llvm::errs() << "embed: " << llvm::toString(std::move(error)) << "\n", 1;
  return 0;
}
