import ArgumentParser
import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("What is said about wrong arguments")
struct UsageSentenceTests {
  // Once broken: `busnode help nothing` printed the whole help and exited 0, because ArgumentParser ignores words that
  // it does not find.
  // Once broken: `busnode records bests` was refused without a hint, and with `--help` it showed the help of another
  // command, because only commands were guesses, not options; the words before `--help` were not checked.
  @Test("A word that is no command is answered by what was probably meant")
  func guesses() {
    let answers = [
      ("start", "there is no command 'start': did you mean busnode send start?"),
      ("pause --json", "there is no command 'pause': did you mean busnode send pause?"),
      ("lap", "there is no command 'lap': did you mean busnode send lap?"),
      ("resume", "there is no command 'resume': did you mean busnode send resume or busnode recover resume?"),
      ("strat", "there is no command 'strat': did you mean busnode send start?"),
      ("sned start", "there is no command 'sned': did you mean busnode send?"),
      ("bests", "there is no command 'bests': did you mean busnode records stats --bests?"),
      ("records bests", "records has no command 'bests': did you mean busnode records stats --bests?"),
      ("records best", "records has no command 'best': did you mean busnode records stats --bests?"),
      ("splits", "there is no command 'splits': did you mean busnode state --splits?"),
      ("record", "there is no command 'record': did you mean busnode records?"),
      ("dcotor", "there is no command 'dcotor': did you mean busnode doctor?"),
      ("export", "there is no command 'export': did you mean busnode records export?"),
      ("outbox cancle 1f0a", "outbox has no command 'cancle': did you mean busnode outbox cancel?"),
      ("records help", "records has no command 'help': did you mean busnode help records?"),
      ("ls", "there is no command 'ls'"), ("completely wrong", "there is no command 'completely'"),
    ]
    for (arguments, answer) in answers {
      #expect(UnknownWord(arguments.split(separator: " ").map(String.init))?.message == answer)
    }
    // These are commands, or arguments of one.
    for arguments in ["", "send start", "send jump", "records", "records --json", "measure none.gpx", "--fast", "help"]
    {
      #expect(UnknownWord(arguments.split(separator: " ").map(String.init)) == nil, "\(arguments)")
    }
    #expect(WrongUsage(helpFor: ["help", "nothing"])?.message == "there is no command 'nothing'")
    #expect(WrongUsage(helpFor: ["help", "send", "x"])?.message == "send has no command 'x'")
    for arguments in [["help"], ["help", "send"], ["help", "records", "ls"], ["send", "help"]] {
      #expect(WrongUsage(helpFor: arguments) == nil)
    }
  }

  @Test("The words of ArgumentParser become those of this program, and say what is allowed")
  func sentences() {
    let said = [
      (
        "Unknown option '--tiemout'. Did you mean '--timeout'?", "there is no option --tiemout: did you mean --timeout?"
      ),
      ("Unknown option '--fast'. Did you mean '--wait'?", "there is no option --fast"),
      ("Unknown option '-z'", "there is no option -z"), ("Unexpected argument 'x'", "one argument is too many: 'x'"),
      ("2 unexpected arguments: 'x', 'y'", "2 arguments are too many: 'x', 'y'"),
      ("Missing expected argument '<file>'", "<file> is missing: a recording, GPX or TCX"),
      ("Missing value for '--format <format>'", "--format has no value: a recording, GPX or TCX"),
      (
        "The option '--json' does not take any value, but 'x' was specified.",
        "--json takes no value, and 'x' was given"
      ),
      ("The value '1' is invalid for '<id>'", "'1' is not what <id> takes: a recording, GPX or TCX"),
      (
        "The value 'x' is invalid for '--wait <wait>'. Please provide one of 'verdict', 'received' or 'none'.",
        "'x' is not what --wait takes: give verdict, received or none"
      ),
      (
        "The value 'x' is invalid for '--log-level <level>'. Please provide one of the following:\n  - trace\n  - debug",
        "'x' is not what --log-level takes: give trace or debug"
      ),
      ("The value 'a' is invalid for '--source <source>': 'a' is not one of b, c", "--source: 'a' is not one of b, c"),
      ("Give one of them.", "give one of them"), ("TCX is a format", "TCX is a format"),
    ]
    for (text, sentence) in said {
      #expect(UsageSentence.make(text, help: "A recording, GPX or TCX.") == sentence)
    }
    #expect(
      UsageSentence.make("The value 'My Watch' is invalid for '--device <name>'", help: "").contains(
        "is no name: a name"))
  }

  @Test("Help for a word that is no command is refused, however it is asked for")
  func helpForNothing() {
    for arguments in [["records", "bests", "--help"], ["records", "bests", "-h"], ["nothing", "--help"]] {
      #expect(WrongUsage(helpFor: arguments)?.message.contains("no command '") == true, "\(arguments)")
    }
    for arguments in [["--help"], ["records", "--help"], ["records", "ls", "-h"], ["send", "start", "--help"]] {
      #expect(WrongUsage(helpFor: arguments) == nil, "\(arguments)")
    }
  }

  // Once broken: `--speed fast` was refused without what is allowed, and so were times, ports and numbers of other
  // options, because a refusal repeated the help of the option, which says what the value is for.
  @Test("Every option that takes a number, a time or sources says what is allowed")
  func allowed() {
    for (arguments, allowed) in [
      ("phone --speed 0", "0.001 to 10000"), ("up --speed fast", "0.001 to 10000"),
      ("phone --weight x", "20 to 300 kg"),
      ("phone --debounce x", "0 to 60000"), ("up --debounce 70000", "0 to 60000"),
      ("phone --events-port 70000", "1 to 65535"), ("phone --pairing-port 0", "1 to 65535"),
      ("join --events-port 0", "1 to 65535"), ("state --timeout soon", "90, 12s"), ("state --timeout 0", "more than 0"),
      ("watch --hub-lost-after x", "90, 12s"), ("phone --synthetic --duration 0", "more than 0"),
      ("phone --synthetic --seed -1", "0 or more"), ("phone --replay a.gpx --run 0", "1 or more"),
      ("measure a.gpx --run x", "1 or more"), ("records import a.gpx --run 0", "1 or more"),
      ("monitor --count 0", "1 or more"), ("pair --sources ,", "phone, watch"), ("join --sources ,", "phone, watch"),
    ] {
      let words = arguments.split(separator: " ").map(String.init)
      do {
        _ = try Busnode.parseAsRoot(words)
        Issue.record("\(arguments) is not refused")
      } catch {
        let message = WrongUsage(error, of: nil, words).message
        #expect(message.contains(allowed), "\(arguments): \(message)")
      }
    }
  }

  @Test("A swapped, missing, added or wrong letter is one slip")
  func slips() {
    for (word, other, slips) in [
      ("send", "sned", 1), ("send", "sen", 1), ("send", "sendd", 1), ("send", "sand", 1), ("send", "send", 0),
      ("", "abc", 3), ("state", "route", 3), ("stop", "post", 4),
    ] {
      #expect(Spelling.slips(from: word, to: other) == slips, "\(word) \(other)")
      #expect(Spelling.slips(from: other, to: word) == slips)
    }
  }

  // Once broken: A megabyte for a field of a condition took a minute to be refused, and was repeated as a whole.
  @Test("A word that is longer than any other is meant by none, and is not repeated as a whole")
  func endless() {
    let word = String(repeating: "a.", count: 500_000)
    #expect(!Spelling.isClose(word, "a.a.a"))
    #expect(throws: TextError.self) { _ = try StateCondition("\(word) == 1") }
    let failure = Failure(code: "usage", message: "'\(word)' is no field", exitStatus: ExitStatus.usage)
    #expect(failure.message.count < 2100 && failure.message.hasSuffix("a.a.' is no field"))
  }

  // Once broken: `records export --output run.tcx` asked for `--format`; `-` was a file, because each option was read
  // alone.
  @Test("The name of a file says the format of an export")
  func formats() {
    for (file, format) in [
      ("run.gpx", "gpx"), ("a/b.c/run.TCX", "tcx"), ("run.json", "json"), ("x.y.csv", "csv"), ("run", nil),
      ("a.gpx/run", nil), ("run.gpx.gz", nil), (".", nil), ("-", nil),
    ] { #expect(RecordsExport.Format(file: file)?.rawValue == format, "\(file)") }
  }

  // Once broken: `send start` in a run of half an hour said "it counts once", because the verdict does not say how old
  // what it repeats is; the receipt does.
  @Test("A press that repeats one of long ago says for how long it has had its effect")
  func longAgo() {
    let verdict = Verdict(
      commandID: CommandID(high: 0, low: 1), kind: .start, source: .shell,
      outcome: .coalesced(into: CommandID(high: 0, low: 2)), runID: nil, term: 1, revision: 1, effectiveAt: nil)
    func said(_ phase: RunPhase?, _ age: BusDuration?) -> String { Sentence.verdict(verdict, phase: phase, age: age) }
    #expect(
      said(.running, .seconds(1380)) == "start was already asked for: the run has been running for 23 min (revision 1)")
    #expect(said(.running, .seconds(2)) == "start was already asked for: the run has been running for 2 s (revision 1)")
    let others: [(RunPhase, BusDuration?)] = [
      (.running, .milliseconds(999)), (.running, nil), (.paused, .seconds(1380)),
    ]
    for (phase, age) in others {
      #expect(
        said(phase, age) == "start was already asked for: it counts once; the run is \(phase.rawValue) (revision 1)")
    }
  }

  // Once broken: A `monitor` that was stopped for a while left out 9,000 snapshots silently, because the numbers of the
  // snapshots were not looked at.
  @Test("A follower that missed snapshots knows how many, and reports nothing else")
  func missed() {
    func gaps(_ orders: [(term: UInt64, revision: UInt64, tick: UInt64)]) -> [UInt64?] {
      var gaps = MissedSnapshots()
      return orders.map { gaps.receive(SnapshotOrder(term: $0.term, revision: $0.revision, tick: $0.tick)) }
    }
    #expect(gaps([(1, 0, 7), (1, 0, 9), (1, 1, 10), (1, 1, 11)]) == [nil, nil, nil, nil])
    #expect(
      gaps([(1, 0, 1), (1, 0, 2), (1, 1, 40), (1, 1, 41), (1, 1, 41), (1, 0, 3)]) == [nil, nil, 37, nil, nil, nil])
    // A hub that starts again counts from one.
    #expect(gaps([(1, 0, 1), (1, 0, 2), (2, 0, 1), (2, 0, 2), (3, 0, 4)]) == [nil, nil, nil, nil, 3])
    #expect(MissedSnapshots.sentence(1).hasPrefix("1 snapshot was missed"))
    #expect(MissedSnapshots.sentence(37).hasPrefix("37 snapshots were missed"))
  }
}
