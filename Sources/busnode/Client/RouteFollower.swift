import Foundation
import RunBus

/// Assembles the route of the run on a bus, once or continuously.
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
    case answer(InquiryAnswer)
    case signal(Int32)
    case patienceIsOver
  }
  private enum End: Sendable { case complete, noRun, silence, signal(Int32) }

  /// Passes each change of the route to `write`, points in order of their index.
  ///
  /// - Parameter goesOn: Whether to continue until Ctrl-C; otherwise the call returns when the route is complete.
  /// - Returns: `false` when no run has been started.
  /// - Throws: ``QuietExit`` with 130 at Ctrl-C while following, and ``Failure`` when the hub does not answer in time.
  func follow(
    goesOn: Bool, _ write: @Sendable @escaping (News) throws -> Void
  ) async throws -> Bool {
    let signals = goesOn ? Signals.stream() : nil
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
        if let signals { group.addTask { for await number in signals { report.yield(.signal(number)) } } }
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
          case .answer(.route(let part)):
            actions = view.receive(answer: part)
            if !goesOn, part == nil {
              end = .noRun
              break inputs
            }
          case .answer:
            view.answerFailed()
            actions = []
          case .signal(let number):
            end = .signal(number)
            break inputs
          case .patienceIsOver:
            // When following, the time limit holds only until the hub has answered once.
            if !goesOn || !hasJoined { break inputs }
            actions = []
          case .heard: actions = []
          }
          for action in actions {
            switch action {
            case .began: written = 0
            case .changed(let from):
              guard let runID = view.runID else { break }
              for index in view.points.indices.dropFirst(from) { try write(.point(runID, index, view.points[index])) }
              if view.points.count < written { try write(.cut(runID, length: view.points.count)) }
              written = view.points.count
            case .ask(let from):
              group.addTask { report.yield(.answer(await peer.inquire(.route(from: from)))) }
            }
          }
          if !goesOn, view.isComplete {
            end = .complete
            break inputs
          }
        }
        group.cancelAll()
        return end
      }
    }
    switch end {
    case .complete: return true
    case .noRun: return false
    // The exit status that shells use for an end by a signal: 130 for Ctrl-C.
    case .signal(let number): throw QuietExit(exitStatus: 128 + number)
    case .silence: throw Failure.noAnswer(visit.location, within: patience)
    }
  }
}
