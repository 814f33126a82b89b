/*
 * A model of the processes that use one database: commit lanes, the expiry of quotes, workers on orders, and
 * sequencers of the feed. Spin checks every order of their steps. docs/proofs.md describes what is proved, and
 * docs/database-functions.md the functions named here.
 *
 * A committed row is a global variable. A transaction changes rows at its commit, in one atomic step, and only rows
 * that it has locked; until then it keeps the changes in local variables. A step covers everything between two points
 * at which test/schedules stops the real functions. A line STEP prints which actor continues, and from which point.
 */

/* The size of the model (test/proof/spin.ts) is given on the command line. Command c executes quote c / 2. */
#define LANES 2
#define TOGETHER 2      /* the maximum number of plans in a transaction */
#define EVENTS (3 * QUOTES)
#define NOBODY 255
#define KEY(c) (SAME_KEY && (c) == 1 -> 0 : (c))
#define QUOTE(c) ((c) / 2)

mtype = { PENDING, PROCESSING, COMPLETED, EXPIRED, NONE, DONE, REFUSED };

/* Rows of the table quote, with their locks (lock_plans), and the books. */
mtype status[QUOTES] = PENDING;
byte version[QUOTES] = 1;
byte rowLock[QUOTES] = NOBODY;
byte debits[QUOTES];
byte deliveries[QUOTES];

/* Idempotency keys: advisory locks (lock_claims), and the stored responses (conclude_plan). */
byte keyLock[COMMANDS] = NOBODY;
mtype stored[COMMANDS] = NONE;

/* Orders for the rail (rail_order): open, and leased by a worker. */
bool orderOpen[QUOTES];
byte leasedBy[QUOTES] = NOBODY;
byte leasesEnded;

/* The table outbox, by id: an event gets its id when it is written, and is visible once its transaction commits. */
byte nextEvent;
byte eventQuote[EVENTS];
byte eventVersion[EVENTS];
bool committed[EVENTS];
bool inFeed[EVENTS];
/* The feed: the number of its events, and the last version of each quote in it. The first event is PENDING's. */
byte feedHead;
byte told[QUOTES] = 1;
byte stepLock = NOBODY;

/* Commands: the lane in whose queue a command waits, and the response that its caller has received. */
byte queue[COMMANDS] = NOBODY;
mtype answered[COMMANDS] = NONE;
byte crashes;

/* Whether the clock of the database has passed the expiry of the quotes. */
bool late;

/* Writes the event of a status change (announce_quote). Ids follow the order of writing, not the order of commits. */
inline write(q, v, id) {
  id = nextEvent;
  eventQuote[id] = q;
  eventVersion[id] = v;
  nextEvent++;
}

/* Whether the transaction of a lane changes a quote. */
#if COMMANDS > 2
#define NEEDS(q) ((takes[0] && QUOTE(0) == q) || (takes[1] && QUOTE(1) == q) || (takes[2] && QUOTE(2) == q))
#else
#define NEEDS(q) ((takes[0] && QUOTE(0) == q) || (takes[1] && QUOTE(1) == q))
#endif

/* Commits a status change of one quote with its event, as part of an atomic step. */
inline commitMove(q, to, id) {
  status[q] = to;
  version[q]++;
  committed[id] = true;
}

/* A caller (src/domain/quotes/execute-quote.ts): it reads the quote, and its plan waits in a lane. */
proctype Caller(byte c) {
  /* executable_quote: this read decides nothing, because everything is checked again under locks. */
  atomic {
    printf("STEP executor %d: executable_quote\n", c + 1);
#ifdef OWN_LANES
    queue[c] = c            /* each in a process of its own, as in the schedules that are replayed */
#else
    if :: queue[c] = 0 :: queue[c] = LANES - 1 fi
#endif
  }
}

/* A lane of a process (src/domain/ledger/commit-lanes.ts), and the transaction that it runs: commit_batches. */
proctype Lane(byte me) {
  byte c, q, n;
  bool takes[COMMANDS];
  mtype outcome[COMMANDS] = NONE;
  mtype mine[QUOTES] = NONE;
  byte event[QUOTES];
  bool dies;

end_idle:
  do
  :: atomic {
       /* The lane takes the waiting plans, at most TOGETHER. */
       (queue[0] == me || queue[1] == me || queue[COMMANDS - 1] == me);
       n = 0;
       for (c : 0 .. COMMANDS - 1) {
         takes[c] = queue[c] == me && n < TOGETHER;
         if :: takes[c] -> n++; queue[c] = NOBODY :: else fi;
       }
     }
     /* lock_claims: idempotency keys in their order. */
     atomic {
       for (c : 0 .. COMMANDS - 1) {
         if
         :: takes[c] && keyLock[KEY(c)] != me -> keyLock[KEY(c)] == NOBODY -> keyLock[KEY(c)] = me
         :: else
         fi
       }
       q = 0
     }
     /* lock_plans: quotes in their order, one by one. */
     do
     :: atomic { q < QUOTES && NEEDS(q) ->
#ifndef NO_ROW_LOCK
          rowLock[q] == NOBODY -> rowLock[q] = me;
#endif
          q++ }
     :: atomic { q < QUOTES && !NEEDS(q) -> q++ }
     :: atomic { q == QUOTES -> printf("STEP executor %d: commit_batches\n", me + 1); break }
     od;
     /* check_group and check_quotes: the clock is read under the lock. */
     atomic {
       for (c : 0 .. COMMANDS - 1) {
         if
         :: takes[c] && stored[KEY(c)] != NONE -> outcome[c] = stored[KEY(c)]          /* first_answer */
         :: takes[c] && stored[KEY(c)] == NONE ->
            q = QUOTE(c);
            /*
             * Of two plans with the same key or quote, the second is checked after the first is applied (batches.ts).
             */
            if
            :: c > 0 && takes[c - 1] && KEY(c) == KEY(c - 1) -> outcome[c] = outcome[c - 1]
            :: else ->
               if
               :: mine[q] == NONE && status[q] == PENDING && !late -> mine[q] = PROCESSING; outcome[c] = DONE
               :: else -> outcome[c] = REFUSED
               fi
            fi
         :: else
         fi
       }
       printf("STEP executor %d: locked\n", me + 1)
     }
     /* apply_plans: balances, statuses and events, which are not visible yet. */
     atomic {
       n = 0;
       for (q : 0 .. QUOTES - 1) {
         if :: mine[q] != NONE -> n++; write(q, version[q] + 1, event[q]) :: else fi
       }
       printf("STEP executor %d: checked\n", me + 1)
     }
     /* The commit, or the end of the connection, which rolls back. Both release all locks. */
     atomic {
       if :: crashes < CRASHES -> dies = true; crashes++ :: dies = false fi;
       for (q : 0 .. QUOTES - 1) {
         if
         :: !dies && mine[q] != NONE ->
            assert(debits[q] == 0 && status[q] == PENDING);
            debits[q]++;
            commitMove(q, PROCESSING, event[q]);
            orderOpen[q] = true
         :: else
         fi;
         event[q] = 0;
         mine[q] = NONE;
         if :: rowLock[q] == me -> rowLock[q] = NOBODY :: else fi
       }
       for (c : 0 .. COMMANDS - 1) {
         if :: !dies && takes[c] && stored[KEY(c)] == NONE -> stored[KEY(c)] = outcome[c] :: else fi;
         if :: keyLock[c] == me -> keyLock[c] = NOBODY :: else fi
       }
       if :: n > 0 -> printf("STEP executor %d: applied\n", me + 1) :: else fi;
       n = 0
     }
     /* The callers get responses, or the process dies after the commit, and they resend to another process. */
     atomic {
       if :: !dies && crashes < CRASHES -> dies = true; crashes++ :: true fi;
       for (c : 0 .. COMMANDS - 1) {
         if
         :: takes[c] && dies -> queue[c] = (me + 1) % LANES
         :: takes[c] && !dies ->
            answered[c] = outcome[c];
            /* Each acknowledged command has taken effect once. */
            assert(outcome[c] != DONE || debits[QUOTE(c)] == 1)
         :: else
         fi;
         takes[c] = false;
         outcome[c] = NONE
       }
       c = 0;
       q = 0;
       dies = false
     }
  od
}

/* Time: the quotes expire once. */
proctype Clock() {
  atomic { late = true; printf("STEP clock: pass\n") }
}

/* The expiry (src/domain/quotes/execute-quote.ts) of one quote, and the transaction that it runs. */
proctype Expiry(byte q) {
  byte id;
  bool expires;
  byte me = 100 + q;
#ifdef ONE_ROUND
  atomic {
    printf("STEP expiry: expired_quotes\n");
    if :: late && status[q] == PENDING :: else -> goto end_found fi
  }
#else
end_waiting:
  late && status[q] == PENDING;                                    /* expired_quotes */
#endif
  atomic { rowLock[q] == NOBODY -> rowLock[q] = me; printf("STEP expiry: commit_batches\n") }   /* lock_plans */
  atomic {                                                         /* check_quotes */
#ifdef EXPIRES_PROCESSING
    expires = late && (status[q] == PENDING || status[q] == PROCESSING);
#else
    expires = late && status[q] == PENDING;
#endif
    printf("STEP expiry: locked\n")
  }
  atomic {                                                         /* apply_plans */
    if :: expires -> write(q, version[q] + 1, id) :: else fi;
    printf("STEP expiry: checked\n")
  }
  atomic {                                                         /* the commit */
    if
    :: expires -> commitMove(q, EXPIRED, id); printf("STEP expiry: applied\n")
    :: else
    fi;
    rowLock[q] = NOBODY;
    expires = false;
    id = 0
  }
end_found:
  skip
}

/* A worker (src/domain/settlement/settlement.ts): it leases an order, calls the rail, and commits the outcome. */
proctype Worker(byte number) {
  byte q, id;
  bool delivers;
  byte me = 200 + number;
end_idle:
  do
  :: atomic {                                                      /* lease_rail_orders: one statement, rows skip locked */
       if
       :: orderOpen[0] && leasedBy[0] == NOBODY -> q = 0
       :: QUOTES > 1 && orderOpen[QUOTES - 1] && leasedBy[QUOTES - 1] == NOBODY -> q = QUOTES - 1
       fi;
       leasedBy[q] = me
     }
     atomic { rowLock[q] == NOBODY -> rowLock[q] = me }            /* lock_plans */
     atomic { delivers = orderOpen[q] && status[q] == PROCESSING } /* check_transactions, check_orders */
     atomic {
       if :: delivers -> write(q, version[q] + 1, id) :: else fi
     }
     atomic {                                                      /* the commit */
       if
       :: delivers ->
          commitMove(q, COMPLETED, id);
          deliveries[q]++;
          orderOpen[q] = false;
          assert(deliveries[q] == 1)
       :: else
       fi;
       if :: leasedBy[q] == me -> leasedBy[q] = NOBODY :: else fi;
       rowLock[q] = NOBODY;
       q = 0;
       id = 0;
       delivers = false
     }
  od
}

/* Two seconds pass, and a lease expires while its worker is still busy. */
proctype LeaseEnd() {
  do
  :: leasesEnded < LEASE_ENDS ->
     atomic {
       if
       :: leasedBy[0] != NOBODY -> leasedBy[0] = NOBODY; leasesEnded++
       :: QUOTES > 1 && leasedBy[QUOTES - 1] != NOBODY -> leasedBy[QUOTES - 1] = NOBODY; leasesEnded++
       fi
     }
  :: leasesEnded >= LEASE_ENDS -> break
  :: true -> break
  od
}

/* A sequencer (src/domain/events/sequencer.ts): a step tries to get the lock, and does nothing if another has it. */
proctype Sequencer(byte me) {
  byte id;
  bool seen[EVENTS];
end_idle:
  do
  :: atomic {
       /* There is something to do: an event was committed. */
       ((committed[0] && !inFeed[0]) || (committed[1] && !inFeed[1]) || (committed[2] && !inFeed[2])
        || (EVENTS > 3 && ((committed[EVENTS - 1] && !inFeed[EVENTS - 1]) || (committed[EVENTS - 2] && !inFeed[EVENTS - 2])
                           || (committed[EVENTS - 3] && !inFeed[EVENTS - 3]))));
       if
       :: stepLock == NOBODY -> stepLock = me                      /* pg_try_advisory_xact_lock */
#ifdef NO_STEP_LOCK
       :: else
#else
       :: else -> goto skipped
#endif
       fi;
       /* sequence_outbox: the rows in its snapshot. */
       for (id : 0 .. EVENTS - 1) { seen[id] = committed[id] && !inFeed[id] }
     }
     atomic {                                                      /* the commit: numbers in the order of ids */
       for (id : 0 .. EVENTS - 1) {
         if
         :: seen[id] ->
            assert(!inFeed[id]);                                   /* each once */
            assert(eventVersion[id] == told[eventQuote[id]] + 1);  /* in the order of its quote, none left out */
            inFeed[id] = true;
            told[eventQuote[id]]++;
            feedHead++
         :: else
         fi;
         seen[id] = false
       }
       id = 0;
       stepLock = NOBODY
     }
skipped:
     skip
  od
}

/* A quote is never both executed and expired, whatever has been committed. */
#define SOUND(q) (!(status[q] == EXPIRED && debits[q] > 0) && debits[q] <= 1 && (debits[q] == 1 || status[q] == PENDING || status[q] == EXPIRED))

ltl sound { [] (SOUND(0) && SOUND(QUOTES - 1)) }

/* Each command gets a response, whichever process dies. */
#define ANSWERED(c) (answered[c] != NONE)
ltl answers { <> (ANSWERED(0) && ANSWERED(COMMANDS - 1)) }

/* Executed quotes are delivered, and expired ones are marked: no quote stays in between. */
#define OVER(q) (status[q] == COMPLETED || status[q] == EXPIRED)
ltl ends { <> [] (OVER(0) && OVER(QUOTES - 1)) }

/* The feed eventually has the last version of each quote. */
#define TOLD(q) (told[q] == version[q])
ltl tells { <> [] (TOLD(0) && TOLD(QUOTES - 1)) }

#ifdef FOR_EVER
/*
 * Time goes on when all work is done. Without this a run would end, and Spin's fairness does not consider runs that
 * end.
 */
bit tick;
active proctype Idle() {
end_idle:
  do
  :: tick = 1 - tick
  od
}
#endif

init {
  byte n;
  atomic {
    for (n : 0 .. COMMANDS - 1) { run Caller(n) }
    for (n : 0 .. LANES - 1) { run Lane(n) }
    for (n : 0 .. QUOTES - 1) { run Expiry(n) }
    run Clock();
#if WORKERS > 0
    for (n : 0 .. WORKERS - 1) { run Worker(n) }
    run LeaseEnd();
#endif
#if SEQUENCERS > 0
    for (n : 0 .. SEQUENCERS - 1) { run Sequencer(n) }
#endif
  }
}
