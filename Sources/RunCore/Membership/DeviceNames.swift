/// Names that commands of any machine take by themselves, and names that are free.
extension DeviceID {
  /// The names of single commands, pages and screens. They may have a number, as in `shell-2`.
  private static var takenByCommands: [String] { ["shell", "web", "top"] }

  /// Whether commands take this name by themselves. No device is paired under it: its key would shut out the commands of
  /// all machines.
  package var isOfCommands: Bool {
    Self.takenByCommands.contains { word in
      guard rawValue.hasPrefix(word) else { return false }
      let rest = rawValue.dropFirst(word.count)
      return rest.isEmpty || rest.first == "-" && rest.count > 1 && rest.dropFirst().allSatisfy { "0"..."9" ~= $0 }
    }
  }

  /// Why no device is paired under this name; `nil` if one may be.
  package var reasonNotToPair: String? {
    isOfCommands ? "\(self) is a name that shells, pages and screens take by themselves: give the device another" : nil
  }

  /// The first of `name-2`, `name-3` and so on that is free. A long name is cut to make room.
  package static func free(like name: DeviceID, isTaken: (DeviceID) -> Bool) -> DeviceID {
    for number in 2... {
      let ending = "-\(number)"
      let beginning = name.rawValue.prefix(32 - ending.utf8.count)
      if let free = DeviceID(String(beginning) + ending), !isTaken(free) { return free }
    }
    return name
  }
}

extension DeviceList {
  /// Why the hub would not pair one more device under this name; `nil` if it would, as far as its list tells.
  ///
  /// - Parameters:
  ///   - name: The name; `nil` for one that is not known yet.
  ///   - replaces: Whether the key of a device that has the name is taken back.
  package func reasonNotToPair(as name: DeviceID?, replaces: Bool) -> String? {
    let valid = devices.filter { !$0.isRevoked }
    let isHeld = name.map { name in valid.contains { $0.deviceID == name } }
    if let name, isHeld == true, !replaces { return "\(name) is paired with another key" }
    guard isHeld != true, isHeld == false || !replaces, valid.count >= Members.devicesMax else { return nil }
    return "\(Members.devicesMax) devices are paired, which is the most: revoke one first"
  }

  /// A name for a device: the one that it wants, or else the next one that no other paired device has or had.
  ///
  /// - Parameter key: the device's own key; `nil` if it has none.
  package func free(like name: DeviceID, for key: KeyFingerprint? = nil) -> DeviceID {
    let others = devices.filter { !$0.isRevoked && $0.key != key }
    func isTaken(_ name: DeviceID) -> Bool { others.contains { $0.hasName(name) } }
    return isTaken(name) ? .free(like: name, isTaken: isTaken) : name
  }
}
