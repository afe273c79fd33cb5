#if ZeroMQ && canImport(CZMQ)
  import RunBus
  import Testing

  @Suite("A hub with its store in the usual directory")
  struct EmbeddingTests {
    @Test("The bus has its spool before the hub starts, so that a press is kept even if the hub dies at its start")
    func spool() throws {
      let scratch = try ScratchDirectory()
      let environment = ["XDG_RUNTIME_DIR": scratch.path, "XDG_STATE_HOME": scratch.file("state")]
      let location = try BusLocation(bus: "a", address: nil, environment: environment)
      #expect(!location.isMet)
      let loop = try Loop()
      defer { loop.stop() }
      let phone = DeviceID("phone")
      let hub = try Hub(at: location, configuration: HubConfiguration(deviceID: phone), loop: loop)
      withExtendedLifetime(hub) { #expect(location.isMet) }
    }
  }
#endif
