# Targets that build run scripts/bootstrap first, which installs missing system packages.

BUSNODE = .build/release/busnode

# The simulation runs a fifth faster with a statically linked Swift runtime (Linux only). It has a build directory of
# its own, because the other flags would recompile everything, a C++ program of swift-protobuf included: five minutes,
# which only a campaign wins back.
SIMULATE = .build-simulate/release/simulate
STATIC = $(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib -Xswiftc -use-ld=lld)
BUILD_SIMULATE = swift build -c release --product simulate --scratch-path .build-simulate $(STATIC)

# SwiftPM hands the traits of the package to the compiler in the order of a hash table, which changes from process to process,
# and recompiles everything when it has changed. This keeps the order; tests run without it.
export SWIFT_DETERMINISTIC_HASHING = 1
# In debug builds the engine and the readers of recordings are optimized (Package.swift). `export RUNBUS_FAST_ENGINE=1` gives
# `swift build` the same, so that nothing is built twice.
export RUNBUS_FAST_ENGINE = 1
TEST = scripts/run-tests

.PHONY: run build install uninstall dist test-dist manual test quick test-page simulate proto check lint api docs metrics-table soak chaos mutants fuzz sanitize bench check-apple clean

# Phone, watch and widget as three processes on a modelled five-minute run, with presses from all three. With SECURE=1
# they are paired, and each is in a network namespace of its own where the system allows it.
# The debug build is made in a third of the time of a release build, and the tests use it, too.
run: BUSNODE = .build/debug/busnode
run:
	@scripts/bootstrap
	swift build --product busnode
ifdef SECURE
	scripts/secure-run $(BUSNODE)
else
	$(BUSNODE) up --synthetic --duration 5m --speed 10 --script examples/scripts/demo.run
endif

# The release binary: .build/release/busnode.
build:
	@scripts/bootstrap
	swift build -c release --product busnode

# Installs a release binary with the Swift runtime linked in, completions, the manual and the service below PREFIX, and
# removes exactly what was installed (docs/installing.md). DESTDIR goes before all paths. BUSNODE_BINARY=… installs a program
# that is built already, as after `scripts/build-release`, so that root need not build.
PREFIX ?= /usr/local
install:
	@if [ -z "$(BUSNODE_BINARY)" ]; then scripts/bootstrap; fi
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' BUSNODE_BINARY='$(BUSNODE_BINARY)' scripts/install
uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install --uninstall

# A tarball and a package of Debian in .build-dist; test-dist tries the package in a bare Debian (root, debootstrap).
dist:
	@scripts/bootstrap
	@BUSNODE_BINARY='$(BUSNODE_BINARY)' scripts/dist
test-dist:
	@scripts/test-dist $(ARGS)

# Compares the manual in packaging/man with the help; ARGS=--write writes it.
manual:
	@scripts/bootstrap
	swift build --product busnode
	@scripts/check-manual $(ARGS)

# All tests, 500 simulated worlds and 500 rooms. The exhaustive tests of pure code use all cores, and nodes beside them would miss
# their deadlines: the tests with nodes run after them, and those with processes last and at most six at once. Runs of hubs in
# rooms last by the clock, and six hundred tests that begin beside them would starve them: they have a turn of their own, two at once.
# Two hundred devices would starve everything: they go alone.
PURE = RunCoreTests|RunWireTests|RunRecordingsTests|BusnodeTests
TIMED = HubRoomTests|HubMatchTests
CROWDED = ProcessTests\.UpDevicesTests
test:
	@scripts/bootstrap --python
	swift build --build-tests
	.build/debug/simulate --seeds 1..500 --hours 0.2
	.build/debug/simulate --rooms --seeds 1..500
	$(TEST) --filter '$(PURE)'
	$(TEST) --skip '$(PURE)|ProcessTests|$(TIMED)'
	$(TEST) --filter '$(TIMED)' --experimental-maximum-parallelization-width 2
	$(TEST) --filter ProcessTests --skip '$(CROWDED)' --experimental-maximum-parallelization-width 6
	$(TEST) --filter '$(CROWDED)' --no-parallel

# The tests of pure code alone (the cores, the wire, recordings, busnode without processes), without the few that try
# out very many cases.
SLOW = RoomOrderTests|exhausted|fullTable|deadVisitor|worlds\(\)|shuffled\(|RecordingDamageTests|CodecGarbageTests
quick:
	@scripts/bootstrap
	swift build --build-tests
	$(TEST) --filter '$(PURE)' --skip '$(SLOW)'

# The page of busnode web in headless Chromium, with real nodes. ARGS="-k pause" runs matching tests.
test-page:
	@scripts/bootstrap --page
	swift build --product busnode
	.venv-page/bin/python -m pytest -q -p no:cacheprovider Tests/Page $(ARGS)

# The simulated worlds, built in release; ARGS="--seed 7 --trace" shows one of them.
ARGS_OF_SIMULATE = $(if $(ARGS),$(ARGS),--seeds 1..500 --hours 0.2)
simulate:
	@scripts/bootstrap
	$(BUILD_SIMULATE)
	$(SIMULATE) $(ARGS_OF_SIMULATE)

# Generates the Swift code and the descriptor sets from runbus.proto and together.proto.
proto:
	@scripts/generate-wire

# Checks formatting, and the dependencies between targets and rooms.
lint:
	@scripts/check-format
	@scripts/check-imports

# What needs no test run: format, imports, public surface, pages and documentation.
check: lint api docs

# Compares the public surface of the libraries with docs/api.txt; ARGS=--write writes that file.
api:
	@scripts/bootstrap
	@scripts/check-api $(ARGS)
# The documentation of the libraries, with its tutorial, as .build/RunBus.doccarchive; any warning fails. `docc preview`
# or a static web server shows it.
docs:
	@scripts/bootstrap
	@scripts/check-docs --output .build/RunBus.doccarchive

# Writes the table of recordings in docs/metrics.md: numbers of RunBus and of the devices (needs ../shared/runs).
metrics-table: build
	BUSNODE=$(BUSNODE) scripts/compare-recordings --write

# Long tests. One of:
#   SEEDS=100000 HOURS=1 (FROM=1)  so many simulated worlds, on all cores
#   KILLS=500                      real processes under kill -9
#   CRASHES=200                    a phone that is killed so often in replays of a recorded run (a quarter of an hour)
#   LOGKILLS=200                   processes that write to the log of rooms, under kill -9
#   ASKERS=20                      a hundred askers for the last place of a room, so often (a minute)
#   STARTS=50                      so many starts of four phones whose clocks differ (ten minutes)
#   ROOMKILLS=300                  phones that are killed so often in rooms, at every stage
#   DAMAGE=2000                    so many stores with random bytes in them
#   WRITES=355                     so many writes, syncs and renamings that fail, or in which a node dies, one in each life
#                                  of a phone or a watch (Linux with gcc; three minutes)
#   ROOMS=6                        every order of so many requests of three runners in a room, and random logs of rooms
# Without any of them, the sampled tests with many more samples, and 3,000 worlds. SEED=1 repeats KILLS, CRASHES, STARTS and
# ROOMKILLS.
FROM ?= 1
HOURS ?= 1
LAST = $(shell expr $(FROM) + $(1) - 1)
SIMULATE_ALL = $(SIMULATE) --hours $(HOURS) --jobs $$(getconf _NPROCESSORS_ONLN) --seeds
soak:
ifdef CRASHES
	@scripts/bootstrap
	swift build -c release --product busnode
	RUNBUS_SOAK_CRASHES=$(CRASHES) RUNBUS_SOAK_SEED=$(SEED) RUNBUS_SOAK_BUSNODE=$(CURDIR)/$(BUSNODE) \
	  SWIFT_BACKTRACE=enable=no swift test --filter CrashTests
else ifdef KILLS
	@scripts/bootstrap
	swift build -c release --product busnode
	RUNBUS_SOAK_KILLS=$(KILLS) RUNBUS_SOAK_SEED=$(SEED) RUNBUS_SOAK_BUSNODE=$(CURDIR)/$(BUSNODE) \
	  swift test --filter KillTests
else ifdef LOGKILLS
	@scripts/bootstrap
	RUNBUS_SOAK_LOG_KILLS=$(LOGKILLS) swift test --filter SharedLogProcessTests
else ifdef ASKERS
	@scripts/bootstrap
	swift build -c release --product askers
	RUNBUS_SOAK_ASKERS=$(ASKERS) RUNBUS_SOAK_BUSNODE=$(CURDIR)/$(BUSNODE) swift test --filter RoomAskersTests
else ifdef STARTS
	@scripts/bootstrap
	RUNBUS_SOAK_STARTS=$(STARTS) RUNBUS_SOAK_SEED=$(SEED) swift test --filter RoomStartTests
else ifdef ROOMKILLS
	@scripts/bootstrap
	RUNBUS_SOAK_ROOM_KILLS=$(ROOMKILLS) RUNBUS_SOAK_SEED=$(SEED) SWIFT_BACKTRACE=enable=no \
	  swift test --filter RoomKillTests
else ifdef DAMAGE
	@scripts/bootstrap
	RUNBUS_SOAK_DAMAGE=$(DAMAGE) swift test --filter StoreLateDamageTests
else ifdef WRITES
	@scripts/bootstrap
	RUNBUS_SOAK_WRITES=$(WRITES) SWIFT_BACKTRACE=enable=no swift test --filter FailingWritesTests
else ifdef ROOMS
	@scripts/bootstrap
	RUNBUS_SOAK_ROOMS=$(ROOMS) swift test --filter 'RoomOrderTests|RoomRandomTests'
else ifdef SEEDS
	@scripts/bootstrap
	$(BUILD_SIMULATE)
	$(SIMULATE_ALL) $(FROM)..$(call LAST,$(SEEDS))
else
	@scripts/bootstrap --python
	RUNBUS_SOAK=1 RUNBUS_SOAK_CONTROL=1 swift test --skip ProcessTests
	$(BUILD_SIMULATE)
	$(SIMULATE_ALL) $(FROM)..$(call LAST,3000)
endif

# Real processes under failures: KILLS=2000 (kill -9), STOPS=200 (SIGSTOP), FAULTS=1000 (of TCP links: cut, half-open,
# delayed, throttled, corrupt), WRONG=50 (members that break rules, a few at a time; HABIT=flood gives all of them one
# of the habits in Tests/Processes/Clients/habits.py). PAIRED=1 pairs the devices and puts them on three machines
# (network namespaces, where the system allows them); wrong members have no keys. Numbers that are not given are 0; without
# any, a few of each.
# SEED=1 repeats. Or one of: PEERS=1000 on one hub; CONNECTS=10000 to a hub and off again; FRAMES=1000000 malformed
# frames; PRESSES=5000 beside subscribers that never read; ATTACKS=4 for each attack on a hub with keys so many seconds,
# with the time that honest presses wait for their verdicts (PRELOAD=PATH makes the hub use another libzmq; TURNS=5
# measures each attack so often and shows medians; ONLY=flood_of_hellos,chatter leaves the others out).
CHAOS = $(if $(KILLS)$(STOPS)$(FAULTS)$(WRONG),,1)
CHAOS_BUSNODE = RUNBUS_CHAOS_SEED=$(SEED) RUNBUS_SOAK_BUSNODE=$(CURDIR)/$(BUSNODE) SWIFT_BACKTRACE=enable=no
chaos:
	@scripts/bootstrap --python
	swift build -c release --product busnode
ifneq ($(ATTACKS),)
	.venv/bin/python Tests/Processes/Clients/attacks.py --busnode $(BUSNODE) --seconds $(ATTACKS) \
	  $(if $(PRELOAD),--preload $(PRELOAD)) $(if $(TURNS),--turns $(TURNS)) $(if $(ONLY),--only $(ONLY))
else ifneq ($(PEERS)$(CONNECTS)$(FRAMES)$(PRESSES),)
	swift build -c release --product crowd
	RUNBUS_CHAOS_PEERS=$(PEERS) RUNBUS_CHAOS_CONNECTS=$(CONNECTS) RUNBUS_CHAOS_FRAMES=$(FRAMES) \
	  RUNBUS_CHAOS_PRESSES=$(PRESSES) $(CHAOS_BUSNODE) swift test --filter '$(CHAOS_LIMIT)'
else
	RUNBUS_CHAOS_KILLS=$(if $(CHAOS),20,$(KILLS)) RUNBUS_CHAOS_STOPS=$(if $(CHAOS),10,$(STOPS)) \
	  RUNBUS_CHAOS_FAULTS=$(if $(CHAOS),40,$(FAULTS)) RUNBUS_CHAOS_WRONG=$(if $(CHAOS),5,$(WRONG)) RUNBUS_CHAOS_HABIT=$(HABIT) \
	  RUNBUS_CHAOS_PAIRED=$(PAIRED) \
	  $(CHAOS_BUSNODE) swift test --filter ChaosTests
endif
CHAOS_LIMIT = $(or $(if $(PEERS),manyPeers),$(if $(CONNECTS),StrangerTests/connects),$(if $(FRAMES),StrangerTests/frames),\
  muteSubscribers)

# Tests the simulation itself: plants known bugs in a copy of the tree, one at a time, and checks that each is found.
mutants:
	@scripts/bootstrap
	@scripts/mutants

# Runs libFuzzer with the address sanitizer on everything that reads bytes from outside, for SECONDS (60) a target or
# with RUNS=10000000 inputs a target.
fuzz:
	@scripts/bootstrap
	Fuzzing/run $(if $(RUNS),--runs $(RUNS),$(or $(SECONDS),60))

# Runs the tests under the thread sanitizer, then under the address sanitizer. Tests of code on one thread (the cores,
# the codec, readers of recordings) are left out of the first, where they would take an hour. Replays run at a tenth of
# the speed, because the processes are slower. ARGS="thread AdminSocketTests" runs one sanitizer with matching tests.
sanitize:
	@scripts/bootstrap --python
	@scripts/sanitize $(ARGS)

# RunBus, C programs, Redis streams, JetStream and mosquitto do the same job in turns; writes Benchmarks/RESULTS.md (Linux).
# A broker that could not be installed has a row that says so. ARGS="--rounds 10", ARGS="--also before=OTHER/bench" (the
# bench program of another build); Benchmarks/README.md has the other benchmarks.
bench:
	@scripts/bootstrap --bench || scripts/bootstrap
	Benchmarks/run all $(ARGS)

# What Linux can check of RunBus for Apple's systems and musl: 32 bits, and system calls against their C headers.
check-apple:
	@scripts/bootstrap
	@scripts/check-apple

clean:
	rm -rf .build .build-simulate .build-install .build-dist .venv .venv-page examples/*/.build Fuzzing/.build
