"""Numbered streams between one store here and one hub's store, as docs/protocol.md describes them."""

import uuid

import runbus

COMMANDS = runbus.StreamKind.Value("STREAM_KIND_COMMANDS")
MESSAGES = runbus.StreamKind.Value("STREAM_KIND_MESSAGES")
VERDICTS = runbus.StreamKind.Value("STREAM_KIND_VERDICTS")


class Pair:
    """What one peer's store and one hub's store owe each other. A node that must not forget keeps all of it on disk."""

    def __init__(self):
        self.renew(None, owed=None)

    def renew(self, hub_store_id, owed):
        """Takes a new store id, under which everything starts at 1: also the one command that may still be owed."""
        self.store_id = uuid.uuid4().bytes
        self.hub_store_id = hub_store_id
        self.assigned = 1 if owed else 0  # the last place of our commands
        self.last_id = owed  # the command that stands there
        self.acknowledged = 0  # how far the hub has them
        self.received = {MESSAGES: (0, None), VERDICTS: (0, None)}  # how far we have its streams, and what stands there
        self.asked = 0  # the missing message that the hub was asked for last
        self.latest = {}  # of each key the version and the id of the value

    def assign(self, id):
        """The next place of our commands."""
        self.assigned, self.last_id = self.assigned + 1, id

    def marks(self):
        """What a hello says of both stores. A place of ours has no id there, a place of the hub's streams has."""
        return {
            "store_id": self.store_id,
            "hub_store_id": self.hub_store_id,
            "acknowledged": [runbus.StreamMark(kind=COMMANDS, sequence=self.acknowledged)] if self.acknowledged else [],
            "received": [
                runbus.StreamMark(kind=kind, sequence=sequence, id=id)
                for kind, (sequence, id) in self.received.items()
                if sequence
            ],
        }

    def meets(self, welcome):
        """Whether the hub's store is the one that we know, and both sides tell the same history of our commands."""
        if any(mark.sequence for mark in welcome.received if self.hub_store_id is None or mark.kind != COMMANDS):
            return False  # it knows something of this store that we do not
        mark = next((mark for mark in welcome.received if mark.kind == COMMANDS), runbus.StreamMark())
        if not self.acknowledged <= mark.sequence <= self.assigned:
            return False
        if mark.sequence and mark.sequence == self.assigned and mark.HasField("id") and mark.id != self.last_id:
            return False  # another command stands there
        if self.hub_store_id not in (None, welcome.store_id):
            return False
        self.hub_store_id = welcome.store_id
        self.acknowledge(mark.sequence)
        return True

    def acknowledge(self, through):
        """The hub has our commands up to here; more than there are counts as all of them."""
        self.acknowledged = max(self.acknowledged, min(through, self.assigned))

    def take(self, kind, places):
        """Which of these are new, by index. The mark has moved."""
        new = []
        for index, (sequence, id) in enumerate(places):
            mark = self.received[kind][0]
            if sequence == mark + 1:
                self.received[kind] = (sequence, id)
                new.append(index)
            elif sequence > mark:
                break
        return new

    def skip(self, kind, first, last):
        """Passes over places that hold nothing any more, and says whether any was new.

        The mark keeps the id of what came last before them.
        """
        mark, id = self.received[kind]
        if first > mark + 1 or last <= mark:
            return False
        self.received[kind] = (last, id)
        return True

    def answer(self, kind, last, new):
        """What to say of places that end at `last`, once what was new among them has taken effect; None for nothing.

        When all of them lie behind a message that is missing, the hub is asked for that one, once. A hole in verdicts is
        answered with an acknowledgement of what is here.
        """
        mark = self.received[kind][0]
        if kind == MESSAGES and last > mark and not new:
            if self.asked == mark + 1:
                return None
            self.asked = mark + 1
            return runbus.Delivery(go_back=runbus.GoBack(kind=kind, to=mark + 1))
        return runbus.Delivery(acknowledge=runbus.Acknowledge(kind=kind, through=mark))

    def is_newer(self, latest):
        """Whether a value is newer than the one that we have; then it is the one that we have.

        The same version of another value comes from a store that has lost history since.
        """
        version, id = self.latest.get(latest.key, (-1, None))
        if latest.version < version or (latest.version, latest.value.id) == (version, id):
            return False
        self.latest[latest.key] = (latest.version, latest.value.id)
        return True
