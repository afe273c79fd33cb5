/// How the devices, the last commands and the route share the rows of a column, each with its heading: the devices come
/// first, a few commands next, and the route takes what is left where that is enough for a picture.
struct RowShares: Equatable {
  /// The fewest rows of a route.
  private static let routeMin = 5
  /// What the devices leave to the commands where they would take more than half of the rows.
  private static let commandsKept = 4

  private let room: Int
  private let gap: Int
  private let hasRoute: Bool
  /// The most rows of the devices.
  let devices: Int

  /// - Parameters:
  ///   - room: How many rows there are.
  ///   - gap: How many blank rows part two tables.
  ///   - devices: How many rows all devices would fill.
  init(of room: Int, gap: Int, devices count: Int, hasRoute: Bool) {
    (self.room, self.gap, self.hasRoute) = (room, gap, hasRoute)
    devices = min(count + 1, max((room + 1) / 2, room - gap - Self.commandsKept))
  }

  /// The most rows of the commands below so many of the devices.
  func commands(below devices: Int) -> Int {
    let rest = room - devices - gap
    let few = rest >= 12 ? 6 : Self.commandsKept
    return hasRoute && rest >= few + gap + Self.routeMin ? few : rest
  }

  /// The rows of the route below so many of the devices and the commands; 0 where they are too few for it.
  func route(below others: Int) -> Int {
    let rest = room - others - 2 * gap
    return rest >= Self.routeMin ? rest : 0
  }
}
