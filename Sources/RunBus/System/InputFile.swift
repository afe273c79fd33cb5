package import Foundation
import SystemC

/// Reads a file that a user names. It checks the file's kind and size first, because the name may stand for an endless
/// pipe, a device, or a sparse file of 20 GB.
package enum InputFile {
  /// The path that stands for standard input.
  package static let standardInput = "-"

  /// A path as it is named to people.
  package static func name(of path: String) -> String { path == standardInput ? "standard input" : path }

  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - path: Where the file is; `-` is standard input, of whatever kind it is, and a file of that name is `./-`.
  ///   - noun: What the file should be, for the text of an error: "recording".
  ///   - bytesMax: A larger file is refused before it is read.
  ///   - allowsPipe: Whether a pipe (`<(command)` in a shell) is read, until its end or until it is too long.
  /// - Throws: ``RunBusError/Code/badInput`` with one sentence that begins with the path.
  package static func contents(
    of path: String, as noun: String, bytesMax: Int, allowsPipe: Bool = false
  ) throws(RunBusError) -> Data {
    func refused(_ reason: String) -> RunBusError {
      RunBusError(.badInput, "\(name(of: path)): cannot read this \(noun): \(reason)")
    }
    func failed(_ code: CInt) -> RunBusError {
      refused(code == ENOENT ? "there is no such file" : "it cannot be opened: \(systemReason(code))")
    }
    let tooLarge = "it is larger than \(bytesMax >> 20) MB"
    func bytes(of file: FileHandle) throws(RunBusError) -> Data {
      let data: Data
      do {
        // One byte more than allowed reveals a file that has grown meanwhile and a pipe that is too long.
        data = try file.read(upToCount: bytesMax + 1) ?? Data()
      } catch {
        throw refused("it cannot be read: \(error.localizedDescription)")
      }
      guard data.count <= bytesMax else { throw refused(tooLarge) }
      return data
    }
    guard path != standardInput else {
      return try bytes(of: FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false))
    }
    var info = stat()
    guard stat(path, &info) == 0 else { throw failed(errno) }
    let isPipe = info.st_mode & S_IFMT == S_IFIFO
    guard info.st_mode & S_IFMT == S_IFREG || (isPipe && allowsPipe) else { throw refused("it is not a file") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failed(errno) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard isPipe || (fstat(descriptor, &info) == 0 && info.st_size <= bytesMax) else { throw refused(tooLarge) }
    return try bytes(of: file)
  }
}
