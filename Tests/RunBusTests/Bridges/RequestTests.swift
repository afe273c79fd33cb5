import Foundation
import RunBus
import Synchronization
import TestSupport
import Testing

@Suite("Questions and answers", .timeLimit(.minutes(5)))
struct RequestTests {
  private struct Wish: Codable, Sendable {
    let kilometers: Int
  }
  private struct Route: Codable, Equatable, Sendable {
    let name: String
  }
  private struct NoMap: Error, CustomStringConvertible {
    let description = "the map is gone"
  }

  /// Runs a hub that answers questions named `route`, and a watch that is connected to it.
  private func withAnswers(
    _ answer: @escaping @Sendable (Wish) async throws -> Route,
    _ body: @escaping @Sendable (Hub, Peer) async throws -> Void
  ) async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await nodes.hub.messages.replies(to: "route", taking: Wish.self, answer) }
        // The handler is there when the first question has an answer.
        try await within("the first answer") {
          while true {
            do {
              _ = try await watch.messages.request("route", Data("{}".utf8), timeout: .milliseconds(50))
            } catch let error as RunBusError where error.code == .timeout {
              continue
            } catch let error as RunBusError where error.code == .refused {
              return
            }
          }
        }
        try await body(nodes.hub, watch)
        group.cancelAll()
      }
    }
  }

  @Test("A peer asks the hub, and each of many questions gets its own answer")
  func answers() async throws {
    try await withAnswers {
      Route(name: "\($0.kilometers) km")
    } _: { _, watch in
      try await withThrowingTaskGroup(of: (Int, Route).self) { group in
        for kilometers in 1...20 {
          group.addTask {
            let wish = Wish(kilometers: kilometers)
            return (kilometers, try await watch.messages.request("route", wish, as: Route.self, timeout: .seconds(60)))
          }
        }
        for try await (kilometers, route) in group { #expect(route.name == "\(kilometers) km") }
      }
    }
  }

  @Test("The hub asks a device, with bytes, while the device's handler asks the hub and a message waits")
  func nested() async throws {
    try await withAnswers {
      Route(name: "\($0.kilometers) km")
    } _: { hub, watch in
      try await withThrowingTaskGroup(of: Void.self) { group in
        let notes = try watch.messages.named("note")
        group.addTask {
          try await watch.messages.replies(to: "battery") { received in
            let route = try await watch.messages.request(
              "route", Wish(kilometers: 5), as: Route.self, timeout: .seconds(60))
            return received.message.body + Array(route.name.utf8)
          }
        }
        try await hub.messages.post(AppMessage(name: "note", body: Data()), by: .queued, to: DeviceID("watch"))
        try await within("the note") {
          for await _ in notes {
            // While a message is being processed, questions are asked and answered.
            var answer: Data?
            while answer == nil {
              do {
                answer = try await hub.messages.request(
                  "battery", of: DeviceID("watch"), Data("for ".utf8), timeout: .milliseconds(500))
              } catch let error as RunBusError where error.code == .timeout {}
            }
            #expect(answer == Data("for 5 km".utf8))
            break
          }
        }
        group.cancelAll()
      }
    }
  }

  @Test("A handler that throws, an answer that is too long and one that is something else are errors for who asks")
  func refused() async throws {
    try await withAnswers { wish in
      if wish.kilometers == 0 { throw NoMap() }
      return Route(name: String(repeating: "x", count: wish.kilometers))
    } _: { _, watch in
      func code<Content: Decodable & Sendable>(_ kilometers: Int, _ type: Content.Type) async -> RunBusError? {
        await #expect(throws: RunBusError.self) {
          try await watch.messages.request("route", Wish(kilometers: kilometers), as: type, timeout: .seconds(60))
        }
      }
      let thrown = await code(0, Route.self)
      #expect(thrown?.code == .refused && thrown?.message == "phone gave no answer: the map is gone")
      #expect(await code(40_000, Route.self)?.code == .refused)
      #expect(await code(5, [Int].self)?.code == .badInput)
    }
  }

  @Test("A question that nobody answers runs into its time-out; one to a hub out of reach fails at once")
  func noAnswer() async throws {
    try await withAnswers { _ in
      Route(name: "")
    } _: { hub, watch in
      let late = await #expect(throws: RunBusError.self) {
        try await watch.messages.request("nothing", timeout: .milliseconds(10))
      }
      #expect(late?.code == .timeout)
      let stranger = await #expect(throws: RunBusError.self) {
        try await hub.messages.request("nothing", of: DeviceID("nobody"), timeout: .seconds(60))
      }
      #expect(stranger?.code == .unknownDevice)
      await watch.disconnect()
      let away = await #expect(throws: RunBusError.self) {
        try await watch.messages.request("route", timeout: .seconds(60))
      }
      #expect(away?.code == .unreachable)
    }
  }

  @Test("A cancelled request throws a cancellation, and one whose node ends is closed")
  func cancelled() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    let pending = Mutex<Task<Data, any Error>?>(nil)
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      let (first, second) = (try nodes.hub.messages.named("first"), try nodes.hub.messages.named("second"))
      let asked = Task { try await watch.messages.request("first", timeout: .seconds(600)) }
      try await within("the first question") {
        for await question in first {
          question.done()
          break
        }
      }
      asked.cancel()
      await #expect(throws: CancellationError.self) { try await within("the end of it") { try await asked.value } }
      pending.withLock { $0 = Task { try await watch.messages.request("second", timeout: .seconds(600)) } }
      try await within("the second question") { for await _ in second { break } }
    }
    let task = try #require(pending.withLock { $0 })
    let error = await #expect(throws: RunBusError.self) { try await within("the end of it") { try await task.value } }
    #expect(error?.code == .closed)
  }

  @Test("At most 256 questions wait for an answer")
  func bound() async throws {
    let nodes = try InProcessNodes()
    let watch = nodes.peer()
    try await withRunning([nodes.hub, watch]) {
      try await watch.isConnected()
      await withTaskGroup(of: RunBusError.Code?.self) { group in
        for _ in 0..<300 {
          group.addTask {
            do {
              _ = try await watch.messages.request("nothing", timeout: .seconds(600))
              return nil
            } catch {
              return (error as? RunBusError)?.code
            }
          }
        }
        var refused = 0
        while refused < 44, await group.next() == .some(.full) { refused += 1 }
        #expect(refused == 44)
        group.cancelAll()
      }
    }
  }

  @Test("A name of questions has one handler")
  func claimed() async throws {
    try await withAnswers { _ in
      Route(name: "")
    } _: { hub, _ in
      let error = await #expect(throws: RunBusError.self) { try await hub.messages.replies(to: "route") { _ in [] } }
      #expect(error?.code == .alreadyHandled)
    }
  }
}
