/// The devices that the hub knows, and the app's messages to and from each of their stores.
///
/// A device has one present store. It can have left others: two nodes that use one name, or a node that lost its store.
/// A left store keeps its messages until the device is forgotten or the stores become too many.
struct DeviceMail: Sendable {
  /// Bytes of newest values that the hub keeps of each device, whatever others have sent.
  static let valueShare = 8 << 10
  /// The most bytes of newest values beyond the shares: of one device, and of all devices together. Values are settings
  /// and the like. Devices that fill the pool leave every other device its share.
  static let (valueBytesMax, valuePool) = (4 << 20, 32 << 20)

  /// The devices that the hub has met, with their present stores.
  private(set) var devices: [DeviceID: KnownDevice] = [:]
  /// When absent shells are looked for next; `nil` while none is absent.
  private(set) var visitorCheckAt: BusTime?
  private var couriers = RetryTable<Courier>()
  /// How far the messages of stores without a courier were received when the hub began.
  private var marks: [StoreID: StreamMark] = [:]
  /// Messages that a device's handler refused too often.
  private var quarantine: Quarantine
  /// The identity that each store belongs to: the one that first said hello with it.
  private var owners: [StoreID: ConnectionIdentity]
  /// Whether the app has a message handler.
  private var isHandling = false
  /// The hub's device.
  private let own: DeviceID
  /// How many streams to devices have begun in this incarnation.
  private var begun: UInt64 = 0

  /// Devices and messages from what the store kept.
  ///
  /// - Parameters:
  ///   - own: The hub's device.
  ///   - shift: How far to move times, after a reboot.
  init(_ history: HubHistory, own: DeviceID, shift: BusDuration?) {
    self.own = own
    let delivery = history.delivery
    for (stream, mark) in delivery.watermarks where stream.kind == .messages { marks[stream.sender] = mark }
    owners = history.storeOwners
    quarantine = Quarantine(delivery.quarantine, shift: shift)
    for device in history.devices { devices[device.deviceID] = device }
    let rows = Dictionary(grouping: delivery.rows, by: \.stream)
    func courier(_ store: StoreID, of device: DeviceID?) -> Courier {
      let id = OutboundStreamID(receiver: store, kind: .messages)
      var stream = OutboundStream(
        id, bounds: .messages, rows: rows[id] ?? [], acknowledged: delivery.acknowledged[id] ?? 0)
      if let shift { stream.shift(by: shift) }
      let sender = StreamID(sender: store, kind: .messages)
      return Courier(
        own: own, device: device, rowDevice: device, stream: stream,
        inbox: InboundStream(sender, durable: delivery.watermarks[sender] ?? .start),
        latestSent: delivery.latestSent.filter { device != nil && $0.device == device },
        latestReceived: delivery.latestReceived.filter { $0.device == device })
    }
    for device in history.devices { couriers[device.storeID] = courier(device.storeID, of: device.deviceID) }
    // Stores whose devices moved to other stores while both were connected. They may come back.
    let left = Set(delivery.watermarks.keys.map(\.sender)).union(rows.keys.map(\.receiver)).union(owners.keys)
    for store in left where couriers[store] == nil { couriers[store] = courier(store, of: nil) }
  }

  // MARK: Devices and stores

  /// How many stores have messages of their own.
  var storeCount: Int { couriers.all.count }
  /// The stores, in a fixed order.
  var stores: [StoreID] { couriers.all.keys.sorted() }
  /// The present stores of all devices.
  var presentStores: Set<StoreID> { Set(devices.values.map(\.storeID)) }
  /// Whether a store is known.
  func hasStore(_ store: StoreID) -> Bool { couriers[store] != nil }
  /// The device that uses a store at present.
  func device(using store: StoreID) -> KnownDevice? { devices.values.first { $0.storeID == store } }

  /// The device that a store belongs to, present or left; `nil` if unknown.
  func device(of store: StoreID) -> DeviceID? {
    // By index: reading a courier would copy it, and it is large.
    couriers.all.index(forKey: store).flatMap { couriers.all.values[$0].device }
  }

  /// The stores of a device that the hub keeps, in any order.
  func stores(of device: DeviceID) -> [StoreID] {
    // By index: iterating over the values would copy each courier.
    couriers.all.values.indices.filter { couriers.all.values[$0].device == device }.map { couriers.all.keys[$0] }
  }

  /// Notes that a device was heard with its present store.
  mutating func meet(_ device: KnownDevice) { devices[device.deviceID] = device }

  /// The identity that a store belongs to; `nil` before its first hello.
  func owner(of store: StoreID) -> ConnectionIdentity? { owners[store] }

  /// Notes that a store belongs to an identity.
  ///
  /// - Returns: the write for that; `nil` if the store has an owner.
  mutating func own(_ store: StoreID, by identity: ConnectionIdentity) -> StoreOperation? {
    guard owners[store] == nil else { return nil }
    owners[store] = identity
    return .own(store, identity)
  }

  /// The stores that belong to an identity, in a fixed order.
  func stores(ownedBy identity: ConnectionIdentity) -> [StoreID] {
    owners.filter { $0.value == identity }.keys.sorted()
  }

  /// How many stores belong to an identity.
  func storeCount(of identity: ConnectionIdentity) -> Int { owners.values.count { $0 == identity } }

  /// Gives the stores and devices of an identity to another one, and returns the writes for that.
  mutating func reown(_ old: ConnectionIdentity, to new: ConnectionIdentity) -> [StoreOperation] {
    var writes: [StoreOperation] = []
    for store in stores(ownedBy: old) {
      owners[store] = new
      writes.append(.own(store, new))
    }
    for device in devices.values.filter({ $0.identity == old }).sorted(by: { $0.deviceID < $1.deviceID }) {
      var device = device
      device.identity = new
      devices[device.deviceID] = device
      writes.append(.meet(device))
    }
    return writes
  }

  /// Gives a device another name, with all that waits for it, and returns the writes for that.
  mutating func rename(_ old: DeviceID, to new: DeviceID) -> [StoreOperation] {
    guard var device = devices.removeValue(forKey: old) else { return [] }
    var writes: [StoreOperation] = [.forgetDevice(old)]
    for store in stores(of: old).sorted() { writes += couriers[store]?.rename(to: new) ?? [] }
    // A device that was heard later under its new name has that store now.
    if let other = devices[new], other.heardAt > device.heardAt { return writes }
    device.deviceID = new
    devices[new] = device
    return writes + [.meet(device)]
  }

  /// Gives all devices of a key the name that it has now, and returns the writes for that. A key is one device, also where
  /// it was paired again under another name.
  mutating func gather(_ key: ConnectionIdentity, under name: DeviceID) -> [StoreOperation] {
    guard case .key = key else { return [] }
    let others = devices.values.filter { $0.identity == key && $0.deviceID != name }.map(\.deviceID).sorted()
    return others.flatMap { rename($0, to: name) }
  }

  /// Forgets the owner of a store of which nothing is kept, and returns the writes for that.
  mutating func disown(_ store: StoreID) -> [StoreOperation] {
    owners.removeValue(forKey: store) == nil ? [] : [.disown(store)]
  }

  /// The result of a store's hello.
  enum Arrival: Sendable {
    case known
    /// The store is new.
    case added
    /// The store gets what was owed to the device's earlier store. These writes renumber the rows, and after them those
    /// make the newest values unacknowledged.
    case inherited([StoreOperation], [StoreOperation])
  }

  /// A store said hello for a device.
  ///
  /// - Parameters:
  ///   - earlier: the device's earlier store if it has no session: its messages go to the new store. An earlier store
  ///     that has a session belongs to another node of the same name, and keeps its messages; pass `nil` for it.
  mutating func arrive(_ store: StoreID, of device: DeviceID, earlier: StoreID?) -> Arrival {
    guard couriers[store] == nil else {
      couriers[store]?.belong(to: device)
      return .known
    }
    let id = OutboundStreamID(receiver: store, kind: .messages)
    let sender = StreamID(sender: store, kind: .messages)
    if let earlier, var courier = couriers.removeValue(forKey: earlier) {
      let renumber = StoreOperation.renumber(courier.stream.id, to: id)
      let values = courier.renumber(to: id, from: sender)
      courier.belong(to: device)
      couriers[store] = courier
      return .inherited([renumber], values)
    }
    begun += 1
    couriers[store] = Courier(
      own: own, device: device, rowDevice: device,
      // The generation differs from that of every earlier stream, because a store that was given up can come back while
      // a write of its old stream is in flight.
      stream: OutboundStream(id, bounds: .messages, durabilityGeneration: begun << 32),
      inbox: InboundStream(sender, durable: mark(of: store)), isHandling: isHandling)
    return .added
  }

  /// Whether a store's device has moved to another store, so that the hub dropped what it owed to this one. If the
  /// store comes back, the hub tells it to begin anew. It then sends its commands again and receives their verdicts.
  func isGivenUp(_ store: StoreID, by device: DeviceID) -> Bool {
    guard !hasStore(store) else { return false }
    return devices[device].map { $0.storeID != store } ?? false
  }

  /// Looks for absent shells at a moment, or earlier if that is planned already.
  mutating func checkVisitors(by due: BusTime) { visitorCheckAt = min(visitorCheckAt ?? due, due) }

  /// The devices among which absent shells are looked for now, in a fixed order.
  mutating func beginVisitorCheck() -> [KnownDevice] {
    visitorCheckAt = nil
    return devices.values.sorted { $0.deviceID < $1.deviceID }
  }

  /// Forgets a device. Its stores stay until they are dropped.
  mutating func forget(_ device: DeviceID) { devices[device] = nil }

  /// Drops a store. What its device sent it as newest values moves to the device's present store.
  ///
  /// - Returns: the write for that.
  mutating func drop(_ store: StoreID) -> StoreOperation {
    if let courier = couriers.removeValue(forKey: store), let heir = courier.device.flatMap({ devices[$0]?.storeID }) {
      couriers[heir]?.inherit(from: courier)
    }
    return .drop(OutboundStreamID(receiver: store, kind: .messages))
  }

  // MARK: Messages

  /// Calls the courier of a store; `nil` if the store is not known.
  mutating func with<Result>(_ store: StoreID, _ body: (inout Courier) -> Result) -> Result? {
    guard couriers[store] != nil else { return nil }
    return body(&couriers[store]!)
  }

  /// Ends the session of a store.
  mutating func close(_ store: StoreID) { couriers[store]?.close() }

  /// Schedules an early retry, because the queue to the store's connection was full.
  mutating func postpone(_ store: StoreID, to time: BusTime) { couriers[store]?.postpone(to: time) }

  /// Sets whether the app has a message handler, for stores that arrive later.
  mutating func setHandling(_ value: Bool) { isHandling = value }

  /// Compares the mark that a store states with the stream of messages to it.
  func check(_ mark: StreamMark, of store: StoreID) -> OutboundStream.HistoryCheck {
    guard let stream = couriers[store]?.stream else { return mark.sequence > 0 ? .senderLost : .good }
    return stream.check(mark)
  }

  /// Up to where messages of a store were accepted; 0 if the store is not known.
  func receivedMark(of store: StoreID) -> UInt64 {
    couriers.all.index(forKey: store).map { couriers.all.values[$0].inbox.received } ?? 0
  }

  /// How far the messages of a store are durably processed.
  func mark(of store: StoreID) -> StreamMark {
    couriers.all.index(forKey: store).map { couriers.all.values[$0].inbox.durable } ?? marks[store] ?? .start
  }

  /// How many marks are kept beside the couriers.
  var markCount: Int { marks.count }

  /// Forgets how far the messages of a store were received, and returns the write for that. The courier has the mark of
  /// its stream, so its row is dropped in any case.
  mutating func forgetMark(of store: StoreID) -> StoreOperation {
    marks[store] = nil
    return .forgetStream(StreamID(sender: store, kind: .messages))
  }

  /// The moments of the next retries, real time.
  var deadlines: [StoreID: BusTime] { couriers.deadlines }
  /// The stores with a retry that is due, in order.
  func due(at now: BusTime) -> [StoreID] { couriers.due(at: now) }

  /// Whether nothing waits for a store and it has left nothing.
  func isEmpty(_ store: StoreID) -> Bool { couriers[store]?.isEmpty ?? true }

  /// Whether no message was ever exchanged with a store.
  func isUnused(_ store: StoreID) -> Bool { marks[store] == nil && couriers[store]?.isUnused ?? true }

  /// How many messages and newest values wait for a store.
  func waitingCount(of store: StoreID) -> Int {
    guard let courier = couriers[store] else { return 0 }
    return courier.stream.rows.count { $0.item != nil } + courier.waitingValues.count
  }

  /// The store whose queue of messages has a message.
  func store(holding id: MessageID) -> StoreID? {
    stores.first { store in couriers[store]?.stream.rows.contains { $0.item?.id == id } ?? false }
  }

  /// The messages and values that wait, for a report.
  func reports(at now: BusTime) -> [OutboxReport] { couriers.all.values.flatMap { $0.reports(at: now) } }

  // MARK: Newest values

  /// The newest value of a key that a device sent; `nil` if it has sent none.
  func value(of key: String, from device: DeviceID) -> AppMessage? {
    devices[device].flatMap { couriers[$0.storeID]?.value(of: key) }
  }

  /// The newest values that devices have sent, by device and key.
  ///
  /// - Parameter now: real time.
  func valueReports(at now: BusTime) -> [ValueReport] {
    devices.values.sorted { $0.deviceID < $1.deviceID }.flatMap { device in
      couriers.all.index(forKey: device.storeID).map { couriers.all.values[$0].valueReports(at: now) } ?? []
    }
  }

  /// Moves the newest value of a key to the device's present store, so that no other store of the device is sent an
  /// older value later.
  mutating func moveValue(of key: String, to device: KnownDevice) {
    for store in stores(of: device.deviceID) where store != device.storeID {
      guard var other = couriers.removeValue(forKey: store) else { continue }
      couriers[device.storeID]?.adoptValue(of: key, from: &other)
      couriers[store] = other
    }
  }

  /// The size of all received values in bytes, and how many there are.
  var receivedValues: (bytes: Int, count: Int) {
    var total = (bytes: 0, count: 0)
    // By index: iterating over the values would copy each courier, which is large.
    for place in couriers.all.values.indices {
      total.bytes += couriers.all.values[place].receivedBytes
      total.count += couriers.all.values[place].receivedCount
    }
    return total
  }

  /// How much room is left for newest values that a store sends. Values from the device's other stores count as well.
  func valueRoom(of store: StoreID) -> LatestValues.Room {
    let device = device(of: store)
    var room = LatestValues.Room()
    var (pool, own) = (Self.valuePool, 0)
    // By index: iterating over the values would copy each courier, which is large.
    for place in couriers.all.values.indices {
      let bytes = couriers.all.values[place].receivedBytes
      guard bytes > 0, couriers.all.keys[place] != store else { continue }
      if couriers.all.values[place].device == device {
        own += bytes
        room.keys -= couriers.all.values[place].receivedCount
      } else {
        let isPresent = couriers.all.values[place].device.flatMap { devices[$0]?.storeID } == couriers.all.keys[place]
        pool -= max(0, bytes - (isPresent ? Self.valueShare : 0))
      }
    }
    room.bytes = Self.valueShare + min(Self.valueBytesMax, max(0, pool)) - own
    return room
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { couriers.all.indices.flatMap { couriers.all.values[$0].check() } + couriers.check() }

  // MARK: Messages that wait for a person

  /// Keeps a message that a device's handler refused too often.
  mutating func quarantine(_ message: QuarantinedMessage) { quarantine.add(message) }

  /// A message in quarantine; `nil` if it is not there.
  func quarantined(_ id: MessageID) -> QuarantinedMessage? { quarantine.message(id) }

  /// Takes a message out of the quarantine, and answers whoever asked for it.
  mutating func release(_ id: MessageID, answer: InquiryAnswer) -> InquiryReply {
    quarantine.remove(id, answer: answer)
  }

  /// The reports of the quarantine.
  ///
  /// - Parameter now: real time.
  func quarantineReports(at now: BusTime) -> [QuarantineReport] {
    quarantine.reports(at: now) { device(using: $0)?.deviceID }
  }
}
