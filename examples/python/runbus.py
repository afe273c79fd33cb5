"""The wire format of RunBus for Python: the messages of runbus.proto, without a protobuf compiler.

This module loads the descriptor set beside the schema. Every message of the schema becomes a class of this module
(runbus.PeerFrame, runbus.Snapshot, ...), every enum a wrapper with Name() and Value().
"""

import json
import os
import time
import uuid
from pathlib import Path

import zmq
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import enum_type_wrapper

VERSION = 3
"""The version of the protocol that this client speaks."""

_SCHEMA = Path(__file__).resolve().parents[2] / "Sources/RunWire/runbus.desc"


def _load(path):
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file:
        pool.Add(file)
        for name, message in message_factory.GetMessageClassesForFiles([file.name], pool).items():
            globals()[name.rpartition(".")[2]] = message
        for name, enum in pool.FindFileByName(file.name).enum_types_by_name.items():
            globals()[name] = enum_type_wrapper.EnumTypeWrapper(enum)


_load(Path(os.environ.get("RUNBUS_DESC", _SCHEMA)))


def control_endpoint(bus=None, address=None):
    """Returns the hub's endpoint: from the arguments, else RUNBUS_ADDRESS or RUNBUS_BUS, else the bus "default"."""
    address = address or (None if bus else os.environ.get("RUNBUS_ADDRESS"))
    if address:
        return address
    bus = bus or os.environ.get("RUNBUS_BUS") or "default"
    runtime, own = _directory("XDG_RUNTIME_DIR"), f"runbus-{os.geteuid()}"
    parent = f"{runtime}/runbus" if runtime else f"{_directory('TMPDIR') or '/tmp'}/{own}"
    directory = f"{parent}/{bus}"
    if len(f"{directory}/control.sock".encode()) > 100:  # the path is too long for a Unix socket
        directory = f"/tmp/{own}/_{_fnv1a(directory.encode()):016x}"
    return f"ipc://{directory}/control.sock"


class Keys:
    """What a paired device keeps: its key pair, the hub's public key, and what the hub has told it (pair.py)."""

    def __init__(self, path):
        self.path = Path(path)
        if self.path.stat().st_mode & 0o077:
            raise SystemExit(f"{path} is open to others: chmod 600 {path}")
        self.values = json.loads(self.path.read_text())

    def write(self):
        """Writes the file aside, for its owner only, and puts it in place."""
        aside = self.path.with_name(self.path.name + ".new")
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self.values, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, self.path)

    @staticmethod
    def make(path, values):
        keys = Keys.__new__(Keys)
        keys.path, keys.values = Path(path), values
        keys.write()
        return keys

    def secure(self, socket):
        """Makes a socket prove this key (CURVE), and accept no other hub than that of the pairing."""
        for option, name in ((zmq.CURVE_SERVERKEY, "hub"), (zmq.CURVE_PUBLICKEY, "public"), (zmq.CURVE_SECRETKEY, "secret")):
            socket.setsockopt(option, bytes.fromhex(self.values[name]))

    def note(self, enrolment):
        """Keeps what the hub has told."""
        told = {
            "bus": enrolment.bus_id.hex(), "device": enrolment.device_id, "list_version": enrolment.list_version,
            "addresses": list(enrolment.addresses),
        }
        if self.values.get("told") != told:
            self.values["told"] = told
            self.write()


def _directory(variable):
    """Returns the absolute path in a variable, without slashes at its end; "" if it holds none."""
    value = os.environ.get(variable, "")
    return value.rstrip("/") if value.startswith("/") else ""


def _fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def command(kind, source="shell", run_id=None):
    """Makes a command for a press of now: "start", "pause", "resume", "stop" or "lap". A start makes a new run id."""
    run_id = run_id or (uuid.uuid4().bytes if kind == "start" else None)
    return Command(  # noqa: F821 - a class of the schema, set by _load
        id=uuid.uuid4().bytes,
        kind=CommandKind.Value(f"COMMAND_KIND_{kind.upper()}"),  # noqa: F821
        source=source,
        run_id=run_id,
    )


def request(kind, device):
    """Makes the frame that a plain REQ sends for a press of now. On the hub's machine the clock tells when it was."""
    request = Request(version=VERSION)  # noqa: F821
    request.command.command.CopyFrom(command(kind))
    request.command.device_id = device
    boot = Path("/proc/sys/kernel/random/boot_id")
    if boot.exists():
        request.command.pressed.boot_id = boot.read_text().strip()
        request.command.pressed.monotonic_ns = monotonic_ns()
    return PeerFrame(request=request)  # noqa: F821


def monotonic_ns():
    """Reads the machine's monotonic clock, which includes sleep where the system has such a clock."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def word(enum, value):
    """Returns an enum's value as words: COMMAND_KIND_PAUSE is "pause", STALE_REVISION is "stale revision"."""
    try:
        name = enum.Name(value)
    except ValueError:
        return f"unknown ({value})"
    prefix = os.path.commonprefix(enum.keys())
    return name[len(prefix) :].lower().replace("_", " ")


def _reason(reason):
    """Returns the reason of a rejection as words; one that this client does not know as its number."""
    known = reason in RejectionReason.values()  # noqa: F821
    return word(RejectionReason, reason) if known else f"reason {reason}"  # noqa: F821


def describe(frame):
    """Describes the hub's answer to a plain REQ socket in one line."""
    if frame.WhichOneof("message") == "refused":
        return f"refused: {frame.refused.message}"
    return describe_receipt(frame.receipt)


def describe_receipt(receipt):
    """Describes a stage of a command in one line."""
    kind = word(CommandKind, receipt.kind)  # noqa: F821
    stage = receipt.WhichOneof("stage")
    if stage != "verdict":
        return f"{kind}: {stage}"
    verdict = receipt.verdict
    outcome = verdict.WhichOneof("outcome")
    if outcome is None:
        return f"{kind}: judged in a way that this client does not know, revision {verdict.revision}"
    detail = {
        "coalesced_into": lambda: f" {verdict.coalesced_into.hex()}",
        "superseded_by": lambda: f" {verdict.superseded_by.hex()}",
        "rejected": lambda: f" ({_reason(verdict.rejected.reason)})",
    }.get(outcome, str)()
    return f"{kind}: {outcome.replace('_', ' ')}{detail}, revision {verdict.revision}"
