"""Readers, on small files in the data sets' own formats."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.datasets.serving import Write, described

from malaprop import DataError
from malaprop.lab.datasets import add, load
from malaprop.lab.datasets.archives import bundled
from malaprop.lab.datasets.readers import _csv_rows

Read = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def read(write_catalogue: Write, tmp_path: Path) -> Read:
    """Keep files as a data set, and load it as another one of the catalogue is read."""

    def read(like: str, files: dict[str, bytes]) -> Any:
        listed = [described(name, content) for name, content in files.items()]
        write_catalogue("small", listed, like, page="https://owner.example")
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
            add([tmp_path / name])
        return load("small")

    return read


def test_polarity_keeps_sentences_with_a_nel_whole(read: Read) -> None:
    files = {"rt.pos": b"woven\x85 [the film] \nbu\xf1uel \x97 fine\n\n", "rt.neg": b"dull\n"}
    data = read("mr", files)
    assert data.texts == ("woven… [the film]", "buñuel — fine", "dull")
    assert data.labels == ("pos", "pos", "neg")
    assert data.splits == ()


def test_the_wrong_encoding_is_told(read: Read) -> None:
    with pytest.raises(DataError, match="not utf-8"):
        read("cr", {"rt.pos": b"bu\xf1uel\n"})


def test_labels_that_are_first_words(read: Read) -> None:
    files = {
        "stsa.train": b"4 so good\n0 so bad\n",
        "stsa.dev": b"2 so so\n",
        "stsa.test": b"1 x\n",
    }
    data = read("sst5", files)
    assert data.labels == ("4", "0", "2", "1")
    assert data.splits == ("train", "train", "dev", "test")
    assert data.part("train", "dev").texts == ("so good", "so bad", "so so")


def test_coarse_labels(read: Read) -> None:
    files = {"TREC.train": b"NUM:dist How far ?\nHUM:desc Who was \xf0 ?\n"}
    data = read("trec", files)
    assert data.labels == ("NUM", "HUM")
    assert data.texts[1] == "Who was ð ?"


def test_columns_of_csv(read: Read) -> None:
    rows = b'text,label,source\n"one,<br />two\nlines",1,imdb\nthree,0,other\nfour,0,imdb\n'
    data = read("imdb", {"all.csv": rows})
    assert data.texts == ("one, two\nlines", "four")
    assert data.labels == ("1", "0")


@given(rows=st.text('ab ",\n\r'))
def test_csv_is_read_as_the_standard_library_does(
    tmp_path_factory: pytest.TempPathFactory, rows: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    path.write_bytes(f"one,two,three\n{rows}".encode())
    expected = csv.DictReader(io.StringIO(rows, newline=""), ("one", "two", "three"))
    wanted = [
        {name: row[name] for name in row if name and row[name] is not None} for row in expected
    ]
    assert list(_csv_rows(path)) == wanted


def test_a_long_field_of_csv_leaves_the_limit_of_the_process(read: Read) -> None:
    usual = csv.field_size_limit()
    long = "word " * usual
    data = read("imdb", {"all.csv": f'text,label,source\n"{long}",1,imdb\n'.encode()})
    assert data.texts == (long,)
    assert csv.field_size_limit() == usual


def test_messages_that_were_swallowed_and_repeated(read: Read) -> None:
    rows = (
        b',spam,text\n0,0,Ok lar\n1,0,"Life is all"". But\nham\thow are you?\nspam\tWIN now\n'
        b'ham\tOk lar"\n2,1,Free entry\n3,1, Free entry \n'
    )
    data = read("sms-spam", {"sms.csv": rows})
    assert data.texts == ("Ok lar", 'Life is all". But', "how are you?", "WIN now", "Free entry")
    assert data.labels == ("ham", "ham", "ham", "spam", "spam")


def test_tweets_by_authors(read: Read) -> None:
    head = b"a\tb\tc\td\te\tf\tg\tAuthor\ti\tContent\tk\tl\n"
    row = b'False\t2016\ten\t1\t2\t\t\tSomebody\thttps://x\tHello "there"\t\t\n'
    data = read("election-tweets", {"tweets.tab": head * 3 + row})
    assert (data.texts, data.labels) == (('Hello "there"',), ("Somebody",))


def test_opinion_words(read: Read) -> None:
    comment = b"/*\n; 'not' a word\n*/\nmodule.exports = [\n"
    files = {
        "positiveWords.js": comment + b"'good', 'fine', 'good'];\n",
        "negativeWords.js": comment + b"'bad', \"don't\"];\n",
    }
    data = read("opinion-words", files)
    assert data.texts == ("good", "fine", "bad", "don't")
    assert data.labels == ("positive", "positive", "negative", "negative")


def test_paraphrases(read: Read) -> None:
    head = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n".encode()
    files = {
        "mrpc-train.tsv": head + b'1\t7\t8\tHe said "yes.\tShe said "no".\r\n',
        "mrpc-test.tsv": head + b"0\t7\t8\tone\ttwo\r\n",
    }
    data = read("mrpc", files)
    assert data.first == ('He said "yes.', "one")
    assert data.labels == ("1", "0")
    assert data.splits == ("train", "test")


def test_a_line_with_too_few_fields(read: Read) -> None:
    with pytest.raises(DataError, match="line 2 has fewer than 5 fields"):
        read("mrpc", {"mrpc-train.tsv": b"head\n1\t2\t3\n"})


def test_relatedness_and_entailment(read: Read) -> None:
    head = b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    data = read("sick", {"sick-trial.txt": head + b"4\tA man\tA boy\t3.6\tCONTRADICTION\n"})
    assert (data.scores, data.labels, data.splits) == ((3.6,), ("CONTRADICTION",), ("dev",))


def test_scored_pairs_in_groups(read: Read) -> None:
    data = read("sts14", {"images.tsv": b"4.4\tTwo trains.\tTrains.\n", "OnWN.tsv": b"1\ta\tb\n"})
    assert (data.scores, data.groups) == ((4.4, 1.0), ("images", "OnWN"))


def test_the_sts_benchmark_has_rows_with_more_fields(read: Read) -> None:
    rows = (
        b"main-captions\tMSRvid\t2012test\t0024\t2.500\tA girl.\tHer hair.\n"
        b"main-news\tMSRpar\t2012test\t0015\t3.4\tOne\tTwo\tLicence\tmore\n"
    )
    data = read("stsb", {"sts-test.csv": rows})
    assert (data.second, data.scores) == (("Her hair.", "Two"), (2.5, 3.4))
    assert data.groups == ("main-captions", "main-news")


def test_pairs_of_words(read: Read) -> None:
    data = read("men", {"en.tsv": b"# Hill\nword1\tword2\tsimilarity\nold\tnew\t1.58\n"})
    assert (data.first, data.second, data.scores) == (("old",), ("new",), (1.58,))


def test_puzzles_of_a_bundle_and_of_a_zip(read: Read, tmp_path: Path) -> None:
    group = b"lion\r\ntiger\r\n\r\ncar\r\nday\r\n"
    data = read("odd-8-8-8", {"odd.tar": bundled([("cats.txt", group)])})
    assert data.members == (("lion", "tiger"),) * 2
    assert data.odd == ("car", "day")
    with zipfile.ZipFile(tmp_path / "wiki.zip", "w") as archive:
        archive.writestr("wiki/", b"")
        archive.writestr("wiki/Q1.txt", group)
    again = read("wikisem500", {"wiki.zip": (tmp_path / "wiki.zip").read_bytes()})
    assert again.odd == data.odd


def test_books_without_the_one_that_has_no_author(read: Read) -> None:
    books = [("austen-emma.txt", b"Emma"), ("bible-kjv.txt", b"In"), ("milton-p.txt", b"Of \xe6")]
    data = read("gutenberg", {"books.tar": bundled(books)})
    assert (data.texts, data.labels) == (("Emma", "Of æ"), ("austen", "milton"))


def test_speeches(read: Read) -> None:
    speech = json.dumps({"year": 1981, "name": "Jimmy Carter", "text": "To the Congress"})
    files = [("1981_carter.json", speech.encode()), ("browser.json", b"[]")]
    data = read("sotu", {"sotu.tar": bundled(files)})
    assert (data.texts, data.labels) == (("To the Congress",), ("Jimmy Carter",))


def test_emails_without_their_headings(read: Read) -> None:
    mail = b"From: a\nX-Spam: yes\n\nBuy now\n\nor later\n"
    data = read(
        "spam-assassin", {"m.tar": bundled([("spam-1/1.txt", mail), ("easy-ham-1/2.txt", mail)])}
    )
    assert data.texts[0] == "Buy now\n\nor later\n"
    assert data.labels == ("ham", "spam")


def test_lists_of_words(read: Read) -> None:
    packed = gzip.compress(b'{"the": -3.5, "of": -4.2}')
    assert read("english-unigrams", {"p.json.gz": packed}).numbers == (-3.5, -4.2)
    assert read("english-bigrams", {"b.txt": b"of the\t90\n"}).words == ("of the",)
    assert read("part-of-speech", {"l.txt": b";;; about\ncold JJ NN\n"}).notes == ("JJ",)
    forms = gzip.compress(b"Abbas,noun,Abbas/Abbases\n")
    assert read("inflections", {"i.csv.gz": forms}).notes == ("noun,Abbas/Abbases",)
    assert read("pii-templates", {"t.txt": b"My card {{number}}\n\n"}).words == (
        "My card {{number}}",
    )
    assert read("russian-vectors", {"v.bin": b"x"}).paths["v.bin"].read_bytes() == b"x"
