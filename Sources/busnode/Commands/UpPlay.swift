import Foundation
import RunBus
import RunRecordings
import RunScripts

/// What `up` plays, with which devices: everything but the bus on which it does so.
struct UpPlay {
  let devices: UpDevices
  let script: Script?
  let recording: Recording?
  let sensors: SensorOptions
  let runner: RunnerOptions
  let speed: BusSpeed
  let debounce: BusDuration
  /// What the nodes log.
  let log: [String]
  var faults: FaultPlan?

  /// In how much real time faults begin: in most of what is played, so that the end is quiet, and in two seconds for
  /// each where nothing is.
  func faultSpan(_ count: Int) -> BusDuration {
    let played = [recording?.duration, script?.steps.last?.time].compactMap { $0 }.max()
    guard let played, played > .zero else { return .seconds(2 * Int64(count)) }
    return BusDuration(nanoseconds: speed.real(fromBus: played).nanoseconds / 5 * 4)
  }

  /// The plan with a process for each device.
  ///
  /// - Throws: ``Failure`` with 64 when the system is to choose the port of the bus.
  func plan(at location: BusLocation, environment: [String: String?]) throws(Failure) -> UpRun.Plan {
    guard !location.hasOpenPort else {
      throw Failure(
        code: "usage", message: Tongue.say(.portNeeded),
        exitStatus: ExitStatus.usage)
    }
    let isLocal = location.controlEndpoint.hasPrefix("ipc://")
    let place = isLocal ? ["--bus", location.displayName] : ["--address", location.displayName, "--insecure"]
    let common = place + ["--json", "--stdin"] + log
    var plan = UpRun.Plan(
      executable: Bundle.main.executablePath ?? CommandLine.arguments[0],
      environment: environment.merging(["RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil, "RUNBUS_CONTEXT": nil]) { $1 },
      arguments: Dictionary(uniqueKeysWithValues: devices.all.map { ($0.node, arguments(of: $0, common)) }),
      speed: speed, debounce: debounce, script: script, presses: recording?.presses ?? [],
      duration: recording?.duration,
      feeds: Set(devices.all.filter { !samples(of: $0).isEmpty }.map(\.node)), flag: location.flag)
    plan.devices = devices
    plan.faults = faults
    plan.shellEnvironment =
      isLocal
      ? ["RUNBUS_BUS": location.displayName] : ["RUNBUS_ADDRESS": location.displayName, "RUNBUS_INSECURE": "1"]
    return plan
  }

  /// The same devices in this process.
  func host(at location: BusLocation) throws -> InProcessBusHost {
    var timelines: [SpawnedNode: Timeline] = [:]
    for device in devices.all {
      let samples = samples(of: device)
      if !samples.isEmpty { timelines[device.node] = Timeline(samples) }
    }
    return try InProcessBusHost(
      InProcessBusHost.Setting(
        location: location, speed: speed, debounce: debounce, metrics: runner.metrics, timelines: timelines),
      devices: devices)
  }

  /// The readings that a device plays.
  private func samples(of device: UpDevice) -> [Sample] {
    guard let recording else { return [] }
    switch (device.sensors, device.role) {
    case (.all, _): return recording.samples.map(\.sample)
    case (.usual, .phone): return recording.samples(for: .phone).map(\.sample)
    case (.usual, .watch): return recording.samples(for: .watch).map(\.sample)
    case (.usual, .widget), (.usual, .shell), (.none, _): return []
    }
  }

  /// How the process of a device is called.
  private func arguments(of device: UpDevice, _ common: [String]) -> [String] {
    var arguments = [device.role == .shell ? "shell-node" : device.role.rawValue] + common
    if device.node.rawValue != device.role.rawValue { arguments += ["--device", device.node.rawValue] }
    if device.sensors != .none, sensors.hasInput {
      arguments += sensors.arguments + (device.sensors == .all ? ["--sensors", "all"] : [])
    }
    guard device.role == .phone else { return arguments }
    // Once each: speed and window are the hub's.
    return arguments + runner.arguments
      + ["--speed", "\(speed.factor)", "--debounce", "\(debounce.nanoseconds / 1_000_000)"]
  }
}
