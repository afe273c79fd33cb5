import Foundation
import RunBus
import SystemC

/// What is looked at for the rooms of this machine: the key of the bus's runner, and the log of each fleet.
struct RoomFindings {
  /// Megabytes above which a log is told. A full one has about 50.
  private static let large = 256

  let location: BusLocation

  func all() -> [Finding] {
    let member: MemberID?
    var findings: [Finding] = []
    do throws(RunBusError) {
      member = try MemberKey.present(location.keyName, in: KeyFiles())?.id
      if member != nil { findings.append(.ok("keys", Tongue.say(.hasRunnerKey))) }
    } catch {
      member = nil
      findings.append(.bad("keys", error.message))
    }
    return findings + LogPlace.all().flatMap { fleet($0, member) }
  }

  private func fleet(_ place: LogPlace, _ member: MemberID?) -> [Finding] {
    let closed = [
      (PrivateDirectory.Purpose.rooms, (place.directory as NSString).deletingLastPathComponent),
      (.rooms, place.directory), (.runtime, place.liveDirectory),
    ].flatMap { purpose, path in
      FileManager.default.fileExists(atPath: path)
        ? [PrivateDirectory.complaint(about: path, for: purpose)].compactMap { $0 } + Self.open(in: path) : []
    }
    guard closed.isEmpty else { return closed.map { .bad("rooms", $0) } }
    switch LogHealth(of: place, member: member) {
    case .absent: return []
    case .unusable(let reason): return [.bad("rooms", "\(place.name): \(reason)")]
    case .sound(let bytes, let rooms, let nickname):
      let size = bytes >> 20 >= 1 ? "\(bytes >> 20) MB" : "\(bytes >> 10) KB"
      let unnamed = member == nil ? "" : Tongue.say(.runnerUnnamed)
      let name = nickname.map { Tongue.say(.runnerNamed, ["name": $0]) } ?? unnamed
      let text =
        rooms == 1
        ? Tongue.say(.logSoundOne, ["fleet": place.name, "size": size, "name": name])
        : Tongue.say(.logSound, ["fleet": place.name, "size": size, "count": rooms, "name": name])
      guard bytes >> 20 < Self.large else {
        return [.warn("rooms", Tongue.say(.logLarge, ["log": text, "fleet": place.name]))]
      }
      return [.ok("rooms", text)]
    }
  }

  /// The files of a directory that others may read or write.
  private static func open(in directory: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.sorted().compactMap { name in
      var info = stat()
      let path = "\(directory)/\(name)"
      guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_mode & 0o077 != 0 else { return nil }
      return Tongue.say(.isOpen, ["path": path])
    }
  }
}
