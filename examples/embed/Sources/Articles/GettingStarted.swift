import Foundation
import RunBus

/// The phone's app holds the run as long as this function runs.
func runPhone() async throws {
  let phone = try Hub(
    at: BusLocation(bus: "default"), configuration: HubConfiguration(deviceID: "phone"), loop: Loop())
  try await phone.run()  // until its task is cancelled
}

/// The watch's app starts a run and follows it to its end.
func runWatch() async throws {
  let watch = try Peer(
    at: BusLocation(bus: "default"), configuration: PeerConfiguration(deviceID: "watch", role: .watch), loop: Loop())
  try await withNode(watch) {
    let verdict = try await watch.send(Command(.start, source: .watch))
    print(verdict.message)  // "start was applied"
    for await snapshot in await watch.snapshots() {
      print(snapshot.phase, RunFormat().distance(snapshot.metrics.distanceMeters))
      if snapshot.phase == .completed { break }
    }
  }
}

/// Adds a heart rate that the watch has measured.
func add(beatsPerMinute rate: Double, measuredAt date: Date, to watch: Peer) async throws {
  try await watch.add(.heartRate(bpm: rate), at: date)
}

/// Makes the phone's node, or says why that is not possible.
func makePhone(at location: BusLocation) -> Hub? {
  do throws(RunBusError) {
    return try Hub(at: location, configuration: HubConfiguration(deviceID: "phone"), loop: Loop())
  } catch {
    switch error.code {
    case .busHeld, .storeHeld: print("this app runs already: \(error.message)")
    case .storeMismatch: print("another version of this app has written the run: \(error.message)")
    default: print("the run cannot be shared: \(error.message)")
    }
    return nil
  }
}

/// The name of a device as a person has typed it.
func deviceName(typed text: String) -> DeviceID? {
  do throws(RunBusError) {
    return try DeviceID(validating: text)
  } catch {
    print(error.message)  // says what a name is
    return nil
  }
}
