import RunBus
import RunScripts

/// Asks the person at the terminal for the recovery decision about a run that was on when the phone died.
struct RecoveryPrompt: Sendable {
  let hub: Hub
  /// Whether standard input holds orders. The answer is then one of them.
  let readsOrders: Bool
  let units: Units

  /// Asks if the hub needs a decision. Returns when somebody has answered, here or elsewhere.
  func ask() async {
    guard let first = await hub.snapshots().first(where: { _ in true }), first.isRecovering else { return }
    let found = Tongue.say(.recoverFound, ["run": describe(first)])
    guard !readsOrders else {
      return Output.complain(Tongue.say(.recoverByOrder, ["found": found]))
    }
    // A pipe or a file shows no question, and what it holds is not meant as an answer.
    guard StandardInput.isTerminal else {
      return Output.complain(Tongue.say(.recoverByCommand, ["found": found]))
    }
    Output.complain(found)
    Output.complain(Tongue.say(.recoverAsk))
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await obey(StandardInput.lines()) }
      group.addTask { for await snapshot in await hub.snapshots() where !snapshot.isRecovering { break } }
      // If the terminal closes before an answer, wait for one from a button or a shell.
      await group.next()
      if await hub.authoritative.isRecovering { await group.next() }
      group.cancelAll()
    }
  }

  private func obey(_ lines: AsyncStream<String>) async {
    for await line in lines {
      guard let answer = Self.answer(line) else {
        Output.complain(Tongue.say(.recoverNoAnswer, ["line": line]))
        continue
      }
      do {
        return try await hub.recover(answer)
      } catch {
        return Output.complain("busnode: \(error)")
      }
    }
  }

  /// The answer in a line: one of the words, or its first letters.
  static func answer(_ line: String) -> RecoveryAnswer? {
    let word = line.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    return word.isEmpty ? nil : RecoveryAnswer.allCases.first { $0.rawValue.hasPrefix(word) }
  }

  private func describe(_ snapshot: Snapshot) -> String {
    var parts = [snapshot.phase.spoken, Tongue.say(.activeIs, ["time": DurationText.clock(snapshot.metrics.active)])]
    if let meters = snapshot.metrics.distanceMeters { parts.append(units.distanceText(meters)) }
    return parts.joined(separator: ", ")
  }
}
