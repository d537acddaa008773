"""The networks in PyTorch. Each function of CHECKS returns the results of pdl and those of PyTorch, by name."""

import dataclasses
import math
import pathlib

import networks
import numpy as np
import torch
from torch.nn import functional as F

CHECKS = {}


@dataclasses.dataclass
class Context:
    """Where a check finds the program and the sources, and a folder of its own."""

    pdl: str
    examples: pathlib.Path
    docs: str
    folder: pathlib.Path

    def example(self, name, settings=(), **options):
        return networks.Network(self.pdl, self.folder, (self.examples / name).read_text(), settings, **options)

    def hugging_face(self, name, settings):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "blocks.pdl").write_text((self.examples / "huggingface/blocks.pdl").read_text())
        return self.example(f"huggingface/{name}.pdl", settings)

    def cookbook(self, heading, index=0, lines="", **options):
        return networks.Network(self.pdl, self.folder, networks.cookbook(self.docs, heading, index) + lines, **options)


def check(function):
    CHECKS[function.__name__] = function
    return function


def normal(*dims, seed=1, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(dims) * scale).astype(np.float32)


def uniform(*dims, seed=1):
    return np.random.default_rng(seed).random(dims).astype(np.float32)


def indices(below, *dims, seed=1):
    return np.random.default_rng(seed).integers(0, below, dims)


def compare(network, inputs, outputs, compute, sampled=(), lines=""):
    """Runs `network` and compute(weights, inputs), which returns a dict of values with those of `outputs`, and `loss`.
    `sampled` are random values of the network, which `compute` gets as inputs."""
    lines += "".join(f"\noutput {name}" for name in sampled)
    found = network.run(inputs, [*outputs, *sampled], lines=lines)
    tensors = network.tensors(inputs)
    tensors.update({name: torch.tensor(found.pop(name).astype(np.float64)) for name in sampled})
    values = compute(network.weights, tensors)
    expected = {name: values[name] for name in outputs} | network.gradients(values["loss"])
    return found, expected


def linear(w, name, x):
    return x @ w[f"{name}.w"] + w[f"{name}.b"]


def mlp(w, name, x, layers, act):
    for i in range(layers):
        x = linear(w, f"{name}.x.{i}", x)
        if i + 1 < layers:
            x = act(x)
    return x


def unet_block(w, name, x, time):
    def norm(name, x):
        return F.silu(F.group_norm(x, 8, w[f"{name}.gamma"], w[f"{name}.beta"]))

    y = F.conv2d(norm(f"{name}.y.group_norm", x), w[f"{name}.y.w"], w[f"{name}.y.b"], padding=1)
    y = y + linear(w, f"{name}.y.fc", F.silu(time))[:, :, None, None]
    y = F.conv2d(norm(f"{name}.y.group_norm_2", y), w[f"{name}.y_2.w"], w[f"{name}.y_2.b"], padding=1)
    if f"{name}.x.w" in w:
        x = F.conv2d(x, w[f"{name}.x.w"], w[f"{name}.x.b"])
    return x + y


@check
def unet(context):
    steps = 10

    def compute(w, v):
        signal = torch.cumprod(1 - torch.linspace(1e-4, 0.02, steps), 0)[v["t"]][:, None, None, None]
        noisy = signal.sqrt() * v["image"] + (1 - signal).sqrt() * v["noise"]
        angle = v["t"][:, None] * torch.exp(torch.arange(32) * (-math.log(10_000) / 32))
        time = torch.cat([angle.sin(), angle.cos()], 1)
        time = linear(w, "time", F.silu(linear(w, "time.fc", time)))
        x = F.conv2d(noisy, w["x.w"], w["x.b"], padding=1)
        skips = []
        for i in range(2):
            x = unet_block(w, f"x.{i}", x, time)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = unet_block(w, "x_2", x, time)
        for i in range(2):
            x = torch.cat([F.interpolate(x, scale_factor=2), skips[1 - i]], 1)
            x = unet_block(w, f"x_2.{i}", x, time)
        guess = F.conv2d(x, w["guess.w"], w["guess.b"], padding=1)
        return {"guess": guess, "loss": F.mse_loss(guess, v["noise"])}

    network = context.example("unet/unet.pdl", ["widths=[8,16]", f"steps={steps}"])
    inputs = {"image": normal(2, 3, 8, 16), "t": np.array([3, 9])}
    return compare(network, inputs, ["guess", "loss"], compute, sampled=["noise"], lines="output loss")


@check
def vae(context):
    def compute(w, v):
        h = linear(w, "h", v["image"]).relu()
        mu, log_var = linear(w, "mu", h), linear(w, "log_var", h)
        posterior = torch.distributions.Normal(mu, torch.exp(0.5 * log_var))
        prior = torch.distributions.Normal(torch.zeros_like(mu), torch.ones_like(mu))
        z = mu + posterior.stddev * v["noise"]
        logits = mlp(w, "decode", z, 2, torch.relu)
        cost = F.binary_cross_entropy_with_logits(logits, v["image"], reduction="sum") / len(logits)
        divergence = torch.distributions.kl_divergence(posterior, prior).sum(1).mean()
        return {
            "loss": cost + divergence,
            "reconstruction": cost,
            "divergence": divergence,
            "restored": mlp(w, "decode", mu, 2, torch.relu).sigmoid(),
            "generated": mlp(w, "decode", v["code"], 2, torch.relu).sigmoid(),
        }

    network = context.example("vae/vae.pdl", ["hidden=32", "latent=4"])
    inputs = {"image": uniform(5, 784), "code": normal(2, 4)}
    outputs = ["loss", "reconstruction", "divergence", "restored", "generated"]
    return compare(network, inputs, outputs, compute, sampled=["noise"])


def mamba_mixer(w, name, x, states):
    """One position after another, as the paper defines it."""
    u, gate = (x @ w[f"{name}.u.fc.w"]).chunk(2, 2)
    width = u.shape[2]
    kernel = w[f"{name}.y.causal_conv.y.w"]
    padded = F.pad(u.transpose(1, 2), (kernel.shape[2] - 1, 0))
    u = F.silu(F.conv1d(padded, kernel, w[f"{name}.y.causal_conv.y.b"], groups=width)).transpose(1, 2)
    low = u @ w[f"{name}.y.low.fc.w"]
    rank = low.shape[2] - 2 * states
    low, b, c = low.split([rank, states, states], 2)
    dt = F.softplus(linear(w, f"{name}.y.dt", low))
    a = -torch.exp(w[f"{name}.y.log_a"])
    h, results = torch.zeros(x.shape[0], width, states), []
    for t in range(x.shape[1]):
        h = torch.exp(dt[:, t, :, None] * a) * h + (dt[:, t] * u[:, t])[..., None] * b[:, t, None]
        results.append((h * c[:, t, None]).sum(2) + w[f"{name}.y.skip"] * u[:, t])
    return (torch.stack(results, 1) * F.silu(gate)) @ w[f"{name}.fc.w"]


def rms_norm(x, gamma, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gamma


def mamba_model(w, ids, depth, states):
    x = w["embedding"][ids]
    for i in range(depth):
        x = x + mamba_mixer(w, f"block.{i}", rms_norm(x, w[f"x.{i}.rms_norm.gamma"], 1e-5), states)
    return rms_norm(x, w["logits.rms_norm.gamma"], 1e-5) @ w["embedding"].T


# Positions of consecutive runs of a network with states.
PARTS = [slice(0, 4), slice(4, 5), slice(5, 7)]
MAMBA = ["vocabulary=11", "width=8", "depth=2", "states=3"]


@check
def mamba(context):
    def compute(w, v):
        logits = mamba_model(w, v["ids"], 2, 3)
        return {"logits": logits, "loss": F.cross_entropy(logits.flatten(0, 1), v["target"].flatten())}

    network = context.example("mamba/mamba.pdl", MAMBA)
    inputs = {"ids": indices(11, 2, 7), "target": indices(11, 2, 7, seed=2)}
    return compare(network, inputs, ["logits", "loss"], compute, lines="output loss")


@check
def mamba_cached(context):
    """Tokens one after another, with states, have the logits of all at once."""
    network = context.example("mamba/mamba.pdl", [*MAMBA, "cached=true"])
    names = [f"logits_{i}" for i in range(3)]
    ids = indices(11, 2, 7)
    source = 'import "model.pdl" as mamba\nlayer net = mamba(vocabulary=11, width=8, depth=2, states=3, cached=true)\n'
    for name, part in zip(names, PARTS):
        source += f"input part_{name}: i64[2, {part.stop - part.start}] in 0..11\n"
        source += f"output {name} = net(part_{name}).logits\n"
    found = network.run_other(source, {f"part_{n}": ids[:, p] for n, p in zip(names, PARTS)}, names, "net")
    logits = mamba_model(network.weights, torch.tensor(ids), 2, 3)
    return found, {name: logits[:, part] for name, part in zip(names, PARTS)}


def llama_model(w, ids, depth, heads, kv_heads):
    x = w["embed_tokens.weight"][ids]
    width, length = x.shape[2], x.shape[1]
    size = width // heads
    angle = torch.arange(length)[:, None] * 10_000.0 ** (-torch.arange(0, size, 2) / size)
    angle = torch.cat([angle, angle], 1)

    def rotate(x):
        first, second = x.chunk(2, -1)
        return x * angle.cos() + torch.cat([-second, first], -1) * angle.sin()

    for i in range(depth):
        name = f"layers.{i}"
        y = rms_norm(x, w[f"{name}.input_layernorm.weight"], 1e-6)
        q, k, v = (
            (y @ w[f"{name}.self_attn.{part}_proj.weight"]).unflatten(2, (-1, size)).transpose(1, 2) for part in "qkv"
        )
        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True, enable_gqa=True)
        h = x + y.transpose(1, 2).flatten(2) @ w[f"{name}.self_attn.o_proj.weight"]
        y = rms_norm(h, w[f"{name}.post_attention_layernorm.weight"], 1e-6)
        gate, up = (y @ w[f"{name}.mlp.{part}_proj.weight"] for part in ("gate", "up"))
        x = h + (F.silu(gate) * up) @ w[f"{name}.mlp.down_proj.weight"]
    return rms_norm(x, w["norm.weight"], 1e-6) @ w["lm_head.weight"]


LLAMA = "vocabulary=11, width=16, hidden=24, depth=2, heads=4, kv_heads=2"
SQUARES = "loss = mean(logits ** 2)\noutput loss"


@check
def llama(context):
    def compute(w, v):
        logits = llama_model(w, v["ids"], 2, 4, 2)
        return {"logits": logits, "loss": logits.square().mean()}

    network = context.hugging_face("llama", LLAMA.split(", "))
    return compare(network, {"ids": indices(11, 2, 7)}, ["logits", "loss"], compute, lines=SQUARES)


@check
def llama_cached(context):
    """Tokens one after another, with a cache, have the logits of all at once."""
    settings = LLAMA + ", cache=8"
    network = context.hugging_face("llama", settings.split(", "))
    names = [f"logits_{i}" for i in range(3)]
    ids = indices(11, 2, 7)
    source = f'import "model.pdl" as llama\nlayer net = llama({settings})\n'
    for name, part in zip(names, PARTS):
        source += f"input part_{name}: i64[2, {part.stop - part.start}] in 0..11\n"
        source += f"output {name} = net(part_{name})\n"
    found = network.run_other(source, {f"part_{n}": ids[:, p] for n, p in zip(names, PARTS)}, names, "net")
    logits = llama_model(network.weights, torch.tensor(ids), 2, 4, 2)
    return found, {name: logits[:, part] for name, part in zip(names, PARTS)}


def dense(w, name, x):
    return x @ w[f"{name}.weight"] + w[f"{name}.bias"]


def layer_norm(w, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], w[f"{name}.weight"], w[f"{name}.bias"], eps)


def attend(q, k, v, heads, causal=False):
    q, k, v = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2)


@check
def bert(context):
    def compute(w, v):
        table = w["bert.embeddings.word_embeddings.weight"]
        x = table[v["ids"]] + w["bert.embeddings.position_embeddings.weight"][:7]
        x = layer_norm(w, "bert.embeddings.LayerNorm", x + w["bert.embeddings.token_type_embeddings.weight"][0], 1e-12)
        for i in range(2):
            name = f"bert.encoder.block.{i}"
            parts = (dense(w, f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))
            y = dense(w, f"{name}.attention.output.dense", attend(*parts, 4))
            x = layer_norm(w, f"{name}.attention.output.LayerNorm", x + y, 1e-12)
            y = dense(w, f"{name}.output.dense", F.gelu(dense(w, f"{name}.intermediate.dense", x)))
            x = layer_norm(w, f"{name}.output.LayerNorm", x + y, 1e-12)
        x = F.gelu(dense(w, "cls.predictions.transform.dense", x))
        x = layer_norm(w, "cls.predictions.transform.LayerNorm", x, 1e-12)
        logits = x @ table.T + w["cls.predictions.bias"]
        return {"logits": logits, "loss": logits.square().mean()}

    settings = ["vocabulary=11", "width=16", "hidden=24", "depth=2", "heads=4", "positions=9"]
    network = context.hugging_face("bert", settings)
    return compare(network, {"ids": indices(11, 2, 7)}, ["logits", "loss"], compute, lines=SQUARES)


@check
def gpt2(context):
    def compute(w, v):
        x = w["transformer.wte.weight"][v["ids"]] + w["transformer.wpe.weight"][:7]
        for i in range(2):
            name = f"transformer.h.{i}"
            parts = dense(w, f"{name}.attn.c_attn", layer_norm(w, f"{name}.ln_1", x, 1e-5)).chunk(3, 2)
            x = x + dense(w, f"{name}.attn.c_proj", attend(*parts, 4, causal=True))
            y = F.gelu(dense(w, f"{name}.mlp.c_fc", layer_norm(w, f"{name}.ln_2", x, 1e-5)), approximate="tanh")
            x = x + dense(w, f"{name}.mlp.c_proj", y)
        logits = layer_norm(w, "transformer.ln_f", x, 1e-5) @ w["transformer.wte.weight"].T
        return {"logits": logits, "loss": logits.square().mean()}

    network = context.hugging_face("gpt2", ["vocabulary=11", "width=16", "depth=2", "heads=4", "positions=9"])
    return compare(network, {"ids": indices(11, 2, 7)}, ["logits", "loss"], compute, lines=SQUARES)


@check
def vit(context):
    def compute(w, v):
        name = "vit.embeddings"
        patches = [w[f"{name}.patch_embeddings.projection.{part}"] for part in ("weight", "bias")]
        x = F.conv2d(v["image"], *patches, stride=4).flatten(2).transpose(1, 2)
        x = torch.cat([w[f"{name}.cls_token"].expand(2, -1, -1), x], 1) + w[f"{name}.position_embeddings"]
        for i in range(2):
            name = f"vit.encoder.block.{i}"
            y = layer_norm(w, f"{name}.layernorm_before", x, 1e-12)
            parts = (dense(w, f"{name}.attention.attention.{part}", y) for part in ("query", "key", "value"))
            x = x + dense(w, f"{name}.attention.output.dense", attend(*parts, 4))
            y = layer_norm(w, f"{name}.layernorm_after", x, 1e-12)
            x = x + dense(w, f"{name}.output.dense", F.gelu(dense(w, f"{name}.intermediate.dense", y)))
        logits = dense(w, "classifier", layer_norm(w, "vit.layernorm", x, 1e-12)[:, 0])
        return {"logits": logits, "loss": logits.square().mean()}

    settings = ["classes=5", "size=16", "patch=4", "width=16", "hidden=24", "depth=2", "heads=4"]
    network = context.hugging_face("vit", settings)
    return compare(network, {"image": normal(2, 3, 16, 16)}, ["logits", "loss"], compute, lines=SQUARES)


@check
def mixture_of_experts(context):
    """Each row by its own experts only, one row after another."""

    def compute(w, v):
        x = v["x"]
        gates = (x @ w["y.gates.fc.w"]).softmax(1)
        rows = []
        for row, gate in zip(x, gates):
            weight, chosen = gate.topk(2)
            parts = [(row @ w["y.up"][e]).relu() @ w["y.down"][e] for e in chosen]
            rows.append(sum(part * a for part, a in zip(parts, weight / weight.sum())))
        first = F.one_hot(gates.argmax(1), 4).double().mean(0)
        balance = 4 * (first * gates.mean(0)).sum()
        y = torch.stack(rows)
        return {"y": y, "balance": balance, "loss": F.mse_loss(y, v["target"]) + 0.01 * balance}

    network = context.cookbook("Mixture of experts")
    inputs = {"x": normal(6, 8), "target": normal(6, 8, seed=2)}
    return compare(network, inputs, ["y", "balance", "loss"], compute, lines="output balance, loss")


# An undirected graph: each edge in both directions, in no order. Node 4 has no edges.
SOURCE = np.array([0, 1, 2, 3, 2, 1, 2, 0])
TARGET = np.array([1, 2, 0, 2, 1, 0, 3, 2])


def adjacency(v):
    """The matrix with a row for each target; dense, as the papers write it."""
    matrix = torch.zeros(len(v["x"]), len(v["x"]))
    matrix[v["target"], v["source"]] = 1
    return matrix


@check
def gcn(context):
    def compute(w, v):
        a = adjacency(v) + torch.eye(len(v["x"]))
        root = torch.diag(a.sum(1) ** -0.5)
        a = root @ a @ root
        h = a @ v["x"] @ w["h.w"] + w["h.b"]
        logits = a @ h.relu() @ w["logits.w"] + w["logits.b"]
        return {"logits": logits, "loss": F.cross_entropy(logits[v["node"]], v["label"])}

    network = context.example("gcn/gcn.pdl", ["features=6", "hidden=5", "classes=3"])
    inputs = {"x": normal(5, 6), "source": SOURCE, "target": TARGET}
    inputs.update(node=np.array([4, 0, 2]), label=np.array([1, 2, 0]))
    return compare(network, inputs, ["logits", "loss"], compute)


def gat_layer(w, name, x, a):
    h = x @ w[f"{name}.w"]
    score = F.leaky_relu((h @ w[f"{name}.in_"])[:, None] + (h @ w[f"{name}.out"])[None], 0.2)
    weight = score.masked_fill(a == 0, -math.inf).softmax(1)
    return weight.nan_to_num(0) @ h


@check
def graph_attention(context):
    def compute(w, v):
        a = adjacency(v)
        # A node without edges gets 0.
        a, alone = a + torch.diag((a.sum(1) == 0).double()), (a.sum(1) == 0)[:, None]
        h = gat_layer(w, "h", v["x"], a).masked_fill(alone, 0)
        y = gat_layer(w, "y", F.elu(h), a).masked_fill(alone, 0)
        return {"y": y, "loss": (y**2).sum()}

    network = context.cookbook("Graph attention")
    inputs = {"x": normal(5, 4), "source": SOURCE, "target": TARGET}
    return compare(network, inputs, ["y", "loss"], compute, lines="loss = sum(y ** 2)\noutput loss")


def gru_step(x, h, w_x, w_h, b_x, b_h):
    return torch.gru_cell(x, h, w_x.T.contiguous(), w_h.T.contiguous(), b_x, b_h)


def seq2seq_encode(w, source, length):
    """The states of a sentence, and the first state of the decoder."""
    h, memory = torch.zeros(1, w["h.fc.b"].shape[0]), []
    for token in source[:length]:
        x = w["memory.embedding.table"][token][None]
        h = gru_step(x, h, w["memory.w_x"], w["memory.w_h"], w["memory.b_x"], w["memory.b_h"])
        memory.append(h[0])
    memory = torch.stack(memory) if memory else torch.zeros(1, h.shape[1])
    return memory, torch.tanh(linear(w, "h.fc", h))


def seq2seq_step(w, token, h, memory):
    """The next state, and the logarithms of the probabilities of the next token."""
    gates = linear(w, "decode.gates", w["decode.gates.embedding.table"][token][None])
    eye = torch.eye(gates.shape[1])
    h = gru_step(gates, h, eye, w["decode.w"], torch.zeros(gates.shape[1]), torch.zeros(gates.shape[1]))
    context = (h @ memory.T).softmax(1) @ memory
    attended = torch.tanh(h @ w["decode.attended.w.0"] + context @ w["decode.attended.w.1"] + w["decode.attended.b"])
    return h, linear(w, "decode.logits", attended)[0].log_softmax(0)


def seq2seq_search(w, source, length, beams, longest, penalty):
    """The best translations of one sentence and their scores: hypotheses are lists of tokens."""
    memory, h = seq2seq_encode(w, source, length)
    live = [(0.0, [], h)]
    for _ in range(longest):
        candidates = []
        for score, tokens, h in live:
            if tokens and tokens[-1] == 0:
                candidates.append((score, tokens, h))
                continue
            h, log_prob = seq2seq_step(w, tokens[-1] if tokens else 1, h, memory)
            candidates += [(score + p, [*tokens, i], h) for i, p in enumerate(log_prob.tolist())]
        live = sorted(candidates, key=lambda candidate: -candidate[0])[:beams]
        if all(tokens[-1] == 0 for _, tokens, _ in live):
            break
    ranked = sorted(((score / len(tokens) ** penalty, tokens) for score, tokens, _ in live), key=lambda pair: -pair[0])
    return [score for score, _ in ranked], [tokens + [0] * (longest - len(tokens)) for _, tokens in ranked]


@check
def seq2seq(context):
    """The loss of four sentences, one of them empty, and the results of beam search."""

    def compute(w, v):
        total, count = 0.0, 0
        for source, length, target in zip(v["source"], v["length"], v["target"]):
            memory, h = seq2seq_encode(w, source, length)
            token = 1
            for next_token in target.tolist():
                h, log_prob = seq2seq_step(w, token, h, memory)
                total, count, token = total - log_prob[next_token], count + 1, next_token
                if token == 0:
                    break
        with torch.no_grad():
            found = [seq2seq_search(w, *pair, 3, 6, 0.6) for pair in zip(v["source"], v["length"])]
        scores, tokens = zip(*found)
        return {"loss": total / count, "score": torch.tensor(scores), "tokens": torch.tensor(tokens)}

    network = context.example("seq2seq/seq2seq.pdl", ["vocabulary=7", "width=8", "beams=3", "longest=6"])
    # Translations of several lengths.
    network.set("decode.logits.b", np.float32([0.8, 0, 0.5, 0, 0.3, 0, 0]))
    source = indices(7, 4, 5)
    length = np.array([5, 0, 2, 3])
    target = np.array([[3, 2, 5, 0], [0, 0, 0, 0], [6, 0, 0, 0], [2, 4, 1, 3]])
    inputs = {"source": source, "length": length, "target": target}
    return compare(network, inputs, ["loss", "score", "tokens"], compute)


@check
def lora(context):
    def compute(w, v):
        def adapted(name, x):
            return x @ (w[f"{name}.w"] + 2 * w[f"{name}.a"] @ w[f"{name}.b"])

        y = adapted("y", adapted("h", v["x"]).relu())
        return {"y": y, "loss": F.mse_loss(y, v["target"])}

    network = context.cookbook("LoRA")
    inputs = {"x": normal(5, 16), "target": normal(5, 4, seed=2)}
    return compare(network, inputs, ["y", "loss"], compute, lines="output loss")


def muon_step(w, gradient, memory):
    memory["m"] = 0.95 * memory.get("m", 0) + gradient
    u = gradient + 0.95 * memory["m"]
    if w.dim() == 2:
        u = u / (u.norm() + 1e-7)
        for _ in range(5):
            a = u @ u.T
            u = 3.4445 * u + (-4.775 * a + 2.0315 * a @ a) @ u
    return w - 0.02 * u


def lion_step(w, gradient, memory):
    m = memory.get("m", torch.zeros_like(gradient))
    memory["m"] = 0.99 * m + 0.01 * gradient
    return w - 0.001 * torch.sign(0.9 * m + 0.1 * gradient)


@check
def muon_and_lion(context):
    """Three steps: the parameters after them."""
    context.folder.mkdir(parents=True, exist_ok=True)
    (context.folder / "optimizers.pdl").write_text(networks.cookbook(context.docs, "Your own optimizer"))
    network = context.cookbook("Your own optimizer", index=1)
    inputs = {"x": normal(12, 8), "label": indices(3, 12)}
    trained = network.train(inputs, steps=3, batch_size=4)
    v, w = network.tensors(inputs), dict(network.weights)
    memory = {name: {} for name in w}
    for batch in range(3):
        rows = slice(4 * batch, 4 * batch + 4)
        logits = linear(w, "logits", linear(w, "body", v["x"][rows]).relu())
        gradients = torch.autograd.grad(F.cross_entropy(logits, v["label"][rows]), list(w.values()))
        for name, gradient in zip(list(w), gradients):
            step = muon_step if name.startswith("body") else lion_step
            w[name] = step(w[name], gradient, memory[name]).detach().requires_grad_()
    return {name: trained[name] for name in w}, w


@check
def differential_equation(context):
    """A loss of second derivatives, and its gradient."""

    def compute(w, v):
        x = v["x"].requires_grad_()
        u = x * (1 - x) * mlp(w, "net", x, 3, torch.tanh)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        residual = curvature + math.pi**2 * torch.sin(math.pi * x)
        return {"u": u, "slope": slope, "curvature": curvature, "loss": (residual**2).mean()}

    network = context.cookbook("A differential equation")
    outputs = ["u", "slope", "curvature", "loss"]
    return compare(network, {"x": uniform(10, 1)}, outputs, compute, lines="output slope, curvature, loss")


@check
def gradient_penalty(context):
    def compute(w, v):
        def critic(x):
            return mlp(w, "critic", x, 3, F.silu)

        between = (v["mix"] * v["real"] + (1 - v["mix"]) * v["fake"]).requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
        loss = critic(v["fake"]).mean() - critic(v["real"]).mean() + 10 * penalty
        return {"loss": loss, "penalty": penalty}

    network = context.cookbook("A gradient penalty")
    inputs = {"real": normal(6, 8), "fake": normal(6, 8, seed=2)}
    return compare(network, inputs, ["loss", "penalty"], compute, sampled=["mix"])


@check
def maml(context):
    """The losses of networks after two steps of gradient descent, and the gradient through the steps."""

    def compute(w, v):
        def net(w, x):
            return mlp(w, "net", x, 3, torch.relu)

        guesses = []
        for x, y, new_x in zip(v["x"], v["y"], v["new_x"]):
            fast = dict(w)
            for _ in range(2):
                gradients = torch.autograd.grad(F.mse_loss(net(fast, x), y), list(fast.values()), create_graph=True)
                fast = {name: value - 0.05 * g for (name, value), g in zip(fast.items(), gradients)}
            guesses.append(net(fast, new_x))
        guess = torch.stack(guesses)
        return {"guess": guess, "loss": F.mse_loss(guess, v["new_y"]), "before": F.mse_loss(net(w, v["x"]), v["y"])}

    network = context.example("maml/maml.pdl", ["tasks=3", "steps=2", "rate=0.05"])
    inputs = {
        "x": normal(3, 5, 1),
        "y": normal(3, 5, 1, seed=2),
        "new_x": normal(3, 4, 1, seed=3),
        "new_y": normal(3, 4, 1, seed=4),
    }
    return compare(network, inputs, ["guess", "loss", "before"], compute)


def dqn_with(context, double):
    def compute(w, v):
        rows = torch.arange(len(v["action"]))
        values = mlp(w, "q", v["observation"], 3, torch.relu)
        with torch.no_grad():
            later = mlp(w, "target", v["next"], 3, torch.relu)
            chosen = (mlp(w, "q", v["next"], 3, torch.relu) if double else later).argmax(1)
            goal = v["reward"] + 0.99 * later[rows, chosen] * ~v["done"]
        loss = F.smooth_l1_loss(values[rows, v["action"]], goal)
        return {"values": values, "loss": loss, "act": values.argmax(1)}

    settings = ["observations=5", "actions=3", f"double={str(double).lower()}"]
    network = context.example("dqn/dqn.pdl", settings, copies=[("q", "target")])
    inputs = {
        "observation": normal(8, 5),
        "action": indices(3, 8),
        "reward": normal(8, seed=2, scale=2.0),
        "next": normal(8, 5, seed=3),
        "done": np.arange(8) % 3 == 0,
        "epsilon": np.float32(0),
    }
    return compare(network, inputs, ["values", "loss", "act"], compute)


@check
def dqn(context):
    return dqn_with(context, double=False)


@check
def double_dqn(context):
    return dqn_with(context, double=True)


@check
def ppo(context):
    def compute(w, v):
        h = torch.tanh(linear(w, "h", torch.tanh(linear(w, "h.fc", v["observation"]))))
        policy = torch.distributions.Categorical(logits=linear(w, "policy", h))
        value = linear(w, "value.fc", h)[..., 0]
        old, length = v["old_value"], v["reward"].shape[1]
        advantage, later = torch.zeros_like(v["reward"]), 0.0
        for t in reversed(range(length)):
            alive = 1 - v["done"][:, t].double()
            delta = v["reward"][:, t] + 0.99 * alive * old[:, t + 1] - old[:, t]
            later = delta + 0.99 * 0.95 * alive * later
            advantage[:, t] = later
        scaled = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        ratio = torch.exp(policy.log_prob(v["action"]) - v["old_log_prob"])
        policy_loss = -torch.min(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled).mean()
        value_loss = F.mse_loss(value, advantage + old[:, :-1])
        entropy = policy.entropy().mean()
        return {
            "value": value,
            "advantage": advantage,
            "policy_loss": policy_loss,
            "value_loss": value_loss,
            "entropy": entropy,
            "loss": policy_loss + 0.5 * value_loss - 0.01 * entropy,
        }

    network = context.example("ppo/ppo.pdl", ["observations=5", "actions=3"])
    inputs = {
        "observation": normal(4, 6, 5),
        "action": indices(3, 4, 6),
        # Ratios on both sides of both bounds.
        "old_log_prob": np.float32(-1.1) + normal(4, 6, seed=2, scale=0.5),
        "reward": normal(4, 6, seed=3),
        "done": np.random.default_rng(4).random((4, 6)) < 0.2,
        "old_value": normal(4, 7, seed=5),
    }
    outputs = ["value", "advantage", "policy_loss", "value_loss", "entropy", "loss"]
    return compare(network, inputs, outputs, compute)
