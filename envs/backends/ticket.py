"""A help desk: tickets in a queue, and one user who may be logged in.

Only two functions need a login: they create a ticket, and list the user's own tickets. Everyone may
read, edit, close and resolve tickets by id. Ids count up from ``ticket_counter``. Queues in BFCL's
data have irregular tickets. A search fails at a ticket without an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import AccessDenied, AlreadyExists, InvalidArgument, NotFound, Refused

_EDITABLE = ("title", "description", "status", "priority")
_PRIORITIES = (1, 5)


class Ticket(TypedDict):
    """One ticket of the queue."""

    id: int
    title: str
    description: str
    status: str
    priority: int
    created_by: NotRequired[str]
    resolution: NotRequired[str]


class TicketConfig(TypedDict, total=False):
    """Initial config of the help desk."""

    ticket_queue: list[Ticket]
    ticket_counter: int
    current_user: str | None


class TicketUpdates(TypedDict, total=False):
    """Fields of a ticket that can be edited."""

    title: str | None
    description: str | None
    status: str | None
    priority: int | None


class TicketAPI(Backend):
    """The help desk of one company."""

    Config = TicketConfig
    untrusted = frozenset({"ticket_queue.*.title", "ticket_queue.*.description"})
    visible = frozenset({"close_ticket", "resolve_ticket"})

    ticket_queue: Sequence[Mapping[str, Any]] = []
    ticket_counter: int = 1
    current_user: str | None = None

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Find duplicate ids, and ids that a new ticket could get."""
        counter = config.get("ticket_counter", cls.ticket_counter)
        seen = set()
        for index, ticket in enumerate(config.get("ticket_queue", [])):
            path = f".ticket_queue[{index}].id"
            if ticket["id"] in seen:
                yield path, f"{ticket['id']} is the id of an earlier ticket"
            if ticket["id"] >= counter:
                yield path, f"{ticket['id']} must be below ticket_counter, {counter}"
            seen.add(ticket["id"])

    @irreversible
    @writes
    def create_ticket(
        self, title: str, description: str = "", priority: int = 1
    ) -> Mapping[str, Any]:
        """Open a new ticket in the name of the user who is logged in.

        Args:
            title: Short title of the ticket.
            description: What the problem is.
            priority: From 1, lowest, to 5, highest.

        Returns:
            The new ticket: id, title, description, status, priority, created_by.

        Examples:
            >>> create_ticket(title='No light', priority=2)
            {"id": 44, "title": "No light", "description": "", "status": "Open", "priority": 2, ...
            >>> create_ticket(title='No light', priority=9)
            {"error": "Priority 9 is out of range: give 1 to 5."}
        """
        if not self.current_user:
            raise AccessDenied("Nobody is logged in. Log in with ticket_login to create a ticket.")
        low, high = _PRIORITIES
        if priority < low or priority > high:
            raise InvalidArgument(f"Priority {priority} is out of range: give {low} to {high}.")
        ticket = {
            "id": self.ticket_counter,
            "title": title,
            "description": description,
            "status": "Open",
            "priority": priority,
            "created_by": self.current_user,
        }
        self.ticket_queue = [*self.ticket_queue, ticket]
        self.ticket_counter += 1
        return ticket

    @reads
    def get_ticket(self, ticket_id: int) -> Mapping[str, Any]:
        """Show one ticket.

        Args:
            ticket_id: Id of the ticket.

        Returns:
            The ticket with all its members.

        Examples:
            >>> get_ticket(ticket_id=40)
            {"id": 40, "title": "Fan of the NAS is loud", "description": "Since March", ...
            >>> get_ticket(ticket_id=99)
            {"error": "There is no ticket with the id 99."}
        """
        return self.ticket_queue[self._find(ticket_id)]

    @writes
    def close_ticket(self, ticket_id: int) -> dict[str, str]:
        """Close a ticket, whether or not it has been resolved.

        Args:
            ticket_id: Id of the ticket.

        Returns:
            status: Confirmation.

        Examples:
            >>> close_ticket(ticket_id=42)
            {"status": "Ticket 42 has been closed successfully."}
            >>> close_ticket(ticket_id=42)
            {"error": "Ticket 42 is closed already."}
        """
        self._set_status(ticket_id, "Closed")
        return {"status": f"Ticket {ticket_id} has been closed successfully."}

    @writes
    def resolve_ticket(self, ticket_id: int, resolution: str) -> dict[str, str]:
        """Mark a ticket as resolved and note how.

        Args:
            ticket_id: Id of the ticket.
            resolution: How the problem was solved; may be empty.

        Returns:
            status: Confirmation.

        Examples:
            >>> resolve_ticket(ticket_id=42, resolution='Freed space')
            {"status": "Ticket 42 has been resolved successfully."}
            >>> resolve_ticket(ticket_id=41, resolution='Freed space')
            {"error": "Ticket 41 is resolved already."}
        """
        self._set_status(ticket_id, "Resolved", resolution=resolution)
        return {"status": f"Ticket {ticket_id} has been resolved successfully."}

    @writes
    def edit_ticket(self, ticket_id: int, updates: TicketUpdates) -> dict[str, str]:
        """Change members of a ticket.

        Args:
            ticket_id: Id of the ticket.
            updates: New values by member: title, description, status, priority. A member that is
                null keeps its value.

        Returns:
            status: Confirmation.

        Examples:
            >>> edit_ticket(ticket_id=42, updates={'priority': 4})
            {"status": "Ticket 42 has been updated successfully."}
            >>> edit_ticket(ticket_id=99, updates={'priority': 4})
            {"error": "There is no ticket with the id 99."}
        """
        index = self._find(ticket_id)
        unknown = sorted(str(key) for key in updates.keys() - set(_EDITABLE))
        if unknown:
            raise InvalidArgument(
                f"{', '.join(unknown)} cannot be edited; only {', '.join(_EDITABLE)} can."
            )
        given = {key: value for key, value in updates.items() if value is not None}
        self._replace(index, **given)
        return {"status": f"Ticket {ticket_id} has been updated successfully."}

    @writes
    def ticket_login(self, username: str, password: str) -> dict[str, bool]:
        """Log a user in to the help desk; any password that is not empty will do.

        Args:
            username: Name of the user.
            password: Password of the user.

        Returns:
            success: Whether the login worked.

        Examples:
            >>> ticket_login(username='p.ruiz', password='pw')
            {"success": true}
        """
        if not username or not password:
            return {"success": False}
        self.current_user = username
        return {"success": True}

    @reads
    def ticket_get_login_status(self) -> dict[str, bool]:
        """Tell whether somebody is logged in to the help desk.

        Returns:
            login_status: Whether somebody is logged in.

        Examples:
            >>> ticket_get_login_status()
            {"login_status": true}
        """
        return {"login_status": bool(self.current_user)}

    @writes
    def logout(self) -> dict[str, bool]:
        """Log the current user out of the help desk.

        Returns:
            success: False if nobody was logged in.

        Examples:
            >>> logout()
            {"success": true}
        """
        if not self.current_user:
            return {"success": False}
        self.current_user = None
        return {"success": True}

    @reads
    def get_user_tickets(self, status: str | None = None) -> list[Mapping[str, Any]]:
        """List the tickets that the user who is logged in has created.

        Args:
            status: Only tickets with this status, in any capitalisation; all if null or empty.

        Returns:
            The tickets, oldest first.

        Examples:
            >>> get_user_tickets(status='resolved')
            [{'id': 41, 'title': 'Backup failed on volume A', 'description': 'No space left', ...
            >>> logout()
            >>> get_user_tickets()
            {"error": "Nobody is logged in. Log in with ticket_login to see your tickets."}
        """
        if not self.current_user:
            raise AccessDenied("Nobody is logged in. Log in with ticket_login to see your tickets.")
        mine = [
            ticket
            for index, ticket in enumerate(self.ticket_queue)
            if self._member(index, "created_by") == self.current_user
        ]
        if not status or not mine:
            return mine
        wanted = status.lower()
        return [ticket for ticket in mine if _status_of(ticket).lower() == wanted]

    def _find(self, ticket_id: int) -> int:
        for index in range(len(self.ticket_queue)):
            if self._member(index, "id") == ticket_id:
                return index
        raise NotFound(f"There is no ticket with the id {ticket_id!r}.")

    def _member(self, index: int, name: str) -> Any:
        ticket = self.ticket_queue[index]
        if name not in ticket:
            raise Refused(
                f"The ticket at position {index + 1} of the queue has no {name}.", KeyError(name)
            )
        return ticket[name]

    def _set_status(self, ticket_id: int, status: str, **members: str) -> None:
        index = self._find(ticket_id)
        if self._member(index, "status") == status:
            raise AlreadyExists(f"Ticket {ticket_id} is {status.lower()} already.")
        self._replace(index, status=status, **members)

    def _replace(self, index: int, **members: Any) -> None:
        queue = self.ticket_queue
        self.ticket_queue = [*queue[:index], {**queue[index], **members}, *queue[index + 1 :]]


def _status_of(ticket: Mapping[str, Any]) -> str:
    if not isinstance(ticket.get("status"), str):
        raise Refused(f"The ticket {ticket.get('id')!r} has no status to filter by.")
    status: str = ticket["status"]
    return status
