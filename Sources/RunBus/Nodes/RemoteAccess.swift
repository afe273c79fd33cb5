import CoreMetrics
import Logging
import RunCore

/// What a hub needs to take connections of paired devices.
package struct HubRemote: Sendable {
  /// The hub's keys.
  package let keyring: HubKeyring
  /// Where devices reach the hub now: `tcp://HOST:PORT` each.
  package let addresses: @Sendable () -> [String]
  /// Where devices send pairing requests, likewise.
  package let pairingAddresses: @Sendable () -> [String]
  /// The listeners that take pairing requests, with the hub's present key.
  package let pairingListeners: @Sendable (KeyPair) -> [any HubListener]
  /// Makes a pair.
  package let makePair: @Sendable () throws(RunBusError) -> KeyPair
}

/// Carries out what the core of a hub decides about keys: which are let in, when connections are cut, and when pairing
/// requests are taken. Used on the thread of the hub's loop only.
final class RemoteAccess {
  private static let forbidden = Counter(.forbidden)
  /// For how many identities a refusal is logged.
  private static let loggedMax = 64
  /// How long the last answer of a pairing may be on its way before its sockets close.
  private static let closingAfter = BusDuration.seconds(1)

  private let remote: HubRemote?
  private let loop: Loop
  private let log: Logger
  /// The number of the first pairing listener.
  private let firstNumber: Int
  private var pairing: [any HubTransport] = []
  /// The key with which they were opened.
  private var pairingKey: KeyFingerprint?
  private var closing: LoopTimer?
  private var loggedIdentities: Set<ConnectionIdentity> = []

  init(_ remote: HubRemote?, listenerCount: Int, loop: Loop, log: Logger) {
    (self.remote, firstNumber, self.loop, self.log) = (remote, listenerCount, loop, log)
  }

  /// What the hub tells paired devices about itself; `nil` without a listener for them.
  var identity: BusIdentity? {
    guard let remote else { return nil }
    let keys = remote.keyring.value
    return BusIdentity(
      busID: keys.busID, key: keys.own.publicKey, formerKey: keys.former, nextKey: keys.next?.pair.publicKey,
      nextKeySince: keys.next?.announcedAt ?? 0,
      addresses: Array(remote.addresses().prefix(Enrolment.addressesMax)),
      pairingAddresses: Array(remote.pairingAddresses().prefix(Enrolment.addressesMax)))
  }

  /// The proof that a hub with a key has handed out a version of its list of devices; `nil` without a listener for them.
  var listProof: @Sendable (_ version: UInt64, _ hubKey: KeyFingerprint) -> ListProof? {
    guard let keyring = remote?.keyring else { return { _, _ in nil } }
    return { keyring.listProof($0, $1) }
  }

  /// Lets in these keys from now on, and no others.
  func admit(_ keys: Set<KeyFingerprint>) { remote?.keyring.admitted.replace(by: keys) }

  /// Cuts the connections of all transports with keys.
  func cutConnections(of transports: [any HubTransport]) {
    guard let own = remote?.keyring.value.own else { return }
    for transport in transports { (transport as? any KeyedTransport)?.cutConnections(using: own) }
  }

  /// Makes another key and keeps it: as the next one, or with `isNow` as the hub's own.
  ///
  /// - Returns: what the hub tells devices about itself now; `nil` without a listener for them.
  func rotateKey(isNow: Bool, wallSeconds: Double) throws(RunBusError) -> BusIdentity? {
    guard let remote else { return nil }
    let pair = try remote.makePair()
    try remote.keyring.change { keys in
      if isNow { keys.replace(by: pair) } else { keys.next = (pair, wallSeconds) }
    }
    return identity
  }

  /// Uses the next key from now on.
  ///
  /// - Returns: what the hub tells devices about itself now; `nil` if there is no next key.
  func useNextKey() throws(RunBusError) -> BusIdentity? {
    guard let remote, remote.keyring.value.next != nil else { return nil }
    try remote.keyring.change { $0.useNext() }
    return identity
  }

  /// Counts what was refused, and logs it once for each identity.
  func note(_ identity: ConnectionIdentity, _ reason: String) {
    Self.forbidden.increment()
    guard loggedIdentities.count < Self.loggedMax, loggedIdentities.insert(identity).inserted else { return }
    log.warning("\(identity) was refused: \(reason); more of it is counted and not logged")
  }

  /// Takes pairing requests from now on.
  ///
  /// - Throws: The error of the listener.
  func openPairing(_ deliver: @escaping @Sendable (HubTransportEvent, Int) -> Void) throws(RunBusError) {
    closing = nil
    guard let remote else { return }
    let own = remote.keyring.value.own
    // Those of the pairing before may still be closing, and the hub may have another key since.
    if pairingKey != own.publicKey { close() }
    guard pairing.isEmpty else { return }
    pairingKey = own.publicKey
    do throws(RunBusError) {
      for (offset, listener) in remote.pairingListeners(own).enumerated() {
        let number = firstNumber + offset
        pairing.append(try listener.listen(on: loop) { event in deliver(event, number) })
      }
    } catch {
      close()
      throw error
    }
  }

  /// Takes no pairing requests any more. The last answers have a moment to arrive.
  func closePairing() {
    guard !pairing.isEmpty else { return }
    closing = loop.makeTimer { [weak self] in self?.close() }
    closing?.deadline = loop.now + Self.closingAfter
  }

  /// Closes the pairing sockets at once.
  func close() {
    closing = nil
    for transport in pairing { transport.close() }
    pairing = []
  }

  /// The transport of a pairing listener; `nil` while it is closed.
  func transport(of connection: ConnectionID) -> (any HubTransport)? {
    let place = connection.listener - firstNumber
    return pairing.indices.contains(place) ? pairing[place] : nil
  }

  /// Draws a token from the system's random numbers.
  static func token() -> [UInt8] {
    var system = SystemRandomNumberGenerator()
    return (0..<PairingRequest.tokenByteCount).map { _ in UInt8.random(in: .min ... .max, using: &system) }
  }
}
