import ArgumentParser
import RunBus

/// How a phone takes part in rooms.
struct TogetherOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Take part in the rooms of this fleet of this machine.", valueName: "name"))
  var together: BusName?

  @Option(help: ArgumentHelp("The name that the others see: \(Nickname.rule).", valueName: "nick"))
  var nick: String?

  @Option(help: ArgumentHelp("How strong the runner is, 1 to 10 (default: 1).", valueName: "n"))
  var level: Int?

  enum Gender: String, ExpressibleByArgument, CaseIterable { case female, male, other }

  @Option(help: ArgumentHelp("The runner's gender, if others may seek by it.", valueName: "gender"))
  var gender: Gender?

  @Option(help: ArgumentHelp("The circle of the runner, for rooms of one circle.", valueName: "name"))
  var circle: String?

  func validate() throws {
    guard together != nil else {
      guard nick == nil, level == nil, gender == nil, circle == nil else {
        throw ValidationError(Tongue.say(.nickWithTogether))
      }
      return
    }
    guard let nick else { throw ValidationError(Tongue.say(.togetherNeedsNick)) }
    guard Nickname(nick) != nil else {
      throw ValidationError(Tongue.say(.noNickname, ["text": nick, "rule": Nickname.rule]))
    }
    if let level, !RoomCard.levels.contains(level) { throw ValidationError(Tongue.say(.levelBounds)) }
    if let circle, circle.isEmpty || circle.utf8.count > 64 { throw ValidationError(Tongue.say(.circleBounds)) }
  }

  /// The runner in the fleet, with its key, which is made the first time.
  ///
  /// - Returns: `nil` without `--together`.
  func member(of bus: BusLocation) throws -> TogetherMember? {
    guard let together, let nickname = nick.flatMap({ Nickname($0) }) else { return nil }
    let key: MemberKey
    do {
      key = try MemberKey(bus.keyName, in: KeyFiles())
    } catch {
      throw Failure(error)
    }
    let log = SQLiteLog(LogPlace(together))
    return TogetherMember(
      log: log, key: key, fleet: .made(name: together),
      card: RoomCard(
        nickname: nickname, level: level ?? RoomCard.levels.lowerBound,
        gender: gender.flatMap { RoomCard.Gender(rawValue: $0.rawValue) },
        circle: circle))
  }

  /// Takes the nickname in the fleet. Only the phone that holds the bus does: one that does not start takes none away.
  func claimNickname(for member: TogetherMember) async throws(Failure) {
    let nickname = member.card.nickname
    var isFree = true
    do throws(SharedLogError) {
      isFree = try await member.log.claim(nickname, for: member.key.id)
    } catch {
      // A run never needs a room: the phone starts, and goes on trying to reach the log.
      Output.complain(
        Tongue.say(.roomsOutOfReach, ["fleet": together?.rawValue ?? Tongue.say(.theFleet), "reason": error]))
    }
    guard isFree else {
      throw Failure(
        code: "together", message: Tongue.say(.nicknameTaken, ["name": nickname]),
        exitStatus: ExitStatus.busHeld)
    }
  }
}
