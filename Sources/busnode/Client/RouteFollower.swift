import Foundation
import RunBus

/// Follows the route of the run on a bus.
struct RouteFollower: Sendable {
  let visit: BusClient
  /// How long to wait for the hub, in real time.
  let patience: BusDuration

  /// One change of the route.
  enum News: Sendable {
    /// The point with this index is new or has changed.
    case point(RunID, Int, RoutePoint)
    /// The last points were removed; `length` points are left.
    case cut(RunID, length: Int)
  }

  private enum Input: Sendable {
    case joined
    case heard(BusEvent)
    case answer(RoutePart?)
    case unanswered
    case signal(Int32)
    case patienceIsOver
  }
  private enum End: Sendable { case silence, signal(Int32) }

  /// Passes each change of the route to `write`, points in order of their index, until Ctrl-C.
  ///
  /// - Throws: ``QuietExit`` with 130 at Ctrl-C, and ``Failure`` when the hub does not answer in time.
  func follow(_ write: @Sendable @escaping (News) throws -> Void) async throws {
    let signals = Signals.stream()
    // Subscribe before the peer runs, so that no event is missed.
    let events = await visit.peer.events()
    let end = try await visit.run { peer in
      let reachabilities = await peer.reachabilities()
      let (inputs, report) = AsyncStream.makeStream(of: Input.self)
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await event in events { report.yield(.heard(event)) } }
        group.addTask { for await state in reachabilities where state.isReachable { report.yield(.joined) } }
        group.addTask {
          guard (try? await Task.sleep(for: .nanoseconds(patience.nanoseconds))) != nil else { return }
          report.yield(.patienceIsOver)
        }
        group.addTask { for await number in signals { report.yield(.signal(number)) } }
        var view = RouteView()
        var written = 0
        var hasJoined = false
        var end = End.silence
        inputs: for await input in inputs {
          let actions: [RouteView.Action]
          switch input {
          case .joined:
            hasJoined = true
            actions = view.joined()
          case .heard(.route(let part)): actions = view.receive(part)
          case .heard(.snapshot(let state)): actions = view.receive(state.snapshot)
          case .answer(let part): actions = view.receive(answer: part)
          case .unanswered:
            view.answerFailed()
            actions = []
          case .signal(let number):
            end = .signal(number)
            break inputs
          case .patienceIsOver:
            // The time limit holds only until the hub has answered once.
            if !hasJoined { break inputs }
            actions = []
          case .heard: actions = []
          }
          for action in actions {
            if let from = try view.pass(action, written: &written, to: write) {
              group.addTask {
                do { report.yield(.answer(try await peer.routePart(from: from))) } catch { report.yield(.unanswered) }
              }
            }
          }
        }
        group.cancelAll()
        return end
      }
    }
    switch end {
    // The exit status that shells use for an end by a signal: 130 for Ctrl-C.
    case .signal(let number): throw QuietExit(exitStatus: 128 + number)
    case .silence: throw Failure.noAnswer(visit.location, within: patience)
    }
  }
}

extension RouteView {
  /// Passes what an action changes to `write`.
  ///
  /// - Parameter written: How many points were written.
  /// - Returns: The index from which the hub is to be asked, if the action asks.
  fileprivate func pass(
    _ action: Action, written: inout Int, to write: (RouteFollower.News) throws -> Void
  ) rethrows -> Int? {
    switch action {
    case .began: written = 0
    case .changed(let from):
      guard let runID else { break }
      for index in points.indices.dropFirst(from) { try write(.point(runID, index, points[index])) }
      if points.count < written { try write(.cut(runID, length: points.count)) }
      written = points.count
    case .ask(let from): return from
    }
    return nil
  }
}

extension BusLocation {
  /// Reads the whole route, as it was at one moment. Nothing is passed on before all of it was read.
  ///
  /// - Parameter patience: How long to wait for each answer, in real time.
  /// - Returns: The run with its points; `nil` when no run has been started.
  /// - Throws: ``Failure`` when the hub does not answer in time.
  func readRoute(within patience: BusDuration) async throws -> (RunID, [RoutePoint])? {
    let requester = try requester()
    var reading = RouteReading()
    var next = 0
    while true {
      let from = next
      guard let part = try await within(Duration(patience), { try await requester.ask(.route(from: from)) }) else {
        throw Failure.noAnswer(self, within: patience)
      }
      switch reading.receive(part) {
      case .ask(let from): next = from
      case .done(let runID, let points): return runID.map { ($0, points) }
      }
    }
  }
}
