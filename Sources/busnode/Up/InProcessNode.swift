import RunBus
import RunScripts
import Synchronization
import SystemC

/// A device of `up --in-process`. It shows what a process of its role writes with `--json`.
final class InProcessNode: UpNode {
  private let device: UpDevice
  private let life: Int
  private let host: InProcessBusHost
  private let input = AsyncStream.makeStream(of: String.self)
  private let crash = AsyncStream.makeStream(of: Void.self)
  private let isKilled = Mutex(false)

  init(_ device: UpDevice, life: Int, host: InProcessBusHost) {
    (self.device, self.life, self.host) = (device, life, host)
  }

  func tell(_ order: NodeOrder) { input.continuation.yield(order.line) }

  func end() {
    wake()
    input.continuation.finish()
  }

  /// Ends it without a goodbye: its link is cut first. What it has stored stays, as on a disk.
  func kill() {
    isKilled.withLock { $0 = true }
    host.cut(device.node)
    crash.continuation.finish()
  }

  /// Cuts its link: a node of this process cannot stand still.
  func sleep() { host.cut(device.node) }

  func wake() { host.restore(device.node) }

  func run(_ report: @Sendable @escaping (UpEvent) -> Void) async {
    let ending: NodeEnding
    var errors: [String] = []
    do {
      if device.role == .phone {
        try await live(host.hub(device), report)
      } else {
        try await live(host.peer(device), report)
      }
      ending = isKilled.withLock { $0 } ? .signaled(SIGKILL) : .exited(ExitStatus.success)
    } catch {
      let failure = (error as? RunBusError).map { Failure($0) }
      ending = .exited(failure?.exitStatus ?? ExitStatus.failure)
      errors = [failure?.message ?? "\(error)"]
    }
    report(.ended(device.node, life: life, ending, lastErrors: errors))
  }

  /// Runs a node until its orders end or it is killed.
  private func live<Member: Node>(_ node: Member, _ report: @Sendable @escaping (UpEvent) -> Void) async throws {
    let (name, source) = (device.node, device.source)
    let view = NodeView { report(.heard(name, EventLineJSON($0))) }
    // Subscribe before the node runs, so that nothing is missed.
    let events = await node.events()
    let snapshots = await node.snapshots()
    let news = await node.news(asking: [])
    let lockScreen = device.role == .widget ? await node.liveActivityStates() : nil
    // The value of a task says whether the node must end.
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await node.run()
        throw RunBusError(.closed, "the node ended unexpectedly")
      }
      group.addTask {
        for await event in events {
          if case .message(let message) = event, message.to == node.deviceID { continue }
          if case .presence = event, node is Peer { continue }
          view.show(event)
        }
        return false
      }
      group.addTask {
        for await news in news { view.show(news, of: node) }
        return false
      }
      group.addTask {
        try await node.messages.handle { if $0.deliveryClass == .queued { view.show($0, by: node.deviceID) } }
        return false
      }
      if let lockScreen {
        group.addTask {
          for await state in lockScreen { view.show(state) }
          return false
        }
      }
      if let timeline = host.setting.timelines[name] {
        let player = SensorPlayer(
          node, timeline, ranOut: { view.showRecordingEnded($0, at: $1) }, done: { view.showSensorsDone($0, $1) })
        group.addTask {
          try await player.run(snapshots)
          return false
        }
      }
      group.addTask { [input] in
        await ScriptedPresses(node: node, source: source, deviceID: node.deviceID).obey(input.stream)
        return true
      }
      group.addTask { [crash] in
        for await _ in crash.stream {}
        return true
      }
      while let mustEnd = try await group.next() { if mustEnd { break } }
      group.cancelAll()
      // After a requested end the tasks throw because they were cancelled, which is no error.
      while let result = await group.nextResult() {
        if case .failure(let error as RunBusError) = result, error.code != .closed { throw error }
      }
    }
  }
}
