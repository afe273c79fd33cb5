/// Which devices a screen shows in few rows: all of them where they fit. Otherwise the other groups are a row each, and
/// the group of the chosen device scrolls so that this one is in sight.
struct DeviceWindow: Equatable {
  /// The devices that have a row of their own, in their order.
  private(set) var shown: [ScreenState.Device]
  /// The rows of the groups before and behind them: `watch x12  11 up, 1 offline`.
  private(set) var groupsAbove: [String] = []
  private(set) var groupsBelow: [String] = []
  /// How many devices have no row and are in no group's row.
  private(set) var hiddenCount = 0

  /// - Parameter rows: How many rows there are.
  init(_ devices: [ScreenState.Device], chosen: String?, rows: Int) {
    shown = devices
    guard devices.count > rows else { return }
    let picked = devices.first { $0.name == chosen } ?? devices.first
    let roles = devices.map(\.role).reduce(into: [String?]()) { if $0.last != $1 { $0.append($1) } }
    // A group's row is worth its place only if some rows remain for devices.
    guard let place = roles.firstIndex(of: picked?.role), roles.count > 1, rows - (roles.count - 1) >= 2 else {
      scroll(devices, to: picked, rows: rows)
      return
    }
    func row(_ role: String?) -> String { Self.row(devices.filter { $0.role == role }, role) }
    groupsAbove = roles[..<place].map(row)
    groupsBelow = roles[(place + 1)...].map(row)
    scroll(devices.filter { $0.role == picked?.role }, to: picked, rows: rows - (roles.count - 1))
  }

  /// Shows as many devices as there are rows, the chosen one as far in the middle as can be.
  private mutating func scroll(_ devices: [ScreenState.Device], to chosen: ScreenState.Device?, rows: Int) {
    let room = max(0, min(rows, devices.count))
    let place = devices.firstIndex { $0.name == chosen?.name } ?? 0
    let first = max(0, min(place - room / 2, devices.count - room))
    shown = Array(devices[first..<first + room])
    hiddenCount = devices.count - room
  }

  /// A group in a row: how many there are in each state, the most frequent first.
  private static func row(_ devices: [ScreenState.Device], _ role: String?) -> String {
    var counts: [String: Int] = [:]
    for device in devices { counts[device.standing(isBlind: false).word, default: 0] += 1 }
    let states = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
    return
      "\(TextWidth.fitted("\(role ?? Tongue.say(.groupDevice)) x\(devices.count)", to: 14))\(states.joined(separator: ", "))"
  }
}
