import RunBus
import RunRecordings

// What an ``UpRun`` plays: the script or the recorded presses, and the faults.
extension UpRun {
  /// Starts what is played. All nodes have a snapshot: this is time zero of the script.
  func begin(in group: inout ThrowingTaskGroup<Void, any Error>) {
    let (report, zero, speed) = (events.continuation, ContinuousClock.now, plan.speed)
    if let faults = plan.faults {
      let count = faults.faults.count
      face.tell("\(count) \(count == 1 ? "fault is" : "faults are") drawn from seed \(faults.seed) (--seed)")
      group.addTask {
        for step in faults.steps {
          try await Task.sleep(until: zero + .nanoseconds(step.at.nanoseconds))
          if let fault = step.begins { report.yield(.fault(fault)) }
          report.yield(.step(ScriptStep(line: 0, time: .zero, node: step.node, action: step.action)))
        }
        report.yield(.faultsAreOver)
      }
    }
    if let script = plan.script {
      group.addTask { try await self.play(script, from: zero) }
      if let duration = plan.duration {
        group.addTask {
          try await Task.sleep(until: zero + .nanoseconds(speed.real(fromBus: duration).nanoseconds))
          report.yield(.recordingIsOver)
        }
      } else {
        isRecordingOver = true
      }
    } else if plan.duration != nil {
      if let child = children[phone] { tellPresses(to: child, isAgain: false) }
      isScriptOver = true
    } else {
      face.tell("all nodes are ready; press buttons with: busnode send start\(plan.flag)")
    }
  }

  /// Sends the phone all recorded presses: it makes each one when the run reaches its offset.
  ///
  /// - Parameter isAgain: Whether the phone was killed, and begins where the run stands now.
  func tellPresses(to child: any UpNode, isAgain: Bool) {
    let newest = agreement.seen.values.compactMap(\.last).max { $0.order < $1.order }
    for press in plan.presses {
      if isAgain, let newest, newest.phase != .idle {
        guard newest.phase.isOn, press.kind != .start, press.offset >= newest.metrics.elapsed else { continue }
      }
      child.tell(.press(press.kind, at: press.kind == .start ? nil : press.offset))
    }
  }

  /// Plays the lines of a script, each at its time and after the one above it.
  private func play(_ script: Script, from zero: ContinuousClock.Instant) async throws {
    for step in script.steps {
      try await Task.sleep(until: zero + .nanoseconds(plan.speed.real(fromBus: step.time).nanoseconds))
      if let flaw = await play(step) {
        try Task.checkCancellation()
        events.continuation.yield(.scriptFailed("\(script.file):\(step.line): \(flaw)"))
        return
      }
    }
    events.continuation.yield(.scriptIsOver)
  }

  /// Does what a line says.
  ///
  /// - Returns: Why it did not come true; `nil` when it did.
  private func play(_ step: ScriptStep) async -> String? {
    switch step.action {
    case .order, .kill, .restart, .sleep, .wake:
      events.continuation.yield(.step(step))
      return nil
    case .until(let condition, let span):
      let patience = span.map { plan.speed.real(fromBus: $0) } ?? Script.patience
      return await unmet(condition, within: Duration(patience)).map { "until waited in vain: \($0)" }
    case .expect(let condition): return unmet(condition).map { "it was expected otherwise: \($0)" }
    case .shell(let command):
      let environment = plan.environment.merging(plan.shellEnvironment) { $1 }
      // Standard output has the nodes' lines.
      let ending = await ShellCommand(command, timeout: Script.patience)
        .run(variables: environment, output: .standardError)
      guard case .failed(let reason) = ending else { return nil }
      return "shell \(command): \(reason)"
    }
  }

  /// What a condition lacks on the phone now; `nil` when it holds.
  private func unmet(_ condition: StateCondition) -> String? {
    guard let snapshot = rows[phone]?.snapshot else { return "the phone shows no state" }
    return condition.unmet(in: snapshot)
  }

  /// Waits until a condition holds on the phone.
  ///
  /// - Returns: What it lacks when the patience is over; `nil` when it holds.
  private func unmet(_ condition: StateCondition, within patience: Duration) async -> String? {
    let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    snapshotNews = continuation
    let timer = Task {
      try? await Task.sleep(for: patience)
      continuation.finish()
    }
    defer {
      timer.cancel()
      snapshotNews = nil
    }
    continuation.yield()
    for await _ in news {
      if unmet(condition) == nil { return nil }
    }
    return unmet(condition)
  }
}
