import Synchronization

/// A lock around a value that copies of a struct share.
package final class Mutexed<Value: Sendable>: Sendable {
  private let value: Mutex<Value>
  package init(_ value: Value) { self.value = Mutex(value) }
  package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}
