import Foundation
import RunBus
import SystemC

/// What is looked at once for a machine: the version of libzmq and its check of keys, open files, clock and disk.
enum MachineFindings {
  /// Megabytes that must be free. A run of three hours with heart rate and route needs about 20, and a node that finds
  /// none refuses presses.
  private static let (freeMin, freeGood) = (16, 256)
  /// No correct clock is before this: 2026-01-01.
  private static let earliest = Date(timeIntervalSince1970: 1_767_225_600)

  static func all(near directory: String) -> [Finding] {
    [version, keys, files, clock(near: directory), space(in: directory)]
  }

  private static var version: Finding {
    let (major, minor, patch) = ZeroMQCheck.version
    let text = "busnode \(runBusVersion), libzmq \(major).\(minor).\(patch)"
    guard ZeroMQCheck.version >= ZeroMQCheck.versionMin else {
      return .bad("versions", Tongue.say(.libraryFlawed, ["versions": text]))
    }
    return .ok("versions", text)
  }

  private static var keys: Finding {
    guard ZeroMQCheck.hasCurve else {
      return .bad("keys", Tongue.say(.noCurve))
    }
    if let obstacle = ZeroMQCheck.obstacleToKeys() {
      return .bad("keys", Tongue.say(.keysUnchecked, ["reason": obstacle]))
    }
    return .ok("keys", Tongue.say(.keysChecked))
  }

  private static var files: Finding {
    let limit = FileLimit.present
    guard limit >= 192 else {
      return .bad("open files", Tongue.say(.filesTooFew, ["count": limit]))
    }
    guard limit >= 1024 else {
      return .warn("open files", Tongue.say(.filesFew, ["count": limit]))
    }
    return .ok("open files", Tongue.say(.filesEnough, ["count": limit]))
  }

  /// The clock of the wall dates records and nothing else.
  private static func clock(near directory: String) -> Finding {
    let now = Date()
    let word = RunCalendar().minuteText(now.timeIntervalSince1970)
    guard now > earliest else {
      return .bad("clock", Tongue.say(.clockPast, ["time": word]))
    }
    let newest = newestFile(in: directory)
    if let newest, newest > now.addingTimeInterval(3600) {
      let written = RunCalendar().minuteText(newest.timeIntervalSince1970)
      return .warn("clock", Tongue.say(.clockBehind, ["time": word, "written": written]))
    }
    return .ok("clock", word)
  }

  /// When a store was last written.
  private static func newestFile(in directory: String) -> Date? {
    let manager = FileManager.default
    let devices = (try? manager.contentsOfDirectory(atPath: directory)) ?? []
    let files = devices.flatMap { device in
      ["node.sqlite", "node.sqlite-wal", "node.log-0", "node.log-1"].map { "\(device)/\($0)" }
    }
    return files.compactMap {
      (try? manager.attributesOfItem(atPath: "\(directory)/\($0)")[.modificationDate]) as? Date
    }.max()
  }

  private static func space(in directory: String) -> Finding {
    var place = directory
    var info = statvfs()
    while statvfs(place, &info) != 0 {
      guard place != "/", !place.isEmpty else {
        return .warn("disk", Tongue.say(.spaceUnknown, ["directory": directory]))
      }
      place = (place as NSString).deletingLastPathComponent
    }
    let free = Int(clamping: (UInt64(info.f_bavail) * UInt64(info.f_frsize)) >> 20)
    guard free >= freeMin else {
      return .bad("disk", Tongue.say(.spaceNone, ["size": free, "directory": directory]))
    }
    guard free >= freeGood else {
      return .warn("disk", Tongue.say(.spaceLittle, ["size": free, "directory": directory]))
    }
    return .ok("disk", Tongue.say(.spaceFree, ["size": free, "directory": directory]))
  }
}
