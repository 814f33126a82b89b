import type { Bugs } from './plant.ts';

/** Bugs in the work of operators and their set-up: adjustments, orders ended by hand, replicas. */
export const operatorBugs: Bugs = {
  'test/cli/doctor.test.ts': {
    'the doctor ignores the rights of PUBLIC': {
      file: 'src/infra/database/migrations/catalog.ts',
      find: `
  union all select 0, 'PUBLIC')`,
      put: ')',
      test: '%s',
    },
    'the doctor examines only the snapshots of transactions': {
      file: 'src/ops/doctor-server.ts',
      find: '(backend_xmin is not null or backend_xid is not null)',
      put: '(backend_xmin is not null)',
      test: '%s',
    },
    'the doctor takes a disabled trigger for an enabled one': {
      file: 'src/infra/database/migrations/catalog.ts',
      find: " and t.tgenabled = 'O'\n",
      put: '\n',
      test: '%s',
    },
  },
  'test/start.test.ts': {
    'the folder of a killed first start remains': {
      file: 'src/infra/database/embedded/data-directory.ts',
      find: '  await removeAbandoned(folder);\n',
      put: '',
      test: 'an interrupted or killed first start leaves nothing behind for the next one',
    },
    "the variables of a developer's shell reach the embedded Postgres": {
      file: 'src/infra/database/embedded/embedded.ts',
      find: 'if (ofAnotherServer.test(name)) delete process.env[name];',
      put: 'ofAnotherServer.test(name);',
      test: 'shell variables for another Postgres do not affect the embedded one',
    },
  },
  'test/payments/adjustments.test.ts': {
    'an adjustment can be approved by its proposer': {
      file: 'prisma/functions/commit/check_adjustment.sql',
      find: "when same_person(v_proposed.proposed_by, v_move ->> 'by') then",
      put: 'when v_proposed.amount is null then',
      also: [
        {
          file: 'src/domain/commands/adjustments.ts',
          find: 'if (isSamePerson(found.proposedBy, operator.by))',
          put: 'if (false)',
        },
      ],
      test: 'a proposal moves nothing until another person approves it, and then appears everywhere',
    },
    'the same name in capitals is a different person': {
      file: 'prisma/functions/names/same_person.sql',
      find: "lower(regexp_replace(p_one, '\\s', '', 'g')) = lower(regexp_replace(p_other, '\\s', '', 'g'))",
      put: 'p_one = p_other',
      also: [
        {
          file: 'src/domain/commands/adjustments.ts',
          find: 'if (isSamePerson(found.proposedBy, operator.by))',
          put: 'if (false)',
        },
      ],
      test: 'a proposal moves nothing until another person approves it, and then appears everywhere',
    },
    'an adjustment moves an amount that differs from the proposal': {
      file: 'prisma/functions/commit/check_adjustment.sql',
      find: `'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text)`,
      put: `'amount', p_plan #>> '{journals,0,legs,0,amount}'),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', p_plan #>> '{journals,0,legs,1,amount}')`,
      test: 'one of several concurrent approvals moves the money; the database refuses any other adjusting plan',
    },
    'an adjustment is approved after its expiry': {
      file: 'prisma/functions/commit/check_adjustment.sql',
      find: 'when v_proposed.expires_at <= clock_timestamp() then',
      put: 'when v_proposed.expires_at is null then',
      test: 'rejected and expired proposals move nothing; a debit cannot use frozen money or go below zero',
    },
  },
  'test/payments/failing-orders.test.ts': {
    'an order can be ended by hand whatever its rail reports': {
      file: 'src/domain/settlement/fail-order.ts',
      find: "if (!outcome) return 'the provider has no such payment';",
      put: "if (outcome?.kind !== 'pending') return 'the provider has no such payment';",
      test: "the rail's last report decides: a settled or failed order is refused, and the workers book it",
    },
    'an order is ended by hand while a worker has it': {
      file: 'src/domain/settlement/order-by-hand.ts',
      find: "set due_at = '-infinity'",
      put: 'set due_at = o.due_at',
      test: 'a worker that is faster than the person decides, and no worker takes the order meanwhile',
    },
    'a payment with an open case can be ended by hand': {
      file: 'src/domain/settlement/fail-order.ts',
      find: '\n  if (open) {\n',
      put: '\n  if (open?.closedAt) {\n',
      test: 'a payment whose rail reported a different amount is refused until a person has closed its case',
    },
    'ending an order by hand is not recorded as an act': {
      file: 'src/domain/settlement/order-by-hand.ts',
      find: '      await recordAct(act, operator, facts);\n',
      test: 'a payment failed by command is refunded as if its rail refused it, and an act says who and why',
    },
  },
  'test/database/replicas.test.ts': {
    'a read on a replica may be older than a write before it': {
      file: 'src/infra/database/replicas/replicas.ts',
      find: 'if (replica && (await replica.reach(position))) return { replica, position };',
      put: 'if (replica) return { replica, position: { ...position, lsn: 0n } };',
      test: 'never reads behind a write, on any instance, while the replica falls behind and catches up',
    },
    'reads share the answer to a query that was sent before them': {
      file: 'src/infra/database/replicas/primary-position.ts',
      find: 'if (!this.#current) return this.#begin();',
      put: 'if (!this.#current) return this.#begin();\n    if (this.#last) return this.#current;',
      test: 'a read shares no position query that was sent before it',
    },
    'a token from the far future is trusted': {
      file: 'src/infra/database/replicas/replicas.ts',
      find: 'if (lsn > known.lsn) return undefined;',
      test: 'a token of the far future, or of another history, neither waits nor reads less',
    },
    'two read tokens can be compared': {
      file: 'src/infra/database/replicas/read-token.ts',
      find: 'const nonce = randomBytes(nonceBytes);',
      put: 'const nonce = Buffer.alloc(nonceBytes);',
      test: 'the position in a token is unreadable, even by comparing two tokens',
    },
    'a read token hides a later write of the platform through the instance': {
      file: 'src/infra/database/replicas/replicas.ts',
      find: 'lsn: own && own.lsn > lsn ? own.lsn : lsn };',
      put: 'lsn };',
      test: 'a lagging replica answers what it has replayed, and never less than the token demands',
    },
    'a page may be older than the page before it': {
      file: 'src/api/graphql/server/replica-reads.ts',
      find: 'namesCursor(args.document) ? undefined : readAfter',
      put: 'readAfter',
      test: 'a page after a cursor is not older than the page before it',
    },
    'a page of REST may be older than the page before it': {
      file: 'src/api/rest/replica-reads.ts',
      find: 'isPage ? undefined : token',
      put: 'token',
      test: 'a page after a cursor is not older than the page before it',
    },
  },
};
