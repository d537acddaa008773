#include "ranks.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "gil.h"
#include "pdl/op/device_context.h"
#include "pdl/train/micro_batches.h"
#include "text.h"

namespace nb = nanobind;

namespace pdl::python {
namespace {

using Transport = Launcher::Transport;

std::optional<Launcher> LauncherOf(const PyRanks::Given& given) {
  if (given.communicator != 0) {
    const Transport transport =
        given.library == "Open MPI" ? Transport::kOpenMpi : Transport::kMpich;
    return StartedByProgram(transport, reinterpret_cast<const void*>(given.communicator),
                            given.size);
  }
  if (given.world > 0) return StartedByHand(given.rank, given.world, given.rendezvous);
  return FindLauncher();
}

}  // namespace

PyRanks::PyRanks(const Given& given, double timeout) {
  launcher_ = LauncherOf(given);
  if (!launcher_ || launcher_->size < 2) return;
  auto joined = [&] {
    WithoutGil without_gil;
    return JoinProcesses(*launcher_, timeout);
  }();
  communicator_ = Get(std::move(joined));
  threads_ = launcher_->ThreadsPerProcess();
  aborts_ = launcher_->transport != Transport::kGloo && given.communicator == 0;
}

int PyRanks::ThreadsFor(int threads) const {
  return threads == 0 && communicator_ ? threads_ : threads;
}

int PyRanks::OwnGpu() const {
  return communicator_ ? launcher_->OwnGpu(rank(), CountDevices(DeviceKind::kCUDA)) : 0;
}

nb::list PyRanks::AllGather(nb::bytes own) {
  nb::list all;
  if (!communicator_) {
    all.append(own);
    return all;
  }
  auto texts = [&] {
    const llvm::StringRef bytes(own.c_str(), own.size());
    WithoutGil without_gil;
    return communicator_->AllGather(bytes);
  }();
  for (const std::string& text : Get(std::move(texts)))
    all.append(nb::bytes(text.data(), text.size()));
  return all;
}

void PyRanks::CheckAgreement(const std::vector<std::pair<std::string, std::string>>& facts) {
  if (!communicator_) return;
  Check([&] {
    WithoutGil without_gil;
    std::vector<std::pair<llvm::StringRef, std::string>> compared;
    for (const auto& [name, value] : facts) compared.emplace_back(name, value);
    return communicator_->CheckAgreement(compared);
  }());
}

void PyRanks::Close(bool has_failed) {
  if (communicator_ && aborts_ && has_failed) communicator_->Abort(1);
  WithoutGil without_gil;
  communicator_.reset();
}

void BindRanks(nb::module_& module) {
  nb::class_<PyRanks>(module, "RanksCore")
      .def(
          "__init__",
          [](PyRanks* self, int rank, int world, Path rendezvous, uintptr_t communicator, int size,
             std::string library, double timeout) {
            new (self) PyRanks(
                {rank, world, std::move(rendezvous.bytes), communicator, size, std::move(library)},
                timeout);
          },
          nb::arg("rank") = 0, nb::arg("world") = 0, nb::arg("rendezvous") = Path{},
          nb::arg("communicator") = 0, nb::arg("size") = 0, nb::arg("library") = "",
          nb::arg("timeout") = 60.0)
      .def_prop_ro("rank", &PyRanks::rank)
      .def_prop_ro("size", &PyRanks::size)
      .def_prop_ro("bytes_sent", &PyRanks::bytes_sent)
      .def("all_gather", &PyRanks::AllGather, nb::arg("own"))
      .def("check_agreement", &PyRanks::CheckAgreement, nb::arg("facts"))
      .def("close", &PyRanks::Close, nb::arg("has_failed"));
  module.def(
      "micro_batches_of",
      [](int64_t count, int rank, int ranks) {
        const MicroBatchRange range = MicroBatchesOf(count, rank, ranks);
        return std::make_pair(range.begin, range.end);
      },
      nb::arg("count"), nb::arg("rank"), nb::arg("ranks"));
}

}  // namespace pdl::python
