// What the files with system calls use of others that make none: keys, and buses as command lines name them.
public import RunCore

// Bound to classes, because embedded Swift has no other existentials.
public protocol KeyStore: AnyObject, Sendable {}
public final class KeyFiles: KeyStore { public init() {} }

package struct DeviceKeyring: Sendable {
  struct Value: Sendable {
    var enrolment: Enrolment?
    var knownAddresses: [String] = []
  }
  var value = Value()
  init?(_ bus: BusName, in keys: any KeyStore) throws(RunBusError) { return nil }
}

package struct BusChoice {
  var location: BusLocation
  init(bus: String?, address: String?, environment: [String: String]) throws(RunBusError) {
    location = BusLocation(bus: "default", environment: environment)
  }
}
