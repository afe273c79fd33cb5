import Foundation
import RunBus

/// The buses that this machine knows: those that have left something here, and those with which it is paired.
enum KnownBuses {
  /// Their names, in their natural order. Directories that cannot be read have none.
  static func names(environment: [String: String] = ProcessInfo.processInfo.environment) -> [BusName] {
    let any = BusLocation(bus: "default", environment: environment)
    let stores = files(in: (any.stateDirectory as NSString).deletingLastPathComponent)
    // A bus with an address keeps its state beside those with names.
    let named = stores.filter { !$0.hasPrefix("tcp-") }
    let running = files(in: any.runtimeParent)
    let paired = files(in: KeyFiles(environment: environment).directory)
      .filter { $0.hasSuffix(".device") }.map { String($0.dropLast(".device".count)) }
    let names = Set([named, running, paired].joined().compactMap { name in BusName(name) })
    return names.sorted { left, right in NaturalName(left.rawValue) < NaturalName(right.rawValue) }
  }

  private static func files(in directory: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
  }
}
