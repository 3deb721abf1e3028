"""Reading what servers send: shapes of replies, errors by status and by words, secrets."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from runner.models.model_types import (
    FatalError,
    ModelError,
    RedirectError,
    Reply,
    RequestError,
    TransientError,
)
from runner.models.reply_reader import (
    Endpoint,
    classify,
    one_line,
    read_completion,
    secrets_in_address,
)
from runner.models.retry_wait import retry_after
from tests.servers.shapes import SHAPES, completion, expected

ENDPOINT = Endpoint("gpt-x", "http://host/v1", ("s3cret-key",), "set THE_KEY")


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), min_size=8))
def test_a_key_in_a_query_is_also_a_secret_in_the_form_in_which_it_is_sent(key: str) -> None:
    address = f"http://host/v1?key={quote(key, safe='')}"
    url = URL(address)
    sent = str(url.with_query(url.query)).partition("key=")[2]
    assert {key, sent} <= {*secrets_in_address(address)}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    shape = SHAPES[name]
    if shape.error is not None:
        with pytest.raises(shape.error) as caught:
            read_completion(shape.body, 0.5)
        assert type(caught.value) is shape.error
        assert "\n" not in str(caught.value)
    else:
        reply = read_completion(shape.body, 0.5)
        assert reply == Reply(**expected(shape), latency=0.5, cost=None)


def test_there_are_enough_shapes() -> None:
    assert len(SHAPES) >= 30


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
MEMBERS = {name for shape in SHAPES.values() for name in re.findall(r"\w+", repr(shape.body))}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container in a JSON value with each of its keys or positions."""
    keys = (
        value.keys()
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    return [(value, key) for key in keys] + [p for key in keys for p in places(value[key])]


@given(st.data())
def test_nothing_that_a_server_sends_breaks_it(data: st.DataObject) -> None:
    body = json.loads(json.dumps(data.draw(st.sampled_from([s.body for s in SHAPES.values()]))))
    for _ in range(data.draw(st.integers(0, 3))):
        holder, key = data.draw(st.sampled_from(places([body])[1:] or [([0], 0)]))
        holder[key] = data.draw(JSON)
        if isinstance(holder, dict):
            holder[data.draw(st.sampled_from(sorted(MEMBERS)))] = data.draw(JSON)
    with contextlib.suppress(ModelError):
        read_completion(body, 0.0, ENDPOINT)
    assert isinstance(classify(data.draw(st.integers(300, 599)), body, {}), ModelError)


@given(JSON)
def test_no_json_value_breaks_it(body: object) -> None:
    with contextlib.suppress(ModelError):
        read_completion(body, 0.0)


def test_deep_nesting_does_not_break_it() -> None:
    body: Any = "x"
    for _ in range(5000):
        body = {"error": [body], "message": body}
    with pytest.raises(ModelError):
        read_completion(body, 0.0)


def error(message: str, **members: object) -> dict[str, Any]:
    """Return an error body."""
    return {"error": {"message": message, **members}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (408, error("Timed out"), TransientError, "Timed out"),
        (409, error("Conflict"), TransientError, "(409): Conflict"),
        (425, None, TransientError, "(425)"),
        (429, error("Slow down"), TransientError, "rate limit of http://host/v1 (429): Slow down"),
        (500, "<html>oops</html>", TransientError, "http://host/v1 (500): a web page"),
        (500, error(" <!doctype html>"), TransientError, "http://host/v1 (500): a web page"),
        (400, error("<400> InternalError.Algo: bad"), RequestError, "(400): <400> InternalError"),
        (503, None, TransientError, "server error"),
        (529, error("Overloaded"), TransientError, "Overloaded"),
        (401, error("No key"), FatalError, "refuses the API key; set THE_KEY (401): No key"),
        (403, {"detail": "Forbidden"}, FatalError, "set THE_KEY (403): Forbidden"),
        (402, error("Pay"), FatalError, "requires payment"),
        (429, error("Pay", code="insufficient_quota"), FatalError, "requires payment"),
        (400, error("Your credit balance is too low"), FatalError, "requires payment"),
        (404, "404 page not found", FatalError, "http://host/v1 has no gpt-x; check --model"),
        (405, {"detail": "Method Not Allowed"}, FatalError, "and --base-url"),
        (308, "", RedirectError, "check --model and --base-url"),
        (400, error("The model `gpt-x` does not exist"), FatalError, "has no gpt-x"),
        (400, error("gpt-x is not a valid model ID"), FatalError, "has no gpt-x"),
        (400, [error("API key not valid.")], FatalError, "set THE_KEY"),
        (400, error("Too long", code="context_length_exceeded"), RequestError, "Too long"),
        (413, "Payload Too Large", RequestError, "refuses this request (413): Payload Too Large"),
        (422, {"detail": [{"loc": ["body", 0], "msg": "bad role"}]}, RequestError, ": body.0: bad"),
        (400, {"object": "error", "message": "too long", "code": 400}, RequestError, "too long"),
        (400, error("Oh", code="unsupported_parameter"), FatalError, "does not support a setting"),
    ],
)
def test_status(status: int, body: object, kind: type[ModelError], says: str) -> None:
    found = classify(status, body, {}, ENDPOINT)
    assert type(found) is kind
    assert says in str(found)


@pytest.mark.parametrize(
    "says",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "`tool calling` is not supported with this model",
        "Function calling is not enabled for models/gemma-3",
        "This model doesn't support tool use.",
        "This model doesn't support function calling",
        "tools is not supported in this model. For a list of supported models, refer to ...",
        "tools param requires --jinja flag",
    ],
)
def test_no_tool_support_is_fatal(says: str) -> None:
    found = classify(400, error(says), {}, ENDPOINT)
    assert type(found) is FatalError
    assert "gpt-x does not support tools at http://host/v1; use --mode prompt" in str(found)


def test_no_tool_support_may_look_like_an_unknown_address() -> None:
    found = classify(404, error("No endpoints found that support tool use."), {}, ENDPOINT)
    assert "does not support tools" in str(found)


@pytest.mark.parametrize(
    "says",
    [
        "Invalid schema for function 'authenticate_twitter': 'any' is not supported",
        "Invalid schema for tool cd: 'default' is not supported",
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        "An assistant message with 'tool_calls' must be followed by tool messages",
        "The model called a function which does not exist",
        "Unknown user: no such key in twitter_login",
    ],
)
def test_what_concerns_one_request_is_not_fatal(says: str) -> None:
    assert type(classify(400, error(says), {}, ENDPOINT)) is RequestError


def test_a_rate_limit_that_mentions_billing_passes() -> None:
    says = "Rate limit reached. Add a payment method to your account's billing page."
    assert type(classify(429, error(says, code="rate_limit_exceeded"), {})) is TransientError


def test_a_gateway_passes_the_providers_words_on() -> None:
    found = classify(400, error("Provider returned error", metadata={"raw": "Too long"}), {})
    assert str(found).endswith("Provider returned error: Too long")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        (
            {
                "Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            30,
        ),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:30 -0000"}, 0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1e999"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
    found = classify(429, None, headers)
    assert isinstance(found, TransientError)
    assert (found.retry_after, found.unreachable) == (seconds, False)


@given(st.text())
def test_no_header_breaks_it(value: str) -> None:
    assert retry_after({"retry-after": value, "date": value}) is None or value


@pytest.mark.parametrize(
    "says",
    ["Incorrect key: s3cret-key.", "Incorrect key: sk-proj-ab12*******wxyz", "Bearer abcdefgh1234"],
)
def test_keys_are_masked(says: str) -> None:
    for found in (classify(401, error(says), {}, ENDPOINT), classify(400, says, {}, ENDPOINT)):
        assert "***" in str(found)
        assert not {"s3cret", "ab12", "abcdefgh"} & {word[:6] for word in str(found).split()}
        assert "s3cret-key" not in str(found)
        assert "wxyz" not in str(found)
    body = {"error": {"message": says, "code": 401}}
    with pytest.raises(FatalError) as caught:
        read_completion(body, 0.0, ENDPOINT)
    assert "s3cret-key" not in str(caught.value)


def test_names_of_models_are_not_masked() -> None:
    assert one_line("no gpt-4-turbo-preview here", ("", "x")) == "no gpt-4-turbo-preview here"


def test_a_message_is_one_short_line() -> None:
    found = str(classify(400, error("a\nb\n" + "c" * 5000), {}))
    assert "\n" not in found
    assert len(found) < 500


def test_several_choices_give_the_first() -> None:
    body = completion({"role": "assistant", "content": "one"})
    body["choices"].append({"index": 1, "message": {"content": "two"}})
    assert read_completion(body, 0.0).text == "one"


@pytest.mark.parametrize(("said", "tokens"), [(10**12, 10**12), (10**12 + 1, None), (1e300, None)])
def test_more_tokens_than_a_request_can_have_are_unknown(said: float, tokens: int | None) -> None:
    answer = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": said}}
    assert read_completion(answer, 1.0, ENDPOINT).usage[0] == tokens


@pytest.mark.parametrize(
    "words",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found"
        " `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a"
        " thinking block.",
        "Function call is missing a thought_signature in functionCall parts.",
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item",
    ],
)
def test_who_wants_thoughts_back_is_told_of_with_the_remedy(words):
    error = classify(400, {"error": {"message": words}}, {})
    assert isinstance(error, RequestError)
    assert str(error).startswith(
        "the server requires the reasoning of earlier turns; use --reasoning all (400): "
    )


def test_who_takes_no_thoughts_wants_none_back():
    said = {"error": {"message": "property 'reasoning_content' is unsupported"}}
    assert "--reasoning" not in str(classify(400, said, {}))
