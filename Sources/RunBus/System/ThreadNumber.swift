import SystemC

/// Returns a number for the calling thread that no other living thread has.
func currentThreadNumber() -> UInt {
  // pthread_t is an integer in glibc and Bionic, and a pointer elsewhere.
  #if canImport(Glibc) || canImport(Android)
    UInt(truncatingIfNeeded: pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}
