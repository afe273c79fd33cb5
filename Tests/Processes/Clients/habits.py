"""The habits of wrong members. Each is an endless generator that yields how many seconds to spend on reading."""

import itertools

import frames
import runbus
from wrong import COMMANDS, MESSAGES, SAMPLES, SECOND, VERDICTS

HONEST = ["watch", "watch2", "widget"]
HUB = "phone"
COUNTS = [0, 1, 2, 2**16, 2**24, 2**24 + 1, 2**30, 2**32 - 1, 2**32, 2**61, 2**62 - 1, 2**62, 2**63, 2**64 - 1]
SPANS = [0, 1, -1, SECOND, 3600 * SECOND, 86_401 * SECOND, 2**60, 2**62, 2**63 - 1, -(2**63)]
KINDS = [COMMANDS, SAMPLES, MESSAGES, VERDICTS]


def mark(kind, sequence, id=None):
    return [runbus.StreamMark(kind=kind, sequence=sequence, id=id)]


def unfinished(member):
    """Sends whole runs that never stop: started long ago, each command says that the stop follows."""
    # A patient member keeps a long run open on each of its lines, also after it has left.
    if member.chance.random() < 0.5:
        lines = []
        for number in range(member.roll(1, 5)):
            line = yield from member.joined(member.line(f"{member.name}-{number}"))
            lines.append(line)
            run, age = member.id(), member.roll(2, 7200) * SECOND
            line.add("unfinished runs", member.command("start", run), age, stop_follows=True)
            for _ in range(member.chance.choice([20, 200, 500])):
                line.add("unfinished runs", member.command("lap", run), age, stop_follows=True)
        while True:
            for line in lines:
                yield from member.settle(line, 0.5)
            yield 0.1
    store = None
    while True:
        line = yield from member.joined(member.line(store=store))
        for _ in range(member.roll(1, 12)):
            run, age = member.id(), member.roll(2, 7200) * SECOND
            line.add("unfinished runs", member.command("start", run), age, stop_follows=True)
            for _ in range(member.roll(0, 40)):
                named = member.chance.choice([run, run, None, member.run])
                age = max(SECOND, age - member.roll(0, 60) * SECOND)
                # Now and then a run is stopped or started twice.
                kind = member.chance.choice(["pause", "resume", "lap"]) if member.chance.random() < 0.98 else None
                line.add("unfinished runs", member.command(kind, named), age, stop_follows=True)
        yield from member.settle(line, member.roll(1, 4))
        # It stays, leaves with unfinished runs, or returns with another store of the same device.
        way = member.roll(0, 3)
        if way == 0:
            line.send("goodbye", goodbye=runbus.Goodbye())
        store = line.store if way == 1 else None
        yield 0.1


def runs(member):
    """Sends starts of the present run, a finished one or a forgotten one, alone and as whole runs."""
    line = yield from member.joined()
    while True:
        seen = member.runs or [member.id()]
        some = [member.run or member.id(), member.chance.choice(seen), seen[0], seen[-1], member.id()]
        run = member.chance.choice(some)
        old = member.roll(2, 90_000) * SECOND
        way = member.roll(0, 5)
        if way == 0:
            line.add("starts of known runs", member.command("start", run))
        elif way == 1:
            line.add("starts of known runs", member.command("start", run), old)
        elif way == 2:
            line.add("whole known runs", member.command("start", run), old, stop_follows=True)
            line.add("whole known runs", member.command("lap", run), old // 2, stop_follows=True)
            line.add("whole known runs", member.command("stop", run), old // 4)
        elif way == 3:
            # A start with the present run's id, followed by commands for another run.
            line.add("whole known runs", member.command("start", member.run or run), old, stop_follows=True)
            line.add("whole known runs", member.command("stop", run), SECOND)
        elif way == 4:
            for _ in range(member.roll(1, 30)):
                line.add("names for a run", member.command("start", member.id()))
        else:
            line.add("presses of old runs", member.command(None, run), member.chance.choice([0, old]))
        yield from member.settle(line, 1.0)
        yield member.chance.random() / 5


def ids(member):
    """Sends commands with the ids of other devices' pending commands, in every way that the hub accepts."""
    streams = []
    for _ in range(2):
        streams.append((yield from member.joined()))
    shell, plain = member.line(), member.line()
    while True:
        while member.pending:
            device, command = member.pending.popleft()
            taken = runbus.Command()
            taken.CopyFrom(command)
            if member.chance.random() < 0.5:
                taken.kind = member.roll(1, 5)
                taken.run_id = member.id()
            age = member.chance.choice([0, SECOND, 7200 * SECOND])
            for stream in streams:
                stream.add("others' ids", taken, age, stop_follows=member.chance.random() < 0.2)
                stream.pump()
            if member.chance.random() < 0.5:
                shell.request("others' ids", taken, member.name, age)
            if member.chance.random() < 0.5:
                request = runbus.Request(version=runbus.VERSION, command=runbus.CommandRequest(
                    command=taken, device_id=device, age_ns=age))
                streams[0].send("others' ids", request=request)
                frame = runbus.PeerFrame(sent_at_ns=runbus.monotonic_ns(), request=request).SerializeToString()
                plain.raw("others' ids", [b"", frame])
        for stream in streams:
            if not stream.session:
                yield from member.joined(stream, 1.0)
            stream.pump()
        yield 0.02


def names(member):
    """Uses other devices' names, the hub's own among them, and other devices' sessions."""
    while True:
        device = member.chance.choice([*HONEST, *HONEST, HUB])
        line = member.line(device)
        line.hello("others' names")
        yield 0.1
        if line.session:
            for _ in range(member.roll(1, 8)):
                line.add("presses as another", member.command(None, member.chance.choice([None, member.run])),
                         member.chance.choice([0, SECOND, 60 * SECOND]))
            yield from member.settle(line, 0.5)
        else:
            shell = member.line(device)
            for _ in range(2):
                shell.request("presses as another", member.command(), device, member.chance.choice([0, 60 * SECOND]))
            yield 0.1
        # Session numbers are consecutive, so those of others can be guessed.
        other = yield from member.joined(seconds=0.5)
        for number in range(1, 40):
            session = member.term << 32 | number
            if session != other.session:
                what = member.roll(0, 3)
                if what == 0:
                    other.send("others' sessions", session=session, goodbye=runbus.Goodbye())
                elif what == 1:
                    other.send("others' sessions", session=session, ping=runbus.Ping(number=1))
                elif what == 2:
                    other.send("others' sessions", session=session, command=runbus.Transmission(
                        command=member.command("stop"), sequence=member.roll(1, 100)))
                else:
                    other.send("others' sessions", session=session, delivery=runbus.Delivery(
                        acknowledge=runbus.Acknowledge(kind=VERDICTS, through=1000)))
        if member.chance.random() < 0.5:
            line.send("goodbye", goodbye=runbus.Goodbye())
        yield member.chance.random() / 2


def stores(member):
    """Uses honest devices' stores: their ids, with true and false marks, and sequence numbers of their streams."""
    while True:
        found = member.stolen()
        if found is None:
            yield 0.2
            continue
        device, store, hub, marks = found
        named = member.chance.choice([device, device, member.name])
        line = member.line(named, store, hub_store_id=member.chance.choice([hub, hub, None, member.id()]))
        place = marks.get(1) or 0
        for _ in range(member.roll(1, 3)):
            claimed = member.chance.choice([0, place, place, place + 1, member.chance.choice(COUNTS[:-3])])
            line.hello("others' stores", acknowledged=mark(COMMANDS, claimed) if claimed else [])
            yield 0.1
        if line.session and line.store == store:
            received = {mark.kind: mark.sequence for mark in line.welcome.received}
            after = received.get(COMMANDS, 0)
            for step in range(1, member.roll(1, 4)):
                line.transmit("others' streams", member.command(), after + step, member.chance.choice([0, 30 * SECOND]))
            through = member.chance.choice(COUNTS)
            line.deliver("others' streams", acknowledge=runbus.Acknowledge(kind=VERDICTS, through=through))
            line.deliver("others' streams", tombstones=runbus.Tombstones(
                kind=COMMANDS, through=after + member.roll(4, 40), **{"from": after + 1}))
            yield 0.2
        line.close()
        # The honest device reconnects in between.
        yield 0.5 + member.chance.random() * 3


def numbers(member):
    """Sends terms, sequences, marks and ages of any size."""
    chance = member.chance
    while True:
        seen = chance.choice([*COUNTS, member.term + 1])
        stranger = member.line()
        stranger.hello(
            "extreme hellos", term_seen=seen, hub_store_id=chance.choice([None, member.id()]),
            acknowledged=[stated for kind in KINDS[:3] for stated in mark(kind, chance.choice(COUNTS))],
            received=[stated for kind in KINDS[2:] for stated in mark(kind, chance.choice(COUNTS), member.id())],
        )
        yield 0.05
        line = yield from member.joined(seconds=1.0)
        for _ in range(member.roll(5, 30)):
            command = member.command(None, chance.choice([None, member.run]))
            if chance.random() < 0.3:
                command.run_offset_ns = chance.choice(SPANS)
            if chance.random() < 0.3:
                command.base.revision = chance.choice(COUNTS)
            sequence = chance.choice([*COUNTS, line.mark + 1, line.mark + 1])
            if sequence == line.mark + 1:
                line.mark += 1
            line.transmit(
                "extreme commands", command, sequence, chance.choice(SPANS), chance.random() < 0.2,
                uncertain=chance.random() < 0.2)
            line.send(
                "extreme samples", samples=runbus.Samples(samples=[runbus.Sample(
                    sequence=chance.choice([*COUNTS, 1]), age_ns=chance.choice(SPANS), heart_rate_bpm=150)]))
            ping = runbus.Ping(number=chance.choice(COUNTS), round_trip_ns=chance.choice(SPANS))
            line.send("extreme pings", ping=ping, sent_at_ns=chance.choice(SPANS))
            line.send("extreme fetches", fetch_record=runbus.FetchRecord(
                after=chance.choice(COUNTS), **{"from": chance.choice([0, 1, 2**31, 2**32 - 1])}))
            line.deliver("extreme values", latest=runbus.Latest(
                key="k", version=chance.choice(COUNTS), value=runbus.AppMessage(id=member.id(), name="n")))
        yield 0.1


def acknowledgements(member):
    """Acknowledges what was never sent, and sends all other stream messages at the wrong time."""
    chance = member.chance
    line = yield from member.joined()
    line.acknowledges = "future"
    while True:
        if not line.session:
            yield from member.joined(line, 1.0)
        for _ in range(20):
            kind, count = chance.choice(KINDS), chance.choice(COUNTS)
            first = chance.choice([1, 2, line.mark + 1, count])
            last = first + chance.choice([0, 5, 2**20 - 1, 2**20]) & 2**64 - 1
            verdict = runbus.Verdict(applied=runbus.Applied(), term=member.term)
            receipt = runbus.Receipt(command_id=member.id(), kind=1, source="wrong", verdict=verdict)
            verdict = runbus.VerdictTransmission(sequence=chance.choice([1, count]), receipt=receipt)
            message = chance.choice([
                {"acknowledge": runbus.Acknowledge(kind=kind, through=count)},
                {"delivered": runbus.Delivered(through=count)},
                {"go_back": runbus.GoBack(kind=kind, to=count, failure=chance.choice([None, "no"]))},
                {"tombstones": runbus.Tombstones(kind=kind, through=last, **{"from": first})},
                {"latest_acknowledged": runbus.LatestAcknowledged(key=chance.choice(["k", "other"]), version=count)},
                {"verdicts": runbus.Verdicts(verdicts=[verdict])},
            ])
            line.deliver("acknowledgements", **message)
        if chance.random() < 0.2:
            line.add("presses", member.command("lap"))
            line.pump()
        if chance.random() < 0.05:
            line.close()
            line = yield from member.joined()
            line.acknowledges = "future"
        yield 0.05


def flood(member):
    """Sends as much as the socket accepts, of one kind after the other; some never read an answer."""
    chance = member.chance
    body = chance.randbytes(30_000)
    line = yield from member.joined()
    places = {SAMPLES: 0, MESSAGES: 0}
    for burst in itertools.count():
        if not line.session:
            line.close()
            line = yield from member.joined()
            places = {SAMPLES: 0, MESSAGES: 0}
        what = ["commands", "samples", "values", "hellos", "queries", "inquiries", "messages", "requests"][burst % 8]
        for batch in range(member.roll(2, 12)):
            for _ in range(50):
                if what == "commands":
                    line.add("flood of commands", member.command("lap" if chance.random() < 0.8 else None))
                elif what == "samples" and places[SAMPLES] < 40_000:
                    first = places[SAMPLES] + 1
                    places[SAMPLES] += 100
                    line.send("flood of samples", samples=runbus.Samples(samples=[
                        runbus.Sample(sequence=first + step, age_ns=100 - step, heart_rate_bpm=120 + step % 60)
                        for step in range(100)]))
                elif what == "values":
                    value = runbus.AppMessage(id=member.id(), name="value", body=body[: member.roll(0, len(body))])
                    latest = runbus.Latest(key=f"key {member.roll(1, 2000)}", version=1, value=value)
                    line.deliver("flood of values", latest=latest)
                elif what == "hellos":
                    device = f"{member.name}-{member.roll(0, 999)}"
                    line.hello("flood of hellos", device_id=device, store_id=member.id())
                elif what == "queries":
                    line.send("flood of queries", query=runbus.Query())
                    line.send("flood of queries", ping=runbus.Ping(number=1))
                elif what == "inquiries":
                    line.send("flood of inquiries", inquiry=chance.choice([
                        runbus.Inquiry(peers=runbus.ListPeers()), runbus.Inquiry(outbox=runbus.ListOutbox()),
                        runbus.Inquiry(report=runbus.AskReport()), runbus.Inquiry(series=runbus.AskSeries()),
                        runbus.Inquiry(records=runbus.ListRecords()),
                        runbus.Inquiry(route=runbus.AskRoute(**{"from": member.roll(0, 1000)})),
                        runbus.Inquiry(recover=2), runbus.Inquiry(cancel=member.id()),
                        runbus.Inquiry(remove_record=member.run or member.id())]))
                elif what == "messages":
                    places[MESSAGES] += 1
                    message = runbus.MessageTransmission(
                        sequence=places[MESSAGES],
                        message=runbus.AppMessage(id=member.id(), name="m", body=body[:1000]))
                    line.deliver("flood of messages", messages=runbus.Messages(messages=[message]))
                elif what == "requests" and member.may_press():
                    line.request("flood of requests", member.command("lap"), f"{member.name}-{member.roll(0, 99)}")
            if what == "commands":
                line.pump(256)
            if what == "hellos":
                line.session = 0
            yield 0
        yield from member.settle(line, 0.5)


def repeats(member):
    """Sends everything twice, in another order or with gaps; claims to have forgotten what it has sent."""
    chance = member.chance
    while True:
        line = yield from member.joined()
        hub, store = line.welcome.store_id if line.welcome else None, line.store
        presses = []
        for place in range(1, member.roll(2, 12)):
            presses.append((place, member.command(None, chance.choice([None, member.run]))))
        sent = presses * 3
        chance.shuffle(sent)
        for place, command in sent:
            if chance.random() < 0.8:
                line.transmit("repeats", command, place, chance.choice([0, SECOND, 20 * SECOND]), chance.random() < 0.1)
        yield 0.2
        # Other commands with the same sequence numbers, the same commands with others, and the same hello again.
        for place, command in presses:
            line.transmit("repeats", member.command() if chance.random() < 0.5 else command, chance.choice(
                [place, place + 1, len(presses) + place]))
        line.said["nonce"] = 7
        for _ in range(3):
            line.hello("repeats")
        yield 0.2
        # Reconnects as if it had forgotten everything, the hub, or its own sequence numbers.
        line.close()
        line = member.line(store=store, hub_store_id=chance.choice([None, hub]))
        line.hello(
            "forgetful hellos", acknowledged=chance.choice([[], mark(COMMANDS, 1)]),
            received=chance.choice([[], mark(VERDICTS, 1, member.id())]))
        yield 0.2
        for place, command in presses:
            line.transmit("repeats", command, place)
        yield 0.2
        line.close()


def malformed(member):
    """Sends mutated and random frames within a session, now and then one that is too long."""
    schema = frames.Mutants(member.chance)
    line = yield from member.joined()
    while True:
        if not line.session:
            line.close()
            line = yield from member.joined()
        for _ in range(40):
            way, data = schema.draw(line.session)
            if data:
                line.raw("malformed frames", [data])
        for _ in range(10):
            line.raw("frames of the schema", [schema.schema.frame(line.session)])
        if member.chance.random() < 0.02:
            line.raw("malformed frames", [bytes(frames.FRAME_BYTES_MAX + 1)])
        if member.chance.random() < 0.2:
            line.raw("malformed frames", [b"", b"", schema.schema.frame(line.session)])
        yield 0.02


HABITS = {
    habit.__name__: habit
    for habit in (unfinished, runs, ids, names, stores, numbers, acknowledgements, flood, repeats, malformed)
}
