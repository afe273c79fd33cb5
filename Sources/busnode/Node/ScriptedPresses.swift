import RunBus
import RunScripts
import Synchronization

/// Carries out the orders on a node's standard input.
struct ScriptedPresses<Member: Node>: Sendable {
  let node: Member
  let source: ControlSource
  let deviceID: DeviceID

  /// Carries out each line in turn until the input ends. A wrong line is reported on standard error and ignored.
  func obey(_ lines: AsyncStream<String>) async {
    // Numbers the orders to go offline or online: the end of an earlier "offline 30s" must not undo a later order.
    let airOrders = Counter()
    // So do places: the runner stands at the last one.
    let placeOrders = Counter()
    // A hub accepts presses only after its first snapshot. A peer keeps them until it reaches its hub.
    if node is Hub { for await _ in await node.snapshots() { break } }
    await withDiscardingTaskGroup { group in
      var last: AsyncStream<Never>?
      var lastRecorded: (offset: BusDuration, isMade: AsyncStream<Never>)?
      for await line in lines {
        do {
          guard let order = try NodeOrder.parse(line: line) else { continue }
          switch order {
          case .press(let kind, nil): last = await press(command(kind, at: nil), in: &group)
          case .start(let goal): last = await press(.start(goal: goal, source: source), in: &group)
          case .press(let kind, let offset?):
            let (isMade, making) = AsyncStream<Never>.makeStream()
            // Recorded presses that are due within a millisecond of real time would otherwise race.
            let earlier = lastRecorded.flatMap { $0.offset <= offset ? $0.isMade : nil }
            if lastRecorded == nil || earlier != nil { lastRecorded = (offset, isMade) }
            group.addTask {
              await pressWhenDue(kind, at: offset, after: earlier, making)
              making.finish()
            }
          case .offline(let span):
            let number = airOrders.next()
            await node.disconnect()
            guard let span else { break }
            let real = await node.speed.real(fromBus: span)
            group.addTask {
              try? await Task.sleep(for: .nanoseconds(real.nanoseconds))
              if airOrders.isLast(number) { await node.reconnect() }
            }
          case .online:
            _ = airOrders.next()
            await node.reconnect()
          case .place(let latitude, let longitude):
            // As exact as a good fix.
            let position = Position(latitude: latitude, longitude: longitude, horizontalAccuracyMeters: 5)
            @Sendable func stand() async throws {
              try await node.add([Sample(moment: .at(Loop.now), value: .position(position))])
            }
            let number = placeOrders.next()
            try await stand()
            // A fix says little after half a minute, and a run has fixes of its own.
            group.addTask {
              while (try? await Task.sleep(for: .seconds(10))) != nil, placeOrders.isLast(number) {
                guard await !node.authoritative.phase.isOn else { return }
                try? await stand()
              }
            }
          case .recover(let answer):
            guard let hub = node as? Hub else { throw TextError(Tongue.say(.onlyPhoneRecovers)) }
            try await hub.recover(answer)
          }
        } catch {
          Output.complain("busnode \(deviceID): \"\(line)\": \(Self.reason(error))")
        }
      }
      // The node ends with its input, but first wait until it has stored the last press. Presses are stored in order.
      if let last { for await _ in last {} }
      group.cancelAll()
    }
  }

  private static func reason(_ error: any Error) -> String {
    (error as? TextError)?.message ?? (error as? RunBusError)?.message ?? "\(error)"
  }

  /// Makes a press, ahead of every later one.
  ///
  /// - Returns: A stream that ends when the node has stored the press or has refused it.
  private func press(_ command: Command, in group: inout DiscardingTaskGroup) async -> AsyncStream<Never> {
    let (kept, keeping) = AsyncStream<Never>.makeStream()
    let receipts = await node.receipts(for: command.id)
    let sending = await node.beginSending(command)
    group.addTask {
      for await _ in receipts { break }
      keeping.finish()
    }
    group.addTask {
      await finish(sending, command)
      keeping.finish()
    }
    return kept
  }

  /// Makes a recorded press when the run reaches `offset`. The press counts as of that moment.
  ///
  /// - Parameters:
  ///   - earlier: Ends when the recorded press before this one has been made. The hub judges presses in the order in
  ///     which they were made.
  ///   - making: Is finished when this press has been made.
  private func pressWhenDue(
    _ kind: CommandKind, at offset: BusDuration, after earlier: AsyncStream<Never>?,
    _ making: AsyncStream<Never>.Continuation
  ) async {
    guard await waitForRun(toReach: offset) else { return }
    if let earlier { for await _ in earlier {} }
    await withDiscardingTaskGroup { group in
      _ = await press(command(kind, at: offset), in: &group)
      making.finish()
    }
  }

  private func command(_ kind: CommandKind, at offset: BusDuration?) -> Command {
    Command(
      id: .random(), kind: kind, source: source, runID: kind == .start ? .random() : nil, runOffset: offset)
  }

  private func finish(_ sending: Task<Verdict, any Error>, _ command: Command) async {
    await withTaskCancellationHandler {
      do {
        _ = try await sending.value
      } catch {
        // The end of the node cancels its presses; that is no error.
        if !Task.isCancelled { Output.complain("busnode \(deviceID): \(command.kind.rawValue): \(error)") }
      }
    } onCancel: {
      sending.cancel()
    }
  }

  /// Waits until a run is on and has reached `offset`; `false` when cancelled or the node has ended first.
  private func waitForRun(toReach offset: BusDuration) async -> Bool {
    for await snapshot in await node.snapshots() {
      guard let origin = RunOrigin(snapshot), origin.end == nil else { continue }
      while let now = await node.busNow, now - origin.startedAt < offset {
        let real = await node.speed.real(fromBus: origin.startedAt + offset - now)
        guard (try? await Task.sleep(for: .nanoseconds(real.nanoseconds))) != nil else { return false }
      }
      return true
    }
    return false
  }
}

extension Node {
  /// Sends a command without waiting for its verdict. The task is made on the node's executor, so that presses arrive
  /// in the order in which they were made. The caller owns the task.
  fileprivate func beginSending(_ command: Command) -> Task<Verdict, any Error> {
    Task { try await send(command) }
  }
}

/// Numbers orders, to tell whether a later one has come.
private final class Counter: Sendable {
  private let count = Mutex(0)
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
  func isLast(_ number: Int) -> Bool { count.withLock { $0 == number } }
}
