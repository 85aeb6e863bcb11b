"""The tools for language models, through a real client that starts the real command."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.mcpserver.exceptions import ToolError
from tests.spark.frames import HUNDRED

CANARY = "zyxcanary"
_Talk = Callable[[ClientSession], Coroutine[Any, Any, None]]


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    file = tmp_path / "hundred.vec"
    file.write_text("".join(f"{word} {i}\n" for i, word in enumerate(HUNDRED)))
    return file


def _talk(lexicon: Path, talk: _Talk, log: Path) -> None:
    arguments = ["-m", "malaprop", "mcp", "-e", "0.05", "-m", "tem", "-l", str(lexicon)]

    async def session() -> None:
        server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        with log.open("w") as errors:
            async with (
                stdio_client(server, errlog=errors) as streams,
                ClientSession(*streams) as client,
            ):
                await client.initialize()
                await talk(client)

    asyncio.run(session())


def _told(result: Any) -> str:
    return "".join(str(part.text) for part in result.content)


def test_a_client_finds_and_calls_the_tools(lexicon: Path, tmp_path: Path) -> None:
    async def talk(client: ClientSession) -> None:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == {"privatize", "explain", "calibrate"}
        assert all(tool.description for tool in listed.tools)
        texts = ["waa wbb " * 10, "", "wcc"]
        one = await client.call_tool("privatize", {"texts": texts})
        two = await client.call_tool("privatize", {"texts": texts})
        released = one.structured_content or {}
        assert [len(text.split()) for text in released["texts"]] == [20, 0, 1]
        assert {w.casefold() for text in released["texts"] for w in text.split()} <= set(HUNDRED)
        assert (two.structured_content or {})["texts"] != released["texts"]
        assert released["guarantee"].startswith("ε = 0.05")
        assert (released["randomness"], released["mechanism"]["name"]) == ("secure", "tem")
        law = (await client.call_tool("explain", {"word": "waa"})).structured_content or {}
        assert law["word"] == "waa"
        assert 0.0 < law["becomes"][0]["probability"] < 0.1
        sharp = await client.call_tool("explain", {"word": "waa", "epsilon": 20.0})
        assert (sharp.structured_content or {})["becomes"][0]["probability"] > 0.9
        found = (await client.call_tool("calibrate", {"kept": 0.3})).structured_content or {}
        assert 0.2 < found["value"] <= 0.3
        assert found["epsilon"] > 0.05

    _talk(lexicon, talk, tmp_path / "log")


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("privatize", {"texts": CANARY}, "do not fit the tool's schema: texts"),
    ("privatize", {"texts": ["waa", {"a": CANARY}]}, "do not fit the tool's schema: texts"),
    ("privatize", {"text": CANARY}, "do not fit the tool's schema: texts"),
    ("explain", {"word": f"{CANARY} {CANARY}"}, "Give one word to explain"),
    ("explain", {"word": "waa", "epsilon": -1.0}, "epsilon"),
    ("explain", {"word": [CANARY]}, "do not fit the tool's schema: word"),
    ("calibrate", {}, "one target: `kept` or `success`"),
    ("calibrate", {"kept": 0.3, "success": 0.1}, "one target: `kept` or `success`"),
    ("calibrate", {"kept": 7.0}, "kept"),
]


def test_errors_hold_no_text(lexicon: Path, tmp_path: Path) -> None:
    async def talk(client: ClientSession) -> None:
        for tool, arguments, message in WRONG:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert message in _told(result)
            assert CANARY not in _told(result)

    _talk(lexicon, talk, tmp_path / "log")
    assert CANARY not in (tmp_path / "log").read_text()


def test_a_fault_of_ours_shows_no_text(lexicon: Path) -> None:
    from malaprop import TEM, Lexicon, Privatizer
    from malaprop.integrations.mcp import server

    privatizer = Privatizer(Lexicon.open(lexicon), TEM(epsilon=0.05))

    def broken(texts: Any) -> Any:
        raise KeyError(texts[0])

    privatizer.many = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(ToolError, match="internal error in a tool: KeyError at") as caught:
        asyncio.run(server(privatizer).call_tool("privatize", {"texts": [CANARY]}))
    raised: BaseException | None = caught.value
    while raised is not None:
        assert CANARY not in str(raised)
        raised = raised.__cause__ or raised.__context__


@pytest.mark.parametrize("wrong", [["-e", "0"], ["-e", "1", "-m", "tam"], ["-e", "1", "-l", "no"]])
def test_wrong_options_are_refused_before_it_serves(wrong: list[str]) -> None:
    command = [sys.executable, "-m", "malaprop", "mcp", *wrong]
    run = subprocess.run(command, capture_output=True, text=True, input="", check=False)
    assert run.returncode in (1, 2)
    assert run.stderr.startswith("malaprop: ")
    assert run.stdout == ""


def test_it_ends_with_its_input(lexicon: Path) -> None:
    command = [sys.executable, "-m", "malaprop", "mcp", "-e", "0.05", "-m", "tem"]
    run = subprocess.run(
        [*command, "-l", str(lexicon)],
        capture_output=True,
        text=True,
        input=json.dumps({"jsonrpc": "2.0", "method": "nonsense", "id": 1}) + "\n{no json\n",
        timeout=600,
        check=False,
    )
    assert run.returncode == 0
    assert "Traceback" not in run.stderr


def test_a_signal_stops_it_while_it_waits_for_input(lexicon: Path) -> None:
    command = [sys.executable, "-m", "malaprop", "mcp", "-e", "0.05", "-m", "tem"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "-l", str(lexicon)], stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        ping = {"jsonrpc": "2.0", "method": "ping", "id": 1}
        process.stdin.write(json.dumps(ping).encode() + b"\n")  # answered when the server runs
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 600)[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=600) == 128 + signal.SIGTERM


def test_without_mcp_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['mcp'] = None; import malaprop.integrations.mcp"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in run.stderr
    assert "pip install mcp" in run.stderr
