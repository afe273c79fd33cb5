public import Foundation

/// A file that a user names to be read. Its kind and size are looked at before it is read: a name can stand for a pipe
/// without an end, for a device, or for 20 GB of zeros that take no room on the disk.
public enum InputFile {
  /// The bytes of a file.
  ///
  /// - Parameters:
  ///   - path: Where it is.
  ///   - noun: What it should be, for the sentence of the error: "recording".
  ///   - bytesMax: A larger file is refused before it is read.
  ///   - allowsPipe: A pipe (`<(command)` in a shell) is read until its end, or until it is too long.
  /// - Throws: ``RunBusError/Code/badInput`` with one sentence that begins with the path.
  public static func contents(
    of path: String, as noun: String, bytesMax: Int, allowsPipe: Bool = false
  ) throws(RunBusError) -> Data {
    func refused(_ reason: String) -> RunBusError {
      RunBusError(.badInput, "\(path): cannot read this \(noun): \(reason)")
    }
    func failed(_ code: CInt) -> RunBusError {
      refused(code == ENOENT ? "there is no such file" : "it cannot be opened: \(PrivateDirectory.reason(code))")
    }
    let tooLarge = "it is larger than \(bytesMax >> 20) MB"
    var info = stat()
    guard stat(path, &info) == 0 else { throw failed(errno) }
    let isPipe = info.st_mode & S_IFMT == S_IFIFO
    guard info.st_mode & S_IFMT == S_IFREG || (isPipe && allowsPipe) else { throw refused("it is not a file") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failed(errno) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard isPipe || (fstat(descriptor, &info) == 0 && info.st_size <= bytesMax) else { throw refused(tooLarge) }
    let data: Data
    do {
      // One byte more than allowed tells a file that grows meanwhile, and a pipe that is too long.
      data = try file.read(upToCount: bytesMax + 1) ?? Data()
    } catch {
      throw refused("it cannot be read: \(error.localizedDescription)")
    }
    guard data.count <= bytesMax else { throw refused(tooLarge) }
    return data
  }
}
