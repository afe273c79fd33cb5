import SystemC

/// One program for all targets, chosen by `FUZZ_TARGET`: the fuzzer restarts itself to minimize a crash, and the
/// environment is inherited.
@main
enum Fuzz {
  static func main() {
    let name = environment("FUZZ_TARGET") ?? ""
    if name == "seeds" { return Seeds.write(root: CommandLine.arguments.dropFirst().first ?? ".") }
    guard let target = FuzzTarget(rawValue: name) else {
      fatalError("FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    FuzzTarget.chosen = target
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(
      runDriver(&count, &arguments) { bytes, count in
        FuzzTarget.chosen.feed([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
        return 0
      })
  }

  private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The main function of libFuzzer, which a package executable cannot use directly, because the package manager
/// renames `main`.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ feed: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
