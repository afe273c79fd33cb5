import Foundation
import RunBus

/// What is looked at for one bus: who may enter its directories, what its nodes ask before they start, its keys, stores
/// and ports, and whether its phone answers.
struct BusFindings {
  /// The bus whose phone is on this machine.
  let local: BusLocation
  /// The bus of another machine with which this one is paired under the same name.
  let paired: BusLocation?
  /// Where a phone would listen for paired devices.
  let listener: RemoteListener?

  private var location: BusLocation { paired ?? local }
  private static let phone = DeviceID.role(.phone)

  func all() async -> [Finding] {
    var findings = places + keys
    let told = Set(findings.map(\.text))
    findings += starts.filter { !told.contains($0.text) }
    // The keys that the phone's devices rely on.
    var pairedDevices = 0
    let devices = LocalDevices(location: location)
    do {
      let all = try devices.all()
      if all.isEmpty {
        findings.append(.ok("stores", "bus \"\(location.displayName)\" has none on this machine yet"))
      }
      for device in all { findings.append(await store(of: device, devices, &pairedDevices)) }
    } catch {
      findings.append(.bad("stores", (error as? Failure)?.message ?? "\(error)"))
    }
    findings += ports
    if let keyring = paired?.keyring {
      findings += ownPhone
      findings += await PhoneFindings(paired: location, keyring).all()
    } else if let holder = HubLock.holder(of: local) {
      findings += await PhoneFindings.running(holder, at: local, &pairedDevices)
    } else {
      findings.append(.ok("phone", "none runs here, so there is nobody whom busnode pair could ask"))
    }
    if paired == nil, pairedDevices > 0, isWithoutKey {
      findings.append(
        .bad(
          "keys",
          "the phone's key is gone, and \(pairedDevices) paired devices accept no other: put "
            + "\(HubKeyring.name(of: local.keyName)) back into \(KeyFiles().directory), or pair them anew"))
    }
    return findings
  }

  /// Directories must belong to this user and be closed to others.
  private var places: [Finding] {
    [
      (PrivateDirectory.Purpose.runtime, location.runtimeParent), (.runtime, location.runtimeDirectory),
      (.state, location.stateDirectory), (.keys, KeyFiles().directory),
    ].compactMap { purpose, path in
      guard FileManager.default.fileExists(atPath: path) else { return nil }
      let complaint = PrivateDirectory.complaint(about: path, for: purpose)
      return complaint.map { .bad("directories", $0) } ?? .ok("directories", "\(path) is closed to other users")
    }
  }

  /// What the nodes of this bus, and a pairing, ask before they start. On a paired machine a phone is refused, so what
  /// else it would ask does not matter.
  private var starts: [Finding] {
    var errors: [RunBusError] = []
    if paired == nil {
      errors += StartChecks.obstacles(toHub: Self.phone, at: [local], keys: KeyFiles())
      // A machine may become a paired one. Its own phone is no fault.
      errors += StartChecks.obstacles(toJoining: local.keyName, keys: KeyFiles()).filter { $0.code != .busHeld }
    }
    for device in peers { errors += StartChecks.obstacles(toPeer: device, at: location) }
    var told: Set<String> = []
    let bad = errors.filter { told.insert($0.message).inserted }.map { Finding.bad("start", $0.message) }
    return bad.isEmpty ? [.ok("start", "nothing is in the way of a node of bus \"\(location.displayName)\"")] : bad
  }

  /// The peers that this machine runs when nothing else is said.
  private var peers: [DeviceID] {
    [paired?.keyring?.value.deviceID].compactMap { $0 } + (paired == nil ? [.role(.watch), .role(.widget)] : [])
  }

  /// The role that a node of this name has when nothing else is said.
  private func role(of device: DeviceID) -> StoreRole? {
    if paired == nil, device == Self.phone { return .hub }
    return peers.contains(device) ? .peer : nil
  }

  /// Whether there is no key of a phone, not even a damaged one.
  private var isWithoutKey: Bool {
    do { return try HubKeyring.present(local.keyName, in: KeyFiles()) == nil } catch { return false }
  }

  private var keys: [Finding] {
    var findings: [Finding] = []
    do throws(RunBusError) {
      if try HubKeyring.present(local.keyName, in: KeyFiles()) != nil {
        findings.append(.ok("keys", "this machine has the phone's key"))
      }
    } catch {
      findings.append(.bad("keys", error.message))
    }
    do throws(RunBusError) {
      if let device = try DeviceKeyring(local.keyName, in: KeyFiles())?.value {
        findings.append(
          device.enrolment == nil
            ? .warn("keys", "this machine began to pair as \(device.deviceID) and did not finish: busnode join")
            : .ok("keys", "this machine is paired as \(device.enrolment?.deviceID ?? device.deviceID)"))
      }
    } catch {
      findings.append(.bad("keys", error.message))
    }
    return findings.isEmpty
      ? [.ok("keys", "none for bus \"\(local.displayName)\": no machine is paired")] : findings
  }

  /// - Parameter pairedDevices: Set to what the store of a phone that does not run says.
  private func store(of device: DeviceID, _ devices: LocalDevices, _ pairedDevices: inout Int) async -> Finding {
    let directory = location.stateDirectory(for: device)
    if let complaint = PrivateDirectory.complaint(about: directory, for: .store) { return .bad("store", complaint) }
    switch StoreHealth(of: device, in: directory, for: role(of: device)) {
    case .absent: return .warn("store", "\(directory) has no store file: \(device) begins anew")
    case .healthy(let bytes, let count):
      pairedDevices += count
      return .ok("store", "\(device) does not run; its store is sound (\(bytes >> 10) KB)")
    case .unusable(let reason): return .bad("store", reason)
    case .held(let reason):
      guard let waiting = try? await devices.askRunning(.outbox, of: device) else {
        return .bad("store", "\(reason), which does not answer: look at its log, or end that process")
      }
      return .ok("store", "\(device) runs and answers; \(waiting.count) entries wait in its outbox")
    }
  }

  private var ports: [Finding] {
    guard let listener else { return [] }
    if let holder = HubLock.holder(of: local) {
      return [.ok("ports", "not tried, because \(holder.description) is the phone of this bus and may use them")]
    }
    return listener.endpoints.map { what, endpoint in
      ZeroMQCheck.obstacle(toBinding: endpoint).map {
        .bad("ports", "\(endpoint) (\(what)) cannot be used: \($0)")
      } ?? .ok("ports", "\(endpoint) is free for \(what)")
    }
  }

  /// On a paired machine: why a phone does not start here, and whether one was started all the same.
  private var ownPhone: [Finding] {
    let refusal = (try? StartChecks.pairing(of: local, keys: KeyFiles())).flatMap { $0 }
    guard let refusal else { return [] }
    guard let holder = HubLock.holder(of: local) else {
      return [.ok("start", "no phone starts here: \(refusal.message)")]
    }
    return [.bad("phone", "\(refusal.message); \(holder.description) is such a phone: end it")]
  }
}
