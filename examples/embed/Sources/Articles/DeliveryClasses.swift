import Foundation
import RunBus

struct Photo: Codable, Sendable {
  let title: String
  let jpeg: Data
}

/// Where the phone's app keeps photos.
actor Album {
  private var photos: [MessageID: Photo] = [:]

  /// Adds a photo. Adding it again has no effect.
  func add(_ photo: Photo, id: MessageID) { photos[id] = photo }
}

/// The watch sends a photo and waits until the phone has processed it.
func send(_ photo: Photo, from watch: Peer) async throws {
  let message = try AppMessage(name: "photo", encoding: photo)
  let receipts = watch.messages.receipts(for: message.id)
  try await watch.messages.post(message, by: .queued)
  // From here on the photo is durable: it arrives, even if the watch is restarted first.
  for await receipt in receipts where receipt.stage.isLast {
    print("the photo is \(receipt.stage)")
    break
  }
}

/// The phone takes the photos, one after the other.
func collectPhotos(on phone: Hub, into album: Album) async throws {
  for await photo in try phone.messages.named("photo", as: Photo.self) {
    await album.add(photo.content, id: photo.id)
  }
}

/// The phone tells the watch which units the person has chosen.
func choose(units: String, on phone: Hub) async throws {
  let message = AppMessage(name: "units", body: Data(units.utf8))
  try await phone.messages.post(message, by: .latest(key: "units"), to: "watch")
}

/// The watch reads the setting at any time, also before it has connected.
func units(on watch: Peer) async -> String {
  await watch.messages.latest("units").map { String(decoding: $0.body, as: UTF8.self) } ?? "km"
}

struct Battery: Codable, Sendable {
  let percent: Int
}

/// The watch answers questions about its battery, until the task is cancelled.
func answerBattery(on watch: Peer) async throws {
  try await watch.messages.replies(to: "battery") { _ in
    Array(try JSONEncoder().encode(Battery(percent: 80)))
  }
}

/// The phone asks the watch, or does without an answer.
func battery(of device: DeviceID, on phone: Hub) async throws -> Battery? {
  do {
    let answer = try await phone.messages.request("battery", of: device, timeout: .seconds(2))
    return try JSONDecoder().decode(Battery.self, from: answer)
  } catch let error as RunBusError where error.code == .unreachable || error.code == .timeout {
    return nil
  }
}

/// The phone takes one photo and reads no further.
func firstPhoto(on phone: Hub) async throws -> Photo? {
  for await photo in try phone.messages.named("photo", as: Photo.self) {
    photo.done()  // without it the photo would come again
    return photo.content
  }
  return nil
}
