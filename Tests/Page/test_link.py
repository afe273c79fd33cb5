"""Tests of the saved link of `busnode web`: it works after a restart, and ends when its owner wants it to."""

import json
import os
import re
import stat
import subprocess
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from test_page import BUSNODE, PATIENCE, bus  # noqa: F401 (a fixture)


class Served:
    """`busnode web` once, until it is ended."""

    def __init__(self, bus, *options, port=0):  # noqa: F811
        self.bus = bus
        self.errors = bus.folder / "errors"
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [BUSNODE, "web", "--http", f"127.0.0.1:{port}", "--json", *options], env=bus.environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        bus.processes.append(self.process)
        self.link = json.loads(self.process.stdout.readline())["url"]
        self.port = urlsplit(self.link).port
        self.token = parse_qs(urlsplit(self.link).query)["token"][0]

    def notices(self):
        return [line for line in self.errors.read_text().splitlines() if "link" in line]

    def end(self):
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0
        return self


def link_file(bus):  # noqa: F811
    return bus.folder / "state/runbus/page/web/page-link"


def test_a_saved_link_opens_the_page_after_a_restart(bus, browser):  # noqa: F811
    first = Served(bus)
    mode = os.stat(link_file(bus))
    assert stat.S_IMODE(mode.st_mode) == 0o600 and link_file(bus).read_text() == first.token + "\n"
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(first.link)
    page.wait_for_url(lambda address: "token" not in address)
    address = page.url
    # A browser that was closed meanwhile has kept its cookie, too.
    cookie, = context.cookies()
    assert cookie["expires"] > 0 and cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    first.end()
    second = Served(bus, port=first.port)
    assert second.link == first.link and second.notices() == []
    page.goto(address)
    expect(page.locator("nav")).to_be_visible()
    fresh = browser.new_context(locale="en-GB").new_page()
    fresh.goto(first.link)
    expect(fresh.locator("nav")).to_be_visible()
    assert "token" not in fresh.url
    context.close()
    fresh.context.close()
    # Another device of this machine has another page, and another link.
    assert Served(bus, "--device", "desk").token != first.token


def test_a_new_link_ends_the_ones_that_were_saved(bus):  # noqa: F811
    first = Served(bus).end()
    second = Served(bus, "--new-link", port=first.port)
    assert second.token != first.token and second.notices() == []
    assert link_file(bus).read_text() == second.token + "\n" and stat.S_IMODE(os.stat(link_file(bus)).st_mode) == 0o600
    bus.port = second.port
    assert bus.request(path=f"/?token={first.token}", cookie=False)[0] == 403
    assert bus.request(path="/", headers={"Cookie": f"runbus-{bus.port}={first.token}"}, cookie=False)[0] == 403
    assert bus.request(path=f"/?token={second.token}", cookie=False)[0] == 200
    second.end()
    assert Served(bus).token == second.token


def test_a_damaged_link_is_replaced_and_told_in_one_line(bus):  # noqa: F811
    token = Served(bus).end().token
    for damage in ("", token, token[:-1] + "\n", token + "\n\n", token.upper() + "x\n", "g" * 32 + "\n", "x" * 100_000):
        link_file(bus).write_text(damage)
        served = Served(bus).end()
        assert re.fullmatch(r"[0-9a-f]{32}", served.token) and served.token != token, damage[:40]
        notice, = served.notices()
        assert notice.startswith("busnode: the saved link in ") and "the page has a new one" in notice, notice
        assert Served(bus).end().token == served.token
    # What others may have read is no secret.
    link_file(bus).chmod(0o644)
    before, served = link_file(bus).read_text().strip(), Served(bus).end()
    assert served.token != before and len(served.notices()) == 1
    assert stat.S_IMODE(os.stat(link_file(bus)).st_mode) == 0o600
    # A link to elsewhere is not followed.
    target = bus.folder / "elsewhere"
    target.write_text("0" * 32 + "\n")
    target.chmod(0o600)
    link_file(bus).unlink()
    link_file(bus).symlink_to(target)
    served = Served(bus).end()
    assert served.token != "0" * 32 and target.read_text() == "0" * 32 + "\n" and not link_file(bus).is_symlink()
    # Where it cannot be kept the page is served all the same.
    link_file(bus).unlink()
    link_file(bus).mkdir()
    (link_file(bus) / "full").write_text("")
    served = Served(bus)
    assert any("ends with this page" in notice for notice in served.notices()), served.notices()
    bus.port = served.port
    assert bus.request(path=f"/?token={served.token}", cookie=False)[0] == 200


def test_erase_removes_the_saved_link(bus):  # noqa: F811
    first = Served(bus)
    assert link_file(bus).exists()
    assert bus.run("erase", "--bus", "page", "--yes").returncode == 75, "the page runs"
    assert link_file(bus).exists()
    first.end()
    assert bus.run("erase", "--bus", "page", "--yes").returncode == 0
    assert not any(first.token in path.read_text(errors="replace") for path in bus.folder.rglob("*") if path.is_file() and path.name != "errors")
    assert not link_file(bus).exists() and Served(bus).token != first.token
