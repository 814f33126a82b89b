import type { Bug, Change } from './plant.ts';

const adjusted = (title: string) => ({ file: 'test/payments/adjustments.test.ts', title });
const ended = (title: string) => ({ file: 'test/payments/failing-orders.test.ts', title });
const read = (title: string) => ({ file: 'test/database/replicas.test.ts', title });
const approval =
  'a proposal moves nothing until another person approves it; then the balance, its event and the statement show it';
const once =
  'of simultaneous approvals one moves the money, and the database refuses every plan that adjusts otherwise';
const neverBehind = 'never reads behind a write, on whichever instance, while the replica falls behind and catches up';
const content = 'a replica that is behind answers what it has replayed, and never less than the token names';
const decides = 'what the rail says once more decides: what has settled or failed is refused, and the workers book it';

/** The check in TypeScript that stands in front of the database's. */
const withoutNames: Change = {
  file: 'src/payments/adjustments.ts',
  find: 'if (isSamePerson(found.proposedBy, operator.by))',
  put: 'if (false)',
};

/** Bugs in what operators do, and in what they set up: adjustments, orders that end by hand, replicas. */
export const operatorBugs: readonly Bug[] = [
  {
    bug: 'whoever proposes an adjustment approves it',
    file: 'prisma/functions/check_adjustment.sql',
    find: "when same_person(v_proposed.proposed_by, v_move ->> 'by') then",
    put: 'when v_proposed.amount is null then',
    also: [withoutNames],
    caughtBy: adjusted(approval),
  },
  {
    bug: 'the same person in capitals is another one',
    file: 'prisma/functions/same_person.sql',
    find: "lower(regexp_replace(p_one, '\\s', '', 'g')) = lower(regexp_replace(p_other, '\\s', '', 'g'))",
    put: 'p_one = p_other',
    also: [withoutNames],
    caughtBy: adjusted(approval),
  },
  {
    bug: 'an adjustment moves another amount than was proposed',
    file: 'prisma/functions/check_adjustment.sql',
    find: `'amount', v_proposed.amount::text),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', (-v_proposed.amount)::text)`,
    put: `'amount', p_plan #>> '{journals,0,legs,0,amount}'),
         jsonb_build_object('system', 'ADJUSTMENTS', 'currency', v_proposed.currency, 'amount', p_plan #>> '{journals,0,legs,1,amount}')`,
    caughtBy: adjusted(once),
  },
  {
    bug: 'an adjustment is approved after its end',
    file: 'prisma/functions/check_adjustment.sql',
    find: 'when v_proposed.expires_at <= clock_timestamp() then',
    put: 'when v_proposed.expires_at is null then',
    caughtBy: adjusted(
      'a rejected proposal and an expired one move nothing, and a debit stays above zero and off what is frozen',
    ),
  },
  {
    bug: 'an order ends by hand whatever its rail says',
    file: 'src/payments/settlement/fail-order.ts',
    find: "if (answer && 'reason' in answer) return",
    put: "if (answer && 'reason' in answer && answer.reason === '') return",
    caughtBy: ended(decides),
  },
  {
    bug: 'an order ends by hand beside the worker that has it',
    file: 'src/payments/settlement/order-by-hand.ts',
    find: "set due_at = '-infinity'",
    put: 'set due_at = o.due_at',
    caughtBy: ended(
      'a worker that is quicker than the person decides, and no worker takes the order while the rail is asked',
    ),
  },
  {
    bug: 'a payment with an open case ends by hand',
    file: 'src/payments/settlement/fail-order.ts',
    find: '\n  if (open) {\n',
    put: '\n  if (open?.closedAt) {\n',
    caughtBy: ended(
      'a payment of which the rail has said another amount is refused until a person has closed its case',
    ),
  },
  {
    bug: 'the end of an order by hand is no act',
    file: 'src/payments/settlement/fail-order.ts',
    find: "await recordAct(act, operator, { platformId, subject, before, after: { status: 'FAILED' } });",
    put: '',
    caughtBy: ended(
      'a payment ends FAILED by command as when its rail refuses it: its money is back, and an act says who and why',
    ),
  },
  {
    bug: 'a read on a replica may be older than a write before it',
    file: 'src/database/replicas/replicas.ts',
    find: 'if (replica && (await replica.reach(position))) return { replica, position };',
    put: 'if (replica) return { replica, position: { ...position, lsn: 0n } };',
    caughtBy: read(neverBehind),
  },
  {
    bug: 'reads share the answer to a question that was sent before them',
    file: 'src/database/replicas/primary-position.ts',
    find: 'if (!this.#current) return this.#begin();',
    put: 'if (!this.#current) return this.#begin();\n    if (this.#last) return this.#current;',
    caughtBy: read('a read shares no question that was sent before it'),
  },
  {
    bug: 'a token of the far future is believed',
    file: 'src/database/replicas/replicas.ts',
    find: 'if (lsn > known.lsn) return undefined;',
    put: '',
    caughtBy: read('a token of the far future, or of another history, neither waits nor reads less'),
  },
  {
    bug: 'two tokens of reads can be compared',
    file: 'src/database/replicas/read-token.ts',
    find: 'const nonce = randomBytes(nonceBytes);',
    put: 'const nonce = Buffer.alloc(nonceBytes);',
    caughtBy: read('what a token names is seen by nobody, also not by comparing two of them'),
  },
  {
    bug: 'a token hides what the platform has written through the instance',
    file: 'src/database/replicas/replicas.ts',
    find: 'lsn: own && own.lsn > lsn ? own.lsn : lsn };',
    put: 'lsn };',
    caughtBy: read(content),
  },
  {
    bug: 'a page may be older than the page before it',
    file: 'src/graphql/server/replica-reads.ts',
    find: 'namesCursor(args.document) ? undefined : readAfter',
    put: 'readAfter',
    caughtBy: read('a page after a cursor is not older than the page before it'),
  },
  {
    bug: 'a page of REST may be older than the page before it',
    file: 'src/rest/replica-reads.ts',
    find: 'isPage ? undefined : token',
    put: 'token',
    caughtBy: read('a page after a cursor is not older than the page before it'),
  },
];
