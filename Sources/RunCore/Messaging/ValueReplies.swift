// Answers to a caller on this machine about the newest values that others have sent.
extension MessageInquiry {
  /// The answer of a core. All but questions about values is carried out around the core.
  ///
  /// - Parameters:
  ///   - reports: The values by device and key.
  ///   - value: The value of a key of a device.
  func reply(_ reports: [ValueReport], value: (String, DeviceID) -> AppMessage?) -> InquiryReply {
    switch self {
    // What is read was durable before it was acknowledged, or is by the time of the answer.
    case .values(let from):
      return .durably(.messages(.values(Array(reports.dropFirst(from)), total: reports.count)))
    case .value(let key, let device):
      let found = reports.filter { $0.key == key && device ?? $0.from == $0.from }
      guard let report = found.first, let message = value(key, report.from) else {
        return .refused(.notFound, "\(device?.rawValue ?? "another device") has not sent a value of \"\(key)\"")
      }
      guard found.count == 1 else {
        let senders = found.map(\.from.rawValue).joined(separator: ", ")
        return .refused(.invalid, "several devices have sent a value of \"\(key)\": say which (\(senders))")
      }
      return .durably(.messages(.value(message, from: report.from)))
    case .send, .ask, .take, .leave: return .refused(.notHere, "only a running node does that: start it first")
    }
  }
}
