// Loads a network, runs it on six numbers, and prints its outputs.
#include <pdl/pdl.h>

#include <iostream>

int main(int argc, char** argv) {
  pdl::Result<pdl::Model> model = pdl::Model::Load(argc > 1 ? argv[1] : "model.pdlc");
  if (!model.ok()) return std::cerr << model.status().ToString() << '\n', 1;
  const float x[] = {0, 1, 2, 3, 4, 5};
  pdl::Result<pdl::Arrays> outputs = model->Run({{"x", pdl::Array::View(x, {2, 3})}});
  if (!outputs.ok()) return std::cerr << outputs.status().ToString() << '\n', 1;
  for (const auto& [name, array] : *outputs) {
    std::cout << name << ':';
    for (int64_t i = 0; i < array.num_elements(); ++i) std::cout << ' ' << array.As<float>()[i];
    std::cout << '\n';
  }
}
