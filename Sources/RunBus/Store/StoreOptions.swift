import RunCore

/// Settings of a store that only tests change.
struct StoreOptions: Sendable {
  /// Runs on the store's thread in every commit, after its writes. It can delay the commit or make it fail.
  var beforeCommit: (@Sendable ([StoreOperation]) throws(StoreFault) -> Void)?
  /// The size of the file in pages beyond which the disk counts as full.
  var pagesMax: Int?
}
