import Foundation
import RunBus
import RunScripts
import TestSupport
import Testing

@testable import busnode

@Suite("A command of the shell", .timeLimit(.minutes(4)))
struct ShellCommandTests {
  init() { brokenPipesAreErrors }

  private func run(
    _ line: String, _ body: String = "", timeout: BusDuration = .seconds(60)
  ) async -> ShellCommand.Ending {
    await ShellCommand(line, timeout: timeout).run(
      Array(body.utf8), variables: ["RUNBUS_MESSAGE_NAME": "note"], output: .caller(max: 100))
  }

  @Test("It gets the body on its standard input, the name in its environment, and its output is the answer")
  func input() async {
    #expect(await run("printf '%s: ' \"$RUNBUS_MESSAGE_NAME\"; cat", "a\0b") == .succeeded(Array("note: a\0b".utf8)))
  }

  @Test("It need not read its input, however long that is")
  func unread() async {
    let body = String(repeating: "x", count: AppMessage.bodyMax)
    #expect(await run("exec <&-; true", body) == .succeeded([]))
    #expect(await run("wc -c | tr -d ' '", body) == .succeeded(Array("32768\n".utf8)))
  }

  @Test("Another exit status, a signal and a flood of output are failures with one line")
  func failures() async {
    #expect(await run("exit 3") == .failed("it ended with exit status 3"))
    #expect(await run("kill -9 $$") == .failed("it was ended by signal 9"))
    #expect(await run("no-such-command 2>&-") == .failed("it ended with exit status 127"))
    #expect(await run("yes") == .failed("it wrote more than an answer has room for"))
    #expect(await run("printf %0100d 0") == .succeeded(Array(String(repeating: "0", count: 100).utf8)))
  }

  @Test("One that hangs is ended with all that it has started, also when it ignores SIGTERM")
  func hang() async {
    #expect(
      await run("trap '' TERM; sleep 600 & wait; sleep 600", timeout: .milliseconds(100))
        == .failed("it took longer than 0.1 s and was ended"))
  }

  // Once broken: The library that runs it stops at the end of the shell, which dies of SIGTERM before what it has started.
  @Test("What a command has started ends with it, also when that ignores SIGTERM", arguments: ["wait", "exit 3"])
  func descendants(end: String) async throws {
    let name = "runbus-\(UInt64.random(in: .min ... .max))"
    let place = FileManager.default.temporaryDirectory.appending(path: name).path
    let pipe = place + ".pipe"
    defer { for path in [place, pipe] { unlink(path) } }
    // The child alone holds the other end.
    try #require(mkfifo(pipe, 0o600) == 0)
    let reader = open(pipe, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let child = "sh -c 'trap \"\" TERM; exec 3> \(pipe); echo > \(place); exec sleep 600'"
    let ending = await run("\(child) & until [ -s \(place) ]; do sleep 0.01; done; \(end)", timeout: .seconds(5))
    #expect(ending != .succeeded([]))
    var waited = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
    #expect(poll(&waited, 1, 10_000) == 1 && waited.revents & Int16(POLLHUP) != 0)
  }
}

@Suite("Which events monitor shows")
struct EventFilterTests {
  private static let message = BusEvent.message(
    MessageEvent(id: MessageID(high: 0, low: 1), name: "note", from: "watch", to: "phone", size: 3))
  private static let presence = BusEvent.presence(Presence(deviceID: "widget", role: .watch, isReachable: true))

  @Test("All, or those of a word, of a device, or both")
  func words() {
    let (message, presence) = (Self.message, Self.presence)
    func taken(_ filter: EventFilter) -> [Bool] { [filter.takes(message), filter.takes(presence)] }
    #expect(taken(EventFilter()) == [true, true])
    #expect(taken(EventFilter(words: [.message])) == [true, false])
    #expect(taken(EventFilter(words: [.verdict])) == [false, false])
    #expect(taken(EventFilter(devices: ["widget"])) == [false, true])
    #expect(taken(EventFilter(devices: ["phone", "widget"])) == [true, true])
    #expect(taken(EventFilter(words: [.presence], devices: ["phone"])) == [false, false])
  }

  @Test("A snapshot is as old as its age, and about the device that changed the run")
  func snapshots() {
    var snapshot = Snapshot.none
    func takes(_ filter: EventFilter) -> Bool {
      filter.takes(.snapshot(StateMessage(snapshot: snapshot, age: .seconds(3))))
    }
    #expect(takes(EventFilter(ageMax: .seconds(3))))
    #expect(!takes(EventFilter(ageMax: .zero)))
    #expect(!takes(EventFilter(devices: ["watch"])))
    snapshot.changedBy = Author(source: .watch, deviceID: "watch", commandID: CommandID(high: 0, low: 1))
    #expect(takes(EventFilter(devices: ["watch"])))
  }

  @Test("A time of day has milliseconds, in the time zone of the machine")
  func timeOfDay() {
    let text = Sentence.timeOfDay(Date(timeIntervalSince1970: 1_795_289_467.25))
    #expect(text.wholeMatch(of: /\d\d:\d\d:07\.250/) != nil, "\(text)")
  }
}
