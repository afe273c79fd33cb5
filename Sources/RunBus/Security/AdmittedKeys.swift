package import RunCore
import Synchronization

/// The keys that a hub lets in. The hub's loop changes them, and the thread that answers handshakes reads them.
package final class AdmittedKeys: Sendable {
  private let keys: Mutex<Set<KeyFingerprint>>
  /// Keys that are shut out for a while, and until when.
  private let suspended = Mutex<[KeyFingerprint: ContinuousClock.Instant]>([:])
  /// Whether every key is let in, to be paired.
  let isOpen: Bool

  /// A list of keys.
  package init(_ keys: Set<KeyFingerprint> = []) {
    self.keys = Mutex(keys)
    isOpen = false
  }

  private init() {
    keys = Mutex([])
    isOpen = true
  }

  /// Lets in every key, as a candidate for pairing.
  package static var candidates: AdmittedKeys { AdmittedKeys() }

  /// Whether the holder of a key is let in.
  package func contains(_ key: KeyFingerprint) -> Bool {
    guard !isOpen else { return true }
    let isBack = suspended.withLock { $0[key] }.map { $0 <= .now } ?? true
    return isBack && keys.withLock { $0.contains(key) }
  }

  /// Shuts a key out for a while. Established connections go on until their transport cuts them.
  package func suspend(_ key: KeyFingerprint, for span: Duration) {
    suspended.withLock { $0[key] = .now + span }
  }

  /// Replaces the list. Established connections go on until their transport cuts them.
  package func replace(by keys: Set<KeyFingerprint>) { self.keys.withLock { $0 = keys } }
}
