#!/usr/bin/env python3
"""A member of a room on SQLite, as the prototype of RunBus's rooms had it: `room.py DIR NUMBER MEMBERS ENTRIES GAP_MS`.

One file (WAL, synchronous=FULL); an append is BEGIN IMMEDIATE, insert, COMMIT, then one byte into a second file, the
bell. Members wait for the bell with inotify and read what they have not read. No signatures, digests or rules: an entry
is its author, its number and the moment at which its append began. Each member enters with one entry, waits until all
have entered, and appends its ENTRIES, GAP_MS apart, while it reads those of all.
It writes what `bench rooms` reads: "append NUMBER BEGAN DURABLE" for each own entry, "folded AUTHOR NUMBER AT" for each that was
read; nanoseconds of CLOCK_MONOTONIC.
"""

import ctypes
import os
import select
import sqlite3
import struct
import sys
import threading
import time

directory, number, members, entries, gap = sys.argv[1], *map(int, sys.argv[2:6])
SCHEMA = """
    CREATE TABLE IF NOT EXISTS entry(
      pos INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER, room BLOB, author INTEGER, body BLOB);
    CREATE INDEX IF NOT EXISTS by_room ON entry(room, pos);
"""
ROOM, BELL = b"room", f"{directory}/bell"


def connect():
    db = sqlite3.connect(f"{directory}/log.sqlite", timeout=20, isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"):
        db.execute(statement)
    db.executescript(SCHEMA)
    return db


def ring():
    with open(BELL, "ab", buffering=0) as bell:
        bell.write(b".")


def append(db, body):
    db.execute("BEGIN IMMEDIATE")
    last = db.execute("SELECT max(time) FROM entry").fetchone()[0] or 0
    now = max(last + 1, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
    db.execute("INSERT INTO entry(time, room, author, body) VALUES (?, ?, ?, ?)", (now, ROOM, number, body))
    db.execute("COMMIT")
    ring()


everybody = threading.Event()
lines = []


def follow():
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(watch, BELL.encode(), 0x2)  # IN_MODIFY
    db, position, here, left = connect(), 0, set(), members * entries
    while left:
        for pos, author, body in db.execute(
                "SELECT pos, author, body FROM entry WHERE room = ? AND pos > ? ORDER BY pos", (ROOM, position)).fetchall():
            position = pos
            count = struct.unpack(">Q", body)[0]
            if count == 0:
                here.add(author)
                if len(here) == members:
                    everybody.set()
                continue
            lines.append(f"folded {author} {count} {time.monotonic_ns()}")
            left -= 1
        if left:
            select.select([watch], [], [], 0.2)
            try:
                os.read(watch, 65536)
            except BlockingIOError:
                pass


own = connect()
ring()
reader = threading.Thread(target=follow)
reader.start()
append(own, struct.pack(">Q", 0))
if not everybody.wait(60):
    sys.exit("not everybody came")
start = time.monotonic() + 0.3 + gap / 1000 * number / members
for count in range(1, entries + 1):
    time.sleep(max(0, start + gap / 1000 * count - time.monotonic()))
    began = time.monotonic_ns()
    append(own, struct.pack(">Q", count))
    lines.append(f"append {count} {began} {time.monotonic_ns()}")
reader.join()
print("\n".join(lines))
