// Writes a network with the messages of pdl.proto, as a program in another language may do, and
// runs it.
#include <pdl/pdl.h>
#include <pdl/pdl.pb.h>

#include <fstream>
#include <iostream>

namespace {

/// y = cos(x, scale=5.0), without what pdl infers: the symbol N, and the variable y with its type.
pdl::NetworkDesc MakeNetwork() {
  pdl::NetworkDesc network;
  network.set_format_version(1);
  network.set_incomplete(true);
  network.set_whole(true);
  pdl::VarDesc& x = *network.add_variables();
  x.set_name("x");
  x.set_role(pdl::VarDesc::INPUT);
  x.mutable_type()->set_dtype(pdl::F32);
  x.mutable_type()->add_dims()->set_symbol("N");
  pdl::OpDesc& cos = *network.add_blocks()->add_ops();
  cos.set_type("cos");
  cos.add_inputs("x");
  cos.add_outputs("y");
  (*cos.mutable_attributes())["scale"].set_float_(5.0);
  pdl::OutputDesc& output = *network.add_outputs();
  output.set_name("y");
  output.set_variable("y");
  return network;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: proto FILE.pdlc\n", 2;
  {
    std::ofstream file(argv[1], std::ios::binary);
    if (!MakeNetwork().SerializeToOstream(&file)) return std::cerr << "cannot write\n", 1;
  }
  const pdl::Result<pdl::Model> model = pdl::Model::Load(argv[1]);
  if (!model.ok()) return std::cerr << model.status().ToString() << '\n', 1;
  const std::vector<float> x = {0, 1};
  const pdl::Result<pdl::Arrays> outputs = model->Run({{"x", pdl::Array::View(x.data(), {2})}});
  if (!outputs.ok()) return std::cerr << outputs.status().ToString() << '\n', 1;
  const float* y = outputs->at("y").As<float>();
  std::cout << "y: " << y[0] << ' ' << y[1] << '\n';
  return 0;
}
