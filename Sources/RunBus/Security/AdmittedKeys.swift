package import RunCore
import Synchronization

/// The keys that a hub lets in. The hub's loop changes them, and the thread that answers handshakes reads them.
package final class AdmittedKeys: Sendable {
  private let keys: Mutex<Set<KeyFingerprint>>
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
    isOpen || keys.withLock { $0.contains(key) }
  }

  /// Replaces the list. Established connections go on until their transport cuts them.
  package func replace(by keys: Set<KeyFingerprint>) { self.keys.withLock { $0 = keys } }
}
