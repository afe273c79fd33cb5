"""Tests of what the owner of a run can do on the page: rename, export and delete it."""

import json

from playwright.sync_api import expect

from test_drawing import Stage, record_of
from test_page import Page, bus, import_runs  # noqa: F401 (a fixture)

RUN = "1" * 32


def post(bus, path, body, **headers):  # noqa: F811
    text = body if isinstance(body, str) else json.dumps(body)
    status, answer = bus.request("POST", path, {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{bus.port}"} | headers, text)
    return status, json.loads(answer)


def titles(bus):  # noqa: F811
    return {json.loads(line)["runId"]: json.loads(line)["title"] for line in bus.run("records", "ls", "--json").stdout.splitlines()}


def test_a_run_is_renamed_exported_and_deleted_on_the_page(bus, browser):  # noqa: F811
    bus.start()
    ids = import_runs(bus)
    with Page(browser, bus.link) as page:
        page.evaluate("(hash) => { location.hash = hash }", f"#/records/{ids[0]}")
        page.get_by_role("button", name="Rename").click()
        title = page.get_by_label("Title")
        title.fill('River <b>loop</b> & "more"')
        title.press("Enter")
        expect(page.locator("h1")).to_have_text('River <b>loop</b> & "more"')
        expect(page.locator("#told")).to_contain_text("This run is called River")
        assert titles(bus)[ids[0]] == 'River <b>loop</b> & "more"'
        # The page that is loaded next has it, too.
        page.reload()
        expect(page.locator("h1")).to_have_text('River <b>loop</b> & "more"')
        # Escape leaves the title as it was.
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("Title").fill("something else")
        page.get_by_label("Title").press("Escape")
        expect(page.get_by_label("Title")).to_be_hidden()
        for format, begin in (("GPX", "<?xml"), ("TCX", "<?xml"), ("JSON", "{"), ("CSV", "offsetSeconds,")):
            with page.expect_download() as download:
                page.get_by_role("button", name=format, exact=True).click()
            assert download.value.suggested_filename == f"run-{ids[0][:8]}.{format.lower()}"
            text = open(download.value.path(), encoding="utf-8", newline="").read()
            assert text.startswith(begin)
            # As the shell writes it.
            assert text == bus.run("records", "export", ids[0], "--format", format.lower()).stdout.replace("\n", "\r\n" if format == "CSV" else "\n")
        # Deleting asks, and the first answer is no.
        page.get_by_role("button", name="Delete", exact=True).click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Delete River <b>loop</b>")
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        assert ids[0] in titles(bus)
        page.get_by_role("button", name="Delete", exact=True).click()
        dialog.get_by_role("button", name="Delete for good").click()
        expect(page.locator("#told")).to_contain_text("is deleted")
        expect(page.locator("table.records tbody tr")).to_have_count(len(ids) - 1)
        assert set(titles(bus)) == set(ids[1:])
        assert bus.request(path=f"/api/records/{ids[0]}")[0] == 404


def test_a_run_is_changed_while_the_phone_does_not_run(bus):  # noqa: F811
    bus.start()
    ids = import_runs(bus)
    bus.phone.terminate()
    bus.phone.wait()
    assert post(bus, f"/api/records/{ids[0]}/title", {"title": "At rest"}) == (200, {"title": "At rest"})
    shown = {record["runId"]: record["title"] for record in json.loads(bus.request(path="/api/records")[1])["records"]}
    assert shown[ids[0]] == "At rest" and json.loads(bus.request(path=f"/api/records/{ids[0]}")[1])["summary"]["title"] == "At rest"
    assert post(bus, f"/api/records/{ids[1]}/remove", {"runId": ids[1]})[0] == 200
    assert bus.request(path=f"/api/records/{ids[1]}")[0] == 404
    assert titles(bus)[ids[0]] == "At rest" and ids[1] not in titles(bus)


def test_changes_of_runs_keep_the_rules_of_the_server(bus):  # noqa: F811
    bus.start()
    ids = import_runs(bus)
    before = titles(bus)
    path, body = f"/api/records/{ids[0]}/remove", {"runId": ids[0]}
    for headers, status in [({"Origin": "http://evil.example"}, 403), ({"Content-Type": "text/plain"}, 415), ({"Cookie": ""}, 403), ({"Host": "evil.example"}, 421)]:
        assert post(bus, path, body, **headers)[0] == status, headers
    for method in ("DELETE", "PUT"):
        assert bus.request(method, f"/api/records/{ids[0]}")[0] == 405
    assert bus.request(path=path)[0] == 404, "reading removes nothing"
    for wrong in ["", "{}", '{"runId": "0"}', json.dumps({"runId": ids[1]}), '{"runId": true}']:
        assert post(bus, path, wrong)[0] == 400, wrong
    for wrong in ["", "{}", '{"title": 7}', json.dumps({"title": "x" * 257})]:
        status, answer = post(bus, f"/api/records/{ids[0]}/title", wrong)
        assert status == 400 and "title" in answer["error"]["message"], wrong
    for unknown in (f"/api/records/{'0' * 32}/remove", "/api/records/x/title", f"/api/records/{ids[0]}/note", f"/api/records/{ids[0]}/remove/x", "/api/records"):
        assert post(bus, unknown, {"runId": "0" * 32, "title": "x"})[0] == 404, unknown
    assert bus.request(path=f"/api/records/{ids[0]}/export?format=exe")[0] == 400
    assert bus.request(path=f"/api/records/{'0' * 32}/export?format=gpx")[0] == 404
    assert titles(bus) == before


def test_a_machine_without_the_phone_offers_no_changes_and_refuses_them(bus, browser):  # noqa: F811
    bus.start()
    ids = import_runs(bus)
    bus.phone.terminate()
    bus.phone.wait()
    # The phone was another machine all along.
    folder, = (bus.folder / "state").glob("**/phone")
    folder.rename(bus.folder / "elsewhere")
    assert json.loads(bus.request(path="/api/owner")[1])["canChange"] is False
    for act, body in (("title", {"title": "mine"}), ("remove", {"runId": ids[0]})):
        status, answer = post(bus, f"/api/records/{ids[0]}/{act}", body)
        assert (status, answer["error"]["code"]) == (403, "notOwner") and "on the machine of the phone" in answer["error"]["message"]
    assert bus.run("records", "edit", ids[0], "--title", "mine").returncode != 0, "the shell has the same rule"
    with Page(browser, bus.link) as page:
        page.evaluate("(hash) => { location.hash = hash }", f"#/records/{ids[0]}")
        expect(page.locator("h1")).not_to_have_text("")
        for name in ("Rename", "Delete", "GPX"):
            expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert bus.request(path=f"/api/records/{ids[0]}/export?format=csv")[0] == 403


def test_a_change_that_fails_says_why_and_changes_nothing(browser):
    with Stage(browser) as stage:
        stage.answers[f"records/{RUN}"] = record_of()
        refusal = {"error": {"code": "storeHeld", "message": "another process holds the store"}}
        for act in ("title", "remove", "export?format=gpx"):
            stage.page.route(f"**/api/records/{RUN}/{act}", lambda route: route.fulfill(status=503, json=refusal))
        stage.open(hash=f"#/records/{RUN}")
        page, told = stage.page, stage.page.locator("#told")
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("Title").fill("other")
        page.get_by_role("button", name="Save").click()
        expect(told).to_have_text("This did not work: another process holds the store")
        expect(page.get_by_label("Title")).to_have_value("other")
        page.get_by_role("button", name="Cancel").click()
        before = page.locator("h1").inner_text()
        for press in (lambda: page.get_by_role("button", name="GPX", exact=True).click(), lambda: (
                page.get_by_role("button", name="Delete", exact=True).click(), page.get_by_role("button", name="Delete for good").click())):
            page.evaluate("() => { document.getElementById('told').textContent = '' }")
            press()
            expect(told).to_have_text("This did not work: another process holds the store")
        expect(page.locator("h1")).to_have_text(before)
        expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_file_of_a_record_has_no_tools(bus, browser):  # noqa: F811
    bus.start()
    run = import_runs(bus)[0]
    file = bus.folder / "run.html"
    assert bus.run("records", "show", run, "--html", str(file)).returncode == 0
    with Page(browser, None) as page:
        page.goto(f"file://{file}")
        expect(page.locator(".hues path, .route > .line").first).to_be_attached()
        expect(page.locator(".owned")).to_have_count(0)
