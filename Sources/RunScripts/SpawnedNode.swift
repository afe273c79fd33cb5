package import RunBus

/// A node that `up` spawns, by the name of its device.
package struct SpawnedNode: RawRepresentable, Hashable, Sendable, Codable {
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }

  package static let phone = SpawnedNode(rawValue: "phone")
  package static let watch = SpawnedNode(rawValue: "watch")
  package static let widget = SpawnedNode(rawValue: "widget")
}

/// A simulated device: what `up` spawns as a node.
package struct UpDevice: Hashable, Sendable {
  /// What it is on its bus.
  package enum Role: String, Hashable, Sendable, CaseIterable, Codable { case phone, watch, widget, shell }

  /// Which readings of the sensor input it plays.
  package enum Sensors: String, Hashable, Sendable, CaseIterable {
    /// A phone all but the heart rate, a watch the heart rate.
    case usual
    case all
    case none
  }

  package var node: SpawnedNode
  package var role: Role
  package var sensors: Sensors
  /// The faults that `--faults` may draw for it.
  package var faults: Set<Fault.Kind>

  package init(
    _ node: SpawnedNode, _ role: Role, sensors: Sensors = .none, faults: Set<Fault.Kind> = Set(Fault.Kind.allCases)
  ) {
    (self.node, self.role, self.sensors, self.faults) = (node, role, sensors, faults)
  }

  /// Who presses its buttons.
  package var source: ControlSource {
    switch role {
    case .phone: .phone
    case .watch: .watch
    case .widget: .liveActivity
    case .shell: .shell
    }
  }

  /// The device's name on the bus.
  package var deviceID: DeviceID {
    guard let device = DeviceID(node.rawValue) else { preconditionFailure("a checked name: \(node.rawValue)") }
    return device
  }
}
