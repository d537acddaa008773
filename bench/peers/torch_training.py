"""The time of a training step in PyTorch: the networks of `bench/training.cc`, eager and with torch.compile, with fused
optimizers if available. Embedding tables, whose gradients are sparse, are not compiled. Requires the package torch; if
it is missing, it prints a message and exits with status 0."""

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


class Twice(nn.Sequential):
    def __init__(self, channels, features):
        super().__init__(nn.Conv2d(channels, features, 3, padding=1, bias=False), nn.BatchNorm2d(features), nn.ReLU(),
                         nn.Conv2d(features, features, 3, padding=1, bias=False), nn.BatchNorm2d(features), nn.ReLU())


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([Twice(3, 16), Twice(16, 32), Twice(32, 64)])
        self.bottom = Twice(64, 128)
        self.grow = nn.ModuleList([nn.ConvTranspose2d(2 * width, width, 2, stride=2) for width in (64, 32, 16)])
        self.up = nn.ModuleList([Twice(2 * width, width) for width in (64, 32, 16)])
        self.out = nn.Conv2d(16, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        skips = []
        for twice in self.down:
            x = twice(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottom(x)
        for grow, twice in zip(self.grow, self.up):
            x = twice(torch.cat([skips.pop(), grow(x)], 1))
        return self.out(x)


def unet():
    return Unet(), torch.randn(8, 3, 64, 64), torch.rand(8, 1, 64, 64), nn.BCEWithLogitsLoss(), adam


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, batch_first=True)
        self.out = nn.Linear(128, 8)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


def lstm():
    return Lstm(), torch.randn(32, 64, 64), torch.randn(32, 8), nn.MSELoss(), adam


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
    "unet": unet,
    "lstm": lstm,
    **{f"adagrad/{rows}": lambda rows=rows: table(rows, adagrad) for rows in (10_000, 100_000, 1_000_000)},
    **{f"lazy_adam/{rows}": lambda rows=rows: table(rows, sparse_adam) for rows in (10_000, 100_000, 1_000_000)},
    "adam/1000000": lambda: table(1_000_000, adam, sparse=False),
}


COMPILED = "mlp", "lenet", "encoder", "unet", "lstm"


def measure(make, is_compiled):
    torch.manual_seed(0)
    net, x, t, criterion, optimizer = make()
    optimizers = optimizer(net)
    if is_compiled:
        net = torch.compile(net)
        net(x)

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
            for is_compiled in (False, True) if name in COMPILED else (False,):
                median, best, processor = measure(CASES[name], is_compiled)
                print(f"{name:20s} {threads} threads {'compiled' if is_compiled else 'eager':8s} median {median:8.3f}"
                      f"  best {best:8.3f}  processor {processor:8.3f}", flush=True)


if __name__ == "__main__":
    main()
