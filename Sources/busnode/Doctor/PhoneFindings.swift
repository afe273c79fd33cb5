import Foundation
import RunBus
import SystemC

/// Whether the phone of a bus answers, and takes what it is given.
struct PhoneFindings {
  /// How long a phone that is reached may take for an answer. It needs milliseconds.
  private static let patience = BusDuration.seconds(3)

  /// A bus of another machine.
  private let location: BusLocation
  private let keyring: DeviceKeyring

  init(paired location: BusLocation, _ keyring: DeviceKeyring) {
    (self.location, self.keyring) = (location, keyring)
  }

  /// Whether the phone of a paired machine lets this machine in and answers it.
  func all() async -> [Finding] {
    let pairing = keyring.value
    let reached = Set(pairing.knownAddresses.filter { TCPReach.isReached($0) })
    guard !reached.isEmpty else {
      let all = pairing.knownAddresses.joined(separator: ", ")
      return [
        .warn(
          "phone",
          Tongue.say(.nothingAccepts, ["addresses": all]))
      ]
    }
    var refusals: [(address: String, reason: String)] = []
    for route in pairing.routes where reached.contains(route.control) {
      guard let reason = await LinkTry.refusal(by: route, within: Self.patience) else {
        return [await Self.answer(of: location, what: Tongue.say(.thePhoneAt, ["address": route.control]))]
      }
      refusals.append((route.control, reason))
    }
    if let refused = refusals.first(where: { $0.reason == ZeroMQCheck.keyRefused }) {
      return [
        .bad(
          "phone",
          Tongue.say(.keyTakenOrShut, ["address": refused.address, "reason": refused.reason]))
      ]
    }
    return refusals.prefix(1).map { address, reason in
      .bad(
        "phone",
        Tongue.say(.phoneHangs, ["address": address, "reason": reason]))
    }
  }

  /// Whether the phone that runs on this machine answers, and takes what it is given.
  ///
  /// - Parameter pairedDevices: Increased by the number of its paired devices.
  static func running(
    _ holder: HubLock.Holder, at location: BusLocation, _ pairedDevices: inout Int
  ) async -> [Finding] {
    var findings = [await answer(of: location, what: Tongue.say(.thePhoneOf, ["holder": holder.description]))]
    guard let device = holder.device else { return findings }
    let devices = LocalDevices(location: location)
    // A phone that answers nothing at all is reported with its store.
    guard let list = try? await devices.askRunning(.devices, of: device) else { return findings }
    pairedDevices += list.devices.count { !$0.isRevoked }
    if list.isBehind {
      findings.append(.bad("phone", Tongue.say(.noPressesOfPaired, ["reason": HubCore.confirmList])))
    }
    do {
      _ = try await devices.askRunning(.pairing(.status(of: nil)), of: device)
    } catch {
      findings.append(
        .ok("pairing", Tongue.say(.pairingImpossible, ["reason": (error as? RunBusError)?.message ?? "\(error)"])))
    }
    // The answer about the run waits until all that the phone has taken in is on its disk.
    if case .some = try? await devices.askRunning(.report, of: device) { return findings }
    findings.append(
      .bad("phone", Tongue.say(.storeTakesNothing)))
    return findings
  }

  /// Whether the hub of a bus answers a request over the bus.
  private static func answer(of location: BusLocation, what: String) async -> Finding {
    let reason: String
    do {
      let loop = try Loop()
      defer { loop.stop() }
      let requester = Requester(at: location, loop: loop)
      if try await within(Duration(patience), { try await requester.state() }) != nil {
        return .ok("phone", Tongue.say(.phoneAnswers, ["phone": what]))
      }
      reason = Tongue.say(.noAnswerWithin, ["time": Sentence.seconds(patience)])
    } catch {
      reason = (error as? RunBusError)?.message ?? "\(error)"
    }
    return .bad("phone", Tongue.say(.phoneUnaskable, ["phone": what, "reason": reason]))
  }
}

/// Tries one way to a phone with keys.
private actor LinkTry {
  nonisolated private let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var transport: (any PeerTransport)?

  private init(on loop: Loop) { self.loop = loop }

  /// Why a connection is not let in; `nil` if it is.
  static func refusal(by route: CurveRoute, within span: BusDuration) async -> String? {
    let (refusals, told) = AsyncStream.makeStream(of: String?.self)
    do {
      let loop = try Loop()
      defer { loop.stop() }
      let link = LinkTry(on: loop)
      try await link.open(
        ZeroMQConnector(control: route.control, keys: ConnectorKeys(own: route.own, hub: route.hub)), told)
      let first: String?? = try await within(Duration(span)) {
        for await refusal in refusals { return refusal }
        return Tongue.say(.attemptEnded)
      }
      await link.close()
      return first ?? Tongue.say(.saysNothing, ["time": Sentence.seconds(span)])
    } catch {
      return (error as? RunBusError)?.message ?? "\(error)"
    }
  }

  private func open(_ connector: ZeroMQConnector, _ told: AsyncStream<String?>.Continuation) throws {
    transport = try connector.connect(on: loop) { event in
      switch event {
      case .linkUp: told.yield(nil)
      case .linkDown(let reason): told.yield(reason)
      case .frame, .event: break
      }
    }
  }

  private func close() {
    transport?.close()
    transport = nil
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
