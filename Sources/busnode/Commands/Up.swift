import ArgumentParser
import Foundation
import RunBus
import RunRecordings
import RunScripts

struct Up: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up",
    abstract: "Run a set of simulated devices, play a run with them, and check that they agree.",
    discussion: """
        busnode up --synthetic --duration 5m --speed 10
        busnode up --replay run.tcx --speed 60 --weight 70
        busnode up --synthetic --duration 2m --script demo.run --json | jq -c .event
        busnode up --watches 12 --widgets 6 --faults 20 --script my.run
        busnode up --watches 999 --widgets 0 --in-process
        busnode up --runners 4 --goal 2m --gather --speed 10
        busnode up      no sensors: press with busnode send or keys, until Ctrl-C

      On a terminal a screen shows the run and its nodes, as busnode top does. With --plain, with TERM=dumb and \
      without a terminal each snapshot is a line. At the end there is a summary. The exit status is 1 when the nodes \
      did not agree at every revision or one of them died, and 74 when the output cannot be written. Ctrl-C (or \
      SIGTERM, a closed terminal, a closed pipe) ends the nodes in good order, a second Ctrl-C kills them; the exit \
      status is 130 when that cuts a recording or a script short, and 0 when there was none to play.

      Keys of the screen: 1 to 9, Tab, up and down choose a node; s, p, r, x, l press its buttons (start, pause, resume, stop, \
      lap), x when it is pressed twice within three seconds; o takes it offline and back, k kills it as by kill -9, n starts it again; a presses on all at once: \
      pause in a run, resume in a pause, start otherwise; ? shows help; q is like Ctrl-C.

      Where no option, variable or setting names a bus, up makes one of its own: other commands find it by the name that \
      is shown, and its state is removed at the end. Otherwise it uses that bus, and its state stays.

      The devices are a phone, a watch and a widget, or as many as --watches, --widgets and --shells say, or those of \
      a file: up to 100 as processes, up to 1000 with --in-process, where stores are in memory. A single watch or widget \
      is called after its role, several are watch-1, watch-2, ... (and shells always). With more nodes than rows the \
      screen groups them by role. The file has a line for each, NAME ROLE and what differs; # begins a comment:
        phone    phone
        watch-2  watch  sensors=none faults=link,sleep
        ROLE     phone (exactly one), watch, widget, shell
        sensors  usual (default for the phone and the first watch), all, none
        faults   what --faults may draw: all (default), none, or some of link,
                 kill (as by kill -9, then started again), sleep (it stands
                 still: SIGSTOP; with --in-process its link is cut)

      --faults draws while the run is on, names the seed, and takes everything back before the nodes have to agree: \
      the same seed, devices and length draw the same faults. Ctrl-C waits for that where nothing else is played.

      With --replay or --synthetic the phone presses start, the recorded pauses and stop, each at its time in the run, \
      so that two replays end with the same metrics. With a script there are only the script's presses. If the run is \
      still on when both script and recording are over, the phone stops it, and up says so.

      With --runners it starts as many phones instead, each with a modelled runner of another pace, and plays a run \
      together: the first opens a room, the others enter, all are ready, with --gather they walk to the start, and they \
      run until the goal. At the end it compares what the phones show: roster, entries, digest, verdicts, result and \
      starts. The exit status is 1 when something differs or the starts are more than 50 ms apart. The phones are on a \
      fleet and on buses of their own (up-PID-1, up-PID-2, ...) in a temporary folder, which is removed at the end.

      SCRIPT: one line for each thing; # begins a comment.
        at TIME NODE ACTION      or, at the time of the line above: NODE: ACTION
        until CONDITION [within TIME]   the lines below wait for it
        expect CONDITION         it holds now, or the script has failed
        shell COMMAND            the lines below wait for its end (30 s at most);
                                 the script fails with it
        TIME    bus time since all nodes have a snapshot: 12s, 1m30s, 90, 1:30
        NODE    the name of a device
        ACTION  start, pause, resume, stop, lap: press a button;
                start goal 30m: start a run with a time goal;
                offline 30s, offline, online: disconnect (for 30 s of bus time),
                connect again;
                kill, restart: kill the process as by kill -9, start it again
        CONDITION  FIELD OP VALUE, joined by &&, on the phone's state: every field
                of busnode state --json; without within it waits for 30 s of
                real time, with it for so much bus time

        at 0s  watch start
        until phase == running within 5s
        at 12s watch pause
        at 20s watch offline 30s
        at 40s phone kill
        at 45s phone restart
        until phase == paused && lapCount == 0
        shell busnode state

      A line of a script that does not come true ends the nodes with status 1; busnode finds the bus of the script in a \
      command of its shell.
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var spawn: SpawnOptions
  @OptionGroup var sensors: SensorOptions
  @OptionGroup var runner: RunnerOptions
  @OptionGroup var together: RunnersOptions

  @Option(help: ArgumentHelp("How fast bus time runs: 60 is a minute in a second.", valueName: "factor"))
  var speed = SpeedArgument(.realTime)

  @Option(help: ArgumentHelp("The window in which presses settle together, in ms of bus time.", valueName: "ms"))
  var debounce = 500

  @Option(
    help: ArgumentHelp("A script to play instead of the recorded presses; - is standard input.", valueName: "file"),
    completion: .file())
  var script: String?

  @Flag(help: "Write JSON, one object a line, the summary last.")
  var json = false

  @Flag(help: "Write lines instead of a screen.")
  var plain = false

  func validate() throws {
    guard (0...60_000).contains(debounce) else { throw ValidationError(Tongue.say(.debounceBounds)) }
    if sensors.readsStandardInput {
      throw ValidationError(Tongue.say(.replayOnce))
    }
    if sensors.seed != nil, !sensors.synthetic, spawn.faults == nil {
      throw ValidationError(Tongue.say(.seedNeedsInput))
    }
    if spawn.devices == InputFile.standardInput, script == InputFile.standardInput {
      throw ValidationError(Tongue.say(.devicesOrScript))
    }
    guard together.runners != nil else {
      guard spawn.inProcess, bus.bus != nil || bus.address != nil || bus.insecure else { return }
      throw ValidationError(Tongue.say(.inProcessOwnBus))
    }
    if spawn.isUsed { throw ValidationError(Tongue.say(.runnersOwnDevices)) }
    if sensors.hasInput { throw ValidationError(Tongue.say(.runnersModelled)) }
    if script != nil { throw ValidationError(Tongue.say(.scriptWithoutRunners)) }
    if bus.bus != nil || bus.address != nil || bus.insecure {
      throw ValidationError(Tongue.say(.runnersOwnBuses))
    }
  }

  func run() async throws {
    bus.startLog()
    // Before a process is spawned: a node would refuse a wrong file, too.
    _ = try Settings.ofThisProcess()
    if let count = together.runners { return try await play(runners: count) }
    // Read all input before a process is spawned.
    let devices = try spawn.read()
    try spawn.checkLimits(devices)
    let script = try script.map { try Self.read(script: $0, devices) }
    var sensors = self.sensors
    let drawn = sensors.seed ?? UInt64.random(in: 1...999_999)
    // One seed draws both, so that one repeats both.
    if spawn.faults != nil, sensors.synthetic { sensors.seed = drawn }
    let recording = try sensors.recording()
    var play = UpPlay(
      devices: devices, script: script, recording: recording, sensors: sensors, runner: runner, speed: speed.speed,
      debounce: .milliseconds(Int64(debounce)), log: bus.logArguments)
    play.faults = spawn.faults.map { FaultPlan($0, seed: drawn, devices: devices, span: play.faultSpan($0)) }

    let choice = try bus.choice()
    if choice.origin != .nothing, !spawn.inProcess {
      try Phone.refuseIfPaired(choice.location, advice: Tongue.say(.upOwnBus))
      return try await show(play.plan(at: try bus.location(), environment: [:]), at: try bus.location())
    }

    let name = "up-\(ProcessInfo.processInfo.processIdentifier)"
    let state = NSTemporaryDirectory() + "runbus-\(name)-\(UUID().uuidString)"
    let location = try BusLocation(bus: name, address: nil, environment: ProcessInfo.processInfo.environment)
    defer {
      try? FileManager.default.removeItem(atPath: state)
      try? FileManager.default.removeItem(atPath: location.runtimeDirectory)
    }
    var plan = try play.plan(at: location, environment: ["XDG_STATE_HOME": state])
    let host = try spawn.inProcess ? play.host(at: location) : nil
    defer { host?.stop() }
    if let host { plan.makeNode = { host.makeNode($0, life: $1) } }
    try await show(plan, at: location)
  }

  private func show(_ plan: UpRun.Plan, at location: BusLocation) async throws {
    try await UpShow(
      location, speed: speed.speed, devices: plan.devices, isPlain: plain, asJSON: json,
      units: try Settings.units(nil), environment: try Settings.terminalEnvironment()
    ).play(plan)
  }

  /// Plays a run together in a folder of its own.
  private func play(runners count: Int) async throws {
    let name = "up-\(ProcessInfo.processInfo.processIdentifier)"
    // Short, because a socket's path is.
    let folder = NSTemporaryDirectory() + "runbus-\(name)-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var environment: [String: String?] = ["RUNBUS_BUS": nil, "RUNBUS_ADDRESS": nil, "RUNBUS_CONTEXT": nil]
    for (variable, part) in [("XDG_STATE_HOME", "state"), ("XDG_RUNTIME_DIR", "run"), ("XDG_CONFIG_HOME", "config")] {
      do {
        try FileManager.default.createDirectory(
          atPath: folder + "/" + part, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw Failure(
          code: "store", message: Tongue.say(.cannotMake, ["path": folder, "reason": error.localizedDescription]),
          exitStatus: ExitStatus.diskError)
      }
      environment[variable] = folder + "/" + part
    }
    var plan = RunnersPlan(
      executable: Bundle.main.executablePath ?? CommandLine.arguments[0], environment: environment, name: name,
      count: count, goal: together.length, speed: speed.speed, gathers: together.gather,
      arguments: runner.arguments + ["--debounce", "\(debounce)"] + bus.logArguments)
    if let seed = together.wrongClocks { plan.drawClocks(seed: seed) }
    try await RunnersShow(asJSON: json).play(plan)
  }

  private static func read(script path: String, _ devices: UpDevices) throws -> Script {
    let data = try InputFile.contents(of: path, as: "script", bytesMax: Script.bytesMax, allowsPipe: true)
    do {
      return try Script(String(decoding: data, as: UTF8.self), file: InputFile.name(of: path), devices: devices)
    } catch {
      throw Failure(code: "badInput", message: error.message, exitStatus: ExitStatus.badInput)
    }
  }
}
