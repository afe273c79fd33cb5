#if canImport(Security)
  public import Foundation
  import Security

  /// Keeps keys in the keychain of an Apple device: readable after the first unlocking, on this device only.
  public struct KeychainKeys: KeyStore {
    /// The service under which the items are kept.
    public let service: String

    /// Items of a service, usually the app's bundle identifier.
    public init(service: String) { self.service = service }

    private func query(_ name: String) -> [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: name]
    }

    /// See ``KeyStore/read(_:)``.
    public func read(_ name: String) throws(RunBusError) -> [UInt8]? {
      var query = query(name)
      query[kSecReturnData] = true
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw Self.failure(status) }
      return Array(data)
    }

    /// See ``KeyStore/write(_:as:)``.
    public func write(_ bytes: [UInt8], as name: String) throws(RunBusError) {
      let value: [CFString: Any] = [
        kSecValueData: Data(bytes), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(query(name) as CFDictionary, value as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(query(name).merging(value) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw Self.failure(status) }
    }

    /// See ``KeyStore/remove(_:)``.
    public func remove(_ name: String) throws(RunBusError) {
      let status = SecItemDelete(query(name) as CFDictionary)
      guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
    }

    private static func failure(_ status: OSStatus) -> RunBusError {
      RunBusError(.store, "the keychain answers with error \(status)")
    }
  }
#endif
