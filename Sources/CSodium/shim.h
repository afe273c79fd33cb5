#ifndef RUNBUS_CSODIUM_SHIM_H
#define RUNBUS_CSODIUM_SHIM_H

#include <sodium/crypto_auth_hmacsha256.h>
#include <sodium/crypto_core_ed25519.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/crypto_sign_ed25519.h>

#endif
