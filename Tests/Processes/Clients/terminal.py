"""Runs a command on a terminal of its own and says what stands on the screen.

    python terminal.py COLUMNS ROWS COMMAND...

Writes a line of JSON whenever the command has written: the screen's lines without trailing blanks, its size, and how many
lines have scrolled off its top since it was resized or cleared; and one with the exit status at the end. Reads from standard input:

    resize COLUMNS ROWS   the terminal gets another size
    type TEXT             keys are pressed; ^C is Ctrl-C
    hangup                the terminal is closed

Knows what a simple terminal knows: no scrollback, no reflow, lines that wrap when they are full.
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

CONTROL = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])")


class Screen:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines = [[] for _ in range(rows)]
        self.row = self.column = self.scrolled = 0

    def resize(self, columns, rows):
        self.lines = [line[:columns] for line in self.lines[:rows]]
        self.lines += [[] for _ in range(rows - len(self.lines))]
        self.columns, self.rows = columns, rows
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns)
        self.scrolled = 0

    def feed(self, text):
        """Processes output; returns an incomplete control sequence at its end."""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            found = CONTROL.match(text, at)
            if not found:
                return text[at:]
            self.control(found.group(1), found.group(2))
            at = found.end()
        return ""

    def control(self, number, letter):
        if letter == "A":
            self.row = max(0, self.row - int(number or 1))
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][: self.column]
        elif letter == "H":
            place = [int(value or 1) - 1 for value in (number or "1;1").split(";")]
            self.row, self.column = min(place[0], self.rows - 1), place[-1]
        elif letter in "mhl":
            pass
        elif letter == "J" and number == "2":
            self.lines = [[] for _ in range(self.rows)]
            self.scrolled = 0
        else:
            raise SystemExit(f"a sequence that this terminal does not know: {number}{letter}")

    def put(self, letter):
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self.down()
        else:
            if self.column == self.columns:
                self.column = 0
                self.down()
            line = self.lines[self.row]
            line += [" "] * (self.column + 1 - len(line))
            line[self.column] = letter
            self.column += 1

    def down(self):
        if self.row < self.rows - 1:
            self.row += 1
        else:
            self.lines = self.lines[1:] + [[]]
            self.scrolled += 1

    def report(self):
        lines = ["".join(line).rstrip() for line in self.lines]
        print(
            json.dumps({"screen": lines, "columns": self.columns, "rows": self.rows, "scrolled": self.scrolled}),
            flush=True,
        )


def main():
    screen = Screen(int(sys.argv[1]), int(sys.argv[2]))

    def set_size(descriptor):
        size = struct.pack("HHHH", screen.rows, screen.columns, 0, 0)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, size)

    child, terminal = pty.fork()
    if child == 0:
        set_size(0)
        os.execv(sys.argv[3], sys.argv[3:])
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    rest, orders, inputs = "", "", [terminal, sys.stdin]
    while terminal in inputs:
        for ready in select.select(inputs, [], [])[0]:
            if ready is terminal:
                try:
                    written = os.read(terminal, 65536)
                except OSError:
                    written = b""
                if not written:
                    inputs.remove(terminal)
                    break
                rest = screen.feed(rest + written.decode(errors="replace"))
                screen.report()
                continue
            came = os.read(sys.stdin.fileno(), 65536).decode()
            if not came:
                inputs.remove(sys.stdin)
            *lines, orders = (orders + came).split("\n")
            for words in (line.split() for line in lines):
                if words[0] == "resize":
                    screen.resize(int(words[1]), int(words[2]))
                    set_size(terminal)
                elif words[0] == "type":
                    os.write(terminal, words[1].replace("^C", "\x03").replace("^Z", "\x1a").encode())
                elif words[0] == "hangup":
                    os.close(terminal)
                    inputs.remove(terminal)
            if terminal not in inputs:
                break
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps({"exited": status}), flush=True)


if __name__ == "__main__":
    main()
