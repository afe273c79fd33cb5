package import RunCore

// Rooms, asked by the program that has the hub; a shell asks at the admin socket.
extension Hub {
  /// Asks the hub to do something in a room, and returns what becomes of it so far.
  ///
  /// - Throws: As ``ready()``.
  package func ask(_ ask: RoomAsk) async throws -> RoomAnswer { try await self.ask(.room(ask)) }

  /// How the rooms stand that the hub follows.
  ///
  /// - Throws: As ``ready()``.
  package func rooms() async throws -> [RoomReport] { try await ask(.rooms) }
}
