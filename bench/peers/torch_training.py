"""The time of a training step in PyTorch: the networks of `bench/training.cc`, eager, with fused optimizers if
available. Requires the package torch; if it is missing, it prints a message and exits with status 0."""

import statistics
import sys
import time

try:
    import torch
    from torch import nn
except ImportError as missing:
    print(f"skipped: no Python package {missing.name} (.venv/bin/pip install torch)")
    sys.exit(0)


def mlp():
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
    return net, torch.randn(128, 784), torch.randint(10, (128,)), nn.CrossEntropyLoss(), adam


def lenet():
    net = nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10))
    return net, torch.randn(64, 1, 28, 28), torch.randint(10, (64,)), nn.CrossEntropyLoss(), sgd


def encoder():
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
    net = nn.TransformerEncoder(layer, 4, norm=nn.LayerNorm(256), enable_nested_tensor=False)
    return net, torch.randn(16, 128, 256), torch.randn(16, 128, 256), nn.MSELoss(), adam


class Table(nn.Module):
    def __init__(self, rows, sparse):
        super().__init__()
        self.table = nn.Embedding(rows, 64, sparse=sparse)
        self.out = nn.Linear(64, 1)

    def forward(self, words):
        return self.out(self.table(words).sum(1))[:, 0]


def table(rows, optimizer, sparse=True):
    return Table(rows, sparse), torch.randint(rows, (512, 16)), torch.randn(512), nn.MSELoss(), optimizer


def adam(net):
    return [torch.optim.Adam(net.parameters(), lr=0.001, fused=True)]


def sgd(net):
    return [torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, fused=True)]


def adagrad(net):
    return [torch.optim.Adagrad(net.parameters(), lr=0.01)]


def sparse_adam(net):
    return [torch.optim.SparseAdam(net.table.parameters(), lr=0.001), torch.optim.Adam(net.out.parameters(), lr=0.001)]


CASES = {
    "mlp": mlp,
    "lenet": lenet,
    "encoder": encoder,
    **{f"adagrad/{rows}": lambda rows=rows: table(rows, adagrad) for rows in (10_000, 100_000, 1_000_000)},
    **{f"lazy_adam/{rows}": lambda rows=rows: table(rows, sparse_adam) for rows in (10_000, 100_000, 1_000_000)},
    "adam/1000000": lambda: table(1_000_000, adam, sparse=False),
}


def measure(make):
    torch.manual_seed(0)
    net, x, t, criterion, optimizer = make()
    optimizers = optimizer(net)

    def step():
        for each in optimizers:
            each.zero_grad(set_to_none=True)
        criterion(net(x), t).backward()
        for each in optimizers:
            each.step()

    begin = time.perf_counter()
    while time.perf_counter() - begin < 0.3:
        step()
    times, begin, processor = [], time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < 2 or len(times) < 5:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    processor = time.process_time() - processor
    return 1e3 * statistics.median(times), 1e3 * min(times), 1e3 * processor / len(times)


def main():
    wanted = sys.argv[1:] or CASES
    print(f"PyTorch {torch.__version__}, ms for a step of training")
    for name in wanted:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            median, best, processor = measure(CASES[name])
            print(f"{name:20s} {threads} threads  median {median:8.3f}  best {best:8.3f}  processor {processor:8.3f}")


if __name__ == "__main__":
    main()
