#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import SystemC

  /// What this machine's libzmq can do, for `busnode doctor`.
  package enum ZeroMQCheck {
    /// The oldest libzmq without known flaws in what RunBus uses.
    package static let versionMin = (4, 3, 4)

    /// Why a link is down when the hub knows who this machine is, and does not let it in.
    package static let keyRefused = "the hub does not let this key in"

    /// Why a link is down when what listens there cannot prove that it is the hub.
    package static let otherKey =
      "what listens there has not the key of the hub: if the hub got another one (busnode keys rotate --now there), pair "
      + "again (busnode pair there, busnode join here); what waits here stays"

    /// The version that is loaded.
    package static var version: (Int, Int, Int) {
      var (major, minor, patch): (CInt, CInt, CInt) = (0, 0, 0)
      zmq_version(&major, &minor, &patch)
      return (Int(major), Int(minor), Int(patch))
    }

    /// Whether it was built with CURVE.
    package static var hasCurve: Bool { zmq_has("curve") == 1 }

    /// Why a hub cannot listen for paired devices; `nil` if it can: the options of a listener with keys are set on a
    /// socket that binds nothing, and read back.
    package static func obstacleToKeys() -> String? {
      do {
        let socket = try ZMQSocket(try ZMQContext(), type: ZMQ_ROUTER)
        try ZMQOptions.applyServer(try KeyPair(), domain: "doctor", to: socket)
        return nil
      } catch {
        return "\(error)"
      }
    }

    /// Why a socket cannot be bound to an address now; `nil` if it can. The check binds a socket and closes it again.
    package static func obstacle(toBinding endpoint: String) -> String? {
      do {
        let socket = try ZMQSocket(try ZMQContext(), type: ZMQ_ROUTER)
        try ZMQOptions.applyFamily(of: endpoint, to: socket)
        try socket.bind(endpoint)
        return nil
      } catch {
        switch error.code {
        case EADDRINUSE: return "another program listens there: end it, or choose other ports"
        case EADDRNOTAVAIL: return "this machine has no such address: give one of its own, or *"
        default: return "\(error)"
        }
      }
    }
  }
#endif
