public import Foundation
public import RunCore

extension NodeMessages where Member == Peer {
  /// Asks the hub's app a question and waits for its answer. Question and answer are JSON.
  ///
  /// ```swift
  /// let route = try await watch.messages.request("route", Wish(kilometers: 5), as: Route.self, timeout: .seconds(5))
  /// ```
  ///
  /// The question is a live message: it is sent now or not at all, and is never repeated. The hub's app answers it with
  /// ``replies(to:taking:_:)``. The hub's app may have carried out a request that failed here.
  ///
  /// - Parameters:
  ///   - name: What the question is about.
  ///   - question: Its content, at most 32,768 bytes as JSON.
  ///   - type: The type of the answer.
  ///   - timeout: How long to wait for the answer: real time, or the steered time of a test.
  /// - Returns: The answer.
  /// - Throws: ``RunBusError/Code/unreachable`` when the hub is not connected, ``RunBusError/Code/timeout`` when no
  ///   answer comes in time (the hub's app may have no handler for this name), ``RunBusError/Code/refused`` when the
  ///   hub's handler has thrown, ``RunBusError/Code/badInput`` for a question that is too long or cannot be encoded and
  ///   for an answer that cannot be decoded, ``RunBusError/Code/full`` when 256 questions have no answer yet,
  ///   ``RunBusError/Code/closed`` when the peer ends, `CancellationError` when the task is cancelled.
  public func request<Content: Decodable & Sendable>(
    _ name: MessageName, _ question: some Encodable, as type: Content.Type, timeout: Duration
  ) async throws -> Content {
    let message = try AppMessage(name: name, encoding: question)
    return try await JSONDecoder().value(
      type, from: Data(node.ask(message, of: nil, within: BusDuration(timeout))), of: message.name)
  }

  /// Asks the hub's app a question. Question and answer are bytes; see ``request(_:_:as:timeout:)``.
  public func request(
    _ name: MessageName, _ question: Data = Data(), timeout: Duration
  ) async throws -> Data {
    Data(try await node.ask(AppMessage(name: name, body: question), of: nil, within: BusDuration(timeout)))
  }
}

extension NodeMessages where Member == Hub {
  /// Asks a device's app a question and waits for its answer; see ``request(_:_:as:timeout:)``.
  ///
  /// ```swift
  /// let battery = try await phone.messages.request("battery", of: "watch", Empty(), as: Battery.self, timeout: .seconds(2))
  /// ```
  ///
  /// - Parameters:
  ///   - name: What the question is about.
  ///   - device: The device that is asked.
  ///   - question: Its content, at most 32,768 bytes as JSON.
  ///   - type: The type of the answer.
  ///   - timeout: How long to wait for the answer: real time, or the steered time of a test.
  /// - Returns: The answer.
  /// - Throws: As ``request(_:_:as:timeout:)``; ``RunBusError/Code/unknownDevice`` for a device that this hub has
  ///   never met.
  public func request<Content: Decodable & Sendable>(
    _ name: MessageName, of device: DeviceID, _ question: some Encodable, as type: Content.Type, timeout: Duration
  ) async throws -> Content {
    let message = try AppMessage(name: name, encoding: question)
    return try await JSONDecoder().value(
      type, from: Data(node.ask(message, of: device, within: BusDuration(timeout))), of: message.name)
  }

  /// Asks a device's app a question. Question and answer are bytes; see ``request(_:of:_:as:timeout:)``.
  public func request(
    _ name: MessageName, of device: DeviceID, _ question: Data = Data(), timeout: Duration
  ) async throws -> Data {
    Data(try await node.ask(AppMessage(name: name, body: question), of: device, within: BusDuration(timeout)))
  }
}

extension NodeMessages {
  /// Answers the questions of one name, one at a time, until the task is cancelled or the node ends. Question and
  /// answer are JSON.
  ///
  /// ```swift
  /// group.addTask {
  ///   try await phone.messages.replies(to: "route", taking: Wish.self) { wish in
  ///     try planner.route(of: wish.kilometers)
  ///   }
  /// }
  /// ```
  ///
  /// Every live message of this name is a question. Questions do not wait for other messages, so the handler may ask
  /// one itself. Up to 64 questions of one device and 256 of all devices wait for the handler. Further ones are
  /// dropped, and their senders get no answer in time.
  ///
  /// - Parameters:
  ///   - name: The name of the questions.
  ///   - type: The type of the questions. The request for a question that cannot be decoded throws
  ///     ``RunBusError/Code/refused``.
  ///   - answer: Makes the answer, at most 32,751 bytes as JSON. When it throws, the request at the other side throws
  ///     ``RunBusError/Code/refused`` with the error's description.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when the name has a handler already.
  public func replies<Question: Decodable & Sendable, Answer: Encodable & Sendable>(
    to name: MessageName, taking type: Question.Type, _ answer: @escaping @Sendable (Question) async throws -> Answer
  ) async throws(RunBusError) {
    try await replies(to: name) { received in
      let reply = try await answer(received.message.decode(as: Question.self))
      return Array(try JSONEncoder().body(reply, of: received.message.name))
    }
  }

  /// Answers questions with the bytes that `answer` returns; ``replies(to:taking:_:)`` is the usual way and says more.
  ///
  /// - Parameters:
  ///   - name: The name of the questions.
  ///   - answer: Makes the answer to a question, at most 32,751 bytes. When it throws, the other side's request throws
  ///     ``RunBusError/Code/refused``.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when questions of this name have a handler already.
  public func replies(
    to name: MessageName, _ answer: @escaping @Sendable (ReceivedMessage) async throws -> [UInt8]
  ) async throws(RunBusError) {
    try await node.serveQuestions(name, answer)
  }
}
