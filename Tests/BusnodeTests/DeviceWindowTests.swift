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
