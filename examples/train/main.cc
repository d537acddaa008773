// Trains a network on generated points, and runs and saves the trained network.
#include <pdl/pdl.h>

#include <iostream>
#include <random>

/// Points, and whether each is inside a circle: the inputs of circle.pdl.
struct Points {
  Points(int64_t count, unsigned seed) : positions(2 * count), inside(count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> anywhere(-1.5f, 1.5f);
    for (float& position : positions) position = anywhere(random);
    for (size_t i = 0; i < inside.size(); ++i) {
      const float x = positions[2 * i], y = positions[2 * i + 1];
      inside[i] = x * x + y * y < 1;
    }
  }
  pdl::Arrays arrays() {
    const auto count = static_cast<int64_t>(inside.size());
    return {{"p", pdl::Array::View(positions.data(), {count, 2})},
            {"inside", pdl::Array::View(inside.data(), {count})}};
  }

  std::vector<float> positions;
  std::vector<int64_t> inside;
};

int main(int argc, char** argv) {
  if (argc != 2) return std::cerr << "usage: train NETWORK.pdl\n", 2;
  pdl::Result<pdl::Model> model = pdl::Model::Load(argv[1]);
  if (!model.ok()) return std::cerr << model.status().ToString() << '\n', 1;

  Points points(2000, 1), other_points(500, 2);
  pdl::TrainRequest request;
  request.epochs = 20;
  request.validation = other_points.arrays();
  request.on_epoch = [](const pdl::EpochResult& epoch) {
    std::cout << "epoch " << epoch.epoch;
    for (const pdl::TrainingMetric& metric : epoch.validation)
      std::cout << "  " << metric.name << ": " << metric.value;
    std::cout << '\n';
    return true;
  };
  pdl::Result<pdl::TrainedModel> trained = model->Train(points.arrays(), request);
  if (!trained.ok()) return std::cerr << trained.status().ToString() << '\n', 1;

  // The trained network can be run or saved.
  float center[] = {0, 0};
  pdl::RunRequest guess;
  guess.outputs = {"guess"};
  pdl::Result<pdl::Arrays> outputs =
      trained->model.Run({{"p", pdl::Array::View(center, {1, 2})}}, guess);
  if (!outputs.ok()) return std::cerr << outputs.status().ToString() << '\n', 1;
  std::cout << "the center is " << (outputs->at("guess").As<int64_t>()[0] ? "inside" : "outside")
            << '\n';
  if (pdl::Status status = trained->model.Save("circle.pdlc"); !status.ok())
    return std::cerr << status.ToString() << '\n', 1;
}
