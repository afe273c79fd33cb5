import Foundation
import RunBus

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is looked at for one bus: who may enter its directories, its keys, stores and ports.
struct BusFindings {
  let name: BusName
  let location: BusLocation
  /// Where a phone would listen for paired devices.
  let listener: RemoteListener?

  func all() async -> [Finding] {
    var findings = places + keys
    let devices = LocalDevices(location: location)
    do {
      let all = try devices.all()
      if all.isEmpty { findings.append(.ok("stores", "bus \"\(name)\" has none on this machine yet")) }
      for device in all { findings.append(await store(of: device, devices)) }
    } catch {
      findings.append(.bad("stores", (error as? Failure)?.message ?? "\(error)"))
    }
    findings += ports
    if let keyring = location.keyring { findings += routes(of: keyring.value) }
    return findings
  }

  /// Directories must belong to this user and be closed to others.
  private var places: [Finding] {
    [
      ("runtime", location.runtimeParent), ("runtime", location.runtimeDirectory),
      ("state", location.stateDirectory), ("keys", KeyFiles().directory),
    ].compactMap { subject, path in
      guard FileManager.default.fileExists(atPath: path) else { return nil }
      let complaint = PrivateDirectory.complaint(about: path, for: "the \(subject) directory")
      return complaint.map { .bad("directories", $0) } ?? .ok("directories", "\(path) is closed to other users")
    }
  }

  private var keys: [Finding] {
    do {
      let (hub, device) = (try HubKeyring.present(name, in: KeyFiles()), try DeviceKeyring(name, in: KeyFiles())?.value)
      guard hub != nil || device != nil else { return [.ok("keys", "none for bus \"\(name)\": no machine is paired")] }
      var findings: [Finding] = []
      if hub != nil { findings.append(.ok("keys", "this machine has the phone's key")) }
      if let device {
        findings.append(
          device.enrolment == nil
            ? .warn("keys", "this machine began to pair as \(device.deviceID) and did not finish: busnode join")
            : .ok("keys", "this machine is paired as \(device.enrolment?.deviceID ?? device.deviceID)"))
      }
      return findings
    } catch {
      return [.bad("keys", error.message)]
    }
  }

  private func store(of device: DeviceID, _ devices: LocalDevices) async -> Finding {
    let directory = location.stateDirectory(for: device)
    if let complaint = PrivateDirectory.complaint(about: directory, for: "the store directory") {
      return .bad("store", complaint)
    }
    switch StoreHealth(of: device, in: directory) {
    case .absent: return .warn("store", "\(directory) has no store file: \(device) begins anew")
    case .healthy(let bytes): return .ok("store", "\(device) does not run; its store is sound (\(bytes >> 10) KB)")
    case .unusable(let reason): return .bad("store", reason)
    case .held(let reason):
      let answer = try? await devices.askRunning(.outbox, of: device)
      guard case .outbox(let waiting) = answer else {
        return .bad("store", "\(reason), which does not answer: look at its log, or end that process")
      }
      return .ok("store", "\(device) runs and answers; \(waiting.count) entries wait in its outbox")
    }
  }

  private var ports: [Finding] {
    guard let listener else { return [] }
    if let holder = HubLock.holder(of: location) {
      return [.ok("ports", "not tried, because \(holder.description) is the phone of this bus and may use them")]
    }
    return listener.endpoints.map { what, endpoint in
      ZeroMQCheck.obstacle(toBinding: endpoint).map {
        .bad("ports", "\(endpoint) (\(what)) cannot be used (\($0)): end that program, or choose other ports")
      } ?? .ok("ports", "\(endpoint) is free for \(what)")
    }
  }

  /// Whether anybody accepts a connection where the phone should be.
  private func routes(of pairing: DevicePairing) -> [Finding] {
    let reached = pairing.knownAddresses.map { ($0, TCPReach.isReached($0)) }
    if let first = reached.first(where: { $0.1 }) { return [.ok("phone", "\(first.0) accepts connections")] }
    let all = pairing.knownAddresses.joined(separator: ", ")
    return [
      .warn(
        "phone",
        "nothing accepts connections at \(all): does the phone run with --listen, in the same network, and does its "
          + "firewall let this port and the next one in?")
    ]
  }
}

/// Tries TCP connections.
private enum TCPReach {
  private static let patienceMilliseconds: CInt = 1500

  static func isReached(_ address: String) -> Bool {
    guard let (host, port) = RemoteListener.parts(of: address) else { return false }
    var hints = addrinfo()
    #if canImport(Glibc)
      hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0 else { return false }
    defer { freeaddrinfo(found) }
    var place = found
    while let entry = place?.pointee {
      place = entry.ai_next
      if connects(entry) { return true }
    }
    return false
  }

  private static func connects(_ entry: addrinfo) -> Bool {
    let descriptor = socket(entry.ai_family, entry.ai_socktype, entry.ai_protocol)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    guard connect(descriptor, entry.ai_addr, entry.ai_addrlen) != 0 else { return true }
    guard errno == EINPROGRESS else { return false }
    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard Foundation.poll(&poll, 1, patienceMilliseconds) == 1 else { return false }
    var failure: CInt = 0
    var size = socklen_t(MemoryLayout<CInt>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0
  }
}
