import RunCore

/// What machines do, as one short line an action, so that a test reads like the conversation it is about.
enum NodeLines {
  static func line(_ action: HubCore.Action) -> String {
    switch action {
    case .open: "open"
    case .send(let frame, let connection): "\(name(connection)) ← \(line(frame.message))"
    case .forward(let bytes, let connection): "\(name(connection)) ← bytes \(bytes)"
    case .publish(let event): "publish \(line(event))"
    case .commit(let id, let operations): "commit \(id): \(operations.map(line).joined(separator: ", "))"
    case .receipt(let receipt): "own \(line(receipt))"
    case .show(let snapshot): "show \(line(snapshot))"
    case .note: "note"
    case .ended: "ended"
    }
  }

  static func line(_ action: PeerCore.Action) -> String {
    switch action {
    case .send(let frame): "send \(line(frame.message))"
    case .subscribe(let endpoint, let topics): "subscribe \(endpoint) \(topics.map(\.rawValue).joined())"
    case .commit(let id, let operations): "commit \(id): \(operations.map(line).joined(separator: ", "))"
    case .receipt(let receipt): line(receipt)
    case .show(let snapshot): "show \(line(snapshot))"
    case .hear(let event): "hear \(line(event))"
    case .reachability(let value): value ? "reachable" : "unreachable"
    case .fail(let refusal): "fail \(refusal.code.rawValue)"
    case .note: "note"
    }
  }

  static func line(_ message: HubMessage) -> String {
    switch message {
    case .welcome(let welcome):
      "welcome \(welcome.nonce), commands \(welcome.commandWatermark), samples \(welcome.sampleWatermark), "
        + line(welcome.state.snapshot)
    case .refused(let refusal): "refused \(refusal.code.rawValue)"
    case .receipt(let receipt): line(receipt)
    case .samplesAcked(let sequence): "samples to \(sequence)"
    case .pong(let number, let order): "pong \(number) at \(line(order))"
    case .state(let message): "state \(line(message.snapshot))"
    }
  }

  static func line(_ message: PeerMessage) -> String {
    switch message {
    case .hello(let hello): "hello \(hello.nonce) seen \(hello.termSeen)"
    case .command(let transmission):
      "\(transmission.sequence) \(transmission.command.kind.rawValue) \(seconds(transmission.age))"
    case .samples(let samples): "samples \(samples.map { "\($0.sequence)" }.joined(separator: " "))"
    case .ping(let number): "ping \(number)"
    case .query: "query"
    case .goodbye: "goodbye"
    case .request(let request): "request \(request.command.kind.rawValue)"
    }
  }

  static func line(_ event: BusEvent) -> String {
    switch event {
    case .snapshot(let message): line(message.snapshot)
    case .command(let command, let device): "\(device): \(command.kind.rawValue)"
    case .receipt(let receipt, let device): "\(device): \(line(receipt))"
    case .presence(let presence): "\(presence.deviceID) \(presence.isReachable ? "here" : "gone")"
    }
  }

  static func line(_ snapshot: Snapshot) -> String { "\(line(snapshot.order)) \(snapshot.phase.rawValue)" }

  static func line(_ order: SnapshotOrder) -> String { "\(order.term).\(order.revision).\(order.tick)" }

  static func line(_ receipt: Receipt) -> String {
    switch receipt.stage {
    case .queued: "\(receipt.kind.rawValue) queued"
    case .pending: "\(receipt.kind.rawValue) pending"
    case .verdict(let verdict): line(verdict)
    }
  }

  static func line(_ verdict: Verdict) -> String {
    let outcome =
      switch verdict.outcome {
      case .applied: "applied"
      case .coalesced: "coalesced"
      case .superseded: "superseded"
      case .rejected(.illegal(let phase)): "illegal while \(phase.rawValue)"
      case .rejected(let reason): reason.code
      }
    return "\(verdict.kind.rawValue) \(outcome) \(verdict.revision)"
  }

  static func line(_ operation: StoreOperation) -> String {
    switch operation {
    case .setTerm(let term): "term \(term)"
    case .accept(let press, let pressClass): "accept \(press.command.kind.rawValue) \(pressClass.rawValue)"
    case .reclassify(_, let pressClass): "reclassify \(pressClass.rawValue)"
    case .setWatermark(let stream, let sequence): "\(stream.kind.rawValue) to \(sequence)"
    case .judge(let verdict, _, _): "judge \(line(verdict))"
    case .forgetVerdicts: "forget"
    case .append(_, let entry): line(entry)
    case .setAlias: "alias"
    case .settle: "window"
    case .setClock: "clock"
    }
  }

  static func line(_ entry: LedgerEntry) -> String {
    switch entry.event {
    case .transition(let transition): "\(transition.kind.rawValue) at \(seconds(entry.time - .zero))"
    case .lap: "lap at \(seconds(entry.time - .zero))"
    case .sample(.heartRate(let bpm), let device): "\(device) \(Int(bpm)) bpm at \(seconds(entry.time - .zero))"
    case .sample(_, let device): "\(device) sample at \(seconds(entry.time - .zero))"
    case .gap(let duration): "gap of \(seconds(duration)) at \(seconds(entry.time - .zero))"
    }
  }

  static func seconds(_ duration: BusDuration) -> String { "\(duration.seconds)s" }

  /// Tests give connections a name as their route.
  static func name(_ connection: ConnectionID) -> String { String(decoding: connection.route, as: UTF8.self) }
}

extension ConnectionID {
  static func named(_ name: String, isRequest: Bool = false) -> ConnectionID {
    ConnectionID(route: Array(name.utf8), isRequest: isRequest)
  }
}
