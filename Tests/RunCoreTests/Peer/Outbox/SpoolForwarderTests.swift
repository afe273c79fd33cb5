@testable import RunCore
import Testing

@Suite("The commands that a peer forwards from the spool")
struct SpoolForwarderTests {
  private var generator = SeededGenerator(seed: 1)
  private var forwarder = SpoolForwarder(bootID: "boot")

  private func command(_ id: UInt64, pressedAt seconds: Int64) -> ForwardedCommand {
    ForwardedCommand(
      command: Command(id: CommandID(high: 4, low: id), kind: .lap, source: .shell), deviceID: DeviceID("shell"),
      since: .zero + .seconds(seconds), isUncertain: false)
  }

  private mutating func sent(at seconds: Int64) -> [UInt64] {
    forwarder.nextRequests(at: .zero + .seconds(seconds), generator: &generator).compactMap { request in
      if case .command(let request) = request.subject { request.command.id.low } else { nil }
    }
  }

  @Test("All commands go in press order, again and again, until their verdicts are known")
  mutating func order() {
    #expect(forwarder.add([command(1, pressedAt: 2), command(2, pressedAt: 1)]) == true)
    #expect(forwarder.add([command(1, pressedAt: 2)]) == false)
    #expect(sent(at: 3) == [2, 1])
    #expect((.seconds(3)...(.seconds(7))).contains(forwarder.retryAt! - (.zero + .seconds(3))))
    forwarder.judge(CommandID(high: 4, low: 2))
    #expect(sent(at: 9) == [1])
    forwarder.judge(CommandID(high: 4, low: 1))
    #expect(forwarder.retryAt == nil)
    #expect(sent(at: 20) == [])
    #expect(forwarder.retryAt == nil)
  }

  private mutating func sentNew(at seconds: Int64) -> [UInt64] {
    forwarder.newRequests(at: .zero + .seconds(seconds), generator: &generator).compactMap { request in
      if case .command(let request) = request.subject { request.command.id.low } else { nil }
    }
  }

  // Once broken: With each new command all that waited were sent again.
  @Test("A new command goes alone; behind a full link it waits for the others")
  mutating func newOnes() {
    _ = forwarder.add([command(1, pressedAt: 1)])
    #expect(sent(at: 1) == [1])
    let due = forwarder.retryAt
    _ = forwarder.add([command(1, pressedAt: 1), command(3, pressedAt: 3), command(2, pressedAt: 2)])
    #expect(sentNew(at: 3) == [2, 3])
    #expect(sentNew(at: 3) == [] && forwarder.retryAt == due)
    forwarder.postpone(to: .zero + .seconds(4))
    _ = forwarder.add([command(4, pressedAt: 3)])
    #expect(sentNew(at: 3) == [] && forwarder.retryAt == .zero + .seconds(4))
    #expect(sent(at: 4) == [1, 2, 3, 4])
    _ = forwarder.add([command(5, pressedAt: 5)])
    #expect(sentNew(at: 5) == [5])
  }

  @Test("A command that may have been sent is not cancelled")
  mutating func cancel() {
    _ = forwarder.add([command(1, pressedAt: 0)])
    #expect(forwarder.cancel(CommandID(high: 4, low: 1)) == true)
    #expect(!forwarder.holds(CommandID(high: 4, low: 1)))
    _ = forwarder.add([command(2, pressedAt: 0)])
    _ = sent(at: 0)
    #expect(forwarder.cancel(CommandID(high: 4, low: 2)) == false)
    #expect(forwarder.holds(CommandID(high: 4, low: 2)))
  }

  @Test("A full link is tried again soon, if a command waits")
  mutating func postpone() {
    forwarder.postpone(to: .zero + .seconds(1))
    #expect(forwarder.retryAt == nil)
    _ = forwarder.add([command(1, pressedAt: 0)])
    forwarder.postpone(to: .zero + .seconds(1))
    #expect(forwarder.retryAt == .zero + .seconds(1))
    forwarder.close()
    #expect(forwarder.retryAt == nil)
  }

  // Once broken: A peer whose only command from the spool was cancelled while its link was full could wake up again and
  // again without anything to do, because the moment of the retry stayed set.
  @Test("When the last command is cancelled nothing is due any more")
  mutating func lastCancelled() {
    _ = forwarder.add([command(1, pressedAt: 0)])
    forwarder.postpone(to: .zero + .seconds(1))
    #expect(forwarder.cancel(CommandID(high: 4, low: 1)) == true)
    #expect(forwarder.retryAt == nil)
  }
}
