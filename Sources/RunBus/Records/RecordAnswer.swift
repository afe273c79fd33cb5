public import RunCore

extension InquiryAnswer {
  /// What a store says of a part of a record, as an answer.
  public static func part(_ result: Result<RecordPart?, StoreFault>) -> InquiryAnswer {
    switch result {
    case .success(let part?): .record(part)
    case .success(nil): .failed("no such run is kept here")
    case .failure(let fault): .failed("the record cannot be read: \(fault)")
    }
  }
}
