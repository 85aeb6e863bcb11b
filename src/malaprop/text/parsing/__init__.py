"""Parsing: texts become public templates and secret ids, and drawn ids become texts again.

parser           chooses between the two ways, which give the same result
by_token         token by token: slow, and right for every text and policy
by_chunk         chunk by chunk, for a whole batch at once
distinct_chunks  which chunks a batch has
chunk_codes      what is remembered of chunks
learning         how a new chunk is parsed
coded_texts      texts as numbers
gluing           chunks that must be parsed together
shapes           what a chunk is but for its secret words
plain_chunks     chunks of words and signs alone
"""

from malaprop.text.parsing.parser import ParsedTexts, TextParser

__all__ = ["ParsedTexts", "TextParser"]
