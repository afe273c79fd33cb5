"""Follows the page of `busnode web` as a browser does, and prints the order of each thing that it shows.

    follow_page.py URL

A line of JSON for each event: {"page": [term, revision, tick], "lock": the same of the lock screen, or null}. It ends with
its server, or when its standard input ends.
"""

import http.client
import http.cookies
import json
import os
import sys
import threading
import time
import urllib.parse


def order(state):
    return [state["term"], state["revision"], state["tick"]] if state else None


def events(address, cookie, last):
    """The events of one connection, each with its id; the browser says which was its last one."""
    server = http.client.HTTPConnection(address, timeout=30)
    server.request("GET", "/events", headers={"Cookie": cookie} | ({"Last-Event-ID": last} if last else {}))
    answer, name, data = server.getresponse(), None, []
    if answer.status != 200:
        return
    while line := answer.readline():
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "id":
            name = value
        elif field == "data":
            data.append(value)
        elif not field and data:
            yield name, json.loads("".join(data))
            data = []


def main():
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    url = urllib.parse.urlsplit(sys.argv[1])
    server = http.client.HTTPConnection(url.netloc, timeout=10)
    server.request("GET", f"{url.path}?{url.query}")
    cookies = http.cookies.SimpleCookie(server.getresponse().getheader("Set-Cookie"))
    cookie, last = "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items()), None
    while True:
        try:
            for last, view in events(url.netloc, cookie, last):
                if "state" in view:
                    print(json.dumps({"page": order(view["state"]), "lock": order(view.get("live"))}), flush=True)
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.2)


if __name__ == "__main__":
    main()
