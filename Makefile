# One command each; every one that builds first installs what the machine lacks (scripts/bootstrap).

BUSNODE = .build/release/busnode

# The simulated worlds run a fifth faster with the Swift runtime linked into them, which Apple's systems do not offer; a
# build directory of their own, so that neither build undoes the other.
SIMULATE = .build-simulate/release/simulate
STATIC = $(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib -Xswiftc -use-ld=lld)
BUILD_SIMULATE = swift build -c release --product simulate --scratch-path .build-simulate $(STATIC)

.PHONY: run build test simulate proto lint metrics-table soak chaos mutants fuzz sanitize bench clean

# Phone, watch and widget as three processes on a modelled five-minute run, with presses from all three.
run: build
	$(BUSNODE) up --synthetic --duration 5m --speed 10 --script examples/scripts/demo.run

# The release binary: .build/release/busnode.
build:
	@scripts/bootstrap
	swift build -c release --product busnode

# Every test, and 500 simulated worlds. Those with processes come after the others: an exhaustive test keeps every core
# busy, and a process that is to answer within a deadline would wait for a turn. For the same reason only some of them
# run side by side.
test:
	@scripts/bootstrap --python
	$(BUILD_SIMULATE)
	$(SIMULATE) --seeds 1..500 --hours 0.2
	swift test --skip ProcessTests
	swift test --skip-build --filter ProcessTests --experimental-maximum-parallelization-width 6

# The simulated worlds, built in release; ARGS="--seed 7 --trace" shows one of them.
ARGS_OF_SIMULATE = $(if $(ARGS),$(ARGS),--seeds 1..500 --hours 0.2)
simulate:
	@scripts/bootstrap
	$(BUILD_SIMULATE)
	$(SIMULATE) $(ARGS_OF_SIMULATE)

# The wire: the generated Swift and the descriptor set, anew from runbus.proto.
proto:
	@scripts/generate-wire

# Formatting, and who may import whom.
lint:
	@scripts/check-format
	@scripts/check-imports

# The table of recordings in docs/metrics.md: our numbers beside the devices' own (needs ../shared/runs).
metrics-table: build
	BUSNODE=$(BUSNODE) scripts/compare-recordings --write

# A campaign of simulated worlds on all cores: SEEDS=100000 HOURS=1 (and FROM=1). With KILLS=500 real processes under
# kill -9 instead, with CRASHES=200 a phone that is killed that often in replays of a recorded run, a quarter of an hour of
# them (SEED=1 repeats). With DAMAGE=2000 that many stores with random bytes in them. Without any, the sampled tests with far more samples, and 3,000 worlds.
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
else ifdef DAMAGE
	@scripts/bootstrap
	RUNBUS_SOAK_DAMAGE=$(DAMAGE) swift test --filter StoreLateDamageTests
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

# Real processes while everything fails: KILLS=2000 STOPS=200 FAULTS=1000 (kill -9, SIGSTOP, and faults of the TCP links
# between them: cut, half-open, delayed, throttled, corrupt); what is left out counts 0. With WRONG=50 as many members
# that break rules live beside them, a few at a time (HABIT=flood: all with one of the habits in
# Tests/Processes/Clients/habits.py). SEED=1 repeats. Without any, a few of each. Or one of these: PEERS=1000 on one
# hub; CONNECTS=10000 to a hub and away from it; FRAMES=1000000 that are malformed; PRESSES=5000 beside subscribers that
# never read.
CHAOS = $(if $(KILLS)$(STOPS)$(FAULTS)$(WRONG),,1)
CHAOS_BUSNODE = RUNBUS_CHAOS_SEED=$(SEED) RUNBUS_SOAK_BUSNODE=$(CURDIR)/$(BUSNODE) SWIFT_BACKTRACE=enable=no
chaos:
	@scripts/bootstrap --python
	swift build -c release --product busnode
ifneq ($(PEERS)$(CONNECTS)$(FRAMES)$(PRESSES),)
	swift build -c release --product crowd
	RUNBUS_CHAOS_PEERS=$(PEERS) RUNBUS_CHAOS_CONNECTS=$(CONNECTS) RUNBUS_CHAOS_FRAMES=$(FRAMES) \
	  RUNBUS_CHAOS_PRESSES=$(PRESSES) $(CHAOS_BUSNODE) swift test --filter '$(CHAOS_LIMIT)'
else
	RUNBUS_CHAOS_KILLS=$(if $(CHAOS),20,$(KILLS)) RUNBUS_CHAOS_STOPS=$(if $(CHAOS),10,$(STOPS)) \
	  RUNBUS_CHAOS_FAULTS=$(if $(CHAOS),40,$(FAULTS)) RUNBUS_CHAOS_WRONG=$(if $(CHAOS),5,$(WRONG)) RUNBUS_CHAOS_HABIT=$(HABIT) \
	  $(CHAOS_BUSNODE) swift test --filter ChaosTests
endif
CHAOS_LIMIT = $(or $(if $(PEERS),manyPeers),$(if $(CONNECTS),StrangerTests/connects),$(if $(FRAMES),StrangerTests/frames),\
  muteSubscribers)

# Whether the worlds would notice: known bugs are planted in a copy, one at a time, and each is to be caught.
mutants:
	@scripts/bootstrap
	@scripts/mutants

# libFuzzer with the address sanitizer on what reads somebody else's bytes, SECONDS a target (60), or
# RUNS=10000000 inputs a target.
fuzz:
	@scripts/bootstrap
	Fuzzing/run $(if $(RUNS),--runs $(RUNS),$(or $(SECONDS),60))

# The tests under the thread sanitizer, then under the address sanitizer, in build directories of their own. What runs on
# one thread (the pure cores, codec, readers of recordings) is left out of the first, where it would take an hour, and
# replays are played at a tenth of the speed: the processes are slower, too. ARGS="thread AdminSocketTests" runs those only.
sanitize:
	@scripts/bootstrap --python
	@scripts/sanitize $(ARGS)

# Latencies side by side with a C program that does the same hops; ARGS="--rounds 5" makes it shorter.
bench:
	@scripts/bootstrap
	Benchmarks/run $(ARGS)

clean:
	rm -rf .build .build-simulate .venv examples/*/.build Benchmarks/.build Fuzzing/.build
