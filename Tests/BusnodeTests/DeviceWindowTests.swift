import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("Many devices on a screen")
struct DeviceWindowTests {
  private static func device(_ name: String, _ role: String?, _ state: String = "here") -> ScreenState.Device {
    ScreenState.Device(name: name, isHere: state == "here", state: state, waiting: 0, role: role)
  }

  private let devices =
    [device("phone", "phone")] + (1...12).map { device("watch-\($0)", "watch", $0 == 3 ? "offline" : "here") }
    + (1...6).map { device("widget-\($0)", "widget") }

  @Test("Where all fit all are shown")
  func all() {
    let window = DeviceWindow(devices, chosen: "watch-2", rows: 19)
    #expect(window.shown == devices && window.groupsAbove.isEmpty && window.hiddenCount == 0)
  }

  @Test("Other roles are a row each with their states, and the chosen device's group scrolls to it")
  func groups() {
    var window = DeviceWindow(devices, chosen: "watch-12", rows: 6)
    #expect(window.shown.map(\.name) == ["watch-9", "watch-10", "watch-11", "watch-12"])
    #expect(window.groupsAbove == ["phone x1      1 here"] && window.groupsBelow == ["widget x6     6 here"])
    #expect(window.hiddenCount == 8)
    window = DeviceWindow(devices, chosen: "phone", rows: 6)
    #expect(window.shown.map(\.name) == ["phone"] && window.groupsAbove.isEmpty)
    #expect(window.groupsBelow == ["watch x12     11 here, 1 offline", "widget x6     6 here"])
  }

  @Test("With very few rows there are no groups, and the chosen device is in sight")
  func few() {
    for rows in 1...3 {
      let window = DeviceWindow(devices, chosen: "widget-6", rows: rows)
      #expect(window.shown.last?.name == "widget-6" && window.shown.count == rows)
      #expect(window.groupsAbove.isEmpty && window.hiddenCount == devices.count - rows)
    }
    #expect(DeviceWindow(devices, chosen: "watch-3", rows: 0).shown.isEmpty)
  }

  @Test("Devices come before the route, which takes what a few commands leave")
  func shares() {
    func shares(_ room: Int, _ gap: Int, _ devices: Int, hasRoute: Bool = true) -> [Int] {
      let shares = RowShares(of: room, gap: gap, devices: devices, hasRoute: hasRoute)
      let commands = shares.commands(below: shares.devices)
      return [shares.devices, commands, shares.route(below: shares.devices + commands)]
    }
    // Below the numbers 80x24 has 16 rows, and 80x36 has 25 with a blank one between two tables.
    #expect(shares(16, 0, 3) == [4, 6, 6] && shares(25, 1, 3) == [4, 6, 13])
    #expect(shares(16, 0, 5) == [6, 4, 6] && shares(16, 0, 8) == [9, 7, 0])
    #expect(shares(16, 0, 20) == [12, 4, 0] && shares(25, 1, 20) == [20, 4, 0])
    #expect(shares(16, 0, 3, hasRoute: false) == [4, 12, 0])
    #expect(shares(4, 0, 20) == [2, 2, 0] && shares(2, 0, 20) == [1, 1, 0])
  }

  @Test(
    "With twenty nodes a dead one is in sight, whichever is chosen, and the route takes no row of theirs",
    arguments: [(80, 24), (80, 36), (120, 40)])
  func twenty(columns: Int, rows: Int) {
    let devices = UpDevices(watches: 9, widgets: 5, shells: 5)
    var screen = UpScreen(bus: "demo", units: .metric, hasUnicode: true, devices: devices)
    let nodes = devices.nodes.map { node in
      var row = UpRow()
      row.link = node.rawValue == "shell-5" ? "dead" : "up"
      return (node: node, row: row)
    }
    let size = Screen(columns: columns, rows: rows)
    for device in devices.all {
      _ = screen.draw(nodes, speed: .realTime, on: size, now: .now, moment: .zero)
      var state = screen.state
      state.route = (0..<50).map {
        let position = Position(latitude: 50, longitude: 8 + Double($0) / 1000)
        return RoutePoint(offset: .seconds(Int64($0)), position: position, verdict: .counted)
      }
      let drawn = RunScreen.rows(state, on: size).map(\.text)
      func has(_ text: String) -> Bool { drawn.contains { $0.contains(text) } }
      #expect(has(">\(device.node.rawValue) ") && drawn.count == rows)
      #expect(has("phone x1      1 here") == (device.role != .phone), "\(drawn)")
      #expect(has("watch x9      9 here") == (device.role != .watch), "\(drawn)")
      #expect(has("widget x5     5 here") == (device.role != .widget), "\(drawn)")
      #expect(has("shell x5      4 here, 1 dead") == (device.role != .shell), "\(drawn)")
      #expect(has("shell-5 ") == (device.role == .shell), "\(drawn)")
      if rows == 24, device.role == .watch { #expect(has("+1 more") && !has("ROUTE"), "\(drawn)") }
      _ = screen.obey(.tab, at: .now)
    }
  }

  @Test(
    "A screen of up with a hundred nodes has the chosen one in sight at 80x24 and 40x12",
    arguments: [(80, 24), (40, 12)])
  func screens(columns: Int, rows: Int) {
    let devices = UpDevices(watches: 60, widgets: 30, shells: 9)
    var screen = UpScreen(bus: "demo", units: .metric, hasUnicode: true, devices: devices)
    func draw() -> [StyledRow] {
      screen.draw(
        devices.nodes.map { ($0, UpRow()) }, speed: .realTime, on: Screen(columns: columns, rows: rows), now: .now,
        moment: .zero)
    }
    for _ in 0..<102 {
      let drawn = draw()
      #expect(drawn.count == rows && drawn.allSatisfy { $0.width <= columns })
      #expect(drawn.contains { $0.text.hasPrefix(">\(screen.state.chosenNode ?? "?") ") })
      _ = screen.obey(.tab, at: .now)
    }
    // All round, and two further; back again by the other key.
    #expect(screen.state.chosenNode == "watch-2")
    for _ in 0..<2 { _ = screen.obey(.up, at: .now) }
    #expect(screen.state.chosenNode == "phone")
    #expect(screen.obey(.character("9"), at: .now) == nil && screen.state.chosenNode == "watch-8")
    #expect(screen.obey(.character("a"), at: .now) == .press(.start, on: devices.nodes))
  }
}
