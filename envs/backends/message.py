"""A company's messenger: users with ids, and one inbox with every message.

A message is an object that maps the receiver's id to the content. The sender is not stored, and all
users see the same inbox. Ids of new users count up from ``user_count``; ids of messages come from a
seeded stream. In BFCL's data, a content is often a list of strings. Functions show such a list, but
cannot search it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict, override

from envs.backend import Backend, irreversible, random_stream, reads, writes, writes_even_refused
from envs.errors import AccessDenied, AlreadyExists, NotFound, Refused
from envs.random_stream import RandomStream
from envs.results import DeclinedResult

if TYPE_CHECKING:
    from envs.long_context import LongContextPack

_SEED = 200191
_MESSAGE_IDS = (10000, 99999)


class MessageConfig(TypedDict, total=False):
    """Initial config of the messenger."""

    generated_ids: list[int]
    user_count: int
    user_map: dict[str, str]
    inbox: list[dict[str, str]]
    message_count: int
    current_user: str | None
    random_seed: int


class MessageAPI(Backend):
    """The messenger of one company."""

    Config = MessageConfig
    untrusted = frozenset({"inbox.*.*"})
    visible = frozenset({"send_message"})

    generated_ids: frozenset[int] = frozenset()
    user_count: int = 4
    user_map: Mapping[str, str] = {
        "Alice": "USR001",
        "Bob": "USR002",
        "Catherine": "USR003",
        "Daniel": "USR004",
    }
    inbox: Sequence[Mapping[str, Any]] = [
        {"USR002": "My name is Alice. I want to connect."},
        {"USR003": "Could you upload the file?"},
        {"USR004": "Could you upload the file?"},
    ]
    message_count: int = 3
    current_user: str | None = None
    _random: RandomStream = RandomStream(_SEED)

    @override
    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self.generated_ids = frozenset(self.generated_ids)
        self._random = random_stream(config, _SEED)

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Find user ids that are duplicate, unknown, or reserved for the next user."""
        names: dict[str, str] = {}
        count = config.get("user_count", cls.user_count)
        for name, user_id in config.get("user_map", cls.user_map).items():
            path = f".user_map[{name!r}]"
            if user_id in names:
                yield path, f"{user_id} is the id of {names[user_id]}"
            if user_id == _new_id(count + 1):
                yield (
                    path,
                    f"{user_id} is reserved for the next user (user_count is {count})",
                )
            names.setdefault(user_id, name)
        for index, message in enumerate(config.get("inbox", cls.inbox)):
            if len(message) != 1:
                yield (
                    f".inbox[{index}]",
                    f"must map one receiver id to a text, but has {len(message)} members",
                )
            for receiver in message:
                if receiver not in names:
                    yield f".inbox[{index}]", f"no user has the id {receiver}"
        user = config.get("current_user")
        if user is not None and user not in names:
            yield ".current_user", f"no user has the id {user}"

    @reads
    def list_users(self) -> dict[str, list[str]]:
        """List the names of all users.

        Returns:
            user_list: Names, the oldest user first.

        Examples:
            >>> list_users()
            {"user_list": ["Ines Duarte", "Tom Berg", "Tom Bergmann", "Hanna Voss"]}
        """
        return {"user_list": list(self.user_map)}

    @reads
    def get_user_id(self, user: str) -> dict[str, str]:
        """Look up a user's id by name.

        Args:
            user: Name of the user, exactly as it is listed.

        Returns:
            user_id: Id of the user.

        Examples:
            >>> get_user_id(user='Tom Berg')
            {"user_id": "USR012"}
            >>> get_user_id(user='Tom')
            {"error": "There is no user 'Tom'. There are: Ines Duarte, Tom Berg, Tom Bergmann, ...
        """
        if user not in self.user_map:
            raise NotFound(f"There is no user {user!r}. There are: {_listed(self.user_map)}.")
        return {"user_id": self.user_map[user]}

    @writes
    def message_login(self, user_id: str) -> dict[str, Any]:
        """Log a user in to the messenger by id.

        Args:
            user_id: Id of the user, such as USR001.

        Returns:
            login_status: False if there is no such id; whoever was logged in then stays so.
            message: What happened.

        Examples:
            >>> message_login(user_id='USR011')
            {"login_status": true, "message": "User 'USR011' logged in successfully."}
        """
        if user_id not in self.user_map.values():
            return DeclinedResult("NotFound", login_status=False, message=self._no_user(user_id))
        self.current_user = user_id
        return {"login_status": True, "message": f"User '{user_id}' logged in successfully."}

    @reads
    def message_get_login_status(self) -> dict[str, bool]:
        """Tell whether somebody is logged in to the messenger.

        Returns:
            login_status: Whether somebody is logged in.

        Examples:
            >>> message_get_login_status()
            {"login_status": true}
        """
        return {"login_status": bool(self.current_user)}

    @irreversible
    @writes
    def send_message(self, receiver_id: str, message: str) -> dict[str, Any]:
        """Send a message to a user.

        Args:
            receiver_id: Id of the user who shall get it, such as USR002.
            message: Text of the message.

        Returns:
            sent_status: Whether the message was sent.
            message_id: new_id: Id of the message.
            message: Confirmation.

        Examples:
            >>> send_message(receiver_id='USR012', message='Thanks!')
            {"sent_status": true, "message_id": {"new_id": 84125}, "message": "Message sent to ...
            >>> send_message(receiver_id='USR099', message='Thanks!')
            {"error": "There is no user with the id 'USR099'. There are: USR011, USR012, ...
        """
        self._require_login()
        if receiver_id not in self.user_map.values():
            raise NotFound(self._no_user(receiver_id))
        new_id = self._draw_id(receiver_id, message)
        self.inbox = [*self.inbox, {receiver_id: message}]
        self.message_count += 1
        return {
            "sent_status": True,
            "message_id": {"new_id": new_id},
            "message": f"Message sent to '{receiver_id}' successfully.",
        }

    @irreversible
    @writes
    def delete_message(self, receiver_id: str) -> dict[str, Any]:
        """Delete the latest message that was sent to a user.

        Args:
            receiver_id: Id of the user who got it.

        Returns:
            deleted_status: Whether the message was deleted.
            receiver_id: Id of the user who got it.
            message: Confirmation.

        Examples:
            >>> send_message(receiver_id='USR012', message='Thanks!')
            >>> delete_message(receiver_id='USR012')
            {"deleted_status": true, "receiver_id": "USR012", "message": "Receiver USR012's ...
            >>> delete_message(receiver_id='USR099')
            {"error": "There is no message to 'USR099'. view_messages_sent shows all messages."}
        """
        self._require_login()
        for message in reversed(self.inbox):
            if _read(message)[0] == receiver_id:
                # BFCL removes by value: the first of several equal messages is removed.
                index = self.inbox.index(message)
                self.inbox = [*self.inbox[:index], *self.inbox[index + 1 :]]
                return {
                    "deleted_status": True,
                    "receiver_id": receiver_id,
                    "message": f"Receiver {receiver_id}'s latest message deleted successfully.",
                }
        raise NotFound(
            f"There is no message to {receiver_id!r}. view_messages_sent shows all messages."
        )

    @reads
    def view_messages_sent(self) -> dict[str, Any]:
        """Show all messages, grouped by the user who got them.

        Returns:
            messages: Receiver id to the contents of the messages, oldest first.

        Examples:
            >>> view_messages_sent()
            {"messages": {"USR012": ["Your parking permit is ready."], "USR013": ["The lab ...
        """
        self._require_login()
        contents: dict[str, list[Any]] = {}
        for receiver, content in map(_read, self.inbox):
            contents.setdefault(receiver, []).append(content)
        return {"messages": contents}

    @irreversible
    @writes_even_refused("user_count grows even if the id is taken, so a retry gets the next id")
    def add_contact(self, user_name: str) -> dict[str, Any]:
        """Add a user to the messenger; no login is needed.

        Args:
            user_name: Name of the new user; it must not be in use.

        Returns:
            added_status: Whether the user was added.
            user_id: Id of the new user.
            message: Confirmation.

        Examples:
            >>> add_contact(user_name='Omar Diaz')
            {"added_status": true, "user_id": "USR015", "message": "Contact 'Omar Diaz' added ...
            >>> add_contact(user_name='Tom Berg')
            {"error": "There is a user 'Tom Berg' already, with the id USR012."}
        """
        if user_name in self.user_map:
            raise AlreadyExists(
                f"There is a user {user_name!r} already, with the id {self.user_map[user_name]}.",
                "name",
            )
        self.user_count += 1
        user_id = _new_id(self.user_count)
        if user_id in self.user_map.values():
            raise AlreadyExists(
                f"The id {user_id} is taken. Call this function again to try another id.",
                "id",
                {"user_id": user_id},
            )
        self.user_map = {**self.user_map, user_name: user_id}
        return {
            "added_status": True,
            "user_id": user_id,
            "message": f"Contact '{user_name}' added successfully.",
        }

    @reads
    def search_messages(self, keyword: str) -> dict[str, Any]:
        """Search all messages for a text.

        Args:
            keyword: Text to look for, in any capitalisation; every message matches if it is empty.

        Returns:
            results: The messages found, oldest first, each with receiver_id and message.

        Examples:
            >>> search_messages(keyword='laptop')
            {"results": [{"receiver_id": "USR011", "message": "The laptop for the new starter ...
        """
        self._require_login()
        wanted = keyword.lower()
        found = []
        for receiver, content in map(_read, self.inbox):
            if not isinstance(content, str):
                raise Refused(
                    f"A message to {receiver} is not a text, so messages cannot be searched. "
                    "Use view_messages_sent.",
                    "no text",
                    {"type": type(content).__name__},
                )
            if wanted in content.lower():
                found.append({"receiver_id": receiver, "message": content})
        return {"results": found}

    @reads
    def get_message_stats(self) -> dict[str, Any]:
        """Count the messages and the users who got any.

        Returns:
            stats: received_count: Number of messages; total_contacts: Number of their receivers.

        Examples:
            >>> get_message_stats()
            {"stats": {"received_count": 3, "total_contacts": 3}}
        """
        self._require_login()
        receivers = {receiver for receiver, _ in map(_read, self.inbox)}
        return {"stats": {"received_count": len(self.inbox), "total_contacts": len(receivers)}}

    def _require_login(self) -> None:
        if not self.current_user:
            raise AccessDenied("Nobody is logged in. Log in with message_login first.")

    def _no_user(self, user_id: str) -> str:
        ids = _listed(self.user_map.values())
        return f"There is no user with the id {user_id!r}. There are: {ids}."

    def _draw_id(self, receiver_id: str, message: str) -> int:
        for attempt in count():
            new_id, self._random = self._random.randint(
                *_MESSAGE_IDS, "send_message", receiver_id, message, attempt
            )
            if new_id not in self.generated_ids:
                break
        self.generated_ids |= {new_id}
        return new_id


def _new_id(count: int) -> str:
    return f"USR{count:03}"


def _read(message: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the receiver and the content; further members of the object are ignored."""
    if not message:
        raise Refused(
            "The inbox cannot be read: it holds an empty object.",
            IndexError("list index out of range"),
        )
    return next(iter(message.items()))


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names)) or "none"
