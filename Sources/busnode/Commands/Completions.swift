import ArgumentParser
import Dispatch
import Foundation
import RunBus
import Synchronization

/// What a shell completes by what there is on this machine.
///
/// A shell runs `busnode ---completion …` at each press of the tabulator key, so an answer is quick, never an error, and
/// empty where nothing can be learned: a bus that is away has no devices and no records.
///
/// ```swift
/// @Option(help: "The device.", completion: Completions.devices)
/// var device: DeviceID?
/// ```
enum Completions {
  /// The names of buses.
  static let buses = CompletionKind.custom { _, _, _ in KnownBuses.names().map(\.rawValue) }

  /// The devices of the bus that have a store on this machine.
  static let devices = CompletionKind.custom { words, _, _ in
    guard let location = location(in: words) else { return [] }
    return ((try? LocalDevices(location: location).all()) ?? []).map(\.rawValue)
  }

  /// The devices of other machines that are paired with the phone of this one.
  static let pairedDevices = CompletionKind.custom { words, _, _ in
    guard let location = location(in: words, pairs: false) else { return [] }
    return found { try await LocalHub.find(at: location, runs: false).ask(.devices).devices.map(\.deviceID.rawValue) }
  }

  /// The ids of the records that are kept on this machine, each by its first digits.
  static let records = CompletionKind.custom { words, _, _ in
    guard let location = location(in: words) else { return [] }
    return found {
      try await RecordCatalogue(location).entries.map { Sentence.short($0.summary.runID.description) }
    }
  }

  /// The values of the setting that a line names.
  static let settingWords = CompletionKind.custom { words, _, _ in
    settingKey(in: words)?.words ?? []
  }

  /// Whether a shell asks for completions.
  static func isAsked(by arguments: [String]) -> Bool { arguments.first == "---completion" }

  // MARK: For further completions

  /// The bus that a line names; `nil` for one that names none rightly.
  ///
  /// - Parameters:
  ///   - words: The words of the line.
  ///   - pairs: Whether a bus with which this machine is paired is meant by its name.
  static func location(in words: [String], pairs: Bool = true) -> BusLocation? {
    let choice = try? BusChoice(
      bus: value(of: "--bus", in: words), address: value(of: "--address", in: words),
      environment: ProcessInfo.processInfo.environment)
    guard let location = choice?.location, pairs, let name = location.name else { return choice?.location }
    return (try? BusLocation(pairedBus: name)) ?? location
  }

  /// The setting that a line names: its first key that is no context's name.
  static func settingKey(in words: [String]) -> SettingKey? {
    let keys = zip(words, words.dropFirst()).compactMap { before, word in
      before == "--context" ? nil : SettingKey(rawValue: word)
    }
    return keys.first
  }

  /// What an option has on a line; `nil` for an option that is not there, or has nothing behind it.
  static func value(of option: String, in words: [String]) -> String? {
    for (index, word) in words.enumerated() {
      if word == option, words.indices.contains(index + 1) { return words[index + 1] }
      if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }

  /// How long a person waits for a completion.
  private static let patience = DispatchTimeInterval.milliseconds(1000)

  /// What a task finds in time. Nothing is found when it fails or takes too long.
  ///
  /// It blocks its thread, which is the main one (``Busnode/main()``): there may be only one for tasks.
  static func found(_ find: @escaping @Sendable () async throws -> [String]) -> [String] {
    let names = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    let search = Task.detached {
      let all = (try? await find()) ?? []
      names.withLock { $0 = all }
      done.signal()
    }
    _ = done.wait(timeout: .now() + patience)
    search.cancel()
    return names.withLock { $0 }
  }
}
