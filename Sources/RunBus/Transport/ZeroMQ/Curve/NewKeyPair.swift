#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import RunCore

  extension KeyPair {
    /// A new pair from the system's random numbers.
    ///
    /// - Throws: ``RunBusError/Code/transport`` when this libzmq was built without CURVE.
    package init() throws(RunBusError) {
      // libzmq writes keys as Z85: 40 characters and a zero byte.
      var (publicText, secretText) = ([CChar](repeating: 0, count: 41), [CChar](repeating: 0, count: 41))
      guard zmq_curve_keypair(&publicText, &secretText) == 0,
        let publicKey = KeyFingerprint(Self.bytes(publicText)),
        let pair = KeyPair(publicKey: publicKey, secretKey: Self.bytes(secretText))
      else { throw RunBusError(.transport, "this libzmq has no CURVE: install one that was built with it") }
      self = pair
    }

    private static func bytes(_ text: [CChar]) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: KeyFingerprint.byteCount)
      return zmq_z85_decode(&bytes, text) == nil ? [] : bytes
    }
  }
#else
  extension KeyPair {
    /// A build without ZeroMQ makes no keys.
    ///
    /// - Throws: ``RunBusError/Code/transport``, always.
    package init() throws(RunBusError) {
      throw RunBusError(.transport, "this build has no ZeroMQ, which makes keys")
    }
  }
#endif
