"""The numbered streams between this client's store and the hub's store, see docs/protocol.md."""

import uuid

import runbus

COMMANDS = runbus.StreamKind.Value("STREAM_KIND_COMMANDS")
MESSAGES = runbus.StreamKind.Value("STREAM_KIND_MESSAGES")
VERDICTS = runbus.StreamKind.Value("STREAM_KIND_VERDICTS")


class Pair:
    """The state of all streams between one peer and one hub. A peer that must survive a restart stores it on disk."""

    def __init__(self):
        self.renew(None, owed=None)

    def renew(self, hub_store_id, owed):
        """Draws a new store id, so that all streams start at 1 again; `owed` is the id of a command to send again."""
        self.store_id = uuid.uuid4().bytes
        self.hub_store_id = hub_store_id
        self.assigned = 1 if owed else 0  # the last sequence of our commands
        self.last_id = owed  # the id of the command with that sequence
        self.acknowledged = 0  # the last sequence of our commands that the hub has
        self.received = {MESSAGES: (0, None), VERDICTS: (0, None)}  # the last sequence and id of each stream of the hub
        self.asked = 0  # the sequence of the missing message that was requested last
        self.latest = {}  # for each key the version and the id of its value

    def assign(self, id):
        """Gives a command the next sequence."""
        self.assigned, self.last_id = self.assigned + 1, id

    def marks(self):
        """Returns the fields of a hello about both stores. Only the marks of the hub's streams carry an id."""
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
        """Whether the hub's store is the known one and agrees about the history of our commands."""
        if any(mark.sequence for mark in welcome.received if self.hub_store_id is None or mark.kind != COMMANDS):
            return False  # the hub has received something from this store that we do not know of
        mark = next((mark for mark in welcome.received if mark.kind == COMMANDS), runbus.StreamMark())
        if not self.acknowledged <= mark.sequence <= self.assigned:
            return False
        if mark.sequence and mark.sequence == self.assigned and mark.HasField("id") and mark.id != self.last_id:
            return False  # the hub has another command with this sequence
        if self.hub_store_id not in (None, welcome.store_id):
            return False
        self.hub_store_id = welcome.store_id
        self.acknowledge(mark.sequence)
        return True

    def acknowledge(self, through):
        """Records that the hub has our commands up to `through`, limited to the commands that exist."""
        self.acknowledged = max(self.acknowledged, min(through, self.assigned))

    def take(self, kind, places):
        """Moves the mark over the items that follow it, and returns the indices of these."""
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
        """Moves the mark over a range of tombstones, and returns whether it moved.

        The mark keeps the id of the last item before them.
        """
        mark, id = self.received[kind]
        if first > mark + 1 or last <= mark:
            return False
        self.received[kind] = (last, id)
        return True

    def answer(self, kind, last, new):
        """Returns the answer to items up to sequence `last`, or None. Call it after the new ones have taken effect.

        When the items come after a message that is missing, the answer asks for the missing one, once. When verdicts
        are missing, the answer acknowledges those that are here.
        """
        mark = self.received[kind][0]
        if kind == MESSAGES and last > mark and not new:
            if self.asked == mark + 1:
                return None
            self.asked = mark + 1
            return runbus.Delivery(go_back=runbus.GoBack(kind=kind, to=mark + 1))
        return runbus.Delivery(acknowledge=runbus.Acknowledge(kind=kind, through=mark))

    def is_newer(self, latest):
        """Stores a value if it is newer than the stored one, and returns whether it was.

        The same version with another id counts as newer: the sender's store has lost its history.
        """
        version, id = self.latest.get(latest.key, (-1, None))
        if latest.version < version or (latest.version, latest.value.id) == (version, id):
            return False
        self.latest[latest.key] = (latest.version, latest.value.id)
        return True
