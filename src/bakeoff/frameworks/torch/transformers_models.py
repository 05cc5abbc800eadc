"""GPT-2 and BERT of Hugging Face's transformers, with the sizes of the workloads and nothing downloaded.

They compute what the workloads compute: BERT's dropout but for that on the weights of attention, its exact GELU and its
head at the masked positions; GPT-2 without dropout and without a cache. Attention is what transformers takes by itself.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import torch

from bakeoff.frameworks.ready_made import ReadyMadeModel
from bakeoff.frameworks.torch import torchvision_models
from bakeoff.spec.errors import UnsupportedError

if TYPE_CHECKING:
    from bakeoff.spec.workload import Size


class GPT2(torch.nn.Module):
    """Hugging Face's GPT2LMHeadModel, from ids to logits."""

    def __init__(self, size: Size) -> None:
        """Make it with new values."""
        super().__init__()
        transformers, config = _imported(), size.config
        self.network = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(
                vocab_size=config["tokens"],
                n_positions=config["positions"],
                n_embd=config["features"],
                n_layer=config["layers"],
                n_head=config["heads"],
                resid_pdrop=0.0,
                embd_pdrop=0.0,
                attn_pdrop=0.0,
            )
        )

    def forward(self, ids: Any) -> Any:
        """Return the logits of each next token."""
        return self.network(input_ids=ids, use_cache=False).logits


class BERT(torch.nn.Module):
    """Hugging Face's BertForPreTraining, its head at the masked positions only."""

    def __init__(self, size: Size) -> None:
        """Make it with new values."""
        super().__init__()
        transformers, config = _imported(), size.config
        self.network = transformers.BertForPreTraining(
            transformers.BertConfig(
                vocab_size=config["tokens"],
                max_position_embeddings=config["positions"],
                hidden_size=config["features"],
                num_hidden_layers=config["layers"],
                num_attention_heads=config["heads"],
                intermediate_size=config["dense"],
                hidden_dropout_prob=config["dropout"],
                attention_probs_dropout_prob=0.0,
            )
        )

    def forward(self, x: Any) -> Any:
        """Return the logits of masked tokens, in training also those of the next sentence."""
        ids, positions = x["ids"], x["masked_positions"]
        within = torch.arange(ids.shape[1], device=ids.device)[None] < x["length"][:, None]
        found = self.network.bert(input_ids=ids, attention_mask=within, token_type_ids=x["segments"])
        hidden = found.last_hidden_state
        masked = hidden.gather(1, positions[..., None].expand(-1, -1, hidden.shape[-1]))
        logits, next_sentence = self.network.cls(masked, found.pooler_output)
        return (logits, next_sentence) if self.training else logits


def _imported() -> Any:
    """Import transformers, which imports torchvision where that is; raise UnsupportedError where it is not there."""
    try:
        import transformers
    except ImportError as error:
        msg = f"transformers is not there ({error}); install it in an environment of PyTorch: pip install transformers"
        raise UnsupportedError(msg) from error
    with suppress(ImportError):  # transformers does without
        torchvision_models.imported()
    return transformers


MODELS = {
    "gpt2": ReadyMadeModel(
        name="transformers.GPT2LMHeadModel",
        make=GPT2,
        no_decay=("*bias", "*ln_1.weight", "*ln_2.weight", "*ln_f.weight"),
    ),
    "bert-base": ReadyMadeModel(
        name="transformers.BertForPreTraining, its head at the masked positions",
        make=BERT,
        no_decay=("*bias", "*LayerNorm.weight"),
    ),
}
