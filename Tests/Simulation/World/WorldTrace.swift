import RunCore

// The trace: one line for each event, for finding the cause of a fault.
extension World {
  mutating func trace(_ happening: Happening) {
    guard options.isTraced else { return }
    switch happening {
    case .step, .looks, .misdeed: break
    case .toHub(_, let frame): if !Self.isBeat(frame.message) { write(line: Self.plain("\(happening)")) }
    case .shell(_, .wakes): break
    case .toPeer(_, _, let frame): if !Self.isBeat(frame.message) { write(line: Self.plain("\(happening)")) }
    case .published, .committed, .gone, .sendFailed, .linkUp, .linkDown, .starts, .returned, .handles, .press, .asks,
      .answersRecovery, .follows, .copies, .loses, .shell:
      write(line: Self.plain("\(happening)"))
    }
  }

  private static func isBeat(_ message: PeerMessage) -> Bool { if case .ping = message { true } else { false } }

  private static func isBeat(_ message: HubMessage) -> Bool { if case .pong = message { true } else { false } }

  /// Removes the names of modules and outer types, which fill every line.
  private static func plain(_ text: String) -> String {
    func short(_ word: String) -> String {
      word.first?.isNumber == true ? word : word.split(separator: ".").last.map(String.init) ?? word
    }
    var plain = ""
    var word = ""
    for letter in text {
      if letter.isLetter || letter.isNumber || letter == "." || letter == "_" {
        word.append(letter)
      } else {
        plain += short(word)
        word = ""
        plain.append(letter)
      }
    }
    return plain + short(word)
  }

  mutating func write(line text: @autoclosure () -> String) {
    guard options.isTraced else { return }
    let micros = now.nanoseconds / 1000
    let fraction = String(1_000_000 + micros % 1_000_000).dropFirst()
    let text = text()
    lines.append("\(micros / 1_000_000).\(fraction)  \(text)")
  }
}
