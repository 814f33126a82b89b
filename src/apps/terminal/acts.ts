import { InvalidArgumentError } from 'commander';
import {
  AccountsOfCustomer,
  AddPayee,
  CreateCustomer,
  type CreateQuoteInput,
  Deposit,
  type ExternalAccountInfoInput,
  FindCustomer,
  Fund,
  NameAccount,
  NoteOnCustomer,
  ReceiveUma,
  SandboxQuote,
  type SandboxScenarioInput,
  SetAccountStatus,
  TestEndpoint,
  TransferIn,
  TransferOut,
} from '../client/generated/operations.ts';
import { Failure, listed } from './answer.ts';
import { type EventTypeName, eventTypes, newKey, schemaName, type Work } from './command.ts';
import { onlyEndpoint } from './deliveries.ts';
import { followPayment } from './follow-payment.ts';
import { type Service, succeeded } from './service.ts';

export interface Stage {
  readonly service: Service;
  readonly amount: string;
  readonly scenario: SandboxScenarioInput | null;
  readonly endpoint: string | undefined;
}

export interface Made {
  readonly id: string;
  readonly status?: string;
}

export interface Act {
  readonly about: string;
  /** Whether the act creates a payment, to which a scenario can apply. */
  readonly isPayment?: true;
  readonly run: (stage: Stage) => Promise<Made>;
}

/** Creates an act performed by a customer with accounts; `withMoney` also funds the customer's account. */
const played = (run: (stage: Stage, cast: Cast) => Promise<Made>) => async (stage: Stage) =>
  run(stage, await findCast(stage.service));
const withMoney = (run: (stage: Stage, cast: Cast) => Promise<Made>) =>
  played(async (stage, cast) => {
    // A fee may be charged on top of the sent amount.
    await fund(stage.service, cast, '10.00');
    await fund(stage.service, cast, stage.amount);
    return run(stage, cast);
  });

async function quote(
  { service, amount, scenario }: Stage,
  { euros }: Cast,
  more: Pick<CreateQuoteInput, 'source' | 'immediatelyExecute'>,
) {
  const input: CreateQuoteInput = {
    destination: { account: { accountId: euros } },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: { decimal: amount },
    idempotencyKey: newKey(),
    ...more,
  };
  return succeeded((await service.execute(SandboxQuote, { input, scenario })).createQuote).quote;
}

const outgoing = withMoney(async (stage, cast) => {
  const source = { account: { accountId: cast.account } };
  return (await quote(stage, cast, { source, immediatelyExecute: true })).transaction;
});

const realTime = played(async (stage, cast) => {
  const source = { realtimeFunding: { customerId: cast.customer, currency: 'USD' } };
  const { service, scenario } = stage;
  const { id: quoteId } = await quote({ ...stage, scenario: null }, cast, { source });
  return succeeded((await service.execute(Deposit, { quoteId, scenario, key: newKey() })).sandboxSend).transaction;
});

const transfer = (sourceAccountId: string, destinationAccountId: string, decimal: string) => ({
  ...{ sourceAccountId, destinationAccountId, amount: { decimal }, idempotencyKey: newKey() },
});

const transferOut = withMoney(async ({ service, amount, scenario }, { account, dollars }) => {
  const input = transfer(account, dollars, amount);
  return succeeded((await service.execute(TransferOut, { input, scenario })).transferOut).transaction;
});

const transferIn = played(async ({ service, amount, scenario }, { account, dollars }) => {
  const input = transfer(dollars, account, amount);
  return succeeded((await service.execute(TransferIn, { input, scenario })).transferIn).transaction;
});

const incoming = played(async ({ service, amount, scenario }, { customer }) => {
  const input = {
    receiver: { customerId: customer },
    senderUmaAddress: '$success.usd@sandbox.uma.money',
    currency: 'USD',
    amount: { decimal: amount },
    // Without the platform's decision, the payment would fail after a few seconds.
    sandboxScenario: { approval: 'APPROVE' as const, ...scenario },
    idempotencyKey: newKey(),
  };
  return succeeded((await service.execute(ReceiveUma, { input })).sandboxReceiveUma).transaction;
});

const statusChange = played(async ({ service }, { euros: accountId }) => {
  await service.execute(SetAccountStatus, { accountId, status: 'UNDER_REVIEW', key: newKey() });
  const back = await service.execute(SetAccountStatus, { accountId, status: 'ACTIVE', key: newKey() });
  return succeeded(back.sandboxSetExternalAccountStatus).account;
});

const accountChange = played(async ({ service }, { euros: accountId }) => {
  const variables = { accountId, name: newKey(), key: newKey() };
  return succeeded((await service.execute(NameAccount, variables)).updateExternalAccount).account;
});

const customerChange = played(async ({ service }, { customer: customerId }) => {
  const variables = { customerId, value: new Date().toISOString(), key: newKey() };
  return succeeded((await service.execute(NoteOnCustomer, variables)).updateCustomer).customer;
});

async function webhookTest({ service, endpoint }: Stage): Promise<Made> {
  const id = endpoint ?? (await onlyEndpoint(service));
  const sent = await service.execute(TestEndpoint, { endpointId: id, key: newKey() });
  const { delivered, responseStatus } = succeeded(sent.sendTestWebhook);
  return { id, status: delivered ? 'DELIVERED' : `answered ${responseStatus ?? 'nothing'}` };
}

/** The event types, each with its trigger, which also causes other events. API_TOKEN_EXPIRY cannot be triggered. */
const ofTypes: Readonly<Record<Exclude<EventTypeName, 'API_TOKEN_EXPIRY'>, Omit<Act, 'about'>>> = {
  OUTGOING_PAYMENT: { isPayment: true, run: outgoing },
  INCOMING_PAYMENT: { isPayment: true, run: incoming },
  QUOTE_STATUS: {
    run: withMoney((stage, cast) => quote(stage, cast, { source: { account: { accountId: cast.account } } })),
  },
  ACCOUNT_STATUS: { run: played(({ service, amount }, cast) => fund(service, cast, amount)) },
  ACCOUNT_CHANGE: { run: accountChange },
  EXTERNAL_ACCOUNT_STATUS: { run: statusChange },
  KYC_STATUS: { run: async ({ service }) => ({ id: await newCustomer(service, newKey()) }) },
  CUSTOMER_CHANGE: { run: customerChange },
  WEBHOOK_DELIVERY: { run: webhookTest },
  TEST: { run: webhookTest },
};

/** All triggers by name: the event types, and other ways to pay. */
export const acts: Readonly<Record<string, Act>> = {
  ...Object.fromEntries(
    Object.entries(ofTypes).map(([type, act]) => [type, { ...act, about: eventTypes[type as EventTypeName] }]),
  ),
  TRANSFER_OUT: { about: 'money goes to a bank account in the same currency', isPayment: true, run: transferOut },
  TRANSFER_IN: { about: 'money comes from a bank account in the same currency', isPayment: true, run: transferIn },
  REAL_TIME_PAYMENT: { about: 'a deposit pays a quote, which is then executed', isPayment: true, run: realTime },
};

/** The options of the command and of the program. All other options are fields of a scenario. */
interface TriggerOptions extends SandboxScenarioInput {
  readonly url?: string;
  readonly json?: true;
  readonly amount: string;
  readonly endpoint?: string;
  readonly follow?: true;
}

/** Triggers something in the sandbox, so that its events occur; without a name, lists the triggers. */
export const trigger: Work<[string | undefined, TriggerOptions]> = async (job, name, options) => {
  const { service, screen, json } = job;
  if (name === undefined)
    return listed(
      Object.entries(acts).map(([one, { about }]) => ({ name: one, about })),
      '',
    );
  const act = acts[schemaName(name)];
  if (!act)
    throw new InvalidArgumentError(`${name} cannot be triggered. Choose one of ${Object.keys(acts).join(', ')}.`);
  const { url, json: _json, amount, endpoint, follow, ...given } = options;
  const scenario = Object.keys(given).length > 0 ? given : null;
  if (!act.isPayment && (scenario || follow))
    throw new InvalidArgumentError(`${name} creates no payment: scenarios and --follow apply only to payments.`);
  if ((await service.whoami()).environment !== 'SANDBOX')
    throw new Failure('This token belongs to a PRODUCTION platform. Events can be triggered only in a sandbox.');
  const made = await act.run({ service, amount, scenario, endpoint });
  screen.out(
    json
      ? JSON.stringify({ triggered: schemaName(name), ...made })
      : [schemaName(name), made.id, made.status].filter(Boolean).join('  '),
  );
  return follow ? followPayment(job, made.id, 'TERMINAL') : {};
};

/** The sandbox customer for triggered events. Ids are public ids. */
interface Cast {
  readonly customer: string;
  readonly account: string;
  readonly dollars: string;
  readonly euros: string;
}

/** The platform's own id for that customer. */
const platformCustomerId = 'payments-cli';

/** Finds the customer and its accounts, or creates the missing ones. */
async function findCast(service: Service): Promise<Cast> {
  const { customers } = await service.execute(FindCustomer, { platformCustomerId });
  const customer = customers.edges[0]?.node.id ?? (await newCustomer(service, platformCustomerId));
  const found = await service.execute(AccountsOfCustomer, { customerId: customer });
  const account = found.internal.edges[0]?.node.id;
  if (account === undefined) throw new Failure('This trigger needs USD, which the platform does not support.');
  return {
    customer,
    account,
    dollars: found.dollars.edges[0]?.node.id ?? (await newAccount(service, customer, 'USD')),
    euros: found.euros.edges[0]?.node.id ?? (await newAccount(service, customer, 'EUR')),
  };
}

/** Creates a customer. @returns its id */
async function newCustomer(service: Service, ownId: string): Promise<string> {
  const variables = { platformCustomerId: ownId, fullName: 'Customer Of The Command Line', key: newKey() };
  return succeeded((await service.execute(CreateCustomer, variables)).createCustomer).customer.id;
}

/** Accounts whose numbers end in 000: payments to them succeed in the sandbox. */
const accountInfo: Readonly<Record<'USD' | 'EUR', ExternalAccountInfoInput>> = {
  USD: { usAccount: { accountNumber: '1234567000', routingNumber: '021000021', accountCategory: 'CHECKING' } },
  EUR: { iban: { iban: 'DE89370400440532013000', swiftBic: 'COBADEFF' } },
};

async function newAccount(service: Service, customerId: string, currency: 'USD' | 'EUR'): Promise<string> {
  const beneficiary = { individual: { fullName: 'Payee Of The Command Line' } };
  const input = { customerId, currency, accountInfo: accountInfo[currency], beneficiary, idempotencyKey: newKey() };
  return succeeded((await service.execute(AddPayee, { input })).createExternalAccount).accountEdge.node.id;
}

/** Simulates a USD deposit to the internal account. */
async function fund(service: Service, { account }: Cast, amount: string) {
  return succeeded((await service.execute(Fund, { accountId: account, amount, key: newKey() })).sandboxFundAccount)
    .account;
}
