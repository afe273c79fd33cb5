import Foundation
import RunBus

/// Puts together the route of the run on a bus, once or as it goes on.
struct RouteFollower: Sendable {
  let visit: BusClient
  /// How long to wait for the hub, in real time.
  let patience: BusDuration

  /// What there is to show.
  enum News: Sendable {
    /// A point is new, or is another than before, at its place in the route.
    case point(RunID, Int, RoutePoint)
    /// The route is only so long any more.
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

  /// Gives what is new to `write`, points in their order.
  ///
  /// With `goesOn` until Ctrl-C: throws ``QuietExit`` with 130. Otherwise until the route is complete; `false` when no run
  /// has been started. Throws ``Failure`` when the hub does not answer in time.
  func follow(
    goesOn: Bool, _ write: @Sendable @escaping (News) throws -> Void
  ) async throws -> Bool {
    let signals = goesOn ? Signals.stream() : nil
    // Subscribed before the peer runs: nothing is missed.
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
            // Who goes on has waited long enough only if nobody ever answered.
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
    // As a shell reports the end by a signal: 130 for Ctrl-C.
    case .signal(let number): throw QuietExit(exitStatus: 128 + number)
    case .silence: throw Failure.noAnswer(visit.location, within: patience)
    }
  }
}
