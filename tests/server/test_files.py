"""Files: uploaded, privatized in a process of their own, downloaded, removed."""

import errno
import gzip
import itertools
import random
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.record_files import CANARY, MAKERS
from tests.server.conftest import Keyed, Running

from malaprop.files.formats import registry
from malaprop.server import jobs
from malaprop.server.jobs import Job, State

NOTES = b"id,note\n007,cold rain\n008,the patient has a fever\n"
BINARY = {"Content-Type": "application/octet-stream"}


def announced(service: Running, **body: Any) -> str:
    answer = service.post(
        "/v1/files", {"epsilon": 1.5, "format": "csv", "columns": ["note"]} | body
    )
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/files/{answer.json()['id']}"
    assert answer.json()["state"] == "waiting"
    return str(answer.json()["id"])


def upload(service: Running, id_: str, content: bytes) -> Any:
    return service.client.put(f"/v1/files/{id_}/content", content=content, headers=BINARY)


def ended(
    service: Running, id_: str, seconds: float = 600.0, headers: dict[str, str] | None = None
) -> dict[str, Any]:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        view: dict[str, Any] = service.client.get(f"/v1/files/{id_}", headers=headers).json()
        if view["state"] in ("done", "failed"):
            return view
        time.sleep(0.05)
    raise AssertionError(f"the job is {view['state']} after {seconds} seconds")


def test_a_file_is_privatized(service: Running) -> None:
    id_ = announced(service)
    assert upload(service, id_, NOTES).status_code == 202
    assert ended(service, id_)["state"] == "done"
    result = service.client.get(f"/v1/files/{id_}/result")
    lines = result.text.splitlines()
    assert lines[0] == "id,note"
    assert [line.partition(",")[0] for line in lines[1:]] == ["007", "008"]
    assert 'filename="private.csv"' in result.headers["content-disposition"]
    report = service.client.get(f"/v1/files/{id_}/report").json()
    assert report["counts"]["protected"] == 7
    assert report["files"][0]["input"] == "input.csv"
    assert report["guarantee"]["epsilon"] == 1.5
    listed = service.client.get("/v1/files").json()["files"]
    assert id_ in [each["id"] for each in listed]
    assert service.client.delete(f"/v1/files/{id_}").status_code == 204
    assert service.client.get(f"/v1/files/{id_}").status_code == 404


def test_the_input_is_gone_when_the_job_has_ended(files: Running, files_folder: Path) -> None:
    id_ = announced(files)
    upload(files, id_, NOTES)
    ended(files, id_)
    folder = files_folder / "files" / id_
    assert not (folder / "input.csv").exists()
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_a_file_that_cannot_be_read_fails_without_quoting_it(service: Running) -> None:
    for content, body in (
        (b'{"note": "x"}\n{"canary": 1\n', {"format": "jsonl"}),
        (b"canary,b\n1,2\n", {}),
    ):
        id_ = announced(service, **body)
        upload(service, id_, content)
        view = ended(service, id_)
        assert view["state"] == "failed"
        assert view["problem"]["type"] == "urn:malaprop:problem:invalid-request"
        assert "canary" not in str(view)
        assert service.client.get(f"/v1/files/{id_}/result").status_code == 409


@pytest.mark.parametrize("format_", ["parquet", "eml", "html"])
def test_a_file_of_another_format_is_privatized(service: Running, format_: str) -> None:
    whole = MAKERS[format_](random.Random(1))
    columns = ["note"] if registry[format_].has_columns else []
    id_ = announced(service, format=format_, columns=columns)
    upload(service, id_, whole)
    assert ended(service, id_)["state"] == "done"
    result = service.client.get(f"/v1/files/{id_}/result")
    assert f'filename="private.{format_}"' in result.headers["content-disposition"]
    assert CANARY.encode() not in result.content
    part = service.client.get(f"/v1/files/{id_}/result", headers={"Range": "bytes=3-"})
    assert part.status_code == 206
    assert part.content == result.content[3:]


def test_a_compressed_file_is_privatized(service: Running) -> None:
    id_ = announced(service, compression="gz")
    upload(service, id_, gzip.compress(NOTES))
    assert ended(service, id_)["state"] == "done"
    private = gzip.decompress(service.client.get(f"/v1/files/{id_}/result").content)
    assert private.startswith(b"id,note\n007,")


def test_a_file_is_uploaded_once(service: Running) -> None:
    id_ = announced(service)
    upload(service, id_, NOTES)
    assert upload(service, id_, NOTES).status_code == 409


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"format": "txt"}, id="columns of txt"),
        pytest.param({"columns": []}, id="no columns"),
        pytest.param({"encoding": "canary"}, id="encoding"),
        pytest.param({"format": "canary"}, id="format"),
        pytest.param({"mechanism": "canary"}, id="mechanism"),
        pytest.param({"steps": {"date": "canary"}}, id="step"),
    ],
)
def test_what_cannot_be_is_refused_before_the_upload(service: Running, body: Any) -> None:
    answer = service.post("/v1/files", {"epsilon": 1.5, "format": "csv", "columns": ["n"]} | body)
    assert answer.status_code == 422
    assert "canary" not in answer.text


def test_a_run_is_cancelled(files: Running, files_folder: Path) -> None:
    id_ = announced(files)
    upload(
        files, id_, b"id,note\n" + b"1,the cold rain of may and the warm wind of june\n" * 400_000
    )
    while files.client.get(f"/v1/files/{id_}").json()["state"] == "queued":
        time.sleep(0.05)
    assert files.client.delete(f"/v1/files/{id_}").status_code == 204
    assert files.client.get(f"/v1/files/{id_}").status_code == 404
    until = time.monotonic() + 600
    while (files_folder / "files" / id_).exists():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_there_is_a_limit_of_files(files: Running) -> None:
    ids = [announced(files) for _ in range(3)]
    body = {"epsilon": 1.5, "format": "csv", "columns": ["note"]}
    refused = files.post("/v1/files", body)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    for id_ in ids:
        files.client.delete(f"/v1/files/{id_}")


def test_old_files_are_removed(files: Running, files_folder: Path) -> None:
    id_ = announced(files)
    files.jobs.remove_old(time.time() + 3600)
    assert (files_folder / "files" / id_).exists()
    files.jobs.remove_old(time.time() + 25 * 3600)
    assert not (files_folder / "files" / id_).exists()


def test_what_a_crash_has_left_of_a_file_is_removed(files: Running, files_folder: Path) -> None:
    folder = files_folder / "files" / ("ab" * 16)
    folder.mkdir()
    (folder / "upload").write_bytes(NOTES)
    files.jobs.remove_old(time.time() + 3600)
    assert folder.exists()
    files.jobs.remove_old(time.time() + 25 * 3600)
    assert not folder.exists()


def test_what_else_lies_in_the_folder_stops_nothing(files: Running, files_folder: Path) -> None:
    stray = files_folder / "files" / "notes.txt"
    stray.write_bytes(b"")
    id_ = announced(files)
    upload(files, id_, NOTES)
    assert ended(files, id_)["state"] == "done"
    files.jobs.remove_old(time.time() + 25 * 3600)
    assert stray.exists()
    stray.unlink()


def test_a_full_disk_stops_files_until_there_is_room(
    files: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = announced(files)
    real, failures = Job.write_state, iter(range(2))

    def write_state(self: Job, state: State, **facts: Any) -> None:
        if state != "queued" and next(failures, None) is not None:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, state, **facts)

    monkeypatch.setattr(jobs, "_TROUBLE_SECONDS", 0.05)
    monkeypatch.setattr(Job, "write_state", write_state)
    upload(files, id_, NOTES)
    assert ended(files, id_)["state"] == "done"


def test_files_of_a_revoked_key_are_not_run(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    record, key = keyed.store.create("to revoke")
    headers = {"Authorization": f"Bearer {key}"}
    assert keyed.jobs.is_valid(record.id)
    monkeypatch.setattr(keyed.jobs, "is_valid", lambda key: False)
    body = {"epsilon": 1.5, "format": "txt", "subject": "of a revoked key"}
    id_ = keyed.post("/v1/files", body, headers=headers).json()["id"]
    keyed.client.put(f"/v1/files/{id_}/content", content=b"cold\n", headers=headers | BINARY)
    view = ended(keyed, id_, headers=headers)
    assert view["state"] == "failed"
    assert view["problem"]["type"] == "urn:malaprop:problem:forbidden"
    budget = keyed.post("/v1/budget", {"subject": "of a revoked key"}, headers=headers)
    assert budget.json()["spent"] == "0"
    monkeypatch.undo()
    keyed.store.revoke(record.id)
    assert not keyed.jobs.is_valid(record.id)
    assert not keyed.jobs.is_valid("0" * 12)


def test_a_run_ends_when_its_key_is_revoked(
    files: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = itertools.chain([True], itertools.repeat(False))
    monkeypatch.setattr(jobs, "_KEY_SECONDS", 0.0)
    monkeypatch.setattr(files.jobs, "is_valid", lambda key: next(answers))
    id_ = announced(files)
    upload(files, id_, b"id,note\n" + b"1,the cold rain of may\n" * 2_000_000)
    view = ended(files, id_)
    assert view["state"] == "failed"
    assert view["problem"]["type"] == "urn:malaprop:problem:forbidden"


def test_names_of_jobs_are_no_paths(service: Running) -> None:
    for name in ("..", "%2e%2e", "x" * 32, "0" * 32, "../../etc"):
        assert service.client.get(f"/v1/files/{name}").status_code == 404


def test_another_caller_has_other_files(keyed: Keyed) -> None:
    mine, theirs = keyed.key(), keyed.key()
    body = {"epsilon": 1.5, "format": "txt"}
    id_ = keyed.post("/v1/files", body, headers=mine).json()["id"]
    assert keyed.client.get(f"/v1/files/{id_}", headers=mine).status_code == 200
    assert keyed.client.get(f"/v1/files/{id_}", headers=theirs).status_code == 404
    assert keyed.client.delete(f"/v1/files/{id_}", headers=theirs).status_code == 404
    assert keyed.client.get("/v1/files", headers=theirs).json()["files"] == []


def test_a_file_is_debited_for_whom_its_records_are_about(service: Running) -> None:
    id_ = announced(service, subject_column="id")
    upload(service, id_, b"id,note\nAda,cold cold rain\nBob,snow\nAda,cold\n")
    assert ended(service, id_)["state"] == "done"
    spent = {
        name: service.post("/v1/budget", {"subject": name}).json()["spent"]
        for name in ("Ada", "Bob")
    }
    assert spent == {"Ada": "4.5", "Bob": "1.5"}


def test_a_file_over_a_limit_is_refused_before_it_is_drawn(limited: Running) -> None:
    id_ = announced(limited, subject="one", format="txt", columns=[])
    upload(limited, id_, b"cold cold cold rain\n")
    view = ended(limited, id_)
    assert view["state"] == "failed"
    assert view["problem"]["type"] == "urn:malaprop:problem:over-budget"
    assert limited.post("/v1/budget", {"subject": "one"}).json()["spent"] == "0"
    assert limited.client.get(f"/v1/files/{id_}/result").status_code == 409
