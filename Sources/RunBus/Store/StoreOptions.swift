import RunCore

/// What only tests change about a store.
struct StoreOptions: Sendable {
  /// Runs on the store's thread inside every commit, after its writes: it can delay the commit or make it fail.
  var beforeCommit: (@Sendable ([StoreOperation]) throws(StoreFault) -> Void)?
  /// The file's size in pages beyond which the disk counts as full.
  var pagesMax: Int?
}
