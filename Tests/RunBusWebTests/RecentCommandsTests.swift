import Foundation
import RunBus
import Testing

@testable import RunBusWeb

@Suite("The recent commands of the page")
struct RecentCommandsTests {
  private var commands = RecentCommands(own: "web")
  private let now = Date(timeIntervalSince1970: 1_795_000_000)

  private func receipt(_ number: UInt64, _ stage: ReceiptStage) -> Receipt {
    Receipt(commandID: CommandID(high: 0, low: number), kind: .pause, source: .watch, stage: stage)
  }

  private func verdict(_ number: UInt64) -> Receipt {
    receipt(
      number,
      .verdict(
        Verdict(
          commandID: CommandID(high: 0, low: number), kind: .pause, source: .watch, outcome: .applied, runID: nil,
          term: 1,
          revision: 2, effectiveAt: nil)))
  }

  private func words() throws -> [String] {
    let data = try JSONEncoder().encode(commands.all)
    let all = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
    return all.map { $0["receipt"] as? String ?? "none" }
  }

  // Once broken: A press of another device was said to wait for its verdict for ever, when the phone had died in
  // between or was out of reach, because the verdict is published once; nobody noticed that it could have been missed.
  @Test("A command of another device is not said to wait after the phone died or was out of reach")
  mutating func unheard() throws {
    commands.note(receipt(1, .pending), of: "watch", at: now)
    commands.note(receipt(2, .pending), of: "web", at: now)
    commands.note(receipt(3, .queued), of: nil, at: now)
    commands.note(verdict(4), of: "watch", at: now)
    #expect(try words() == ["applied", "queued", "pending", "pending"])
    commands.loseTrack()
    // The verdicts on the page's own presses are delivered whenever the phone is back.
    #expect(try words() == ["applied", "queued", "pending", "unheard"])
    commands.note(verdict(1), of: "watch", at: now)
    commands.loseTrack()
    #expect(try words() == ["applied", "queued", "pending", "applied"])
    commands.note(receipt(1, .pending), of: "watch", at: now)
    #expect(try words().last == "applied", "a verdict is the last stage")
    for number in UInt64(10)..<40 { commands.note(receipt(number, .pending), of: "watch", at: now) }
    #expect(commands.all.count == RecentCommands.countMax)
  }
}
