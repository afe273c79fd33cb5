import RunBus

/// One line of what `busnode doctor` found.
struct Finding: Codable, Hashable, Sendable {
  /// How bad it is.
  enum Level: String, Codable, Comparable, Sendable {
    /// As it should be.
    case ok
    /// RunBus works, and something will go wrong or already takes something away from the user.
    case warn
    /// A node cannot start, cannot keep what it is given, or is not safe.
    case bad

    private var rank: Int32 {
      switch self {
      case .ok: 0
      case .warn: 1
      case .bad: 2
      }
    }

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    /// The exit status of the command when nothing is worse.
    var exitStatus: Int32 { rank }
  }

  var level: Level
  /// What was looked at, in a word or two.
  var subject: String
  /// What was found, and what to do about it.
  var text: String

  /// Everything that is looked at for the bus whose phone is on this machine.
  ///
  /// - Parameter listener: Where a phone would listen for paired devices.
  static func all(of local: BusLocation, listener: RemoteListener? = nil) async -> [Finding] {
    // Keys that cannot be read are a finding of their own.
    let paired = local.name.flatMap { name in (try? BusLocation(pairedBus: name)).flatMap { $0 } }
    return MachineFindings.all(near: (paired ?? local).stateDirectory)
      + (await BusFindings(local: local, paired: paired, listener: listener).all())
      + RoomFindings(location: local).all()
  }

  static func ok(_ subject: String, _ text: String) -> Finding { Finding(level: .ok, subject: subject, text: text) }
  static func warn(_ subject: String, _ text: String) -> Finding { Finding(level: .warn, subject: subject, text: text) }
  static func bad(_ subject: String, _ text: String) -> Finding { Finding(level: .bad, subject: subject, text: text) }
}

extension Finding {
  /// The level as people read it.
  var levelWord: String {
    switch level {
    case .ok: Tongue.say(.levelOK)
    case .warn: Tongue.say(.levelWarn)
    case .bad: Tongue.say(.levelBad)
    }
  }

  /// What a finding is about, as people read it.
  static func spoken(subject: String) -> String {
    switch subject {
    case "versions": Tongue.say(.subjectVersions)
    case "keys": Tongue.say(.subjectKeys)
    case "open files": Tongue.say(.subjectFiles)
    case "clock": Tongue.say(.subjectClock)
    case "disk": Tongue.say(.subjectDisk)
    case "stores": Tongue.say(.subjectStores)
    case "store": Tongue.say(.subjectStore)
    case "phone": Tongue.say(.subjectPhone)
    case "directories": Tongue.say(.subjectDirectories)
    case "start": Tongue.say(.subjectStart)
    case "ports": Tongue.say(.subjectPorts)
    case "pairing": Tongue.say(.subjectPairing)
    case "rooms": Tongue.say(.subjectRooms)
    default: subject
    }
  }
}
