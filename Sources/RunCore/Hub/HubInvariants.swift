// What always holds between two events. Each part states its own rules in `check()`.
extension HubCore {
  /// What is wrong with the hub by its own rules, whatever its peers send; empty when it is good.
  package func check() -> [String] {
    var wrong = arbiter.check() + book.check() + marks.check() + verdicts.check() + mail.check() + sessions.check()
    // The book knows what is accepted, and the arbiter where it waits.
    if book.unjudged.count != arbiter.unjudgedCount {
      wrong.append("\(book.unjudged.count) commands have no verdict, and \(arbiter.unjudgedCount) wait for one")
    }
    if let snapshot = publisher.published, snapshot.order.term > term { wrong.append("a later term is shown") }
    return wrong
  }

  /// Whether a debug build checks after each event that begins a commit: on a small bus that takes little time.
  var isSmall: Bool { sessions.sessions.count <= 16 && book.unjudged.count <= 16 && mail.storeCount <= 16 }
}
