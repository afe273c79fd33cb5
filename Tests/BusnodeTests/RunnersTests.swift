import ArgumentParser
import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("up --runners: arguments, and the comparison of the phones")
struct RunnersTests {
  private static func member(_ number: UInt8) -> MemberID { MemberID([UInt8](repeating: number, count: 32))! }
  private static let digest = LogHash([UInt8](repeating: 1, count: 32))!
  private static let otherDigest = LogHash([UInt8](repeating: 2, count: 32))!

  /// A room of two, all records in.
  private static func report(
    of me: UInt8, members: [(UInt8, String, Int?)] = [(1, "Anna", 4001), (2, "Ben", 3902)], count: UInt64 = 9,
    digest: LogHash = digest, disputes: Set<MemberID> = []
  ) -> RoomReport {
    let roster = members.map { number, nickname, decimetres in
      RoomState.Member(
        id: member(number), card: RoomCard(nickname: Nickname(nickname)!), isReady: true,
        record: decimetres.map {
          RoomRecord(
            version: 1, decimetres: $0, elapsed: .seconds(120), isFinished: true, run: RunID(high: 1, low: 1))
        })
    }
    let startsAt = LogTime.zero + .seconds(10)
    let state = RoomState(
      stage: .settling(startsAt: startsAt, endedAt: startsAt + .seconds(12)),
      terms: RoomTerms(goal: .seconds(120)), owner: member(1), members: roster, disputes: disputes)
    return RoomReport(
      room: RoomID(high: 1, low: 1), me: member(me), state: state, isProvisional: false, isLost: false, count: count,
      digest: digest, startsIn: nil, clockError: nil)
  }

  private static let anna = RunnerView(
    nickname: "Anna", report: report(of: 1),
    told: [.init(ask: "open", verdict: .opened), .init(ask: "ready", verdict: .noted)], startedAt: 1000)
  private static let ben = RunnerView(
    nickname: "Ben", report: report(of: 2),
    told: [.init(ask: "enter", verdict: .entered), .init(ask: "ready", verdict: .noted)], startedAt: 1000.003)
  private static let log = RunnersLog(
    count: 9, digest: digest, verdicts: [member(1): [.opened, .noted], member(2): [.entered, .noted]])

  private static func differences(_ change: (inout RunnerView) -> Void) -> [String] {
    var changed = ben
    change(&changed)
    return RunnersAgreement.differences(of: [anna, changed], log: log)
  }

  @Test("Phones with the same room, entries, digest, verdicts and result, and with starts at one moment, agree")
  func agreement() {
    #expect(Self.differences { _ in }.isEmpty)
    let skew = RunnersAgreement.skew(of: [Self.anna, Self.ben])
    #expect(skew.map { abs($0 - 0.003) < 1e-6 } == true)
  }

  @Test("Every planted difference is noticed")
  func plantedDifferences() {
    func sees(_ part: String, _ change: (inout RunnerView) -> Void, line: Int = #line) {
      let found = Self.differences(change)
      #expect(found.contains { $0.contains(part) }, "line \(line): \(found)")
    }
    sees("Ben has no room") { $0.report = nil }
    sees("the roster of Ben is Anna") { $0.report = Self.report(of: 2, members: [(1, "Anna", 4001)]) }
    sees("the roster of Ben is Ben, Anna") {
      $0.report = Self.report(of: 2, members: [(2, "Ben", 3902), (1, "Anna", 4001)])
    }
    sees("Ben has read 8 entries, Anna 9") { $0.report?.count = 8 }
    sees("Ben has another digest than Anna") { $0.report?.digest = Self.otherDigest }
    sees("Ben has another result than Anna") {
      $0.report = Self.report(of: 2, members: [(1, "Anna", 4001), (2, "Ben", 4002)])
    }
    sees("Ben has no complete result") {
      $0.report = Self.report(of: 2, members: [(1, "Anna", 4001), (2, "Ben", nil)])
    }
    sees("Ben says that Anna has read another log") { $0.report = Self.report(of: 2, disputes: [Self.member(1)]) }
    sees("the log has lost entries") { $0.report?.isLost = true }
    sees("Ben says that somebody has changed the log") { $0.report?.warnings = [.altered] }
    sees("another verdict of ready") { $0.told[1].verdict = .rejected(.notRecruiting) }
    sees("Ben has told 1 of 2 verdicts") { $0.told.removeLast() }
    sees("Ben has kept no run") { $0.startedAt = nil }
    sees("the starts are 51 ms apart; at most 50 ms") { $0.startedAt = 1000.051 }
  }

  @Test("A digest that all phones share and the log has not is noticed, and a log that cannot be read")
  func logDiffers() {
    var log = Self.log
    log.digest = Self.otherDigest
    #expect(RunnersAgreement.differences(of: [Self.anna, Self.ben], log: log).count == 2)
    #expect(RunnersAgreement.differences(of: [Self.anna, Self.ben], log: nil) == ["the log could not be read"])
  }

  @Test(
    "Options that do not go together with --runners are refused, and those that need it",
    arguments: [
      "--runners 1", "--runners 33", "--runners 4 --synthetic", "--runners 4 --replay run.gpx", "--runners 4 --seed 2",
      "--runners 4 --script demo.run", "--runners 4 --bus club", "--runners 4 --address tcp://127.0.0.1:7070",
      "--runners 4 --insecure", "--runners 4 --goal 25h", "--goal 2m", "--gather", "--pace 5:30",
      "--synthetic --pace 1:00",
    ])
  func refused(words: String) {
    #expect(throws: (any Error).self) {
      _ = try Busnode.parseAsRoot(["up"] + words.split(separator: " ").map(String.init))
    }
  }

  @Test("The runners have names, buses and paces of their own, up to 32")
  func runners() throws {
    _ = try Busnode.parseAsRoot(["up", "--runners", "4", "--goal", "2m", "--gather", "--speed", "10", "--plain"])
    let plan = RunnersPlan(
      executable: "busnode", environment: [:], name: "up-1", count: 32, goal: RunGoal(time: .seconds(60))!,
      speed: .realTime, gathers: true, arguments: [])
    #expect(Set(plan.runners.map(\.nickname)).count == 32)
    #expect(plan.runners.allSatisfy { Nickname($0.nickname) != nil })
    #expect(Set(plan.runners.map(\.pace)).count == 32)
    #expect(plan.runners.map(\.bus.rawValue).prefix(2) == ["up-1-1", "up-1-2"])
    #expect(plan.runners.allSatisfy { RunnersPlan.metresBounds.contains($0.metres) })
  }
}
