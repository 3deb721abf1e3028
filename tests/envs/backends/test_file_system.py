"""The file system: every function's success and refusals, chains, invariants, config, packs."""

from __future__ import annotations

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from envs.backends import file_system
from envs.backends.file_system import MAX_DEPTH, GorillaFileSystem
from envs.calls import Call, parse_call
from envs.errors import AlreadyExists, ConfigError, InvalidArgument, NotFound, Refused
from envs.long_context import LongContextPack
from envs.schema import make_spec
from envs.session import Session
from tests.examples import examples

NAME = "GorillaFileSystem"
PACK = LongContextPack(
    file_suffix="<more>",
    untouched_files=["keep.txt"],
    extra_files=["e1.jpg", "e2.jpg"],
    car_status="",
    parking_brake="",
    weather={},
    cities=[],
    watch_list=[],
    transactions=[],
    moving_average_5=[],
    moving_average_20=[],
    sector_stocks={},
    order_metadata={},
    credit_cards={},
    bookings={},
)


def file(content=""):
    return {"type": "file", "content": content}


def directory(**contents):
    return {"type": "directory", "contents": contents}


def config(**contents):
    return {NAME: {"root": {"ws": directory(**contents)}}}


def world():
    return config(
        **{
            "notes.txt": file("b\na\nC"),
            "log": file("error 1\nok\nError 2\nerror 3\n"),
            ".env": file("é"),
            "src": directory(
                **{"main.py": file("x"), "log": file(""), "lib": directory(**{"log.py": file()})}
            ),
            "void": directory(),
        }
    )


def load(given=None, pack=None, tolerant=False):
    config = world() if given is None else given
    return Session.load([NAME], config, pack, tolerant=tolerant, checks_arguments=False)


def play(session, *texts):
    """Make calls that all succeed; return the value of the last one."""
    results = session.play([parse_call(text) for text in texts])
    assert [result.text for result in results if not result.ok] == []
    return results[-1].value


def refused(session, text):
    """Make a call that is refused and leaves no trace; return the error."""
    before = dict(vars(session.backends[NAME]))
    result = session.call(parse_call(text))
    assert not result.ok
    assert not result.changed
    assert vars(session.backends[NAME]) == before
    return result.error


def tree(session):
    return session.snapshot().to_json()[NAME]["root"]["ws"]["contents"]


def below(node, path=""):
    for name, entry in node.get("contents", {}).items():
        yield f"{path}/{name}", entry
        yield from below(entry, f"{path}/{name}")


# What functions return


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["pwd()"], {"current_working_directory": "/ws"}),
        (["cd('src')", "cd('lib')", "pwd()"], {"current_working_directory": "/ws/src/lib"}),
        (["ls()"], {"current_directory_content": ["notes.txt", "log", "src", "void"]}),
        (
            ["ls(a=True)"],
            {"current_directory_content": ["notes.txt", "log", ".env", "src", "void"]},
        ),
        (["cd('void')", "ls()"], {"current_directory_content": []}),
        (["cd('src')"], {"current_working_directory": "src"}),
        (["cd('src/')"], {"current_working_directory": "src"}),
        (["cd('src')", "cd('..')"], {}),
        (["cd('src')", "cd('lib')", "cd('../')", "cd('.')"], {"current_working_directory": "src"}),
        (["cd('src')", "cd('lib')", "cd('/')"], {"current_working_directory": "ws"}),
        (["cd('src')", "cd('')"], {"current_working_directory": "ws"}),
        (["mkdir('new')"], None),
        (["touch('new')"], None),
        (["echo('hi')"], {"terminal_output": "hi"}),
        (["echo('hi', '')"], {"terminal_output": "hi"}),
        (["echo('hi', file_name='log')"], None),
        (["cat('notes.txt')"], {"file_content": "b\na\nC"}),
        (["wc('log')"], {"count": 4, "type": "lines"}),
        (["wc('notes.txt', 'l')"], {"count": 3, "type": "lines"}),
        (["wc('log', 'w')"], {"count": 7, "type": "words"}),
        (["wc('.env', 'c')"], {"count": 1, "type": "characters"}),
        (["sort('notes.txt')"], {"sorted_content": "C\na\nb"}),
        (["grep('log', 'error')"], {"matching_lines": ["error 1", "error 3"]}),
        (["grep('log', 'e.*r')"], {"matching_lines": []}),
        (["grep('notes.txt', '')"], {"matching_lines": ["b", "a", "C"]}),
        (["du()"], {"disk_usage": "35 bytes"}),
        (["cd('src')", "du()"], {"disk_usage": "1 bytes"}),
        (["du(human_readable=True)"], {"disk_usage": "35.00 B"}),
        (["tail('notes.txt')"], {"last_lines": "b\na\nC"}),
        (["tail('log', 2)"], {"last_lines": "Error 2\nerror 3"}),
        (["tail('.env', 2.5)"], {"last_lines": "é"}),
        (["tail('notes.txt', 0)"], {"last_lines": "b\na\nC"}),
        (["tail('notes.txt', -1)"], {"last_lines": "a\nC"}),
        (["cd('src')", "tail('log')"], {"last_lines": ""}),
        (["diff('notes.txt', 'notes.txt')"], {"diff_lines": ""}),
        (["diff('notes.txt', 'log')"], {"diff_lines": "- b\n+ error 1\n- a\n+ ok\n- C\n+ Error 2"}),
        (["diff('notes.txt', '.env')"], {"diff_lines": "- b\n+ é"}),
        (["mv('log', 'old.log')"], {"result": "'log' moved to 'old.log'"}),
        (["mv('log', 'void')"], {"result": "'log' moved to 'void/log'"}),
        (["cp('log', 'old.log')"], {"result": "'log' copied to 'old.log'"}),
        (["cp('src', 'void')"], {"result": "'src' copied to 'void/src'"}),
        (["rm('src')"], {"result": "'src' removed"}),
        (["rmdir('void')"], {"result": "'void' removed"}),
    ],
)
def test_returns(texts, value):
    assert play(load(), *texts) == value


@pytest.mark.parametrize(
    ("arguments", "matches"),
    [
        ("path='src'", ["src/main.py", "src/log", "src/lib", "src/lib/log.py"]),
        ("path='src/lib/'", ["src/lib/log.py"]),
        ("path='./src/./lib'", ["./src/./lib/log.py"]),
        ("path='/', name='lib'", ["/src/lib"]),
        ("path='/src//', name='main'", ["/src/main.py"]),
        ("path='src', name=''", ["src/main.py", "src/log", "src/lib", "src/lib/log.py"]),
        ("path='void'", []),
        ("name='log'", ["./log", "./src/log", "./src/lib/log.py"]),
        ("name='LOG'", []),
    ],
)
def test_find_returns_paths_that_start_like_the_given_one(arguments, matches):
    assert play(load(), f"find({arguments})") == {"matches": matches}


def test_find_goes_depth_first_in_the_order_of_listings():
    found = play(load(), "find()")["matches"]
    in_src = ["./src", "./src/main.py", "./src/log", "./src/lib", "./src/lib/log.py"]
    assert found == ["./notes.txt", "./log", "./.env", *in_src, "./void"]


def test_find_without_a_leading_slash_starts_at_the_current_directory():
    session = load()
    assert play(session, "cd('src')", "find('lib')") == {"matches": ["lib/log.py"]}
    assert play(session, "find('/src/lib')") == {"matches": ["/src/lib/log.py"]}


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0.00 B"),
        (1023, "1023.00 B"),
        (1024, "1.00 KB"),
        (3363, "3.28 KB"),
        (1024**2 - 1, "1024.00 KB"),
        (1024**2, "1.00 MB"),
    ],
)
def test_du_divides_by_1024(size, shown):
    session = load(config(f=file("x" * size)))
    assert play(session, "du(True)") == {"disk_usage": shown}


@pytest.mark.parametrize("separator", ["\r\n", "\r", "\v", "\f", "\x1c", "\x85", "\u2028"])
def test_lines_are_split_at_every_kind_of_line_break(separator):
    session = load(config(f=file(f"b{separator}a")))
    assert play(session, "wc('f')") == {"count": 2, "type": "lines"}
    assert play(session, "sort('f')") == {"sorted_content": "a\nb"}
    assert play(session, "tail('f', 1)") == {"last_lines": "a"}


# What functions change


@pytest.mark.parametrize(
    ("texts", "after"),
    [
        (["mkdir('d')"], {"a": file("1"), "b": directory(), "d": directory()}),
        (["touch('d')"], {"a": file("1"), "b": directory(), "d": file()}),
        (["echo('2', 'a')"], {"a": file("2"), "b": directory()}),
        (["mv('a', 'c')"], {"b": directory(), "c": file("1")}),
        (["mv('b', 'c')"], {"a": file("1"), "c": directory()}),
        (["mv('a', 'b')"], {"b": directory(a=file("1"))}),
        (["cp('a', 'c')"], {"a": file("1"), "b": directory(), "c": file("1")}),
        (["cp('a', 'b')"], {"a": file("1"), "b": directory(a=file("1"))}),
        (["rm('a')"], {"b": directory()}),
        (["rm('b')"], {"a": file("1")}),
        (["rmdir('b')"], {"a": file("1")}),
        (["cd('b')", "touch('x')"], {"a": file("1"), "b": directory(x=file())}),
        (
            ["cd('b')", "mkdir('x')", "cd('x')", "touch('y')", "rm('y')"],
            {"a": file("1"), "b": directory(x=directory())},
        ),
    ],
)
def test_changes_the_tree_and_the_order_of_listings(texts, after):
    session = load(config(a=file("1"), b=directory()))
    play(session, *texts)
    assert json.dumps(tree(session)) == json.dumps(after)


def test_echo_keeps_the_position_in_the_listing():
    session = load()
    before = play(session, "ls(True)")
    play(session, "echo('new', 'log')")
    assert play(session, "ls(True)") == before


def test_a_moved_directory_has_its_new_parent():
    session = load()
    play(session, "mv('src', 'void')", "cd('void')", "cd('src')", "cd('lib')")
    assert play(session, "pwd()") == {"current_working_directory": "/ws/void/src/lib"}
    play(session, "cd('..')", "cd('..')")
    assert play(session, "pwd()") == {"current_working_directory": "/ws/void"}


def test_a_copied_directory_is_independent_at_every_depth():
    session = load()
    original = tree(session)["src"]
    play(session, "cp('src', 'copy')", "cd('copy')", "echo('new', 'main.py')", "cd('lib')")
    play(session, "touch('more')", "cd('..')", "rm('log')")
    assert tree(session)["src"] == original
    changed = {"main.py": file("new"), "lib": directory(**{"log.py": file(), "more": file()})}
    assert tree(session)["copy"] == directory(**changed)


def test_a_write_shares_what_it_does_not_touch():
    session = load()
    backend = session.backends[NAME]
    before = backend.root["ws"]["contents"]
    play(session, "cd('void')", "touch('new')")
    after = backend.root["ws"]["contents"]
    assert after["src"] is before["src"]
    assert before["void"] == directory()


def test_changing_directory_is_not_a_compared_change():
    session = load()
    before = session.snapshot()
    assert not session.call(parse_call("cd('src')")).changed
    assert session.snapshot() == before


def test_names_that_only_mv_and_cp_accept_can_be_read_but_not_by_cat():
    session = load()
    play(session, "mv('log', 'what?')", "cp('notes.txt', 'a*')")
    assert play(session, "wc('what?')") == {"count": 4, "type": "lines"}
    assert play(session, "sort('a*')") == {"sorted_content": "C\na\nb"}
    assert isinstance(refused(session, "cat('what?')"), InvalidArgument)


# What functions refuse


@pytest.mark.parametrize(
    ("text", "error", "part"),
    [
        ("cd('nowhere')", NotFound, "'nowhere' in /ws. It holds 'notes.txt', 'log'"),
        ("cd('ws')", NotFound, "no 'ws' in /ws"),
        ("cd('log')", Refused, "'log' is a file"),
        ("cd('..')", Refused, "/ws is the root directory"),
        ("cd('src/lib')", InvalidArgument, "'src/lib' is a path. Give one directory"),
        ("cd('/src')", InvalidArgument, "path"),
        ("cd('./src')", InvalidArgument, "path"),
        ("mkdir('src')", AlreadyExists, "a directory 'src' already"),
        ("mkdir('log')", AlreadyExists, "a file 'log' already"),
        ("mkdir('a/b:c')", InvalidArgument, "it contains / :"),
        ("mkdir('..')", InvalidArgument, "'..' cannot be the name"),
        ("touch('log')", AlreadyExists, "a file 'log' already"),
        ("touch('src')", AlreadyExists, "a directory 'src' already"),
        ("touch('src/x')", InvalidArgument, "it contains /"),
        ("touch('')", InvalidArgument, "'' cannot be the name"),
        ("echo('x', 'nothing')", NotFound, "no 'nothing' in /ws"),
        ("echo('x', 'src')", Refused, "'src' is a directory"),
        ("echo('x', 'src/log')", InvalidArgument, "it contains /"),
        ("cat('nothing')", NotFound, "no 'nothing' in /ws"),
        ("cat('src')", Refused, "'src' is a directory"),
        ("cat('src/log')", InvalidArgument, "it contains /"),
        ("find('nowhere')", NotFound, "no directory 'nowhere'"),
        ("find('src/log')", NotFound, "no directory 'log'"),
        ("find('..')", NotFound, "no directory '..'"),
        ("find('')", NotFound, "There is no directory '' in the path"),
        ("find('//')", NotFound, "There is no directory '' in the path"),
        ("find('src//lib')", NotFound, "There is no directory '' in the path"),
        ("find('/ws')", NotFound, "no directory 'ws'"),
        ("wc('nothing', 'x')", InvalidArgument, "no mode 'x'; give 'l', 'w' or 'c'"),
        ("wc('nothing')", NotFound, "no 'nothing'"),
        ("wc('src')", Refused, "'src' is a directory"),
        ("sort('nothing')", NotFound, "no 'nothing'"),
        ("sort('src')", Refused, "'src' is a directory"),
        ("grep('src/log', 'x')", NotFound, "paths are not accepted. Go there with cd"),
        ("grep('src', 'x')", Refused, "'src' is a directory"),
        ("tail('nothing')", NotFound, "no 'nothing'"),
        ("tail('src')", Refused, "'src' is a directory"),
        ("diff('log', 'nothing')", NotFound, "no 'nothing'"),
        ("diff('nothing', 'log')", NotFound, "no 'nothing'"),
        ("diff('log', 'src')", Refused, "'src' is a directory"),
        ("mv('nothing', 'x')", NotFound, "no 'nothing'"),
        ("mv('log', 'src/log2')", InvalidArgument, "'src/log2' is a path"),
        ("mv('log', 'void/')", InvalidArgument, "path"),
        ("mv('log', 'src')", AlreadyExists, "a 'log' in 'src' already"),
        ("mv('log', 'notes.txt')", AlreadyExists, "a file 'notes.txt' already"),
        ("mv('log', 'log')", AlreadyExists, "a file 'log' already"),
        ("mv('src', 'src')", Refused, "'src' cannot be put into itself"),
        ("mv('log', '.')", InvalidArgument, "'.' cannot be the name"),
        ("cp('nothing', 'x')", NotFound, "no 'nothing'"),
        ("cp('log', './x')", InvalidArgument, "'./x' is a path"),
        ("cp('log', 'src')", AlreadyExists, "a 'log' in 'src' already"),
        ("cp('src', 'notes.txt')", AlreadyExists, "a file 'notes.txt' already"),
        ("cp('src', 'src')", Refused, "'src' cannot be put into itself"),
        ("cp('log', '')", InvalidArgument, "'' cannot be the name"),
        ("rm('nothing')", NotFound, "no 'nothing'"),
        ("rmdir('nothing')", NotFound, "no 'nothing'"),
        ("rmdir('log')", Refused, "'log' is a file"),
        ("rmdir('src')", Refused, "'src' is not empty"),
    ],
)
def test_refuses(text, error, part):
    reason = refused(load(), text)
    assert type(reason) is error
    assert part in reason.message


@pytest.mark.parametrize("char", '|/\\?%*:"><')
@pytest.mark.parametrize("text", ["mkdir({})", "touch({})", "echo('x', {})", "cat({})"])
def test_refuses_names_with_a_forbidden_character(text, char):
    reason = refused(load(), text.format(repr(f"a{char}b")))
    assert type(reason) is InvalidArgument
    assert f"it contains {char}." in reason.message


@pytest.mark.parametrize("count", [0, 11])
def test_a_directory_with_few_entries_is_listed_when_a_name_is_not_found(count):
    session = load(config(**{f"f{i}": file() for i in range(count)}))
    advice = {0: "It is empty.", 11: "List its 11 entries with ls."}[count]
    assert advice in refused(session, "rm('x')").message


@pytest.mark.parametrize(
    "text", ["wc('f', 'c')", "sort('f')", "grep('f', '')", "tail('f')", "diff('f', 'g')", "du()"]
)
@pytest.mark.parametrize("content", [5, None, ["x"]])
def test_content_that_is_not_text_is_kept_but_not_read_as_text(text, content):
    session = load(config(f=file("old"), g=file("x")))
    play(session, f"echo({content!r}, 'f')")
    assert play(session, "cat('f')") == {"file_content": content}
    assert f"is not text but {content}" in refused(session, text).message


def test_text_that_is_not_unicode_has_no_size():
    session = load(config(f=file("\ud800")))
    assert play(session, "wc('f', 'c')") == {"count": 1, "type": "characters"}
    assert "not valid Unicode" in refused(session, "du()").message


def test_a_name_that_is_not_text_can_be_listed_in_full_only():
    session = load(config())
    play(session, "touch(('a',))")
    assert "is not text but ('a',)" in refused(session, "ls()").message
    assert play(session, "ls(True)") == {"current_directory_content": [("a",)]}
    assert play(session, "find()") == {"matches": ["./('a',)"]}


@pytest.mark.parametrize(
    "text",
    [
        "cd(5)",
        "mkdir(None)",
        "touch([])",
        "cat(0)",
        "find(None)",
        "tail('log', None)",
        "grep('log', 5)",
        "mv('log', None)",
        "rm([])",
        "ls(b=True)",
        "cp('log')",
    ],
)
def test_ill_typed_arguments_are_the_callers_fault(text):
    assert isinstance(refused(load(), text), (InvalidArgument, NotFound))


# Bounds: what one cheap call may not do


def test_directories_can_be_nested_only_so_deep():
    session = load(config())
    for _ in range(MAX_DEPTH):
        play(session, "mkdir('d')", "cd('d')")
    assert f"more than {MAX_DEPTH} levels" in refused(session, "mkdir('d')").message
    play(session, "touch('f')", "cd('..')", "touch('g')", "mv('g', 'd')", "mkdir('e')")
    for text in ("mv('e', 'd')", "cp('e', 'd')"):
        assert f"more than {MAX_DEPTH} levels" in refused(session, text).message
    assert play(session, "cp('d', 'f')") == {"result": "'d' copied to 'f'"}


def test_the_deepest_tree_can_be_compared_hashed_shown_and_loaded():
    session = load(config())
    for _ in range(MAX_DEPTH):
        play(session, "mkdir('d')", "cd('d')")
    before = session.snapshot()
    play(session, "touch('f')")
    after = session.snapshot()
    assert before != after
    assert before.digest() != after.digest()
    assert len(before.differences(after)) == 1
    assert load({NAME: {"root": after.to_json()[NAME]["root"]}}).snapshot() == after


def test_copies_cannot_double_the_entries_without_end(monkeypatch):
    monkeypatch.setattr(file_system, "MAX_ENTRIES", 10)
    session = load(config(a=directory(x=file(), y=file())))
    play(session, "cp('a', 'b')", "cp('a', 'c')")
    assert "there would be 13 files and directories" in refused(session, "cp('b', 'a')").message
    play(session, "rm('c')", "cp('b', 'a')")


def test_copies_cannot_double_the_text_without_end(monkeypatch):
    monkeypatch.setattr(file_system, "MAX_TEXT", 50)
    session = load(config(a=directory(x=file("x" * 18))))
    play(session, "cp('a', 'b')")
    assert "59 characters. The limits are 20000 and 50" in refused(session, "cp('a', 'c')").message


def test_find_does_not_write_out_paths_without_end(monkeypatch):
    monkeypatch.setattr(file_system, "MAX_TEXT", 100)
    session = load()
    assert len(play(session, "find('src')")["matches"]) == 4
    assert "Too much was found" in refused(session, f"find('{'./' * 40}src')").message


# Invariants

NAMES = st.sampled_from(["a", "b", "c", ".d", "e f"])


class FileSystemMachine(RuleBasedStateMachine):
    """Any calls in any order leave a sound tree, and earlier snapshots as they were."""

    @initialize(packed=st.booleans())
    def start(self, packed):
        self.session = load(config(a=directory(b=file("x")), c=file("é")), PACK if packed else None)
        self.past = self.session.snapshot()
        self.past_json = json.dumps(self.past.to_json())

    def make(self, name, *args):
        before = self.session.snapshot()
        result = self.session.call(Call(name, args))
        assert result.changed == (self.session.snapshot() != before)
        if not result.ok:
            assert self.session.snapshot() == before
            assert type(result.error) is not InvalidArgument

    @rule(tool=st.sampled_from(["mkdir", "touch", "rm", "rmdir", "cd", "cat", "sort"]), name=NAMES)
    def one_name(self, tool, name):
        self.make(tool, name)

    @rule(tool=st.sampled_from(["mv", "cp", "diff"]), first=NAMES, second=NAMES)
    def two_names(self, tool, first, second):
        self.make(tool, first, second)

    @rule(content=st.text(max_size=5), name=NAMES)
    def write(self, content, name):
        self.make("echo", content, name)

    @rule()
    def enter_a_directory(self):
        for name, node in self.session.backends[NAME]._entries().items():
            if node["type"] == "directory":
                self.make("cd", name)
                return

    @rule(folder=st.sampled_from(["/", "."]))
    def stay_or_go_home(self, folder):
        self.make("cd", folder)

    @invariant()
    def the_current_directory_exists(self):
        backend = self.session.backends[NAME]
        here = backend.root["ws"]
        for name in backend._path:
            assert here["type"] == "directory"
            here = here["contents"][name]
        assert play(self.session, "ls(True)")["current_directory_content"] == [*here["contents"]]

    @invariant()
    def every_entry_is_found_once_and_below_a_directory(self):
        root = self.session.snapshot().to_json()[NAME]["root"]["ws"]
        entries = dict(below(root))
        assert play(self.session, "find('/')")["matches"] == list(entries)
        for path, node in entries.items():
            kind, member = node
            assert (kind, member) in [("type", "content"), ("type", "contents")]
            parent = path.rpartition("/")[0]
            assert not parent or entries[parent]["type"] == "directory"

    @invariant()
    def the_size_is_that_of_all_files(self):
        session = self.session.fork()
        root = session.snapshot().to_json()[NAME]["root"]["ws"]
        contents = [node["content"] for _, node in below(root) if node["type"] == "file"]
        size = sum(len(content.encode()) for content in contents)
        assert play(session, "cd('/')", "du()") == {"disk_usage": f"{size} bytes"}

    @invariant()
    def an_earlier_snapshot_is_as_it_was(self):
        assert json.dumps(self.past.to_json()) == self.past_json
        self.past = self.session.snapshot()
        self.past_json = json.dumps(self.past.to_json())


TestFileSystemMachine = FileSystemMachine.TestCase
TestFileSystemMachine.settings = settings(
    max_examples=examples(60), stateful_step_count=30, deadline=None
)


# Initial configs


def test_default_is_an_empty_root_called_slash():
    session = load({})
    assert session.snapshot().to_json() == {
        NAME: {"root": {"/": directory()}, "long_context": False}
    }
    assert play(session, "pwd()") == {"current_working_directory": "//"}
    assert play(session, "mkdir('a')", "cd('a')", "pwd()") == {"current_working_directory": "///a"}


def test_a_config_comes_back_in_the_snapshot():
    assert load().snapshot().to_json()[NAME]["root"] == world()[NAME]["root"]


@pytest.mark.parametrize(
    ("given", "path", "part"),
    [
        ({"roots": {}}, ".roots", "did you mean root?"),
        ({"root": {}}, ".root", "exactly one root directory, has 0"),
        ({"root": {"a": directory(), "b": directory()}}, ".root", "has 2"),
        ({"root": {"a": {**directory(), "type": "file"}}}, ".root.a.type", "'directory'"),
        ({"root": {"a/b": directory()}}, ".root['a/b']", "no legal name"),
        ({"root": {"a": directory(b={"type": "link"})}}, ".root.a.contents.b", "'link'"),
        ({"root": {"a": directory(b={"content": ""})}}, ".root.a.contents.b", "'type'"),
        ({"root": {"a": directory(b={"type": "file"})}}, ".root.a.contents.b.content", "missing"),
        ({"root": {"a": directory(b=file(5))}}, ".root.a.contents.b.content", "string, got 5"),
        ({"root": {"a": directory(b={**file(), "mode": 1})}}, ".root.a.contents.b.mode", "unknown"),
        ({"root": {"a": directory(**{".": file()})}}, ".root.a.contents['.']", "no legal name"),
        (
            {"root": {"a": directory(b=directory(**{"x:y": file()}))}},
            ".root.a.contents.b.contents['x:y']",
            "no legal name",
        ),
    ],
)
def test_config_check_says_where_and_what(given, path, part):
    [problem] = GorillaFileSystem.check_config(given)
    assert problem.path == f"$.{NAME}{path}"
    assert part in problem.message
    with pytest.raises(ConfigError):
        load({NAME: given})


def test_config_check_refuses_a_tree_too_deep_for_snapshots():
    node = directory()
    for _ in range(MAX_DEPTH):
        node = directory(d=node)
    assert GorillaFileSystem.check_config({"root": {"ws": node}}) == []
    [problem] = GorillaFileSystem.check_config({"root": {"ws": directory(d=node)}})
    assert "more than 100 levels deep" in problem.message


def test_tolerant_load_takes_the_first_root_and_nodes_of_known_type():
    root = {
        "one": directory(
            a={**file("x"), "mode": 7}, b={"type": "link"}, c={**directory(), "owner": "me"}
        ),
        "two": directory(d=file()),
    }
    session = load({NAME: {"root": root}}, tolerant=True)
    expected = {"one": directory(a=file("x"), c=directory())}
    assert session.snapshot().to_json()[NAME]["root"] == expected


@pytest.mark.parametrize(
    "root", [{}, None, [], {"a": file()}, {"a": directory(b={"content": ""})}, {"a": None}]
)
def test_tolerant_load_fails_on_what_is_no_tree(root):
    with pytest.raises(ConfigError) as error:
        load({NAME: {"root": root}}, tolerant=True)
    assert error.value.problems[0].path.startswith(f"$.{NAME}.root")


# Long context


def test_a_pack_pads_files_and_fills_directories_without_sub_directories():
    given = config(
        **{
            "a": file("x"),
            "keep.txt": file("y"),
            "sub": directory(**{"keep.txt": file(), "b": file(), "void": directory()}),
        }
    )
    session = load(given, PACK)
    extra = {"e1.jpg": file(), "e2.jpg": file()}
    inside = {"keep.txt": file(), "b": file("<more>"), "void": directory(**extra)}
    assert tree(session) == {
        "a": file("x<more>"),
        "keep.txt": file("y"),
        "sub": directory(**inside),
    }
    assert session.snapshot().to_json()[NAME]["long_context"] is True


def test_a_pack_fills_a_root_without_sub_directories_after_its_own_entries():
    session = load(config(z=file()), PACK)
    assert play(session, "ls()") == {"current_directory_content": ["z", "e1.jpg", "e2.jpg"]}


def test_a_pack_leaves_what_is_made_later_alone():
    session = load(config(), PACK)
    play(session, "touch('new')", "mkdir('sub')")
    assert play(session, "cat('new')") == {"file_content": ""}
    assert play(session, "cd('sub')", "ls()") == {"current_directory_content": []}


def test_a_pack_leaves_the_default_root_empty():
    session = load({}, PACK)
    assert play(session, "ls()") == {"current_directory_content": []}
    assert session.snapshot().to_json()[NAME]["long_context"] is True


def test_a_pack_that_clashes_with_a_name_cannot_be_loaded():
    with pytest.raises(ConfigError) as error:
        load(config(sub=directory(**{"e2.jpg": file()})), PACK)
    [problem] = error.value.problems
    assert problem.path == f"$.{NAME}.root.ws.contents.sub"
    assert "'e2.jpg'" in problem.message


# The interface


def test_every_function_has_a_schema():
    specs = {name: make_spec(tool) for name, tool in GorillaFileSystem.TOOLS.items()}
    order = "pwd ls cd mkdir touch echo cat find wc sort grep du tail diff mv rm rmdir cp"
    assert " ".join(specs) == order
    assert specs["wc"].parameters[1].schema["enum"] == ["l", "w", "c"]
    assert all(tool.returns for tool in specs.values())
