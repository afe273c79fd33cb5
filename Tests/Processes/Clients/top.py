"""Drives `busnode top` on a pseudo-terminal: prints what the screen shows at each step, as JSON lines.

    top.py BUSNODE COLUMNS ROWS STEP …

The first step may be `command ARGUMENTS` (of busnode, in place of `top`) or `shell` (an interactive bash, which finds busnode as
$BUSNODE). Signals go to the leader of the terminal's foreground. A step is

    see TEXT, not TEXT      waits until the screen contains it, or no more
    raw TEXT                waits until the bytes contain it, with Python's escapes
    mark                    forgets the bytes until now
    key KEYS                presses keys, with Python's escapes
    size COLUMNS ROWS       resizes the terminal
    term, signal NAME       sends SIGTERM to the child, another signal to the foreground
    raised                  waits until the screen is the alternate one and keys are not echoed
    lowered                 waits until the screen is the first one again
    stopped                 waits until the process that got the last signal is stopped
    deaf                    reads no more, and presses Ctrl-L until the terminal takes nothing more
    end                     waits for the end of the child

The environment is passed on. Exits 0 when every step was reached.
"""

import codecs
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
                    # An escape ends a sequence that was cut off.
                    place = text.find("\x1b", place + 1)
                    if place < 0:
                        self.rest = text[text.rindex("\x1b"):]
                        return
                    continue
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
    steps, command = sys.argv[4:], [busnode, "top"]
    if steps[0].startswith("command "):
        command = [busnode] + steps[0].split()[1:]
    elif steps[0] == "shell":
        command = ["/bin/bash", "--norc", "--noprofile", "-i"]
        os.environ.update({"BUSNODE": busnode, "PS1": "ready> ", "HISTFILE": ""})
    ready, go = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        # Until the parent has seen the settings and set the size.
        os.close(go)
        os.read(ready, 1)
        os.execv(command[0], command)
    before = termios.tcgetattr(terminal)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.close(go)
    screen = Terminal(columns, rows)
    # A letter may come in two pieces.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    ended = None
    target = child
    deaf = False

    def is_raised():
        mode = termios.tcgetattr(terminal)[3]
        return screen.alternate and not mode & (termios.ICANON | termios.ECHO)

    def is_stopped():
        with open(f"/proc/{target}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "Tt"

    def is_full():
        """Whether a program could write nothing more: asks the other end of the terminal."""
        os.write(terminal, b"\x0c")
        slave = os.open(f"/proc/{child}/fd/0", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            return not select.select([], [slave], [], 0.02)[1]
        finally:
            os.close(slave)

    def pump(until, what):
        nonlocal ended
        deadline = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > deadline:
                print(json.dumps({"missing": what, "screen": screen.text(), "ended": ended}))
                os.kill(child, signal.SIGKILL)
                sys.exit(1)
            if deaf:
                time.sleep(0.05)
            elif select.select([terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    data = b""
                screen.take(decoder.decode(data))
            if ended is None:
                pid, status = os.waitpid(child, os.WNOHANG)
                if pid:
                    ended = os.waitstatus_to_exitcode(status)

    for step in steps:
        word, _, value = step.partition(" ")
        if word == "see":
            pump(lambda: value in screen.text(), step)
        elif word == "not":
            pump(lambda: value not in screen.text(), step)
        elif word == "raw":
            text = value.encode().decode("unicode_escape")
            pump(lambda: text in screen.raw, step)
        elif word == "mark":
            screen.raw = ""
        elif word == "raised":
            pump(is_raised, step)
        elif word == "lowered":
            pump(lambda: not screen.alternate, step)
        elif word == "signal":
            target = os.tcgetpgrp(terminal)
            os.kill(target, signal.Signals[value])
        elif word == "stopped":
            pump(is_stopped, step)
        elif word == "deaf":
            deaf = True
            pump(is_full, step)
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
            deaf = False
            try:
                while select.select([terminal], [], [], 0.2)[0]:
                    screen.take(decoder.decode(os.read(terminal, 65536)))
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
