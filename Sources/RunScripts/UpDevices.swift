import RunBus

/// The set of devices that `up` spawns: one phone and others, in groups of their roles.
package struct UpDevices: Hashable, Sendable {
  package let all: [UpDevice]

  /// How many there may be as processes: each is a dozen threads, and more of them would measure the machine alone.
  package static let processesMax = 100
  /// How many there may be in one process. The hub itself holds more sessions; this many have been tried.
  package static let inProcessMax = 1000
  /// How long a file may be: a comment for each device, and names of a hundred characters.
  package static let (linesMax, bytesMax) = (4096, 1 << 20)

  /// A phone, a watch and a widget.
  package static let usual = UpDevices()

  /// A phone and so many others. A single watch or widget is called after its role; several are `watch-1`, `watch-2` …,
  /// and so are shells, because `shell` is a word of scripts.
  ///
  /// The first watch measures the heart rate: a runner has one heart.
  package init(watches: Int = 1, widgets: Int = 1, shells: Int = 0) {
    func several(_ count: Int, _ role: UpDevice.Role) -> [UpDevice] {
      (0..<max(0, count)).map { index in
        UpDevice(
          SpawnedNode(rawValue: count == 1 && role != .shell ? role.rawValue : "\(role.rawValue)-\(index + 1)"), role,
          sensors: role == .watch && index == 0 ? .usual : .none)
      }
    }
    all =
      [UpDevice(.phone, .phone, sensors: .usual)] + several(watches, .watch)
      + several(widgets, .widget) + several(shells, .shell)
  }

  /// Reads a file of devices: `NAME ROLE [sensors=usual|all|none] [faults=all|none|link,kill,sleep]` a line, `#` begins
  /// a comment. Without `sensors` the phone and the first watch play their usual readings.
  ///
  /// - Throws: ``TextError`` of the form `FILE:LINE:COLUMN: what is wrong`.
  package init(_ text: String, file: String) throws(TextError) {
    var devices: [UpDevice] = []
    var lines: [SpawnedNode: Int] = [:]
    for (index, line) in text.drop(while: { $0 == "\u{FEFF}" }).writtenLines.enumerated() {
      do throws(Flaw) {
        guard index < Self.linesMax else { throw Flaw("a file of devices has at most \(Self.linesMax) lines", at: 1) }
        let words = Self.words(line)
        guard !words.isEmpty else { continue }
        let device = try Self.device(words, playsFirst: !devices.contains { $0.role == .watch })
        if let other = lines[device.node] {
          throw Flaw("line \(other) has the name \"\(words[0].text)\", too: give each its own", at: words[0].column)
        }
        if device.role == .phone, let other = devices.first(where: { $0.role == .phone }).flatMap({ lines[$0.node] }) {
          throw Flaw("a bus has one phone, which is on line \(other): choose another role", at: words[1].column)
        }
        lines[device.node] = index + 1
        devices.append(device)
      } catch {
        throw TextError("\(file):\(index + 1):\(error.column): \(error.what)")
      }
    }
    guard devices.contains(where: { $0.role == .phone }) else {
      throw TextError("\(file): a bus needs a phone: add a line as: phone phone")
    }
    all = UpDevice.Role.allCases.flatMap { role in devices.filter { $0.role == role } }
  }

  /// What is wrong with a line, and where.
  private struct Flaw: Error {
    let what: String
    let column: Int
    init(_ what: String, at column: Int) { (self.what, self.column) = (what, column) }
  }

  /// The words of a line up to a comment, each with the column at which it begins, from 1.
  private static func words(_ line: Substring) -> [(text: Substring, column: Int)] {
    line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
      .map { ($0, line.distance(from: line.startIndex, to: $0.startIndex) + 1) }
  }

  private static func device(
    _ words: [(text: Substring, column: Int)], playsFirst: Bool
  ) throws(Flaw) -> UpDevice {
    let name = words[0]
    guard DeviceID(name.text) != nil else { throw Flaw("\"\(name.text)\": \(DeviceID.rule)", at: name.column) }
    guard !Script.words.contains(String(name.text)) else {
      throw Flaw("\"\(name.text)\" is a word of scripts: choose another name", at: name.column)
    }
    guard words.count > 1 else {
      throw Flaw("say what \(name.text) is: \(roles)", at: name.column + name.text.count)
    }
    guard let role = UpDevice.Role(rawValue: String(words[1].text)) else {
      throw Flaw("\"\(words[1].text)\" is not one of \(roles)", at: words[1].column)
    }
    let plays = role == .phone || role == .watch && playsFirst
    var device = UpDevice(SpawnedNode(rawValue: String(name.text)), role, sensors: plays ? .usual : .none)
    var keys: Set<Substring> = []
    for word in words.dropFirst(2) {
      let parts = word.text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw Flaw("\"\(word.text)\" is not KEY=VALUE, as sensors=none", at: word.column) }
      guard keys.insert(parts[0]).inserted else { throw Flaw("\(parts[0])= is given twice", at: word.column) }
      if let what = set(&device, parts[0], parts[1]) { throw Flaw(what, at: word.column) }
    }
    return device
  }

  /// Sets a key of a device.
  ///
  /// - Returns: What is wrong with it.
  private static func set(_ device: inout UpDevice, _ key: Substring, _ value: Substring) -> String? {
    switch key {
    case "sensors":
      guard let sensors = UpDevice.Sensors(rawValue: String(value)) else {
        return "sensors= is usual, all or none, not \"\(value)\""
      }
      guard sensors == .none || [.phone, .watch].contains(device.role) else {
        return "a \(device.role.rawValue) has no sensors: leave sensors= out"
      }
      device.sensors = sensors
    case "faults":
      if value == "all" || value == "none" {
        device.faults = value == "all" ? Set(Fault.Kind.allCases) : []
        return nil
      }
      let kinds = value.split(separator: ",", omittingEmptySubsequences: false)
        .map { Fault.Kind(rawValue: String($0)) }
      guard !kinds.contains(nil) else { return "faults= is all, none, or some of link,kill,sleep, not \"\(value)\"" }
      device.faults = Set(kinds.compactMap { $0 })
    default: return "there is no key \"\(key)\": write sensors= or faults="
    }
    return nil
  }

  private static let roles = UpDevice.Role.allCases.map(\.rawValue).joined(separator: ", ")

  // MARK: The set

  package var nodes: [SpawnedNode] { all.map(\.node) }

  /// The hub.
  package var phone: SpawnedNode {
    guard let phone = all.first(where: { $0.role == .phone }) else { preconditionFailure("a set has a phone") }
    return phone.node
  }

  /// The names in a sentence: all of a few, the first of many.
  package var names: String {
    let shown = all.prefix(8).map(\.node.rawValue).joined(separator: ", ")
    return all.count > 8 ? "\(shown), … (\(all.count) in all)" : shown
  }
}
