"""Drives `busnode top` on a pseudo-terminal: prints what the screen shows at each step, as JSON lines.

    top.py BUSNODE COLUMNS ROWS STEP …

A step is `see TEXT` (waits until the screen contains it), `not TEXT`, `key KEYS`, `size COLUMNS ROWS`, `term` (SIGTERM), `end` (waits for the
end of the process) or `raw TEXT` (waits until the bytes contain it). The environment is passed on. Exits 0 when every step was reached.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 30


class Terminal:
    """The rows that a terminal would show, for what busnode writes: moves, clearing, text."""

    def __init__(self, columns, rows):
        self.resize(columns, rows)
        self.raw = ""
        self.rest = ""
        self.alternate = False

    def resize(self, columns, rows):
        self.columns, self.count = columns, rows
        self.rows = [""] * rows
        self.row = 0

    def take(self, text):
        self.raw += text
        text, self.rest = self.rest + text, ""
        place = 0
        while place < len(text):
            if text[place] == "\x1b":
                match = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])").match(text, place)
                if not match:
                    self.rest = text[place:]
                    return
                self.obey(match[1], match[2])
                place = match.end()
                continue
            if 0 <= self.row < self.count:
                self.rows[self.row] += text[place]
            place += 1

    def obey(self, values, letter):
        if letter == "H":
            self.row = int((values or "1").split(";")[0]) - 1
            if 0 <= self.row < self.count:
                self.rows[self.row] = ""
        elif letter == "J":
            self.rows = [""] * self.count
        elif letter in "hl" and values == "?1049":
            self.alternate = letter == "h"

    def text(self):
        return "\n".join(row.rstrip() for row in self.rows)


def main():
    busnode, columns, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    child, terminal = pty.fork()
    if child == 0:
        time.sleep(0.1)
        os.execv(busnode, [busnode, "top"])
    before = termios.tcgetattr(terminal)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    screen = Terminal(columns, rows)
    ended = None

    def pump(until, what):
        nonlocal ended
        deadline = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > deadline:
                print(json.dumps({"missing": what, "screen": screen.text(), "ended": ended}))
                os.kill(child, signal.SIGKILL)
                sys.exit(1)
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    data = b""
                screen.take(data.decode(errors="replace"))
            if ended is None:
                pid, status = os.waitpid(child, os.WNOHANG)
                if pid:
                    ended = os.waitstatus_to_exitcode(status)

    for step in sys.argv[4:]:
        word, _, value = step.partition(" ")
        if word == "see":
            pump(lambda: value in screen.text(), step)
        elif word == "not":
            pump(lambda: value not in screen.text(), step)
        elif word == "raw":
            pump(lambda: value in screen.raw, step)
        elif word == "key":
            os.write(terminal, value.encode().decode("unicode_escape").encode("latin-1"))
        elif word == "size":
            columns, rows = map(int, value.split())
            screen.resize(columns, rows)
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.kill(child, signal.SIGWINCH)
        elif word == "term":
            os.kill(child, signal.SIGTERM)
        elif word == "end":
            pump(lambda: ended is not None, step)
            try:
                while select.select([terminal], [], [], 0.2)[0]:
                    screen.take(os.read(terminal, 65536).decode(errors="replace"))
            except OSError:
                pass
        print(json.dumps({
            "step": step, "ended": ended, "alternate": screen.alternate, "wide": max(len(row) for row in screen.rows),
            "ascii": all(ord(letter) < 128 for letter in screen.text()), "colors": bool(re.search(r"\x1b\[[0-9;]*3[0-7]m", screen.raw)),
            "restored": termios.tcgetattr(terminal)[:4] == before[:4]}), flush=True)
    if ended is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


main()
