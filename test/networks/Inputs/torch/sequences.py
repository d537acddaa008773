"""Networks for sequences, and the vision transformer, in PyTorch."""

import numpy as np
import torch
from torch.nn import functional as F

from base import check, compare, indices, linear, normal


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
