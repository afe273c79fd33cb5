"""Tests of `busnode web` with a real phone, a real watch and headless Chromium: `make test-page`."""

import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
BUSNODE = os.environ.get("RUNBUS_PAGE_BUSNODE", str(ROOT / ".build/debug/busnode"))
# Processes and browsers share the machine with other tests: this is how long anything may take, not how long it takes.
PATIENCE = 30


class Bus:
    """A bus of its own, with everything that it leaves in one temporary directory."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="rbp-", dir="/tmp"))
        for name in ("state", "run"):
            (self.folder / name).mkdir(mode=0o700)
        self.environment = os.environ | {
            "XDG_STATE_HOME": str(self.folder / "state"), "XDG_RUNTIME_DIR": str(self.folder / "run"), "RUNBUS_BUS": "page",
            "TZ": "UTC", "SWIFT_BACKTRACE": "enable=no",
        }
        self.processes = []
        self.phone = None
        self.watch = None
        self.web = None

    def spawn(self, *arguments):
        process = subprocess.Popen(
            [BUSNODE, *arguments], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.processes.append(process)
        return process

    def run(self, *arguments):
        return subprocess.run(
            [BUSNODE, *arguments], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def start(self, *phone):
        self.phone_options = phone or ("--synthetic",)
        self.start_phone()
        self.watch = self.spawn("watch", "--stdin", "--json")
        self.web = self.spawn("web", "--http", "127.0.0.1:0", "--json")
        self.link = json.loads(self.web.stdout.readline())["url"]
        self.port = urlsplit(self.link).port
        self.token = parse_qs(urlsplit(self.link).query)["token"][0]

    def start_phone(self):
        self.phone = self.spawn("phone", "--json", *self.phone_options)
        self.drain(self.phone)
        self.until(lambda: self.run("state").returncode == 0, "the phone answers")

    def drain(self, process):
        """Reads what a process writes, so that it never waits."""
        import threading
        threading.Thread(target=lambda: [None for _ in process.stdout], daemon=True).start()

    def state(self):
        return json.loads(self.run("state", "--json").stdout)

    def send(self, kind):
        return self.run("send", kind)

    @staticmethod
    def until(condition, what, patience=PATIENCE):
        deadline = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < deadline, f"in {patience} s not: {what}"
            time.sleep(0.05)

    def request(self, method="GET", path="/", headers=None, body=None, cookie=True):
        """Sends one request, by default as the page would, and returns status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        all_headers = {"Cookie": f"runbus-{self.port}={self.token}"} if cookie else {}
        connection.request(method, path, body, all_headers | (headers or {}))
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture
def bus():
    bus = Bus()
    yield bus
    bus.end()


class Page:
    """A page whose errors fail the test."""

    def __init__(self, browser, link, **options):
        self.context = browser.new_context(locale=options.pop("locale", "en-GB"), **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.note(message))
        if link:
            self.page.goto(link)
            self.page.wait_for_url(lambda address: "token" not in address)

    def note(self, message):
        # The browser reports a connection that was lost: that is what some tests do.
        if message.type == "error" and "Failed to load resource" not in message.text and "ERR_" not in message.text:
            self.errors.append(message.text)

    def __enter__(self):
        return self.page

    def __exit__(self, *_):
        errors = self.errors
        self.context.close()
        assert errors == []


expect.set_options(timeout=PATIENCE * 1000)


def seconds(text):
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return total


def test_pause_on_the_page_and_on_the_watch_counts_once(bus, browser):
    bus.start()
    assert bus.send("start").returncode == 0
    with Page(browser, bus.link) as page:
        card = page.get_by_role("region", name="Lock screen")
        expect(card).to_contain_text("Running")
        bus.watch.stdin.write("pause\n")
        bus.watch.stdin.flush()
        card.get_by_role("button", name="Pause").click()
        expect(card).to_contain_text("Paused")
        expect(page.locator(".commands .applied").first).to_contain_text("Pause took effect")
        expect(page.locator(".commands .coalesced").first).to_contain_text("counts once")
    state = bus.state()
    assert (state["phase"], state["revision"]) == ("paused", 2)


def test_a_rejected_press_says_why_in_both_languages(bus, browser):
    bus.start()
    with Page(browser, bus.link, locale="ko-KR") as page:
        expect(page.locator(".card")).to_contain_text("아직 달리기가 없습니다")
        answer = page.evaluate(
            "fetch('/api/press', {method: 'POST', headers: {'Content-Type': 'application/json'},"
            " body: JSON.stringify({command: 'resume', source: 'page'})}).then((r) => r.json())")
        assert (answer["receipt"], answer["reason"], answer["illegalPhase"]) == ("rejected", "illegal", "idle")
        expect(page.locator(".commands .rejected")).to_contain_text("계속: 거절됨: 시작된 달리기가 없습니다")
        page.get_by_role("button", name="English").click()
        expect(page.locator(".commands .rejected")).to_contain_text("Resume was rejected: no run has been started")


def test_the_clock_stands_in_a_pause_and_is_right_after_ten_minutes_without_a_snapshot(bus, browser):
    bus.start()
    assert bus.send("start").returncode == 0
    with Page(browser, None) as page:
        page.clock.install()
        page.goto(bus.link)
        page.wait_for_url(lambda address: "token" not in address)
        timer = page.locator(".card .timer")
        expect(page.locator(".card")).to_contain_text("Running")
        # Nothing reaches the page any more.
        bus.web.send_signal(signal.SIGSTOP)
        page.clock.run_for(1000)
        before = seconds(timer.inner_text())
        page.clock.fast_forward(600_000)
        page.clock.run_for(1000)
        assert abs(seconds(timer.inner_text()) - before - 601) <= 1
        expect(page.locator(".card")).to_contain_text("No news for 10:")
        bus.web.send_signal(signal.SIGCONT)
        assert bus.send("pause").returncode == 0
        expect(page.locator(".card")).to_contain_text("Paused")
        active = bus.state()["metrics"]["activeSeconds"]
        bus.web.send_signal(signal.SIGSTOP)
        page.clock.run_for(1000)
        standing = seconds(timer.inner_text())
        assert abs(standing - active) <= 1
        page.clock.fast_forward(600_000)
        page.clock.run_for(1000)
        assert seconds(timer.inner_text()) == standing


def test_the_page_finds_a_phone_again_that_was_killed(bus, browser):
    bus.start()
    assert bus.send("start").returncode == 0
    with Page(browser, bus.link) as page:
        expect(page.locator(".card")).to_contain_text("Running")
        expect(page.locator(".splits li").first).to_be_visible()
        expect(page.locator(".devices .here").first).to_be_visible()
        bus.phone.kill()
        expect(page.locator(".line-of-state")).to_contain_text("out of reach")
        # What was known stays; what is not known any more does not look alive.
        expect(page.locator(".devices .here")).to_have_count(0)
        expect(page.locator(".devices .unsure").first).to_contain_text("not known")
        page.reload()
        expect(page.locator(".splits li").first).to_be_visible()
        # A press waits here meanwhile, and counts when the phone is back.
        page.locator(".panel .press.pause").click()
        expect(page.locator(".commands li").first).to_contain_text("waits")
        bus.start_phone()
        expect(page.locator(".card")).to_contain_text("Paused")
        expect(page.locator(".line-of-state")).not_to_contain_text("out of reach")
    assert bus.state()["phase"] == "paused"


def test_a_server_that_ends_is_told_of_and_another_link_is_asked_for(bus, browser):
    bus.start()
    with Page(browser, bus.link) as page:
        expect(page.locator(".card")).to_be_visible()
        bus.web.kill()
        expect(page.locator("#banner")).to_contain_text("connecting again")


# Once broken: A link that was clicked on another site did not open the page, because a strict cookie is not sent along
# a redirection from there.
def test_a_link_in_a_page_of_another_site_opens_the_page(bus, browser):
    bus.start()
    with Page(browser, None) as page:
        page.route("http://mail.example/", lambda route: route.fulfill(body=f'<a href="{bus.link}">the run</a>', content_type="text/html"))
        page.goto("http://mail.example/")
        page.get_by_text("the run").click()
        expect(page.locator(".card")).to_be_visible()
        assert "token" not in page.url


def test_a_phone_that_hangs_does_not_keep_the_page_waiting(bus, browser):
    bus.start()
    bus.phone.send_signal(signal.SIGSTOP)
    with Page(browser, bus.link) as page:
        expect(page.locator(".card")).to_be_visible()
        expect(page.locator("#banner")).to_be_hidden()


def test_only_the_link_opens_the_page(bus):
    bus.start()
    own = f"127.0.0.1:{bus.port}"
    press = json.dumps({"command": "start", "source": "page"})
    good = {"Content-Type": "application/json", "Origin": f"http://{own}"}
    routes = ["/", "/page.js", "/events", "/api/route", "/api/series", "/api/report", "/api/records", "/api/stats", "/nothing"]
    for path in routes:
        assert bus.request(path=path, cookie=False)[0] == 403, path
        assert bus.request(path=path, headers={"Cookie": f"runbus-{bus.port}={'0' * 32}"}, cookie=False)[0] == 403, path
        assert bus.request(path=path, headers={"Host": "evil.example"})[0] == 421, path
        assert bus.request(path=path, headers={"Origin": "http://evil.example"})[0] == 403, path
    assert bus.request(path="/?token=0123", cookie=False)[0] == 403
    assert bus.request(path="/api/records", headers={"Sec-Fetch-Site": "cross-site"})[0] == 403
    for headers, status in [
        ({"Content-Type": "application/json"}, 403), (good | {"Origin": "null"}, 403), (good | {"Content-Type": "text/plain"}, 415),
        (good | {"Host": "localhost:1"}, 421), (good | {"Cookie": ""}, 403),
    ]:
        assert bus.request("POST", "/api/press", headers, press)[0] == status, headers
    assert bus.request("POST", "/api/press", good, "x" * 5000)[0] == 413
    for wrong in ["", "{", '{"command": "fly", "source": "page"}', '{"command": "start", "source": "watch"}']:
        assert bus.request("POST", "/api/press", good, wrong)[0] == 400, wrong
    assert bus.request("DELETE", "/api/records")[0] == 405
    assert bus.state()["phase"] == "idle"
    assert bus.request("POST", "/api/press", good, press)[0] == 200
    assert bus.state()["phase"] == "running"


def test_eight_viewers_and_no_more(bus):
    bus.start()

    def is_free():
        connection = http.client.HTTPConnection("127.0.0.1", bus.port, timeout=PATIENCE)
        connection.request("GET", "/events", headers={"Cookie": f"runbus-{bus.port}={bus.token}"})
        status = connection.getresponse().status
        connection.close()
        return status == 200

    viewers = []
    for _ in range(8):
        connection = http.client.HTTPConnection("127.0.0.1", bus.port, timeout=PATIENCE)
        connection.request("GET", "/events", headers={"Cookie": f"runbus-{bus.port}={bus.token}"})
        response = connection.getresponse()
        assert response.status == 200 and response.readline().startswith(b"id: ")
        viewers.append((connection, response))
    assert not is_free()
    for connection, response in viewers:
        response.close()
        connection.close()

    bus.until(is_free, "a viewer that left makes room")


def test_32_requests_at_a_time_and_no_more(bus):
    bus.start("--synthetic", "--debounce", "2000")
    body = json.dumps({"command": "start", "source": "page"})
    good = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{bus.port}"}
    # A press waits for its verdict, which comes after the window: all of these are being answered together.
    with ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(lambda _: bus.request("POST", "/api/press", good, body)[0], range(40)))
    assert sorted(statuses) == [200] * 32 + [503] * 8
    assert bus.request("POST", "/api/press", good, body)[0] == 200


def test_every_answer_forbids_what_is_not_the_pages(bus):
    bus.start()
    answers = [("/", True), ("/page.js", True), ("/api/records", True), ("/nothing", True), ("/", False)]
    for path, has_cookie in answers:
        connection = http.client.HTTPConnection("127.0.0.1", bus.port, timeout=PATIENCE)
        connection.request("GET", path, headers={"Cookie": f"runbus-{bus.port}={bus.token}"} if has_cookie else {})
        response = connection.getresponse()
        rules = dict(rule.split(" ", 1) for rule in response.headers["Content-Security-Policy"].split("; "))
        connection.close()
        assert rules["default-src"] == "'none'" and rules["frame-ancestors"] == "'none'" and rules["form-action"] == "'none'", path
        assert all("unsafe" not in rule and "http" not in rule for rule in rules.values()), path
        assert response.headers["Referrer-Policy"] == "no-referrer", path
        assert response.headers["X-Content-Type-Options"] == "nosniff", path
        assert "no-store" in response.headers["Cache-Control"], path


def raw(bus, text, patience=PATIENCE):
    """Sends bytes and returns what comes until the server closes, or what came when it took too long."""
    with socket.create_connection(("127.0.0.1", bus.port), timeout=patience) as connection:
        connection.sendall(text)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except (TimeoutError, ConnectionResetError):
            pass
        return answer


# Once broken: A refused POST carried a second request past the checks, because the library left unread bodies in the
# connection.
def test_a_connection_has_one_request_within_limits(bus):
    bus.start()
    own = f"Host: 127.0.0.1:{bus.port}\r\nCookie: runbus-{bus.port}={bus.token}\r\n".encode()
    assert raw(bus, b"GET /page.js HTTP/1.1\r\n" + own + b"\r\n").startswith(b"HTTP/1.1 200 ")
    # A request of another site, and one inside its body that has the right names.
    press = json.dumps({"command": "start", "source": "page"}).encode()
    inner = b"POST /api/press HTTP/1.1\r\n" + own + b"Origin: http://127.0.0.1:%d\r\n" % bus.port
    inner += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(press) + press
    for outer in [
        b"Origin: http://evil.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Origin: http://evil.example\r\nContent-Length: 0\r\n\r\n",
        b"Origin: http://evil.example\r\nContent-Length: 3000000\r\n\r\n",
    ]:
        answer = raw(bus, b"POST /api/press HTTP/1.1\r\n" + own + outer + inner)
        assert answer.count(b"HTTP/1.1 ") == 1 and answer.split()[1] in (b"403", b"413", b"501"), answer
    assert bus.state()["phase"] == "idle"
    # Lines without an end, which a page of another site can make the browser send as an address.
    for size in (17 << 10, 8 << 20):
        answer = raw(bus, b"GET /?" + b"x" * size)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 431 "), answer[:100]
    assert bus.request(path="/api/report")[0] == 200


def test_slow_requests_are_ended_and_do_not_keep_others_out(bus):
    bus.start()
    slow = [socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE) for _ in range(32)]
    for connection in slow:
        connection.sendall(b"GET / HTTP/1.1\r\nHost:")
    bus.until(lambda: b" 503 " in raw(bus, b"GET / HTTP/1.1\r\n\r\n"), "a connection too many is turned away")
    assert all(b" 408 " in connection.recv(4096) for connection in slow), "the slow ones are told and ended"
    bus.until(lambda: bus.request(path="/api/report")[0] == 200, "an honest request is answered")
    for connection in slow:
        connection.close()


# Once broken: Beyond 64 connections the page's server reset them, because they were closed with their request unread.
def test_every_connection_too_many_is_told_so_and_none_is_reset(bus):
    bus.start()
    count = 200
    all_of_them = [socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE) for _ in range(count)]
    for connection in all_of_them:
        connection.sendall(b"GET / HTTP/1.1\r\nHost:")
    # The system takes what has arrived in order: these wait behind the others, and none of them is closed unheard.
    for connection in all_of_them:
        answer = connection.recv(4096)
        assert b" 408 " in answer or b" 503 " in answer, answer[:100]
        connection.close()
    bus.until(lambda: bus.request(path="/api/report")[0] == 200, "an honest request is answered")


def first_view(bus):
    """The first view that the page would get."""
    connection = http.client.HTTPConnection("127.0.0.1", bus.port, timeout=PATIENCE)
    connection.request("GET", "/events", headers={"Cookie": f"runbus-{bus.port}={bus.token}"})
    response = connection.getresponse()
    lines = [response.readline() for _ in range(3)]
    response.close()
    connection.close()
    return lines[2]


# Once broken: The server ended when it had no file descriptors, because accepting threw, and that was taken for the
# end.
def test_without_file_descriptors_the_server_waits_and_goes_on(bus):
    bus.start()
    # By then the node has its own connections: a snapshot has come over them.
    bus.until(lambda: b'"reachable":true' in first_view(bus), "the node has its connections")
    limit = len(os.listdir(f"/proc/{bus.web.pid}/fd")) + 6
    resource.prlimit(bus.web.pid, resource.RLIMIT_NOFILE, (limit, limit))
    held = [socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE) for _ in range(20)]
    bus.until(lambda: len(os.listdir(f"/proc/{bus.web.pid}/fd")) >= limit, "no descriptor is left")
    for connection in held:
        connection.close()
    bus.until(lambda: bus.request(path="/api/report")[0] == 200, "it answers again")
    held = [socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE) for _ in range(20)]
    bus.until(lambda: len(os.listdir(f"/proc/{bus.web.pid}/fd")) >= limit, "no descriptor is left again")
    bus.web.terminate()
    assert bus.web.wait(PATIENCE) == 0
    for connection in held:
        connection.close()


# Once broken: A viewer that read late and left killed the server, because a dispatch source that is suspended must not
# be released.
def test_a_viewer_that_reads_late_and_leaves_harms_nobody(bus):
    bus.start()
    run = import_runs(bus)[0]
    for _ in range(4):
        with socket.socket() as late:
            late.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            late.settimeout(PATIENCE)
            late.connect(("127.0.0.1", bus.port))
            late.sendall(f"GET /api/records/{run} HTTP/1.1\r\nHost: 127.0.0.1:{bus.port}\r\nCookie: runbus-{bus.port}={bus.token}\r\n\r\n".encode())
            # The rest of the answer waits in the server by now.
            answer = late.recv(4096)
            bus.until(lambda: bus.request(path="/api/report")[0] == 200, "others are answered")
            while part := late.recv(1 << 20):
                answer += part
        head, body = answer.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 200 ") and f"Content-Length: {len(body)}".encode() in head
        assert len(body) > 150_000, "too short to fill the buffers of the system"
    assert bus.request(path="/api/report")[0] == 200


def test_a_client_that_closes_its_side_gets_its_answer(bus):
    bus.start()
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE) as connection:
            connection.sendall(f"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:{bus.port}\r\nCookie: runbus-{bus.port}={bus.token}\r\n\r\n".encode())
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_connections_that_break_off_keep_nobody_out(bus):
    bus.start()
    for _ in range(200):
        connection = socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(b"GET / HT")
        connection.close()

    def is_answered():
        try:
            return bus.request(path="/api/report")[0] == 200
        except OSError:  # the house is still full
            return False

    # Sooner than the five seconds that a request may take.
    bus.until(is_answered, "an honest request is answered", 4)


def import_runs(bus):
    files = [ROOT / "examples/runs/synthetic.gpx"]
    shared = ROOT.parent / "shared/runs"
    if shared.is_dir():
        files += sorted(shared.glob("fr*.tcx"))[:2]
    else:
        files.append(ROOT / "Tests/Page/second.gpx")
    for file in files:
        if file.exists():
            assert bus.run("records", "import", str(file)).returncode == 0
    bus.until(lambda: json.loads(bus.request(path="/api/records")[1])["records"] != [], "the page has the records")
    bus.until(
        lambda: len(json.loads(bus.request(path="/api/records")[1])["records"]) == len([f for f in files if f.exists()]),
        "the page has all records")
    return [record["runId"] for record in json.loads(bus.request(path="/api/records")[1])["records"]]


def test_a_run_that_is_removed_while_the_phone_is_away_is_hidden_at_once(bus):
    bus.start()
    ids = import_runs(bus)
    bus.phone.terminate()
    bus.phone.wait()
    assert bus.run("records", "rm", ids[0], "--yes").returncode == 0
    shown = [record["runId"] for record in json.loads(bus.request(path="/api/records")[1])["records"]]
    assert shown == ids[1:]
    assert bus.request(path=f"/api/records/{ids[0]}")[0] == 404
    sums = json.loads(bus.request(path="/api/stats?by=year")[1])
    assert sum(one["count"] for one in sums["periods"]) == len(ids) - 1


def test_no_view_has_a_flaw_that_axe_finds(bus, browser):
    bus.start("--synthetic", "--speed", "20")
    assert bus.send("start").returncode == 0
    ids = import_runs(bus)
    views = ["#/", "#/records", f"#/records/{ids[0]}", f"#/compare/{ids[0]}/{ids[-1]}", "#/stats/year"]
    for locale, scheme, width in [("en-US", "light", 1280), ("ko-KR", "dark", 390), ("en-US", "dark", 390), ("ko-KR", "light", 1280)]:
        with Page(browser, bus.link, locale=locale, color_scheme=scheme, viewport={"width": width, "height": 844}) as page:
            for view in views:
                page.evaluate("(hash) => { location.hash = hash }", view)
                expect(page.locator("h1").first).to_be_attached()
                expect(page.get_by_text("Loading", exact=True)).to_have_count(0)
                flaws = Axe().run(page).response["violations"]
                assert [(flaw["id"], flaw["nodes"][0]["target"]) for flaw in flaws] == [], (locale, scheme, view)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, view)
            assert page.evaluate("document.documentElement.lang") == locale[:2]


def test_the_cursor_is_moved_by_keys_and_said_in_words(bus, browser):
    bus.start()
    ids = import_runs(bus)
    with Page(browser, bus.link) as page:
        page.evaluate("(hash) => { location.hash = hash }", f"#/records/{ids[0]}")
        slider = page.get_by_role("slider", name="Moment of the run")
        slider.focus()
        for _ in range(3):
            page.keyboard.press("PageUp")
        said = slider.get_attribute("aria-valuetext")
        assert re.match(r"\d+:\d\d · [\d.]+ km", said), said
        assert page.locator(".readout").inner_text() == said
        assert float(page.locator(".chart .cursor").first.get_attribute("x1")) > 0


def test_one_file_of_a_record_needs_no_network(bus, browser):
    bus.start()
    ids = import_runs(bus)
    assert bus.run("records", "edit", ids[0], "--title", "</script><script>alert(1)</script>").returncode == 0
    file = bus.folder / "run.html"
    done = bus.run("records", "show", ids[0], "--html", str(file))
    assert done.returncode == 0, done.stderr
    for units in ("metric", "imperial"):
        asked = bus.folder / f"{units}.html"
        assert bus.run("records", "show", ids[0], "--html", str(asked), "--units", units).returncode == 0
        with Page(browser, None, locale={"metric": "en-US", "imperial": "en-GB"}[units]) as page:
            page.goto(f"file://{asked}")
            expect(page.locator("dl.numbers").first).to_contain_text({"metric": " km", "imperial": " mi"}[units])
            # The reader can choose, and another file opens as it was asked for.
            page.locator("#units").click()
            expect(page.locator("dl.numbers").first).to_contain_text({"metric": " mi", "imperial": " km"}[units])
            page.goto("about:blank")
            page.goto(f"file://{asked}")
            expect(page.locator("dl.numbers").first).to_contain_text({"metric": " km", "imperial": " mi"}[units])
    with Page(browser, None) as page:
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{file}")
        expect(page.locator("h1")).to_have_text("</script><script>alert(1)</script>")
        expect(page.locator(".chart path.line").first).to_be_attached()
        expect(page.locator("nav")).to_have_count(0)
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def test_no_text_is_missing_or_unused():
    words = (ROOT / "web/words.js").read_text()
    entries = re.findall(r'^  (\w+): \{ en: "((?:[^"\\]|\\.)*)", ko: "((?:[^"\\]|\\.)*)" \},$', words, re.M)
    keys = {entry[0] for entry in entries}
    assert len(keys) == len(entries) == len(re.findall(r"^  \w+: \{", words, re.M)), "every entry has both languages, once"
    for key, en, ko in entries:
        assert en and ko, key
        assert set(re.findall(r"\{\w+\}", en)) == set(re.findall(r"\{\w+\}", ko)), key
    code = "".join(path.read_text() for path in sorted((ROOT / "web").glob("*.*")) if path.name != "words.js")
    used = set(re.findall(r'(?:word|metric|hasWord)\("(\w+)"', code)) | set(re.findall(r'data-(?:word|label)="(\w+)"', code))
    # Keys that stand in lists, and those that begin with a word of the bus.
    listed = {key for key in keys if f'"{key}"' in code}
    prefixes = set(re.findall(r'"(\w+_)" \+', code)) | set(re.findall(r"`(\w+_)\$\{", code))
    assert {key for key in used if not key.endswith("_")} <= keys, "the page uses a text that is not there"
    unused = {key for key in keys - used - listed if not any(key.startswith(prefix) for prefix in prefixes)}
    assert unused == set()


def test_a_page_that_is_opened_late_has_the_whole_run(bus, browser):
    bus.start("--synthetic", "--speed", "30")
    bus.drain(bus.spawn("watch", "--synthetic", "--device", "pulse", "--json"))
    assert bus.send("start").returncode == 0
    bus.until(lambda: bus.state()["metrics"]["elapsedSeconds"] > 120 and bus.state()["metrics"]["heartRateBpm"], "two minutes of the run")
    assert bus.send("pause").returncode == 0
    paused = bus.state()["metrics"]["elapsedSeconds"]
    assert bus.send("resume").returncode == 0
    # A server that knows nothing of the run so far.
    bus.web.kill()
    bus.web.wait()
    late = bus.spawn("web", "--http", "127.0.0.1:0", "--json", "--device", "late")
    bus.link = json.loads(late.stdout.readline())["url"]
    bus.port, bus.token = urlsplit(bus.link).port, parse_qs(urlsplit(bus.link).query)["token"][0]

    def series():
        return json.loads(bus.request(path="/api/series")[1])

    bus.until(lambda: len([one for one in series()["samples"] if one.get("heartRateBpm") and one["offsetSeconds"] < 120]) >= 10, "the heart rate from the start on")
    pause, = series()["pauses"]
    assert abs(pause["startedAtSeconds"] - paused) < 30 and pause["endedAtSeconds"] > pause["startedAtSeconds"]
    with Page(browser, bus.link) as page:
        expect(page.locator(".chart.heartRate rect.band")).to_be_attached()


def test_a_run_that_was_stopped_looks_like_its_record(bus, browser):
    bus.start("--synthetic", "--speed", "30")
    bus.drain(bus.spawn("watch", "--synthetic", "--device", "pulse", "--json"))
    with Page(browser, bus.link) as page:
        expect(page.locator(".card")).to_contain_text("No run yet")
        assert bus.send("start").returncode == 0
        bus.until(lambda: bus.state()["metrics"]["elapsedSeconds"] > 100 and bus.state()["metrics"]["heartRateBpm"], "some of the run")
        expect(page.locator(".chart.heartRate path.line")).to_be_attached()
        assert bus.send("stop").returncode == 0
        bus.until(lambda: json.loads(bus.request(path="/api/records")[1])["records"], "the page has the record")
        run = bus.state()["runId"]
        address = page.url.split("#")[0]
        other = page.context.new_page()
        other.goto(f"{address}#/records/{run}")
        expect(other.locator(".chart.heartRate figcaption")).to_contain_text("Highest")
        expect(page.locator(".charts figcaption")).to_have_text(other.locator(".charts figcaption").all_inner_texts())


# Once broken: A page whose port was taken left a device in the list of the phone, because its node had joined the bus
# before the server tried the port.
def test_a_page_that_cannot_be_served_leaves_no_device(bus):
    bus.start()
    done = bus.run("web", "--http", f"127.0.0.1:{bus.port}", "--device", "second")
    assert done.returncode == 75 and "is in use" in done.stderr, done
    devices = [json.loads(line) for line in bus.run("peers", "--json").stdout.splitlines()]
    names = {device["deviceId"]: device["role"] for device in devices}
    assert "second" not in names and names["web"] == "page", names
