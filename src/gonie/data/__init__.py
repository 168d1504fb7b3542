"""Text in, numbers out, with numpy alone: the same path for training and for tagging.

``formats`` reads files into ``types.Sentence``, ``tokenize`` cuts raw text, ``schemes`` knows what tags mean,
``encoding`` turns words into ids, ``corpus`` keeps them flat and collates batches that ``batching`` chose.

For classifiers, ``texts`` reads labelled texts, ``splits`` parts them, ``passages`` cuts each into sentences,
``ngrams`` finds its short runs of characters and words, and ``text_encoding`` makes a ``text_corpus`` of all.
"""
