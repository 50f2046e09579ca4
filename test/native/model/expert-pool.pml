/*
 * The sleeping expert pool as a model: publish, claim, phase gate, sleep, park, stop.
 * Checked: every chunk of every epoch runs exactly once and with its own epoch's description, no phase begins early,
 * and nobody waits for ever (an invalid end state). Must be refuted:
 *   -DUNTAGGED      claims and `done` without the epoch: the late waker
 *   -DHASTY_HOST    the host looks for sleepers before it raises the epoch: the lost wake-up
 *   -DHASTY_WORKER  the worker looks at the epoch before it counts as a sleeper, and without the mutex
 *   -DEAGER_GATE    the second phase opens when the chunks of the first are claimed, not finished
 * The model is sequentially consistent, as the orders of the real code are where it matters.
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef CHUNKS
#define CHUNKS 3
#endif
#ifndef FIRST_PHASE
#define FIRST_PHASE 2 /* chunks of the first phase */
#endif

byte head_epoch, head_chunks, head_next; /* one word in reality: always read and changed in one step */
byte done_epoch, done_count;             /* likewise */
byte description;                        /* what a chunk computes with: plain memory */
byte epoch;
byte sleepers;
bool stopping;
bool mutex;
bool waiting[WORKERS];
byte ran[(EPOCHS + 1) * CHUNKS];
byte finished_first;                     /* chunks of the first phase that have really run, per epoch */

#ifdef UNTAGGED
#define MINE(word, mine) true
#else
#define MINE(word, mine) (word == mine)
#endif
#ifdef EAGER_GATE
#define GATE_OPEN(mine) (head_next >= FIRST_PHASE)
#else
#define GATE_OPEN(mine) (MINE(done_epoch, mine) && done_count >= FIRST_PHASE)
#endif
#define EXHAUSTED(mine) (!(MINE(head_epoch, mine)) || head_next >= head_chunks)

/* Claims and computes chunks of epoch `mine` until none is left. Loads, gate check and exchange are separate steps. */
inline take_part(mine) {
  do
  :: d_step { seen_epoch = head_epoch; seen_next = head_next; seen_chunks = head_chunks };
     if
     :: !(MINE(seen_epoch, mine)) || seen_next >= seen_chunks -> break
     :: else ->
        if
        :: seen_next >= FIRST_PHASE && !GATE_OPEN(mine) ->
           (GATE_OPEN(mine) || EXHAUSTED(mine)) /* waits, holding nothing */
        :: else ->
           d_step {
             won = (head_epoch == seen_epoch && head_next == seen_next && head_chunks == seen_chunks);
             if :: won -> head_next = head_next + 1 :: else fi
           };
           if
           :: won ->
              what = description;
              d_step {
                assert(what == seen_epoch);
                assert(seen_next < FIRST_PHASE || finished_first == FIRST_PHASE);
                ran[what * CHUNKS + seen_next] = ran[what * CHUNKS + seen_next] + 1;
                assert(ran[what * CHUNKS + seen_next] == 1);
                if :: seen_next < FIRST_PHASE -> finished_first = finished_first + 1 :: else fi
              };
              d_step { if :: MINE(done_epoch, mine) -> done_count = done_count + 1 :: else fi }
           :: else
           fi
        fi
     fi
  od;
  seen_epoch = 0; seen_next = 0; seen_chunks = 0; won = false; what = 0
}

proctype worker(byte id) {
  byte seen = 0;
  byte seen_epoch, seen_next, seen_chunks, what;
  bool won;
  do
  :: /* Spins until the epoch changes, or until the budget is over or it is parked, whenever that is. */
     if
     :: epoch != seen
     :: true ->
#ifdef HASTY_WORKER
        if
        :: epoch != seen
        :: epoch == seen ->
           sleepers = sleepers + 1;
           waiting[id] = true;
           !waiting[id];
           sleepers = sleepers - 1
        fi
#else
        atomic { !mutex -> mutex = true };
        sleepers = sleepers + 1;
        do
        :: epoch != seen -> break
        :: epoch == seen ->
           d_step { waiting[id] = true; mutex = false };
           atomic { !waiting[id] && !mutex -> mutex = true }
        od;
        sleepers = sleepers - 1;
        mutex = false
#endif
     fi;
     seen = epoch;
     if
     :: stopping -> break
     :: else
     fi;
     take_part(seen)
  od
}

/* Has held the mutex once, then notifies; a mutex that is taken is left for later. */
inline try_wake() {
  if
  :: atomic { !mutex -> mutex = true };
     mutex = false;
     pending = false;
     d_step { waiting[0] = false; waiting[WORKERS - 1] = false }
  :: atomic { mutex -> pending = true }
  fi
}

inline publish() {
#ifdef HASTY_HOST
  found = sleepers;
  epoch = epoch + 1;
#else
  epoch = epoch + 1;
  found = sleepers;
#endif
  if
  :: found != 0 -> try_wake()
  :: else
  fi;
  found = 0
}

inline open_epoch(number) {
#ifdef UNTAGGED
  /* Plain counters, one reset after the other. */
  head_next = 0;
  description = number;
  done_count = 0;
  d_step { head_epoch = number; done_epoch = number; head_chunks = CHUNKS }
#else
  description = number;
  d_step { done_epoch = number; done_count = 0 };
  d_step { head_epoch = number; head_next = 0; head_chunks = CHUNKS }
#endif
}

active proctype host() {
  byte number = 1;
  byte seen_epoch, seen_next, seen_chunks, what, found;
  bool won, pending;
  run worker(0);
#if WORKERS > 1
  run worker(1);
#endif
  do
  :: number <= EPOCHS ->
     finished_first = 0;
     open_epoch(number);
     publish();
     /* A host that only waits is the hardest case: then everything depends on somebody having been woken. */
     if
     :: take_part(number)
     :: true
     fi;
     do
     :: pending -> try_wake()
     :: done_count >= CHUNKS -> break
     od;
     atomic {
       what = 0;
       do
       :: what < CHUNKS -> assert(ran[number * CHUNKS + what] == 1); what = what + 1
       :: else -> break
       od;
       what = 0;
       number = number + 1
     }
  :: else -> break
  od;
  stopping = true;
  epoch = epoch + 1;
  atomic { !mutex -> mutex = true };
  mutex = false;
  d_step { waiting[0] = false; waiting[WORKERS - 1] = false }
}
