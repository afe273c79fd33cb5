import Foundation
import RunBus
import Testing

@testable import RunBusWeb

@Suite("The recent commands of the page")
struct CommandJSONTests {
  private func receipt(_ number: UInt64, _ stage: ReceiptStage) -> Receipt {
    Receipt(commandID: CommandID(high: 0, low: number), kind: .pause, source: .watch, stage: stage)
  }

  // Once broken: A press of another device was said to wait for its verdict for ever, when the phone had died in
  // between or was out of reach, because the verdict is published once; nobody noticed that it could have been missed.
  @Test("A command of another device is not said to wait after the phone was out of reach")
  func unheard() throws {
    var board = RunBoard(own: "web")
    board.receive(.link(Reachability(isReachable: true)), at: .zero)
    board.receive(.receipt(receipt(1, .pending), "watch"), at: .zero)
    board.receive(.ownReceipt(receipt(2, .pending)), at: .zero)
    board.receive(.link(Reachability(isReachable: false)), at: .zero)
    let data = try JSONEncoder().encode(
      board.commands.map {
        CommandJSON($0, isUnheard: board.isUnheard($0, at: .zero), at: Date(timeIntervalSince1970: 0))
      })
    let all = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
    #expect(all.map { $0["receipt"] as? String } == ["pending", "unheard"])
    #expect(all.map { $0["deviceId"] as? String } == ["web", "watch"])
    #expect(all.allSatisfy { $0["at"] as? String == "1970-01-01T00:00:00.000Z" })
  }
}
