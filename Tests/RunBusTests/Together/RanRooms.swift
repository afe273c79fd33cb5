import Foundation
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// Rooms of a fleet that are written entry by entry, without hubs, on a clock that the test moves.
final class RanRooms: Sendable {
  let fleet = FleetID.made(name: "crew")
  let keys: [MemberKey]
  private let names: Mutexed<[Nickname]>
  private let passed = Mutexed(BusDuration.zero)
  /// Options for a log with the test's clock.
  var options: LogOptions {
    var options = LogOptions()
    options.machineClock = clock
    options.wallSeconds = { [passed] in Date().timeIntervalSince1970 + passed.withLock { $0.seconds } }
    return options
  }
  var clock: @Sendable () -> BusTime { { [passed] in Loop.now + passed.withLock { $0 } } }

  init(_ names: [String]) {
    keys = names.map { _ in .random() }
    self.names = Mutexed(names.map { Nickname($0)! })
  }

  func pass(_ span: BusDuration) { passed.withLock { $0 = $0 + span } }
  func rename(_ runner: Int, _ name: String) { names.withLock { $0[runner] = Nickname(name)! } }
  func id(_ runner: Int) -> MemberID { keys[runner].id }

  /// Writes a room of all runners.
  ///
  /// - Parameter decimetres: What their records say; `nil` for one without a record. Without any the room never begins.
  func write(to log: any SharedLog, _ decimetres: [Int?]?) async throws -> RoomID {
    let nonce = RoomNonce.random()
    let room = RoomID.made(owner: id(0), nonce: nonce)
    var numbers = [UInt64](repeating: 0, count: keys.count)
    func say(_ runner: Int, _ ask: RoomAskKind) async throws {
      numbers[runner] += 1
      let opens = if case .open = ask { true } else { false }
      let content = RoomContent(
        fleet: fleet, room: room, author: id(runner), number: numbers[runner], ask: ask, nonce: opens ? nonce : nil)
      try await log.append(EntrySigning(keys[runner]).signed(content), author: id(runner), to: room)
    }
    let cards = names.withLock { $0.map { RoomCard(nickname: $0) } }
    try await say(0, .open(RoomTerms(goal: .seconds(600), countdown: .seconds(3)), cards[0]))
    for runner in keys.indices.dropFirst() { try await say(runner, .enter(cards[runner], metres: nil, seek: nil)) }
    guard let decimetres else { return room }
    for runner in keys.indices { try await say(runner, .ready(true)) }
    try await say(0, .begin)
    pass(.seconds(604))
    for (runner, decimetres) in decimetres.enumerated() {
      guard let decimetres else { continue }
      let record = RoomRecord(
        version: 1, decimetres: decimetres, elapsed: .seconds(600), isFinished: true,
        run: .made(room: room, member: id(runner)))
      try await say(runner, .record(record))
    }
    return room
  }

  /// The results by an independent reading of a log.
  func history(_ log: any SharedLog) async throws -> RoomHistory {
    var history = RoomHistory()
    try await history.add(log, fleet: fleet)
    return history
  }
}
