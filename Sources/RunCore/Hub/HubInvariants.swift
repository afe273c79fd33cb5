// What always holds between two events. Each part states its own rules in `check()`.
extension HubCore {
  /// What is wrong with the hub by its own rules, whatever its peers send; empty when it is good.
  package func check() -> [String] {
    var wrong = commands.check() + run.check() + mail.check() + sessions.check()
    if let snapshot = run.published, snapshot.order.term > term { wrong.append("a later term is shown") }
    return wrong
  }

  /// Whether a debug build checks after each event that begins a commit: on a small bus that takes little time.
  var isSmall: Bool { sessions.sessions.count <= 16 && commands.unjudged.count <= 16 && mail.storeCount <= 16 }
}
