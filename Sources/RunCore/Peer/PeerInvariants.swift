// What always holds between two events. Each part states its own rules in `check()`.
extension PeerCore {
  /// What is wrong with the peer by its own rules, whatever its hub sends; empty when it is good.
  package func check() -> [String] {
    outbox.check() + mail.check()
  }
}
