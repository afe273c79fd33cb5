import Foundation
import RunBus

/// A bus of its own in a directory, which no other process finds by its name alone.
func isolatedLocation(in directory: URL) -> BusLocation {
  BusLocation(
    bus: "test",
    environment: ["XDG_RUNTIME_DIR": directory.path + "/run", "XDG_STATE_HOME": directory.path + "/state"])
}
