"""A cross-encoder small enough to make in a test: the larger the share of "yes" in a passage, the higher its score."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

_WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "yes", "no", "which", "bridge"]
_WIDTH = 8


def make_cross_encoder(folder: Path, outputs: int = 1, positions: int = 64) -> Path:
    """A BERT whose attention is even, so that its first token sees the share of "yes" among all tokens."""
    words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(_WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(0)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(_WORDS), hidden_size=_WIDTH, num_hidden_layers=1, num_attention_heads=1,
            intermediate_size=_WIDTH, max_position_embeddings=positions, num_labels=outputs,
        )
    )  # fmt: skip
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        embeddings, layer = model.bert.embeddings, model.bert.encoder.layer[0]
        embeddings.word_embeddings.weight[_WORDS.index("yes"), 0] = 1.0
        embeddings.word_embeddings.weight[_WORDS.index("[CLS]"), 1] = 1.0
        for norm in (embeddings.LayerNorm, layer.attention.output.LayerNorm, layer.output.LayerNorm):
            norm.weight.fill_(1.0)
        for linear in (layer.attention.self.value, layer.attention.output.dense, model.bert.pooler.dense):
            linear.weight.copy_(torch.eye(_WIDTH))
        model.classifier.weight[0, 0] = 1.0
    model.save_pretrained(folder)
    return folder
