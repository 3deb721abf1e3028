"""Rule-based user: deterministic, offline, and guided by a scenario."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import Self

from envs.calls import Call
from envs.results import Result
from extensions.users.questions import ParsedAgentText, content_words, hear
from extensions.users.record import UserError, UserRecord
from extensions.users.requests import asks_outcome, find_requests
from extensions.users.scenario import NAME, DialogueScenario, Moment, UserFact, UserStep, UserWish
from runner.models.dialogue_user import SAY, UserAct, UserAnswer, UserExchange, UserRequest
from runner.models.model_types import Reply

NOT_UNDERSTOOD = "I am sorry, I am not sure what you need from me."
THANKS = "No, that is all I needed. Thank you."
TRANSFERRED = "All right, thank you."
CONFIRMED = "Yes, please go ahead."
_OBJECTION = "I would really like that. Is there no other way?"
_ACCEPTED = "Yes, please transfer me. Thank you."
_STAYS = "No, I do not want to be transferred."
_UNSOLVED = "It still does not work. What should I do next?"
_GIVES_UP = "No, then I leave it as it is. Thank you."
_GOES_ON = "All right."
_DECLINED = "No, I do not want that."
_BRIEF = {CONFIRMED: "Yes.", _DECLINED: "No.", THANKS: "No.", _OBJECTION: "Is there no other way?"}
_LABELS = {
    "birth": "date of birth",
    "order": "order number",
    "phone": "phone number",
    "reservation": "reservation number",
    "zip": "zip code",
}
_PERSONAL = frozenset({"address", "birth", "email", "name", "payment", "phone", "user id", "zip"})
"""Facts about the user itself."""
_VERBATIM = frozenset(
    {"comment", "content", "description", "message", "resolution", "subject", "text", "title"}
)
"""Facts whose values the user puts in quotation marks."""
_UNKNOWN = ("order", "reservation")
"""Facts for which a scenario may have no value. The user then says "I do not remember"."""
_SAID_SHARE = 0.5
_RELEVANT_SHARE = 0.34


class RuleUser:
    """Simulated user that follows a scenario by rules.

    Args:
        scenario: Wishes, knowledge and actions of the user.
        seed: Number of the trial.
    """

    extension = NAME

    def __init__(self, scenario: DialogueScenario, seed: int = 0) -> None:
        self._scenario = scenario
        self._seed = seed
        self._excludes_errors = False
        self._answers: tuple[UserAnswer, ...] = ()
        self._heard: list[str] = []
        self._said = ""
        self._objections = 0
        self._lost = 0
        self._seen = ""
        self._fresh: dict[str, str] = {}

    @property
    def scenario(self) -> DialogueScenario:
        """Scenario of the user."""
        return self._scenario

    @property
    def opening(self) -> tuple[str, str]:
        """The agent's greeting and the user's first message."""
        return (self._heard[0] if self._heard else "", open_dialogue(self._scenario))

    def words(self) -> str:
        """Return the texts that the user can say."""
        scenario = self._scenario
        told = [_tell(fact, fact.value) for fact in scenario.facts]
        wishes = [wish.text for wish in scenario.wishes]
        return "\n".join([*wishes, *told, *scenario.knobs.changes.values()])

    def with_scenario(self, scenario: DialogueScenario, *, excludes_errors: bool = False) -> Self:
        """Return a new user with another scenario and an empty conversation."""
        user = self.opened(scenario, self.opening[0], self._seed)
        user._excludes_errors = excludes_errors
        return user

    @classmethod
    def opened(cls, scenario: DialogueScenario, greeting: str = "", seed: int = 0) -> Self:
        """Return a simulated user that has already sent the first message."""
        user = cls(scenario, seed)
        answer = UserAnswer(open_dialogue(scenario))
        said = Call(SAY, (), {"text": greeting})
        user.remember(UserExchange((said,), (Result(answer.text),), answer))
        user._answers = ()
        return user

    def fork(self) -> Self:
        """Return an independent copy."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._heard = self._heard.copy()
        return copy

    def remember(self, made: UserExchange) -> None:
        """Store an exchange (the agent's message and the user's answer) for later turns."""
        text = str(made.calls[0].kwargs["text"])
        said = made.answer.text
        self._objections += bool(self._heard and hear(text).refuses)
        self._lost += said == NOT_UNDERSTOOD
        self._answers += (made.answer,)
        self._heard.append(text)
        self._seen += "".join(f"\n{result.text.lower()}" for result in made.results[1:])
        own = list(zip(made.calls[1:], made.results[1:], strict=True))
        self._fresh = self._know(text, own)
        self._said += "\n" + normalize(said)

    def kept(self) -> UserRecord:
        """Return the answers."""
        last = self._answers[-1] if self._answers else None
        stopped = last is not None and last.stops
        lost = stopped and last is not None and last.text == NOT_UNDERSTOOD
        texts = [answer.text for answer in self._answers]
        error: UserError | None = "not_understood" if lost else None
        return UserRecord("rules", texts, stopped, self._seed, error, self._excludes_errors)

    def act(
        self, text: str, done: Sequence[tuple[Call, Result]]
    ) -> Generator[UserRequest, Reply, UserAct]:
        """Return the next action."""
        yield from ()
        if self._scenario.steps and (calls := self._next_calls(text, done)):
            return calls
        return self.speak(text, done)

    def speak(self, text: str, done: Sequence[tuple[Call, Result]]) -> UserAnswer:
        """Return the answer to the agent's text; ``done`` lists the user's calls and results."""
        answer = self._answer(text, done)
        if self._heard and self._scenario.knobs.brevity == "brief":
            return answer._replace(text=self._shorten(answer.text))
        return answer

    def _answer(self, text: str, done: Sequence[tuple[Call, Result]]) -> UserAnswer:
        heard, knobs = hear(text), self._scenario.knobs
        if not self._heard:
            return UserAnswer(open_dialogue(self._scenario))
        if knobs.persona == "premature" and len(self._heard) >= 2:
            return UserAnswer(THANKS, stops=True)
        facts = [] if knobs.persona == "unhelpful" else self._give_facts(heard)
        is_moved = heard.transfers and not heard.offers_transfer
        if (is_moved or not facts) and (answer := self._answer_transfer(heard)):
            return answer
        parts = _quote([result.text for _, result in done]) or self._recall(text)
        if knobs.persona != "unhelpful":
            parts += facts
            parts += self._give_wishes(heard, bool(parts))
        if heard.proposes and not any(part.startswith("I do not") for part in parts):
            if heard.refuses and self._objections > knobs.patience:
                if left := self._list_unsaid_requests():
                    return UserAnswer(left[0].text)
                return UserAnswer(_GIVES_UP, stops=True)
            parts = [self._decide(text, heard), *parts]
        if parts:
            return UserAnswer(" ".join(parts))
        return self._end(heard, done)

    def _answer_transfer(self, heard: ParsedAgentText) -> UserAnswer | None:
        """Answer an agent that offers or announces a transfer; return None for other texts."""
        patience, rejects = self._scenario.knobs.patience, self._rejects("transfer")
        if heard.transfers and not heard.offers_transfer:
            if rejects and not self._is_said(_STAYS):
                return UserAnswer(_STAYS)
            return UserAnswer(TRANSFERRED, stops=True)
        if not heard.offers_transfer or not (heard.asks or heard.proposes or heard.more):
            return None
        if self._objections < (patience if rejects else (patience + 1) // 2):
            return UserAnswer(_STAYS if rejects else _OBJECTION)
        if wishes := self._open_wishes("later") or self._list_unsaid_requests():
            return UserAnswer(wishes[0].text)
        return UserAnswer("No, thank you." if rejects else _ACCEPTED, stops=True)

    def _give_facts(self, heard: ParsedAgentText) -> list[str]:
        scenario = self._scenario
        found: list[str] = []
        again: list[str] = []
        asked = {*heard.asked}
        known = {fact.name for fact in scenario.facts}
        if heard.identity and not asked & {*known, *scenario.unknown}:
            asked |= {fact.name for fact in self._identity()}
        unknown = [kind for kind in scenario.unknown if kind in asked]
        for fact in scenario.facts:
            if fact.name not in asked and not self._is_named(fact, heard):
                continue
            wrong = scenario.knobs.mistakes.get(fact.name)
            if wrong is not None and not self._is_said(wrong):
                found.append(_tell(fact, wrong))
            elif scenario.knobs.persona == "forgetful" and len(self._heard) % 2:
                found.append(f"I do not remember {label_fact(fact.name)}.")
            elif scenario.knobs.persona == "contradictory" and len(self._heard) % 2:
                found.append(_tell(fact, fact.value[::-1]))
            elif not self._is_said(fact.value):
                sorry = "" if wrong is None else "Sorry, that was a mistake. "
                found.append(f"{sorry}{_tell(fact, fact.value)}")
            else:
                again.append(_tell(fact, fact.value))
        missing = unknown or [
            kind for kind in _UNKNOWN if kind in asked and kind not in known and not found
        ]
        for kind in missing:
            said = f"I do not remember {label_fact(kind)}."
            if not self._is_said(said):
                found.append(said)
            if kind == "email" and "zip" in heard.words:
                others = [fact for fact in scenario.facts if fact.name in ("name", "zip")]
                others = [fact for fact in others if fact.name not in asked]
                found += [
                    _tell(fact, fact.value) for fact in others if not self._is_said(fact.value)
                ]
        return _merge(found or (again if heard.asks and not heard.proposes else []))

    def _identity(self) -> list[UserFact]:
        facts = self._scenario.facts
        found = [fact for fact in facts if fact.name in ("email", "user id")]
        return found or [fact for fact in facts if fact.name in ("name", "zip")]

    def _is_named(self, fact: UserFact, heard: ParsedAgentText) -> bool:
        words = content_words(fact.name)
        return (
            fact.name not in ("name", "phone")
            and bool(words)
            and any(words <= content_words(each) for each in heard.questions)
        )

    def _give_wishes(self, heard: ParsedAgentText, answered: bool) -> list[str]:
        asked = self._open_wishes("asked") if heard.asks else []
        found = [wish for wish in asked if self._is_relevant(wish, heard)]
        if heard.refuses and not answered:
            found += self._open_wishes("refused")[:1]
        waits = answered or found or (heard.proposes and not heard.more)
        if not waits:
            found += [wish for wish in self._open_wishes("later") if _is_wanted(wish)][:1]
        return [wish.text for wish in found]

    def _open_wishes(self, when: Moment) -> list[UserWish]:
        wishes = [wish for wish in self._scenario.wishes if wish.when == when]
        left = [wish for wish in wishes if not self._has_said(wish)]
        return left[::-1] if self._scenario.knobs.order == "reversed" else left

    def _list_unsaid_requests(self) -> list[UserWish]:
        """Return the requests that the user has not made yet."""
        if self._scenario.knobs.persona != "helpful":
            return []
        wishes = self._open_wishes("asked")
        return [wish for wish in wishes if not wish.cue and _is_request(wish)]

    def _decide(self, text: str, heard: ParsedAgentText) -> str:
        low = text.lower()
        for words, change in self._scenario.knobs.changes.items():
            if words.lower() in low and not self._is_said(change):
                return change
        if any(re.search(words.lower(), low) for words in self._scenario.rejects):
            return _DECLINED
        return CONFIRMED

    def _end(self, heard: ParsedAgentText, done: Sequence[tuple[Call, Result]]) -> UserAnswer:
        scenario = self._scenario
        if heard.refuses and not heard.done and self._objections < scenario.knobs.patience:
            return UserAnswer(_OBJECTION)
        if heard.asks and not (heard.bye or (heard.more and (heard.done or heard.refuses))):
            known = self._identity() if scenario.knobs.persona == "helpful" else []
            if known and not any(self._is_said(fact.value) for fact in scenario.facts):
                return UserAnswer(" ".join(_tell(fact, fact.value) for fact in known))
            lost = self._lost >= 2 * scenario.knobs.patience
            return UserAnswer(NOT_UNDERSTOOD, stops=lost)
        if not heard.done and (others := self._open_wishes("refused")):
            return UserAnswer(others[0].text)
        if not (heard.more or heard.bye or heard.done or heard.refuses):
            return UserAnswer(_GOES_ON)
        if not self._has_reached_goal(done):
            return UserAnswer(_UNSOLVED)
        if left := self._list_unsaid_requests():
            return UserAnswer(left[0].text)
        if not (heard.more or heard.bye or heard.done):
            return UserAnswer(_OBJECTION)
        return UserAnswer(THANKS, stops=True)

    def _has_reached_goal(self, done: Sequence[tuple[Call, Result]]) -> bool:
        goals = [step.success for step in self._scenario.steps if step.success]
        seen = self._see(done)
        return not goals or any(re.search(success, seen) for success in goals)

    def _see(self, done: Sequence[tuple[Call, Result]]) -> str:
        return self._seen + "".join(f"\n{result.text.lower()}" for _, result in done)

    def _next_calls(self, text: str, done: Sequence[tuple[Call, Result]]) -> Sequence[Call]:
        heard = hear(text)
        if heard.transfers and not heard.offers_transfer:
            return ()
        made = {str(call) for call, _ in done}
        seen, fresh = self._see(done), self._know(text, done)
        changed = bool(done) and not fresh
        for step, depends in find_requests(text, self._scenario.steps):
            follows = step.is_test or bool(step.success) or (step.writes and not step.needs)
            if depends and not (re.search(step.needs, seen) and (changed or not follows)):
                continue
            call = Call(step.function, (), dict(step.arguments))
            if str(call) in made or (str(call) in fresh and not step.is_test):
                continue
            if _must_fail(step, done):
                continue
            # A user tests whether a change reached the goal, even if it knows the state.
            if (step.success and done) or not step.unless or not re.search(step.unless, seen):
                return [call]
        if self._tests_alone(text, done):
            steps = self._scenario.steps
            tests = [step for step in steps if step.success and not _must_fail(step, done)]
            return [Call(step.function, (), dict(step.arguments)) for step in tests]
        return ()

    def _tests_alone(self, text: str, done: Sequence[tuple[Call, Result]]) -> bool:
        """Tell whether the user now makes test calls that the agent did not request."""
        if done:
            last = done[-1][0].name
            return any(
                step.function == last and (step.is_tested or (step.writes and asks_outcome(text)))
                for step in self._scenario.steps
            )
        heard = hear(text)
        ends = heard.more and not heard.asks
        return ends and not self._has_reached_goal(done)

    def _know(self, text: str, done: Sequence[tuple[Call, Result]]) -> dict[str, str]:
        """Return the read calls since the last change, each with its result."""
        reads = {step.function for step in self._scenario.steps if not step.writes}
        known = {} if hear(text).done else self._fresh
        for call, result in done:
            known = {**known, str(call): result.text} if call.name in reads else {}
        return known

    def _recall(self, text: str) -> list[str]:
        known = self._know(text, ())
        calls = [
            str(Call(step.function, (), dict(step.arguments)))
            for step, _ in find_requests(text, self._scenario.steps)
        ]
        return _quote([known[call] for call in dict.fromkeys(calls) if call in known])

    def _shorten(self, text: str) -> str:
        told = {_tell(fact, ""): "." for fact in self._scenario.facts}
        for full, brief in (_BRIEF | told).items():
            text = text.replace(full.removesuffix("."), brief.removesuffix("."))
        return text

    def _rejects(self, words: str) -> bool:
        return any(words in rejected for rejected in self._scenario.rejects)

    def _is_said(self, text: str) -> bool:
        return normalize(text) in self._said

    def _has_said(self, wish: UserWish) -> bool:
        words = content_words(wish.text)
        if not words:
            return True
        spoken = content_words("\n".join([self._said, *self._heard]))
        return len(words & spoken) / len(words) >= _SAID_SHARE

    def _is_relevant(self, wish: UserWish, heard: ParsedAgentText) -> bool:
        words = content_words(wish.cue or wish.text)
        asked = frozenset().union(*map(content_words, heard.questions))
        return bool(words) and len(words & asked) / len(words) >= _RELEVANT_SHARE


def open_dialogue(scenario: DialogueScenario) -> str:
    """Return the first message of a simulated user."""
    opening = [wish.text for wish in scenario.wishes if wish.when == "opening"]
    opening += [_tell(fact, fact.value) for fact in scenario.facts if fact.opens]
    return " ".join(opening)


def normalize(text: str) -> str:
    """Return a text for comparison: in lower case, with single spaces and without commas."""
    return " ".join(text.lower().replace(",", "").replace("\u2019", "'").split())


def _must_fail(step: UserStep, done: Sequence[tuple[Call, Result]]) -> bool:
    """Tell whether the last result shows that a test must fail."""
    last = done[-1][1].text.lower() if done else ""
    return bool(step.fails) and re.search(step.fails, last) is not None


def _is_wanted(wish: UserWish) -> bool:
    return re.search(r"\b(?:want|need|like|wonder|ask|can|could)", wish.text, re.I) is not None


_REQUEST = re.compile(
    r"^(?!I am (?!also looking|looking)).*\b(?:also|then)\b|^I(?: would)? (?:want|need|like)"
    r"|^I am (?:also )?looking"
)
"""Pattern of wishes that request an action; all other wishes describe the user."""


def _is_request(wish: UserWish) -> bool:
    return _REQUEST.search(wish.text) is not None


def label_fact(name: str) -> str:
    """Return the user's words for a fact, such as "my email" or "the order number"."""
    return f"{'my' if name in _PERSONAL else 'the'} {_LABELS.get(name, name)}"


def _tell(fact: UserFact, value: str) -> str:
    label = label_fact(fact.name)
    verb = "are" if re.search(r"^(?!the number of).*[^s]s$", label) else "is"
    told = f'"{value}"' if " " in value and fact.name in _VERBATIM else value
    return f"{label.capitalize()} {verb} {told}."


def _quote(results: Sequence[str]) -> list[str]:
    """Return sentences that quote results of the user's calls, such as 'It says: "ok"'."""
    says = ("It says", "Then it says")
    return [f'{says[place > 0]}: "{" ".join(text.split())}"' for place, text in enumerate(results)]


def _merge(parts: Sequence[str]) -> list[str]:
    """Merge sentences on one fact, such as "My id is 1." and "My id is 2."."""
    values: dict[str, list[str]] = {}
    for part in parts:
        lead, verb, value = part.partition(" is ")
        values.setdefault(f"{lead}{verb}", []).append(value.removesuffix(".") if verb else "")
    return [
        f"{lead.removesuffix(' is ')}s are {' and '.join(found)}."
        if len(found) > 1 and lead.endswith(" is ")
        else f"{lead}{found[0]}{'.' if lead.endswith(' is ') else ''}"
        for lead, found in values.items()
    ]
