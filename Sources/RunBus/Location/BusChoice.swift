/// The bus that a command is about, and what named it. Every command finds its bus here, so that none of them can ignore
/// an option or a variable that the others obey.
package struct BusChoice: Hashable, Sendable {
  /// What named the bus.
  package enum Origin: Hashable, Sendable {
    /// `--bus` or `--address`.
    case option
    /// `RUNBUS_BUS` or `RUNBUS_ADDRESS`.
    case variable
    /// The file of settings.
    case setting
    /// Nothing: it is the bus called `default`.
    case nothing
  }

  /// A bus that the file of settings names, by its name or its address.
  package struct Saved: Hashable, Sendable {
    /// The name.
    package let bus: String?
    /// The address.
    package let address: String?
    /// Where it is set, for a sentence.
    package let place: String

    /// A bus in the file of settings; neither a name nor an address when that part of the file names none.
    package init(bus: String?, address: String?, place: String) {
      (self.bus, self.address, self.place) = (bus, address, place)
    }
  }

  /// The bus, as one of this machine.
  package let location: BusLocation
  /// What named it.
  package let origin: Origin
  /// Where it is set, when it is a setting.
  private let place: String?

  /// A bus by options, else by `RUNBUS_BUS` or `RUNBUS_ADDRESS`, else by the first setting that names one, else the bus
  /// called `default`. An option of either kind overrides both variables, a variable all settings. Empty variables count
  /// as unset.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` when both options or both variables are given, or the given one is
  ///   malformed.
  package init(
    bus: String?, address: String?, environment: [String: String], saved: [Saved] = []
  ) throws(RunBusError) {
    let hasOption = bus != nil || address != nil
    func variable(_ name: String) -> String? {
      environment[name].flatMap { hasOption || $0.isEmpty ? nil : $0 }
    }
    var (name, address) = (bus ?? variable("RUNBUS_BUS"), address ?? variable("RUNBUS_ADDRESS"))
    let hasVariable = !hasOption && (name != nil || address != nil)
    let setting = hasOption || hasVariable ? nil : saved.first { $0.bus != nil || $0.address != nil }
    if let setting { (name, address) = (setting.bus, setting.address) }
    place = setting?.place
    origin = hasOption ? .option : hasVariable ? .variable : setting != nil ? .setting : .nothing
    switch (name, address) {
    case (.some, .some):
      throw RunBusError(
        .badInput,
        hasOption
          ? "a bus has a name or an address: give --bus or --address, not both"
          : setting.map { "a bus has a name or an address, and \($0.place) has both: leave one out" }
            ?? "a bus has a name or an address: unset RUNBUS_BUS or RUNBUS_ADDRESS, or give --bus or --address")
    case (nil, let address?): location = try BusLocation(address: address, environment: environment)
    case (let name, nil):
      guard let name = BusName(name ?? "default") else {
        throw RunBusError(
          .badInput,
          "'\(name ?? "")' is no bus name: up to 32 of a-z, 0-9, '.', '_' and '-', a letter or digit first")
      }
      location = BusLocation(bus: name, environment: environment)
    }
  }

  /// What named the bus, for a sentence: `--bus`, `RUNBUS_ADDRESS`, `context home in PATH`, `the default`.
  package var originText: String {
    switch origin {
    case .option: location.isAddress ? "--address" : "--bus"
    case .variable: location.isAddress ? "RUNBUS_ADDRESS" : "RUNBUS_BUS"
    case .setting: place ?? "a setting"
    case .nothing: "the default"
    }
  }
}
