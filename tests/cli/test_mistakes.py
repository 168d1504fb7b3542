"""Mistakes of users and what gonie answers, as a table to read: each row is what was typed and the answer.

Every command runs in a folder with these files: `mine.conll` (words with entity tags), `pos.conll` (words
with parts of speech), `tickets.csv` (question, intent), `pairs.tsv` (premise, hypothesis, label), the models
`runs/ner` and `runs/texts`, and others whose names say what they are. An answer is the whole message on
standard error after `gonie: `. The exit status is 2, and no file is written. The last table has calls of the
Python API.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import gonie as gonie_api
from gonie.errors import GonieError
from gonie.runtime.bundle import write_bundle
from support.korean_words import english_words, own_names

RECIPES = (
    "bilstm, bilstm-crf, chunk, classify, classify-ko, crf, demo, demo-ko, elmo, elmo-ko, elmo-small, "
    "intents, lstm, lstm-crf, "
    "ner, ner-ko, ner-ko-elmo, pairs, pos, pos-ko, relations, reviews-han, rnn, sentiment-nsmc, "
    "similarity-ko, subjectivity, tag, "
    "window-crf, window-ner, window-person"
)

COMMANDS = [
    ("trian ner", "no such command: trian. Type: gonie train ner"),
    (
        "predict runs/ner 'Anna lives here.'",
        "no such command: predict. Type: gonie tag runs/ner 'Anna lives here.' or gonie classify runs/ner "
        "'Anna lives here.'",
    ),
    ("eval runs/ner mine.conll", "no such command: eval. Type: gonie evaluate runs/ner mine.conll"),
    ("check mine.conll", "no such command: check. Type: gonie data check mine.conll"),
    ("ner mine.conll", "no such command: ner. Type: gonie train ner mine.conll"),
    (
        "mine.conll",
        "no such command: mine.conll. Type: gonie train RECIPE mine.conll or gonie data check mine.conll",
    ),
    ("data chek mine.conll", "no such command: data chek. Type: gonie data check mine.conll"),
    ("frobnicate", "no such command: frobnicate. See gonie --help"),
    ("--gpu train ner", "gonie has no option --gpu. Type options after the command: gonie COMMAND --gpu"),
]

OPTIONS = [
    ("train ner --gpu", "gonie train has no option --gpu. Type: gonie train ner --device cuda"),
    (
        "train ner --train mine.conll --dev dev.conll",
        "gonie train has no option --train or --dev. Type: gonie train ner mine.conll dev.conll",
    ),
    (
        "train ner mine.conll --test test.conll",
        "gonie train has no option --test. Type: gonie train ner mine.conll --set data.test=test.conll",
    ),
    (
        "train ner mine.conll --epochs 5 --lr=0.01 --batch-size 8",
        "gonie train has no option --epochs or --lr or --batch-size. Type: gonie train ner mine.conll "
        "--set train.epochs=5 --set train.lr=0.01 --set train.batch_sentences=8",
    ),
    (
        "train ner mine.conll --output-dir runs/mine",
        "gonie train has no option --output-dir. Type: gonie train ner mine.conll --out runs/mine",
    ),
    (
        "compare ner crf mine.conll --seeds 2",
        "mine.conll is not a recipe. For your own data: gonie compare ner crf --set data.train=mine.conll",
    ),
    (
        "compare ner mine.conll other.conll --set train.lr=0.1,0.2",
        "mine.conll is not a recipe. For your own data: gonie compare ner --set data.train=mine.conll "
        "--set data.dev=other.conll --set train.lr=0.1,0.2",
    ),
    ("train --config ner mine.conll", "gonie train has no option --config. Type: gonie train ner mine.conll"),
    (
        "train ner --model bert",
        "gonie train has no option --model. The recipe chooses the model (gonie recipes lists them), and "
        "--set "
        "changes its parts, such as --set model.encoder.kind=cnn. Type: gonie train ner",
    ),
    (
        "train ner --train.epochs 5",
        "gonie train has no option --train.epochs. Type: gonie train ner --set train.epochs=5",
    ),
    ("train ner --sede 3", "gonie train has no option --sede. Type: gonie train ner --seed 3"),
    ("train ner --frobnicate", "gonie train has no option --frobnicate. See gonie train --help"),
    ("tag runs/ner --model x", "gonie tag has no option --model. Type: gonie tag x"),
    (
        "evaluate mine.conll runs/ner",
        "mine.conll is a file, and runs/ner is a model. Type: gonie evaluate runs/ner mine.conll",
    ),
    ("evaluate ner mine.conll", "ner: folder not found. Did you mean runs/ner?"),
    (
        "data convert mine.conll --to jsonl --out -",
        "cannot write the file to standard output, which has the report. Name a file",
    ),
    (
        "tag --model runs/ner --text 'Anna lives here.'",
        "gonie tag has no option --model or --text. Type: gonie tag runs/ner 'Anna lives here.'",
    ),
    (
        "tag runs/ner --gpu Anna",
        "gonie tag has no option --gpu. Exported models run on the CPU. Type: gonie tag runs/ner Anna",
    ),
    (
        "evaluate runs/ner --test mine.conll",
        "gonie evaluate has no option --test. Type: gonie evaluate runs/ner mine.conll",
    ),
    (
        "evaluate runs/ner mine.conll --out report.html",
        "gonie evaluate has no option --out. Type: gonie evaluate runs/ner mine.conll --html report.html",
    ),
    (
        "evaluate runs/ner mine.conll -o errors.tsv",
        "gonie evaluate has no option -o. Type: gonie evaluate runs/ner mine.conll --errors errors.tsv",
    ),
    (
        "tag runs/ner --format json Anna",
        "gonie tag has no option --format. Type: gonie tag runs/ner Anna --output jsonl",
    ),
    ("train ner --seed abc", "--seed must be a whole number: abc"),
    ("tag runs/ner --decode best Anna", "--decode must be viterbi or posterior: best"),
    ("tag runs/ner --workers=-1 Anna", "--workers must be at least 0: -1"),
    ("train ner --set", "--set needs a value: --set KEY=VALUE. For example: gonie train ner mine.conll"),
    ("train", "gonie train needs RECIPE. For example: gonie train ner mine.conll"),
    ("export runs/ner", "gonie export needs --out. For example: gonie export runs/ner --out ner-bundle"),
    ("recipes ner", "gonie recipes takes no further argument: ner. See gonie recipes --help"),
]

RECIPES_AND_KEYS = [
    ("train nr mine.conll", "no such recipe: nr. Did you mean ner? gonie recipes lists all recipes"),
    ("train nonsense", f"no such recipe: nonsense. gonie recipes lists all recipes: {RECIPES}"),
    ("train mine/ner.toml", "recipe file not found: mine/ner.toml"),
    (
        "train absent.conll",
        "file not found: absent.conll. For your own data, type the recipe first: gonie train RECIPE "
        "absent.conll; "
        "gonie recipes lists the recipes",
    ),
    (
        "train mine.conll",
        "mine.conll is not a recipe. It has tagged sentences. Type a recipe before it:\n"
        "  gonie train ner mine.conll                        Named entities with a BiLSTM-CRF over words, "
        "characters and, for small files, a language model\n"
        "  gonie train tag mine.conll                        Any tagged sentences, with entities, chunks "
        "or one tag "
        "per word: a BiLSTM-CRF over words and characters",
    ),
    (
        "train pos.conll",
        "pos.conll is not a recipe. It has tagged sentences. Type a recipe before it:\n"
        "  gonie train pos pos.conll                         Parts of speech with a BiLSTM-CRF over words "
        "and "
        "characters\n"
        "  gonie train tag pos.conll                         Any tagged sentences, with entities, chunks "
        "or one tag "
        "per word: a BiLSTM-CRF over words and characters",
    ),
    (
        "train pairs.tsv",
        "pairs.tsv is not a recipe. It has text pairs. Type a recipe before it:\n"
        "  gonie train pairs pairs.tsv                       A label for two texts, such as whether the "
        "first "
        "implies the second: ESIM (Chen et al. 2017)",
    ),
    (
        "train noise.bin",
        "noise.bin is not a recipe, and not a data file that gonie can read. Check it with: "
        "gonie data check noise.bin",
    ),
    (
        "train ner model.encoder.hidden=300",
        "model.encoder.hidden=300 is a recipe key, which needs --set. Type: gonie train ner "
        "--set model.encoder.hidden=300",
    ),
    (
        "train ner --set data.train mine.conll",
        "--set data.train has no value. Type: gonie train ner --set data.train=mine.conll",
    ),
    (
        "train ner --set train.epochs = 5",
        "--set train.epochs has no value. Type: gonie train ner --set train.epochs=5",
    ),
    (
        "train ner --set model.encoder.hiden=300",
        "ner: model.encoder.hiden: unknown key; did you mean 'hidden'?",
    ),
    ("train ner --set train.learning_rate=1", "ner: train.learning_rate: unknown key; did you mean 'lr'?"),
    ("train ner --set epochs=3", "ner: epochs: unknown key; did you mean train.epochs?"),
    ("train ner --set encoder.hidden=300", "ner: encoder: unknown key; did you mean model.encoder?"),
    (
        "train ner --set train.hidden=300",
        "ner: train.hidden: unknown key; did you mean model.chars.hidden, model.adapter.hidden or "
        "model.encoder.hidden?",
    ),
    (
        "train ner --set model.encoder.kind=lstmm",
        "ner: model.encoder.kind: unknown name: 'lstmm'; did you mean 'lstm'? Use one of "
        "lstm, peephole, rnn, cnn, window, none",
    ),
    ("train ner --set train.epochs=many", "ner: train.epochs: must be a whole number: 'many'"),
    (
        "train ner mine.conll --set data.train=mine.conll",
        "data.train is given twice: as the file mine.conll and by --set. Remove one",
    ),
    (
        "train ner mine.conll --set data.train.web=web.conll",
        "ner: data.train: a single file, mine.conll, cannot be combined with named files; name all of them: "
        "--set data.train.mine=mine.conll --set data.train.web=web.conll",
    ),
    (
        "compare ner train.lr=0.1,0.01",
        "train.lr=0.1,0.01 is a recipe key, which needs --set. Type: gonie compare ner --set "
        "train.lr=0.1,0.01",
    ),
]

FILES_AND_COLUMNS = [
    (
        "train ner https://example.org/ner/train.conll?raw=1",
        "gonie reads files, not web addresses: https://example.org/ner/train.conll?raw=1. Download it first: "
        "curl -L -o train.conll 'https://example.org/ner/train.conll?raw=1' && gonie train ner train.conll",
    ),
    (
        "train ner --set data.train=s3://bucket/train.conll",
        "gonie reads files, not web addresses: s3://bucket/train.conll. Copy it to this machine first, for "
        "example "
        "as train.conll, and type: gonie train ner --set data.train=train.conll",
    ),
    (
        "train ner mine.conll --text question",
        "--text and --label name columns of labelled texts, but ner has the task 'tag'. To train a tagger, "
        "name "
        "the column of the tags: gonie train ner mine.conll --set data.tag_column=N. To classify texts, "
        "use the "
        "recipe classify",
    ),
    (
        "train classify pairs.tsv --text premise --text hypothesis",
        "--text is given 2 times, but classify reads one text per row. For text pairs, type: gonie train "
        "pairs "
        "pairs.tsv --text premise --text hypothesis",
    ),
    (
        "train pairs pairs.tsv --text premise",
        "--text is given once, but pairs reads two texts per row. Pass both columns: --text FIRST --text "
        "SECOND",
    ),
    (
        "train ner a.conll b.conll c.conll d.conll",
        "expected at most three files, TRAIN, DEV and TEST, got 4. Join training files first, for example "
        "with cat",
    ),
    (
        "train ner mine.conll --out mine.conll",
        "cannot write mine.conll: {folder}/mine.conll is a file, not a folder. Choose another folder",
    ),
    (
        "data convert mine.conll --to jsonl --out new/mine.jsonl",
        "cannot write new/mine.jsonl: folder {folder}/new does not exist. Run: mkdir -p {folder}/new",
    ),
    ("export runs/ner --out runs/b --onnx runs", "cannot write runs: it is a folder. Name a file in it"),
]

OTHER_FILES = [
    (
        "train classify unheaded.csv",
        "{folder}/unheaded.csv:1: no column text; the columns are '7, ham, see you at five'. Name the column "
        "of the text: --text NAME. Without a header, give its number, from 0",
    ),
    (
        "train ner prose.txt",
        "{folder}/prose.txt: plain text without tags, not a file of tagged sentences. To tag it, "
        "run: gonie tag MODEL --file {folder}/prose.txt. If it has one token per line, choose the "
        "format with --set data.format=conll",
    ),
    (
        "train ner tickets.csv",
        "{folder}/tickets.csv: a file of labelled texts, not of tagged sentences (csv: it has the "
        "columns question and intent). To train on it, run: gonie train classify "
        "{folder}/tickets.csv. If this is wrong, choose the format with --set data.format=NAME",
    ),
    (
        "train ner choices.json",
        "{folder}/choices.json: a file of labelled texts, not of tagged sentences (labelstudio: "
        "tasks of Label Studio with choices). To train on it, run: gonie train classify "
        "{folder}/choices.json. If this is wrong, choose the format with --set data.format=NAME",
    ),
    (
        "train ner doc.ann",
        "{folder}/doc.ann: no doc.txt beside it. Add the text of these annotations as doc.txt",
    ),
    (
        "train ner ragged.conll",
        "{folder}/ragged.conll:2: expected 3 columns separated by tabs, as in the other lines, got 2 "
        "columns: 'saw\\tO'. Separate columns by tabs and sentences by a blank line",
    ),
    (
        "train ner cp949.conll",
        "{folder}/cp949.conll:1: invalid UTF-8: 0xbb at byte 1 of the line. The encoding may be "
        "CP949. Run: iconv -f CP949 -t UTF-8 {folder}/cp949.conll > {folder}/cp949.utf8.conll",
    ),
    (
        "train ner ids.conll",
        "{folder}/ids.conll: 60 different tags in 60 tokens, such as 'id-0', 'id-1', 'id-2'; this "
        "seems to be another column. Choose the column of the tags with --set data.tag_column=N. If "
        "it is right, name the file's format with --set data.format=NAME",
    ),
    (
        "train ner numbers.jsonl",
        "{folder}/numbers.jsonl:1: the column 'ner_tags' has numbers without names. List the names in "
        "order: --set data.tag_names=O,B-PER,I-PER",
    ),
    (
        "train ner numbers.jsonl --tag-names O,B-PER",
        "gonie train has no option --tag-names. Type: gonie train ner numbers.jsonl --set "
        "data.tag_names=O,B-PER",
    ),
    (
        "data convert numbers.jsonl --to conll --out new.conll",
        "numbers.jsonl:1: the column 'ner_tags' has numbers without names. List the names in order: "
        "--tag-names O,B-PER,I-PER",
    ),
    (
        "evaluate runs/ner numbers.jsonl",
        "numbers.jsonl:1: the column 'ner_tags' has numbers without names. List the names in order: "
        "--tag-names O,B-PER,I-PER",
    ),
    (
        "train ner page.html",
        "{folder}/page.html: XML or HTML, not a file of tagged sentences. gonie reads brat, "
        "labelstudio, prodigy, spacy, spacy-json, doccano, klp2016, klue, naver, nikl, conllu, "
        "sejong, slashed, tsv, csv, parquet, arrow, json, jsonl, conll",
    ),
    (
        "train ner stray.conll --set data.repair=error",
        "{folder}/stray.conll:3: I-LOC must follow an entity with the same label, but follows O (1 "
        "invalid IOB2 tag in the file). Correct the tags, or repair them with --set "
        "data.repair=begin or --set data.repair=outside",
    ),
    (
        "train classify mine.conll",
        "{folder}/mine.conll: a file of tagged sentences, not of labelled texts (conll: one token "
        "per line, with tags like B-X, I-X and O). To train on it, run: gonie train tag "
        "{folder}/mine.conll. If this is wrong, choose the format with --set data.format=NAME",
    ),
    (
        "train classify entities.json",
        "{folder}/entities.json: a file of tagged sentences, not of labelled texts (labelstudio: "
        "tasks of Label Studio). To train on it, run: gonie train tag {folder}/entities.json. If "
        "this is wrong, choose the format with --set data.format=NAME",
    ),
    (
        "train classify ids.csv",
        "{folder}/ids.csv: 60 different labels in 60 examples, such as 'id-0', 'id-1', 'id-2'; this "
        "seems to be another column. Choose the column of the labels with --label NAME. If it is "
        "right, name the file's format with --set data.format=NAME",
    ),
    (
        "train classify unlabelled.csv --set data.unlabelled=error",
        "{folder}/unlabelled.csv:3: empty label. Label the text or remove it, or skip such texts: "
        "--set data.unlabelled=skip. If texts may have several labels or none, give their separator: "
        "--set data.label_separator=CHARACTER",
    ),
    (
        "train classify pairs.tsv --label absent",
        "{folder}/pairs.tsv: a file of text pairs, not of labelled texts (tsv: it has the columns "
        "premise, hypothesis and label). To train on it, run: gonie train pairs {folder}/pairs.tsv. "
        "If this is wrong, choose the format with --set data.format=NAME",
    ),
    (
        "train pairs mine.conll",
        "{folder}/mine.conll: a file of tagged sentences, not of text pairs (conll: one token per "
        "line, with tags like B-X, I-X and O). To train on it, run: gonie train tag "
        "{folder}/mine.conll. If this is wrong, choose the format with --set data.format=NAME",
    ),
    (
        "tag runs/ner mine.conll",
        "TEXT is the name of a file: mine.conll. To read the file, run: gonie tag runs/ner --file "
        "mine.conll. For the text itself, use standard input",
    ),
    (
        "tag runs/ner --file entities.json",
        "entities.json: the file is a labelstudio file (tasks of Label Studio), not plain text with "
        "one text per line. Convert it first: gonie data convert entities.json --to conll --out "
        "NEW.conll",
    ),
    (
        "tag runs/ner --file tickets.csv",
        "tickets.csv:1: no column text in the header: question, intent. Name the column of the text: "
        "--column NAME. Without a header, give its number to --column, from 0",
    ),
    (
        "tag mine.conll Anna",
        "mine.conll: expected a model's folder, got a file. Pass a run folder or a bundle",
    ),
    (
        "tag runs/absent Anna",
        "runs/absent: folder not found. Check the path, or train a model: gonie train RECIPE FILE "
        "--out runs/absent",
    ),
    ("tag runs/texts Anna", "runs/texts is a classifier; use gonie classify runs/texts"),
    (
        "classify runs/texts --file mine.conll",
        "mine.conll: the file is a conll file (one token per line, with tags like B-X, I-X and O), "
        "not plain text with one text per line. Write its texts to a file, one per line",
    ),
    (
        "classify runs/texts --file table.arrow",
        "table.arrow: the file is an arrow file (it has the columns text and label), not plain text with one "
        "text per line. Convert it first: gonie data convert table.arrow --to jsonl --out NEW.jsonl",
    ),
    (
        "classify runs/texts tickets.csv",
        "TEXT is the name of a file: tickets.csv. To read the file, run: gonie classify runs/texts "
        "--file tickets.csv. For the text itself, use standard input",
    ),
    (
        "explain runs/ner mine.conll",
        "TEXT is the name of a file: mine.conll. To read the file, run: gonie explain runs/ner "
        "--file mine.conll. For the text itself, use standard input",
    ),
    ("explain runs/ner Anna --method lime", "the model has no --method lime. Use gradients, erasure"),
    (
        "evaluate runs/ner other.conll",
        "other.conll: the file's labels are person, location, and the model's are LOC, PER. Map "
        "them: --map wnut",
    ),
    (
        "evaluate runs/ner mine.conll --map people",
        "invalid label map: 'people'. Use OLD=NEW, OLD=O to drop a label, or one of conll, uner, "
        "ontonotes, wnut, crossner, klue, tta, naver, nikl",
    ),
    (
        "evaluate runs/ner pos.conll",
        "pos.conll: the model's tags are BIOES (B-X I-X E-X S-X O), but those of the file are plain "
        "labels: DET, NOUN, VERB. If the file has entities in another column, choose it with "
        "--tag-column N. Otherwise evaluate a model of such tags",
    ),
    (
        "evaluate runs/ner tickets.csv",
        "tickets.csv: a file of labelled texts, not of tagged sentences (csv: it has the columns "
        "question and intent). If this is wrong, choose the format with --format NAME",
    ),
    (
        "evaluate runs/texts tickets.csv",
        "tickets.csv: the file's labels are pay, ship, and the model's are negative, positive. Map "
        "them: --map pay=LABEL --map ship=LABEL",
    ),
    (
        "evaluate runs/texts mine.conll",
        "mine.conll: a file of tagged sentences, not of labelled texts (conll: one token per line, "
        "with tags like B-X, I-X and O). If this is wrong, choose the format with --format NAME",
    ),
    (
        "data convert mine.conll --to labelstudoi --out mine.json",
        "unknown format 'labelstudoi'. Did you mean labelstudio? Choose one of brat, labelstudio, "
        "prodigy, spacy, spacy-json, doccano, klp2016, klue, naver, nikl, conllu, sejong, slashed, "
        "tsv, csv, parquet, arrow, json, jsonl, conll",
    ),
    (
        "data convert tickets.csv --to conll --out tickets.conll",
        "conll is a format of tagged sentences, not of labelled texts. Choose one of labelstudio, parallel, "
        "prodigy, spacy, spacy-json, fasttext, klue-re, nikl, semeval, parquet, arrow, json, jsonl, csv, tsv",
    ),
    (
        "data convert tickets.csv --to auto --out tickets.jsonl",
        "unknown format 'auto'. Choose one of labelstudio, parallel, prodigy, spacy, spacy-json, "
        "fasttext, klue-re, nikl, semeval, parquet, arrow, json, jsonl, csv, tsv",
    ),
    (
        "data convert mine.conll --out mine.spacy",
        "gonie data convert needs --to. For example: gonie data convert labels.json --to conll --out "
        "labels.conll",
    ),
]

MISTAKES = [*COMMANDS, *OPTIONS, *RECIPES_AND_KEYS, *FILES_AND_COLUMNS, *OTHER_FILES]

CALLS = [
    ('train("ner", "absent.conll")', "data.train: file not found: absent.conll"),
    (
        'train("classify", "mine.conll")',
        "{folder}/mine.conll: a file of tagged sentences, not of labelled texts (conll: one token "
        'per line, with tags like B-X, I-X and O). To train on it, run: gonie.train("tag", '
        '"{folder}/mine.conll"). If this is wrong, choose the format with set={{"data.format": …}}',
    ),
    (
        'train("ner", [("Anna lives", ["B-PER", "O"])])',
        "train row 1: not a tagged sentence: ('Anna lives', ['B-PER', 'O']). Pass "
        'gonie.Sentence(words, tags), (words, tags), or a row with "tokens" and "tags", or with '
        '"text" and "spans"',
    ),
    (
        'train("ner", [(["Anna", "lives"], ["B-PER"])])',
        "train row 1: expected one tag per word, got 2 words, 1 tags",
    ),
    ('train("ner", [])', "no rows in train. Pass at least one example"),
    ('evaluate("runs/ner", [])', "no rows in data. Pass at least one example"),
    (
        'train("ner", "mine.conll", set=["train.epochs=3"])',
        'set must be a dictionary of recipe keys, got list. For example: set={{"train.epochs": 3}}',
    ),
    (
        'train("ner", "mine.conll", set={"data.train.web": "web.conll"})',
        "ner: data.train: a single file, mine.conll, cannot be combined with named files; name all of them: "
        'set={{"data.train.mine": "mine.conll", "data.train.web": "web.conll"}}',
    ),
    ("train(None)", 'not a recipe: None. Pass a name, such as "ner", or the path of a file'),
    ("compare(3)", 'not a recipe: 3. Pass a name, such as "ner", or the path of a file'),
    ("load(None)", "not the folder of a model: None. Pass the path of a run folder or a bundle"),
    (
        'load("runs/absent")',
        "runs/absent: folder not found. Check the path, or train a model: gonie train RECIPE FILE --out "
        "runs/absent",
    ),
    (
        "read([])",
        "gonie.read takes the path of a file, got list. Examples in memory need no reading: pass them to "
        "gonie.train or gonie.evaluate",
    ),
    (
        'evaluate("runs/ner", [{"text": "Anna", "spans": [[0, 9, "PER"]]}])',
        "data row 1: invalid character offsets: 0 to 9. Count characters, not bytes: 0 <= start < end <= 4",
    ),
    (
        'train("ner", "mine.conll", set={"train.epocs": 3})',
        "ner: train.epocs: unknown key; did you mean 'epochs'?",
    ),
    (
        'train("classify", [("good", "pos"), "bad"])',
        "train row 2: not a labelled text: 'bad'. Pass gonie.LabelledText(text, labels), (text, "
        'label), or a row with "text" and "label"',
    ),
    (
        'train("classify", [{"question": "how do I pay", "intent": "pay"}])',
        "train row 1: no column 'text'; the columns are question, intent. Name the column: "
        'set={{"data.text_column": …}}',
    ),
    (
        'train("ner", "ids.conll", progress=False)',
        "{folder}/ids.conll: 60 different tags in 60 tokens, such as 'id-0', 'id-1', 'id-2'; this "
        'seems to be another column. Choose the column of the tags with set={{"data.tag_column": '
        '…}}. If it is right, name the file\'s format with set={{"data.format": …}}',
    ),
    (
        'load("mine.conll")',
        "mine.conll: expected a model's folder, got a file. Pass a run folder or a bundle",
    ),
    (
        'load("runs/ner")(["Anna", "saw", "Seoul"])',
        "expected a text (str), got list. For several texts, use the method pipe",
    ),
    (
        'load("runs/ner").pipe("Anna saw Seoul.")',
        "pipe takes several texts, got one. Pass a list: pipe([text])",
    ),
    (
        'load("runs/ner").tag_tokens(["Anna", "saw"])',
        "expected a list of words, got the text 'Anna'. For raw text, call the tagger itself: tagger(text)",
    ),
    (
        'evaluate("runs/ner", "other.conll")',
        "other.conll: the file's labels are person, location, and the model's are LOC, PER. Map "
        'them: map="wnut"',
    ),
    (
        'evaluate("runs/ner", "Anna saw Seoul.")',
        "file not found: Anna saw Seoul.. For a text, call the model itself: model(text)",
    ),
    (
        'evaluate("runs/ner", [("good", "pos")])',
        "data row 1: not a tagged sentence: ('good', 'pos'). Pass gonie.Sentence(words, tags), "
        '(words, tags), or a row with "tokens" and "tags", or with "text" and "spans"',
    ),
    ('evaluate("runs/ner", "mine.conll", text_column="question")', "text_column does not apply to taggers"),
    (
        'evaluate("runs/texts", "tickets.csv", text_column="query")',
        "tickets.csv:1: no column query; the columns are 'question, intent'. Name the column of the "
        "text: text_column=…",
    ),
    (
        'explain("runs/ner", "Anna saw Seoul.", methods=["lime"])',
        'the model has no method="lime". Use gradients, erasure',
    ),
    (
        'read("prose.txt")',
        "prose.txt: plain text without tags, not a file of tagged sentences. To tag it, run: gonie "
        "tag MODEL --file prose.txt. If it has one token per line, choose the format with "
        'format="conll"',
    ),
    (
        'read("numbers.jsonl")',
        "numbers.jsonl:1: the column 'ner_tags' has numbers without names. List the names in order: "
        'tag_names=["O", "B-PER", "I-PER"]',
    ),
    (
        'read("chatbot.csv")',
        "chatbot.csv: a table whose first line is 'Q, A, label', not a file of tagged sentences. For "
        'labelled texts, name the columns: gonie.train("classify", "chatbot.csv", '
        'set={{"data.text_column": …, "data.label_column": …}}), or by their numbers, from 0, if there is '
        "no header. If it has one token per row, name its columns sentence, word and tag",
    ),
    (
        'read("mine.conll", tagcolumn=1)',
        "unknown option of gonie.read: tagcolumn. Use format, separator, word_column, tag_column, "
        "tag_names, columns, tokenizer, unit, scheme, repair, meta",
    ),
]


FILES = {
    "chatbot.csv": "Q,A,label\n12시 땡!,하루가 또 가네요.,0\n",
    "unheaded.csv": "7,ham,see you at five\n8,spam,buy it now\n",
    "prose.txt": "Anna saw Seoul in the rain.\nThen she left for Busan.\n",
    "page.html": "<!DOCTYPE html>\n<html><body>Anna saw Seoul.</body></html>\n",
    "ragged.conll": "Anna\tNNP\tB-PER\nsaw\tO\n\n",
    "stray.conll": "Anna\tB-PER\nsaw\tO\nSeoul\tI-LOC\n\n",
    "other.conll": "Anna\tB-person\nsaw\tO\nSeoul\tB-location\n\n" * 5,
    "ids.conll": "".join(f"word\tid-{number}\n" for number in range(60)),
    "ids.csv": "text,label\n" + "".join(f"text {number},id-{number}\n" for number in range(60)),
    "unlabelled.csv": "text,label\ngood film,pos\nbad film,\n",
    "numbers.jsonl": '{"tokens": ["Anna", "saw"], "ner_tags": [1, 0]}\n',
    "doc.ann": "T1\tPER 0 4\tAnna\n",
}
FIXTURES = Path(__file__).parents[1] / "formats" / "files"
EXPORTS = {"entities.json": "labelstudio-entities.json", "choices.json": "labelstudio-choices.json"}
"""Exports of Label Studio."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy_run: Path, text_bundle: Any) -> Path:
    (tmp_path / "mine.conll").write_text(
        "Anna\tB-PER\nsaw\tO\nSeoul\tB-LOC\n\nit\tO\nrains\tO\n\n" * 5, "utf-8"
    )
    (tmp_path / "pos.conll").write_text(
        "the\tDET\ndog\tNOUN\nran\tVERB\n\na\tDET\ncat\tNOUN\n\n" * 5, "utf-8"
    )
    (tmp_path / "tickets.csv").write_text("question,intent\nhow do I pay,pay\nwhere is it,ship\n", "utf-8")
    (tmp_path / "pairs.tsv").write_text("premise\thypothesis\tlabel\nA man runs.\tHe moves.\tyes\n", "utf-8")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "cp949.conll").write_bytes("삼성전자는\tB-ORG\n좋다\tO\n".encode("cp949"))
    table = pa.table({"text": ["good", "bad"], "label": ["positive", "negative"]})
    with pa.ipc.new_file(tmp_path / "table.arrow", table.schema) as writer:
        writer.write_table(table)
    for name, export in EXPORTS.items():
        shutil.copy(FIXTURES / export, tmp_path / name)
    shutil.copytree(toy_run, tmp_path / "runs" / "ner")
    write_bundle(tmp_path / "runs" / "texts" / "bundle", text_bundle())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "answer"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered_with_what_to_type(
    gonie: Callable[..., Any], folder: Path, typed: str, answer: str
) -> None:
    before = sorted(folder.rglob("*"))
    outcome = gonie(*shlex.split(typed))
    assert outcome.err == f"gonie: {answer.format(folder=folder)}\n"
    assert outcome.code == 2
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(("typed", "answer"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_the_answer_is_in_korean(
    gonie: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, typed: str, answer: str
) -> None:
    monkeypatch.setenv("GONIE_LANG", "ko")
    outcome = gonie(*shlex.split(typed))
    assert outcome.code == 2
    assert english_words(outcome.err, {*own_names(), *WORDS.split(), *re.findall(r"[A-Za-z-]+", typed)}) == []


WORDS = "question intent premise hypothesis label text pay ship person location negative positive ner-bundle"
"""Words of the files."""


@pytest.mark.parametrize(("call", "answer"), CALLS, ids=[call for call, _ in CALLS])
def test_a_mistaken_call_is_answered_with_what_to_write(folder: Path, call: str, answer: str) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(GonieError) as caught:
        eval(f"gonie.{call}", {"gonie": gonie_api})
    assert str(caught.value) == answer.format(folder=folder)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("epochs", '. Pass set={"train.epochs": 2}'),
        ("learning_rate", '. Pass set={"train.lr": 2}'),
        ("text_column", '. Pass set={"data.text_column": 2}'),
        ("nonsense", ""),
    ],
)
def test_a_recipe_key_as_an_argument_is_answered_with_set(name: str, answer: str) -> None:
    unknown: dict[str, Any] = {name: 2}
    with pytest.raises(TypeError) as raised:
        gonie_api.train("ner", **unknown)
    assert str(raised.value) == f"gonie.train has no argument {name!r}{answer}"


def test_a_text_may_be_a_web_address(gonie: Callable[..., Any], toy_run: Path) -> None:
    """Only files are refused as addresses: a text is tagged, whatever it says."""
    assert gonie("tag", toy_run, "https://example.org/anna").code == 0
