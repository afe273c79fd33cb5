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
        findings.append(.ok("stores", Tongue.say(.noStoresYet, ["bus": location.displayName])))
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
      findings.append(.ok("phone", Tongue.say(.noPhoneToAsk)))
    }
    if paired == nil, pairedDevices > 0, isWithoutKey {
      findings.append(
        .bad(
          "keys",
          Tongue.say(
            .phoneKeyGone,
            ["count": pairedDevices, "key": HubKeyring.name(of: local.keyName), "directory": KeyFiles().directory])))
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
      return complaint.map { .bad("directories", $0) } ?? .ok("directories", Tongue.say(.isClosed, ["path": path]))
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
    return bad.isEmpty ? [.ok("start", Tongue.say(.nothingInTheWay, ["bus": location.displayName]))] : bad
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
        findings.append(.ok("keys", Tongue.say(.hasPhoneKey)))
      }
    } catch {
      findings.append(.bad("keys", error.message))
    }
    do throws(RunBusError) {
      if let device = try DeviceKeyring(local.keyName, in: KeyFiles())?.value {
        findings.append(
          device.enrolment == nil
            ? .warn("keys", Tongue.say(.beganToPair, ["device": device.deviceID]))
            : .ok("keys", Tongue.say(.pairedAs, ["device": device.enrolment?.deviceID ?? device.deviceID])))
      }
    } catch {
      findings.append(.bad("keys", error.message))
    }
    return findings.isEmpty
      ? [.ok("keys", Tongue.say(.noKeys, ["bus": local.displayName]))] : findings
  }

  /// - Parameter pairedDevices: Set to what the store of a phone that does not run says.
  private func store(of device: DeviceID, _ devices: LocalDevices, _ pairedDevices: inout Int) async -> Finding {
    let directory = location.stateDirectory(for: device)
    if let complaint = PrivateDirectory.complaint(about: directory, for: .store) { return .bad("store", complaint) }
    switch StoreHealth(of: device, in: directory, for: role(of: device)) {
    case .absent: return .warn("store", Tongue.say(.noStoreFile, ["directory": directory, "device": device]))
    case .healthy(let bytes, let count):
      pairedDevices += count
      return .ok("store", Tongue.say(.storeSound, ["device": device, "size": bytes >> 10]))
    case .unusable(let reason): return .bad("store", reason)
    case .held(let reason):
      guard let waiting = try? await devices.askRunning(.outbox, of: device) else {
        return .bad("store", Tongue.say(.storeSilent, ["reason": reason]))
      }
      return .ok("store", Tongue.say(.storeAnswers, ["device": device, "count": waiting.count]))
    }
  }

  private var ports: [Finding] {
    guard let listener else { return [] }
    if let holder = HubLock.holder(of: local) {
      return [.ok("ports", Tongue.say(.portsNotTried, ["holder": holder.description]))]
    }
    return listener.endpoints.map { what, endpoint in
      ZeroMQCheck.obstacle(toBinding: endpoint).map {
        .bad("ports", Tongue.say(.portUnusable, ["endpoint": endpoint, "what": what, "reason": $0]))
      } ?? .ok("ports", Tongue.say(.portFree, ["endpoint": endpoint, "what": what]))
    }
  }

  /// On a paired machine: why a phone does not start here, and whether one was started all the same.
  private var ownPhone: [Finding] {
    let refusal = (try? StartChecks.pairing(of: local, keys: KeyFiles())).flatMap { $0 }
    guard let refusal else { return [] }
    guard let holder = HubLock.holder(of: local) else {
      return [.ok("start", Tongue.say(.noPhoneStarts, ["reason": refusal.message]))]
    }
    return [.bad("phone", Tongue.say(.suchAPhone, ["reason": refusal.message, "holder": holder.description]))]
  }
}
