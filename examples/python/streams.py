"""Numbered streams between one store here and one hub's store, as docs/protocol.md describes them."""

import uuid

import runbus

COMMANDS = runbus.StreamKind.Value("STREAM_KIND_COMMANDS")
MESSAGES = runbus.StreamKind.Value("STREAM_KIND_MESSAGES")
VERDICTS = runbus.StreamKind.Value("STREAM_KIND_VERDICTS")


class Pair:
    """What one peer's store and one hub's store owe each other. A node that must not forget keeps all of it on disk."""

    def __init__(self):
        self.hub_store_id = None
        self.renew(None, owed=False)

    def renew(self, hub_store_id, owed):
        """Takes a new store id, under which everything starts at 1: also the one press that may still be owed."""
        self.store_id = uuid.uuid4().bytes
        self.hub_store_id = hub_store_id
        self.assigned = 1 if owed else 0  # the last place of our commands
        self.acknowledged = 0  # how far the hub has them
        self.received = {MESSAGES: (0, None), VERDICTS: (0, None)}  # how far we have its streams, and what stands there
        self.latest = {}  # the version of each key

    def marks(self):
        """What a hello says of both stores."""
        return {
            "store_id": self.store_id,
            "hub_store_id": self.hub_store_id,
            "acknowledged": [runbus.StreamMark(kind=COMMANDS, sequence=self.acknowledged)],
            "received": [
                runbus.StreamMark(kind=kind, sequence=sequence, id=id)
                for kind, (sequence, id) in self.received.items()
            ],
        }

    def meets(self, welcome):
        """Whether the hub's store is the one that we know, and we both tell the same history of our commands."""
        marks = {mark.kind: mark.sequence for mark in welcome.received}
        same_store = self.hub_store_id in (None, welcome.store_id)
        if not same_store or not self.acknowledged <= marks.get(COMMANDS, 0) <= self.assigned:
            return False
        self.hub_store_id = welcome.store_id
        self.acknowledged = marks.get(COMMANDS, 0)
        return True

    def acknowledge(self, through):
        if through <= self.assigned:
            self.acknowledged = max(self.acknowledged, through)

    def take(self, kind, places):
        """Which of these are new, by index, and what to answer once they have taken effect. The mark has moved."""
        new = []
        for index, (sequence, id) in enumerate(places):
            mark = self.received[kind][0]
            if sequence == mark + 1:
                self.received[kind] = (sequence, id)
                new.append(index)
            elif sequence > mark:
                return new, runbus.Delivery(go_back=runbus.GoBack(kind=kind, to=mark + 1))
        return new, self.acknowledgement(kind)

    def skip(self, kind, first, last):
        """Passes over places that hold nothing any more, and answers."""
        mark = self.received[kind][0]
        if first > mark + 1:
            return runbus.Delivery(go_back=runbus.GoBack(kind=kind, to=mark + 1))
        if last > mark:
            self.received[kind] = (last, None)
        return self.acknowledgement(kind)

    def acknowledgement(self, kind):
        return runbus.Delivery(acknowledge=runbus.Acknowledge(kind=kind, through=self.received[kind][0]))

    def is_newer(self, latest):
        """Whether a value is newer than the one that we have; then it is the one that we have."""
        if latest.version <= self.latest.get(latest.key, -1):
            return False
        self.latest[latest.key] = latest.version
        return True
