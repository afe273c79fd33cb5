/// The bus that a command is about, and what named it. Every command finds its bus here, so that none of them can ignore
/// an option or a variable that the others obey.
package struct BusChoice: Hashable, Sendable {
  /// What named the bus.
  package enum Origin: Hashable, Sendable {
    /// `--bus` or `--address`.
    case option
    /// `RUNBUS_BUS` or `RUNBUS_ADDRESS`.
    case variable
    /// Nothing: it is the bus called `default`.
    case nothing
  }

  /// The bus, as one of this machine.
  package let location: BusLocation
  /// What named it.
  package let origin: Origin

  /// A bus by options, else by `RUNBUS_BUS` or `RUNBUS_ADDRESS`, else the bus called `default`. An option of either kind
  /// overrides both variables. Empty variables count as unset.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` when both options or both variables are given, or the given one is
  ///   malformed.
  package init(bus: String?, address: String?, environment: [String: String]) throws(RunBusError) {
    let hasOption = bus != nil || address != nil
    func variable(_ name: String) -> String? {
      environment[name].flatMap { hasOption || $0.isEmpty ? nil : $0 }
    }
    let (name, place) = (bus ?? variable("RUNBUS_BUS"), address ?? variable("RUNBUS_ADDRESS"))
    origin = hasOption ? .option : name != nil || place != nil ? .variable : .nothing
    switch (name, place) {
    case (.some, .some):
      throw RunBusError(
        .badInput,
        hasOption
          ? "a bus has a name or an address: give --bus or --address, not both"
          : "a bus has a name or an address: unset RUNBUS_BUS or RUNBUS_ADDRESS, or give --bus or --address")
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

  /// What named the bus, for a sentence: `--bus`, `RUNBUS_ADDRESS`, `the default`.
  package var originText: String {
    switch origin {
    case .option: location.isAddress ? "--address" : "--bus"
    case .variable: location.isAddress ? "RUNBUS_ADDRESS" : "RUNBUS_BUS"
    case .nothing: "the default"
    }
  }
}
