#!/usr/bin/env python3
"""Makes damaged stores from a whole one, of kinds that the check at the opening of a store does not see.

    make-stores.py SOURCE DIRECTORY [--count 8] [--seed 1]

SOURCE is the file node.sqlite of a node that has ended in good order. DIRECTORY gets KIND-N/node.sqlite, N from 1:

    page    a page lies over another one
    table   one bit in the description of a table or an index is another
    bytes   up to 64 bytes in a row are others

SQLite's quick_check finds nothing wrong with any of them. The format of a store is not known here, so that they are always
of today's. A line on standard output names each one and what was done to it.
"""
import argparse
import pathlib
import random
import sqlite3
import sys
import tempfile


def passes_the_check(data: bytes) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "node.sqlite")
        path.write_bytes(data)
        try:
            connection = sqlite3.connect(path)
            # As a node opens it.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
            connection.close()
        except (sqlite3.Error, UnicodeDecodeError):
            return False
        return answer == ("ok",)


def page_size(data: bytes) -> int:
    return int.from_bytes(data[16:18], "big")


def descriptions(path: pathlib.Path, data: bytes) -> list:
    """Where the descriptions of tables and indexes are in the file."""
    connection = sqlite3.connect(path)
    texts = [row[0].encode() for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
    connection.close()
    places = []
    for text in texts:
        start = data.find(text)
        if start >= 0:
            places.append(range(start, start + len(text)))
    return places


def page(data, path, draw):
    size = page_size(data)
    pages = len(data) // size
    source, target = draw.sample(range(1, pages), 2)
    data[target * size : (target + 1) * size] = data[source * size : (source + 1) * size]
    return f"page {source + 1} over page {target + 1}"


def table(data, path, draw):
    place = draw.choice(draw.choice(descriptions(path, bytes(data))))
    bit = draw.randrange(8)
    data[place] ^= 1 << bit
    return f"bit {bit} of byte {place}"


def several(data, path, draw):
    start = draw.randrange(100, len(data))
    length = draw.randint(1, 64)
    for place in range(start, min(len(data), start + length)):
        data[place] = draw.randrange(256)
    return f"{length} bytes from {start}"


KINDS = {"page": page, "table": table, "bytes": several}
# So many attempts for each store: most damage is seen.
ATTEMPTS = 400


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    whole = options.source.read_bytes()
    if not passes_the_check(whole):
        print(f"{options.source} is no whole store", file=sys.stderr)
        return 1
    for kind, damage in KINDS.items():
        draw = random.Random(f"{options.seed} {kind}")
        made = 0
        for _ in range(ATTEMPTS * options.count):
            if made == options.count:
                break
            data = bytearray(whole)
            what = damage(data, options.source, draw)
            if data == whole or not passes_the_check(bytes(data)):
                continue
            made += 1
            place = options.directory / f"{kind}-{made}"
            place.mkdir(parents=True, mode=0o700)
            (place / "node.sqlite").write_bytes(data)
            print(f"{place.name}: {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
