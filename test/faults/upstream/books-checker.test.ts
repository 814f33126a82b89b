import { expect, test } from 'vitest';
import type { Command, Receipt } from '../history.ts';
import type { BookedDeposit, BookedOrder, Books, Movement, Named, Restores } from './books.ts';
import { checkBooks } from './books-checker.ts';

// Each test changes consistent books so that one promise is broken, which the checker must report.

const command = (key: string, rest: Partial<Command> = {}): Command => ({
  ...{ key, operation: 'transferOut', accountId: 'A', change: 0n, outcome: 'succeeded', during: 'the trial' },
  transactionIds: [`T-${key}`],
  ...rest,
});
const order = (key: string, rest: Partial<BookedOrder> = {}): BookedOrder => ({
  ...{ id: `O-${key}`, transactionId: `T-${key}`, status: 'COMPLETED', direction: 'OUT', state: 'SETTLED' },
  ...{ amount: 100n, currency: 'USD' },
  ...rest,
});
const movement = (key: string, rest: Partial<Movement> = {}): Movement => ({
  ...{ reference: `M-${key}`, orderId: `O-${key}`, isDeposit: false, direction: 'OUT', state: 'SETTLED' },
  ...{ amount: 100n, currency: 'USD' },
  ...rest,
});
const incoming = { direction: 'IN', amount: 700n } as const;
const deposit: BookedDeposit = {
  ...{ id: 'D', reference: 'M-deposit', status: 'CREDITED', transactionId: 'T-deposit', reason: undefined },
  ...{ attempts: 1, amount: 50n, currency: 'USD' },
};
const noRestores: Restores = {
  vanished: [],
  settledBefore: new Set(),
  undonePayments: new Set(),
  undoneOrders: new Set(),
  endedByHand: new Set(),
};

const sound: Books = {
  history: [
    command('out'),
    command('in', { operation: 'transferIn' }),
    command('failed', { ends: ['FAILED'] }),
    command('returned', { ends: ['REFUNDED'] }),
    command('quote', { operation: 'createQuote' }),
    command('unknown', { outcome: 'unknown', transactionIds: [] }),
  ],
  internalErrors: [],
  receipts: new Map<string, Receipt>([
    ...['out', 'in', 'failed', 'returned', 'quote'].map((key) => [key, { outcome: 'SUCCEEDED' }] as const),
    ['unknown', { outcome: 'NONE' }],
  ]),
  feed: [],
  payments: [
    { id: 'T-out', description: 'out', status: 'COMPLETED' },
    { id: 'T-in', description: 'in', status: 'COMPLETED' },
    { id: 'T-failed', description: 'failed', status: 'FAILED' },
    { id: 'T-returned', description: 'returned', status: 'REFUNDED' },
    { id: 'T-quote', description: 'quote', status: 'PENDING' },
    { id: 'T-deposit', description: null, status: 'COMPLETED' },
  ],
  orders: [
    order('out'),
    order('in', incoming),
    order('failed', { status: 'FAILED', state: 'FAILED' }),
    order('returned', { status: 'REFUNDED', state: 'RETURNED' }),
  ],
  deposits: [deposit],
  movements: [
    movement('out'),
    movement('in', incoming),
    movement('failed', { state: 'FAILED' }),
    movement('returned', { state: 'RETURNED' }),
    movement('deposit', { orderId: undefined, isDeposit: true, direction: 'IN', amount: 50n }),
  ],
  held: new Map([['USD', 650n]]),
  named: [],
  breaches: { here: [], upstream: [] },
  restores: noRestores,
};

const kinds = (books: Partial<Books>) => checkBooks({ ...sound, ...books }).map(({ kind }) => kind);
const without = (reference: string) => sound.movements.filter((one) => one.reference !== reference);
const named = (fault: string, about: Partial<Named>): Named => ({ fault, here: null, there: null, ...about });
const balance = named('OTHER_BALANCE', { here: '6.50 USD in the books', there: '7.50 USD held' });

test('consistent books have no violations', () => {
  expect(kinds({})).toEqual([]);
});

test('a payment that is missing upstream counts as lost, and must be reported by the reconciliation', () => {
  expect(kinds({ movements: without('M-out') })).toEqual(['lost', 'not named']);
  const missing = named('MISSING_THERE', { transaction: 'T-out', here: 'COMPLETED 1.00 USD' });
  expect(kinds({ movements: without('M-out'), named: [missing] })).toEqual(['lost']);
  expect(kinds({ movements: without('M-out'), named: [{ ...missing, here: 'COMPLETED 2.00 USD' }] })).toEqual([
    ...['lost', 'not named', 'named without cause'],
  ]);
});

test('a payment that exists twice upstream, or with a different amount or outcome, is found', () => {
  expect(kinds({ movements: [...sound.movements, movement('out', { reference: 'M-more' })] })).toContain('doubled');
  expect(kinds({ movements: [...without('M-out'), movement('out', { amount: 99n })] })).toContain('other amount');
  expect(kinds({ movements: [...without('M-out'), movement('out', { state: 'FAILED' })] })).toContain('other outcome');
  expect(kinds({ movements: [...without('M-failed'), movement('failed')] })).toContain('other outcome');
  // The bank returned the payment before the gateway saw its delivery, so the money is back on both sides.
  expect(kinds({ movements: [...without('M-failed'), movement('failed', { state: 'RETURNED' })] })).toEqual([]);
});

test('an upstream payment without an order in the gateway, and a deposit that is not credited, are found', () => {
  expect(kinds({ movements: [...sound.movements, movement('stranger')] })).toContain('from nowhere');
  expect(kinds({ deposits: [] })).toContain('lost');
  const waiting = { ...deposit, transactionId: undefined, status: 'UNATTRIBUTED', reason: 'nobody knows', attempts: 3 };
  expect(kinds({ deposits: [waiting] })).toContain('unfinished');
  expect(kinds({ movements: without('M-deposit') })).toContain('lost');
});

test("the account's balance must match the payments", () => {
  expect(kinds({ held: new Map([['USD', 750n]]) })).toEqual(['other amount', 'not named']);
  expect(kinds({ held: new Map([['USD', 750n]]), named: [balance] })).toEqual(['other amount']);
});

test('a lost acknowledged command, a refused command that took effect, and a payment that never ends are found', () => {
  expect(kinds({ payments: sound.payments.slice(1) })).toContain('lost');
  expect(
    kinds({
      history: sound.history.with(0, command('out', { outcome: 'refused', code: 'CONFLICT', transactionIds: [] })),
    }),
  ).toContain('refused but happened');
  const [first, ...rest] = sound.payments;
  expect(kinds({ payments: [...(first ? [{ ...first, status: 'PENDING' }] : []), ...rest] })).toEqual(['unfinished']);
  expect(kinds({ payments: [...sound.payments, { id: 'T', description: 'nobody', status: 'COMPLETED' }] })).toEqual([
    'from nowhere',
  ]);
});

test('an upstream restore explains only the payments that it undid, all of which must be reported', () => {
  const vanished = [movement('out')];
  const restores = { ...noRestores, vanished, settledBefore: new Set(['O-out']) };
  const undone = { movements: without('M-out'), held: new Map([['USD', 750n]]), restores };
  const missing = named('MISSING_THERE', { transaction: 'T-out', here: 'COMPLETED 1.00 USD' });
  expect(kinds({ ...undone, named: [missing, balance] })).toEqual([]);
  expect(kinds({ ...undone, named: [balance] })).toEqual(['not named']);
  expect(kinds({ ...undone, movements: undone.movements.slice(1), named: [missing, balance] })).toContain('lost');
  // The payment should have been returned but now cannot be, so an operator has to handle it.
  const history = sound.history.with(0, command('out', { ends: ['REFUNDED'] }));
  expect(kinds({ ...undone, history, named: [missing, balance] })).toEqual([]);
  expect(kinds({ history })).toEqual(['unfinished']);
  // The settled payment exists upstream again, which means that the bank has paid it twice.
  expect(kinds({ restores, movements: [...without('M-out'), movement('out', { reference: 'M-again' })] })).toEqual([
    'sent again',
  ]);
});

test('a gateway restore explains the payments that exist only upstream, all of which must be reported', () => {
  const restores = { ...noRestores, undonePayments: new Set(['T-out']), undoneOrders: new Set(['O-out']) };
  const undone = {
    restores,
    payments: sound.payments.slice(1),
    orders: sound.orders.slice(1),
    receipts: new Map([...sound.receipts, ['out', { outcome: 'NONE' }] as const]),
  };
  const missing = named('MISSING_HERE', { reference: 'M-out', there: 'SETTLED 1.00 USD' });
  expect(kinds({ ...undone, named: [missing, balance] })).toEqual([]);
  expect(kinds({ ...undone, named: [balance] })).toEqual(['not named']);
});

test('a difference without a cause, an internal error and a broken ledger rule are found', () => {
  expect(kinds({ named: [named('MISSING_HERE', { reference: 'M', there: 'SETTLED 1.00 USD' })] })).toEqual([
    'named without cause',
  ]);
  expect(kinds({ internalErrors: ['transferOut: 500'] })).toEqual(['internal error']);
  const broken = [{ rule: 'journals balance', rows: [{}] }];
  expect(kinds({ breaches: { here: [], upstream: broken } })).toEqual(['audit']);
});
