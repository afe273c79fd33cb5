import ArgumentParser
import RunBus
import RunScripts
import Testing

@testable import busnode

@Suite("The devices of up")
struct UpDevicesTests {
  @Test("The usual set is a phone, a watch and a widget; several of a role have numbers, and shells always")
  func counted() {
    #expect(UpDevices.usual.nodes == [.phone, .watch, .widget])
    let devices = UpDevices(watches: 2, widgets: 0, shells: 1)
    #expect(devices.nodes.map(\.rawValue) == ["phone", "watch-1", "watch-2", "shell-1"])
    #expect(devices.all.map(\.sensors) == [.usual, .usual, .none, .none])
  }

  @Test("A file has a device a line, in groups of their roles, with comments and what differs")
  func file() throws {
    let devices = try UpDevices(
      """
      # twenty devices, nearly
      left  watch                       # the first watch has the heart rate
      right watch sensors=none faults=link,sleep

      hub   phone faults=none
      wall  shell
      """, file: "a.devices")
    #expect(devices.nodes.map(\.rawValue) == ["hub", "left", "right", "wall"])
    #expect(devices.phone.rawValue == "hub")
    #expect(devices.all.map(\.sensors) == [.usual, .usual, .none, .none])
    #expect(devices.all[0].faults.isEmpty && devices.all[2].faults == [.link, .sleep])
    #expect(devices.all[3].source == .shell && devices.all[3].faults.count == 3)
  }

  @Test(
    "A bad line is named with its file, its number, its column and what is wrong",
    arguments: [
      ("Watch watch", "2:1: \"Watch\": a name has"), ("w", "2:2: say what w is: phone, watch"),
      ("  w tablet", "2:5: \"tablet\" is not one of phone, watch, widget, shell"),
      ("p phone", "2:1: line 1 has the name"), ("q phone", "2:3: a bus has one phone, which is on line 1"),
      ("until watch", "2:1: \"until\" is a word of scripts"), ("w watch fast", "2:9: \"fast\" is not KEY=VALUE"),
      ("w watch speed=3", "2:9: there is no key \"speed\""), ("w watch sensors=some", "2:9: sensors= is usual"),
      ("w widget sensors=all", "2:10: a widget has no sensors"), ("w watch faults=rain", "2:9: faults= is all, none"),
      ("w watch faults=none faults=all", "2:21: faults= is given twice"),
    ])
  func badLine(line: String, what: String) {
    let error = #expect(throws: TextError.self) { try UpDevices("p phone\n\(line)\n", file: "my.devices") }
    #expect(error?.message.hasPrefix("my.devices:\(what)") == true, "\(error?.message ?? "")")
  }

  @Test("A file without a phone is refused")
  func noPhone() {
    let error = #expect(throws: TextError.self) { try UpDevices("w watch", file: "f") }
    #expect(error?.message == "f: a bus needs a phone: add a line as: phone phone")
  }

  @Test("More devices than the bound are refused with the bound and the way to have more")
  func bounds() throws {
    func refusal(_ arguments: String...) -> String? {
      do {
        _ = try SpawnOptions.parse(arguments)
        return nil
      } catch {
        return SpawnOptions.message(for: error)
      }
    }
    #expect(refusal("--watches", "98") == nil)
    #expect(refusal("--watches", "99")?.contains("at most 100 processes: give --in-process (up to 1000)") == true)
    #expect(refusal("--watches", "998", "--in-process") == nil)
    #expect(refusal("--watches", "999", "--in-process")?.contains("at most 1000 in one process") == true)
    #expect(refusal("--watches", "1000")?.contains("--watches is 0 to 999") == true)
    #expect(refusal("--devices", "f", "--shells", "2")?.contains("--devices names all devices") == true)
    #expect(refusal("--faults", "0")?.contains("--faults is 1 to") == true)
  }

  @Test("The limit that is too low for so many processes is named, with what they need")
  func limits() {
    #expect(SpawnLimits.obstacle(to: 100, files: 464, threads: 1400) == nil)
    #expect(
      SpawnLimits.obstacle(to: 100, files: 256, threads: .max)
        == "the limit of open files (ulimit -n) is 256, and 100 nodes need 464: raise it, or give --in-process")
    #expect(SpawnLimits.obstacle(to: 100, files: .max, threads: 999)?.contains("ulimit -u) is 999") == true)
  }

  // MARK: Faults

  @Test("The same seed draws the same faults, another one others")
  func seeds() {
    let devices = UpDevices(watches: 9)
    func plan(_ seed: UInt64) -> FaultPlan { FaultPlan(50, seed: seed, devices: devices, span: .seconds(60)) }
    #expect(plan(7) == plan(7) && plan(7).faults != plan(8).faults)
    #expect(plan(7).faults.count == 50)
    #expect(Fault.Kind.allCases.allSatisfy { plan(7).count($0) > 0 })
  }

  @Test("No device has two faults at once, and each has those alone that it may have", arguments: 1...20)
  func apart(seed: Int) throws {
    let devices = try UpDevices("p phone faults=none\na watch faults=link\nb watch\nc widget faults=kill", file: "f")
    let plan = FaultPlan(40, seed: UInt64(seed), devices: devices, span: .seconds(10))
    for device in devices.all {
      let own = plan.faults.filter { $0.node == device.node }
      #expect(own.allSatisfy { device.faults.contains($0.kind) && $0.begin < $0.end })
      #expect(zip(own, own.dropFirst()).allSatisfy { $0.end < $1.begin })
    }
    // Each is begun and taken back, in order of time.
    #expect(plan.steps.count == 80 && zip(plan.steps, plan.steps.dropFirst()).allSatisfy { $0.at <= $1.at })
  }

  @Test("Where no device may have faults none are drawn")
  func noFaults() throws {
    let devices = try UpDevices("p phone faults=none", file: "f")
    #expect(FaultPlan(3, seed: 1, devices: devices, span: .seconds(1)).faults.isEmpty)
  }
}
