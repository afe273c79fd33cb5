import RunBus

// Words of the bus as people read them. In English they are those of JSON.

extension RunPhase {
  var spoken: String {
    switch self {
    case .idle: Tongue.say(.phaseIdle)
    case .running: Tongue.say(.phaseRunning)
    case .paused: Tongue.say(.phasePaused)
    case .completed: Tongue.say(.phaseCompleted)
    case .unknown: Tongue.say(.phaseUnknown)
    }
  }
}

extension CommandKind {
  var spoken: String {
    switch self {
    case .start: Tongue.say(.commandStart)
    case .pause: Tongue.say(.commandPause)
    case .resume: Tongue.say(.commandResume)
    case .stop: Tongue.say(.commandStop)
    case .lap: Tongue.say(.commandLap)
    }
  }
}

extension ControlSource {
  /// A source that an app has of its own keeps its name.
  var spoken: String {
    switch self {
    case .phone: Tongue.say(.sourcePhone)
    case .watch: Tongue.say(.sourceWatch)
    case .liveActivity: Tongue.say(.sourceLiveActivity)
    case .room: Tongue.say(.sourceRoom)
    case .shell: Tongue.say(.sourceShell)
    case .recovery: Tongue.say(.sourceRecovery)
    case ControlSource(rawValue: "page"): Tongue.say(.sourcePage)
    default: rawValue
    }
  }
}

extension RoomView.Stage {
  var spoken: String {
    switch self {
    case .recruiting: Tongue.say(.stageRecruiting)
    case .gathering: Tongue.say(.stageGathering)
    case .countdown: Tongue.say(.stageCountdown)
    case .running: Tongue.say(.stageRunning)
    case .settling: Tongue.say(.stageSettling)
    case .over: Tongue.say(.stageOver)
    case .cancelled: Tongue.say(.stageCancelled)
    case .unknown: Tongue.say(.stageUnknown)
    }
  }
}

extension RoomStage {
  var spoken: String {
    switch self {
    case .none: Tongue.say(.stageUnknown)
    case .recruiting: Tongue.say(.stageRecruiting)
    case .gathering: Tongue.say(.stageGathering)
    case .countdown: Tongue.say(.stageCountdown)
    case .running: Tongue.say(.stageRunning)
    case .settling: Tongue.say(.stageSettling)
    case .over: Tongue.say(.stageOver)
    case .cancelled: Tongue.say(.stageCancelled)
    }
  }
}

extension RoomResult.Outcome {
  var spoken: String {
    switch self {
    case .won: Tongue.say(.outcomeWon)
    case .lost: Tongue.say(.outcomeLost)
    case .drawn: Tongue.say(.outcomeDrawn)
    }
  }
}

extension RoomView.Outcome {
  var spoken: String {
    switch self {
    case .won: Tongue.say(.outcomeWon)
    case .lost: Tongue.say(.outcomeLost)
    case .drawn: Tongue.say(.outcomeDrawn)
    }
  }
}

extension RoomResult.Standing {
  var spoken: String {
    switch self {
    case .provisional: Tongue.say(.standingProvisional)
    case .complete: Tongue.say(.standingComplete)
    case .final: Tongue.say(.standingFinal)
    }
  }
}

extension RoomView.Settled {
  var spoken: String {
    switch self {
    case .provisional: Tongue.say(.standingProvisional)
    case .complete: Tongue.say(.standingComplete)
    case .final: Tongue.say(.standingFinal)
    }
  }
}

extension RoomRefusal.Unfit {
  var spoken: String {
    switch self {
    case .goal: Tongue.say(.unfitGoal)
    case .gender: Tongue.say(.unfitGender)
    case .level: Tongue.say(.unfitLevel)
    }
  }
}

extension RoomWarning {
  var spoken: String {
    switch self {
    case .altered: Tongue.say(.warningAltered)
    case .misdated: Tongue.say(.warningMisdated)
    }
  }
}

extension RunCalendar.Unit {
  var spoken: String {
    switch self {
    case .day: Tongue.say(.unitDay)
    case .week: Tongue.say(.unitWeek)
    case .month: Tongue.say(.unitMonth)
    case .year: Tongue.say(.unitYear)
    }
  }

  /// Above a column.
  var heading: String {
    switch self {
    case .day: Tongue.say(.headingDay)
    case .week: Tongue.say(.headingWeek)
    case .month: Tongue.say(.headingMonth)
    case .year: Tongue.say(.headingYear)
    }
  }
}
