"""Networks for images, graphs, equations and agents, and optimizers, in PyTorch."""

import math

import numpy as np
import torch
from torch.nn import functional as F

import networks
from base import check, compare, indices, linear, mlp, normal, uniform


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
