"""make.py FOLDER: writes tiny checkpoints of transformers with random weights, split into files and in bf16: for each of
Llama, BERT, GPT-2 and ViT the files of FOLDER/NAME, with inputs.npz and the logits that transformers computes in f32."""

import pathlib
import sys

import numpy as np
import torch
import transformers as hf

hf.logging.set_verbosity_error()
TEXT = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)


def models():
    """Name, model, and name of its input."""
    llama = hf.LlamaConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=24, max_position_embeddings=64, tie_word_embeddings=False,
    )
    yield "llama", hf.LlamaForCausalLM(llama), "ids"
    yield "bert", hf.BertForMaskedLM(hf.BertConfig(**TEXT, max_position_embeddings=64)), "ids"
    gpt2 = hf.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    yield "gpt2", hf.GPT2LMHeadModel(gpt2), "ids"
    vit = hf.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16, patch_size=4,
        num_labels=10,
    )
    yield "vit", hf.ViTForImageClassification(vit), "image"


def main(folder):
    torch.manual_seed(0)
    generator = np.random.default_rng(0)
    for name, model, kind in models():
        place = pathlib.Path(folder, name)
        place.mkdir(parents=True, exist_ok=True)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn_like(parameter) * 0.2 + (parameter == 1))
            model = model.to(torch.bfloat16)
            model.save_pretrained(place, max_shard_size="8KB" if name == "llama" else "20KB")
            # Read again, since `to` also rounds buffers that are not stored.
            model = type(model).from_pretrained(place, dtype=torch.float32).eval()
            if kind == "ids":
                inputs = generator.integers(0, 50, (2, 7))
                logits = model(input_ids=torch.from_numpy(inputs)).logits
            else:
                inputs = generator.standard_normal((2, 3, 16, 16)).astype(np.float32)
                logits = model(pixel_values=torch.from_numpy(inputs)).logits
        np.savez(place / "inputs.npz", **{kind: inputs})
        np.save(place / "logits.npy", logits.numpy())


main(*sys.argv[1:])
