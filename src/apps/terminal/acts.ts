import { InvalidArgumentError } from 'commander';
import {
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
  TestEndpoint,
  TransferIn,
  TransferOut,
} from '../client/generated/operations.ts';
import { Failure, listed } from './answer.ts';
import { type EventTypeName, eventTypes, newKey, schemaName, type Work } from './command.ts';
import { onlyEndpoint } from './deliveries.ts';
import { followPayment } from './follow-payment.ts';
import type { Service } from './service.ts';

interface Stage {
  readonly service: Service;
  readonly amount: string;
  readonly scenario: SandboxScenarioInput | null;
  readonly endpoint: string | undefined;
}

type Run = (stage: Stage) => Promise<{ readonly id: string; readonly status?: string }>;

/** The triggers that create payments. A scenario can be applied to them. */
const payments = {
  async OUTGOING_PAYMENT(stage) {
    const cast = await findFundedCast(stage);
    const source = { account: { accountId: cast.account } };
    return (await quote(stage, cast, { source, immediatelyExecute: true })).transaction;
  },
  async INCOMING_PAYMENT({ service, amount, scenario }) {
    const { customer } = await findCast(service);
    const input = {
      receiver: { customerId: customer },
      senderUmaAddress: '$success.usd@sandbox.uma.money',
      currency: 'USD',
      amount: { decimal: amount },
      // Without the platform's decision, the payment would fail after a few seconds.
      sandboxScenario: { approval: 'APPROVE' as const, ...scenario },
      idempotencyKey: newKey(),
    };
    return (await service.mutate(ReceiveUma, { input })).transaction;
  },
  async TRANSFER_OUT(stage) {
    const { account, dollars } = await findFundedCast(stage);
    const input = transfer(account, dollars, stage.amount);
    return (await stage.service.mutate(TransferOut, { input, scenario: stage.scenario })).transaction;
  },
  async TRANSFER_IN({ service, amount, scenario }) {
    const { account, dollars } = await findCast(service);
    return (await service.mutate(TransferIn, { input: transfer(dollars, account, amount), scenario })).transaction;
  },
  async REAL_TIME_PAYMENT(stage) {
    const { service, scenario } = stage;
    const cast = await findCast(service);
    const source = { realtimeFunding: { customerId: cast.customer, currency: 'USD' } };
    const { id: quoteId } = await quote({ ...stage, scenario: null }, cast, { source });
    return (await service.mutate(Deposit, { quoteId, scenario, key: newKey() })).transaction;
  },
} satisfies Readonly<Record<string, Run>>;

/** The triggers for all other event types. API_TOKEN_EXPIRY cannot be triggered. */
const others: Readonly<Record<Exclude<EventTypeName, keyof typeof payments | 'API_TOKEN_EXPIRY'>, Run>> = {
  async QUOTE_STATUS(stage) {
    const cast = await findFundedCast(stage);
    return quote(stage, cast, { source: { account: { accountId: cast.account } } });
  },
  ACCOUNT_STATUS: async ({ service, amount }) => fund(service, (await findCast(service)).account, amount),
  async ACCOUNT_CHANGE({ service }) {
    const variables = { accountId: (await findCast(service)).euros, name: newKey(), key: newKey() };
    return (await service.mutate(NameAccount, variables)).account;
  },
  async EXTERNAL_ACCOUNT_STATUS({ service }) {
    const { id } = await newCustomer(service, newKey());
    // The account becomes ACTIVE a moment later.
    const usAccount = { ...accountInfo.USD.usAccount, accountNumber: '1234567201' };
    return { id: await newAccount(service, id, 'USD', { usAccount }) };
  },
  KYC_STATUS: async ({ service }) => ({ id: (await newCustomer(service, newKey())).id }),
  async CUSTOMER_CHANGE({ service }) {
    const { customer: customerId } = await findCast(service);
    const variables = { customerId, value: new Date().toISOString(), key: newKey() };
    return (await service.mutate(NoteOnCustomer, variables)).customer;
  },
  WEBHOOK_DELIVERY: testWebhook,
  TEST: testWebhook,
};

const abouts: Readonly<Record<string, string>> = {
  ...eventTypes,
  TRANSFER_OUT: 'money goes to a bank account in the same currency',
  TRANSFER_IN: 'money comes from a bank account in the same currency',
  REAL_TIME_PAYMENT: 'a deposit funds a quote, which is then executed',
};

/** All triggers by name: the event types, and further ways to pay. A trigger may cause several events. */
export const acts: Readonly<Record<string, Run>> = { ...payments, ...others };

/** Returns whether a trigger creates a payment. */
export const isPayment = (name: string) => name in payments;

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
  return (await service.mutate(SandboxQuote, { input, scenario })).quote;
}

const transfer = (sourceAccountId: string, destinationAccountId: string, decimal: string) => ({
  ...{ sourceAccountId, destinationAccountId, amount: { decimal }, idempotencyKey: newKey() },
});

async function testWebhook({ service, endpoint }: Stage) {
  const id = endpoint ?? (await onlyEndpoint(service));
  const { delivered, responseStatus } = await service.mutate(TestEndpoint, { endpointId: id, key: newKey() });
  return { id, status: delivered ? 'DELIVERED' : `answered ${responseStatus ?? 'nothing'}` };
}

/** The options of `trigger` and of the program itself. All other options are fields of a scenario. */
interface TriggerOptions extends SandboxScenarioInput {
  readonly url?: string;
  readonly json?: true;
  readonly amount: string;
  readonly endpoint?: string;
  readonly follow?: true;
}

/** Runs a trigger, which causes events in the sandbox. Without a name, lists the triggers. */
export const trigger: Work<[string | undefined, TriggerOptions]> = async (job, name, options) => {
  const { service, screen, json } = job;
  if (name === undefined)
    return listed(
      Object.keys(acts).map((one) => ({ name: one, about: abouts[one] })),
      '',
    );
  const triggered = schemaName(name);
  const run = acts[triggered];
  if (!run)
    throw new InvalidArgumentError(`${name} cannot be triggered. Choose one of ${Object.keys(acts).join(', ')}.`);
  const { url, json: _json, amount, endpoint, follow, ...given } = options;
  const scenario = Object.keys(given).length > 0 ? given : null;
  if (!isPayment(triggered) && (scenario || follow))
    throw new InvalidArgumentError(`${name} creates no payment: scenarios and --follow apply only to payments.`);
  if ((await service.whoami()).environment !== 'SANDBOX')
    throw new Failure('This token belongs to a PRODUCTION platform. Events can be triggered only in a sandbox.');
  const made = await run({ service, amount, scenario, endpoint });
  screen.out(
    json ? JSON.stringify({ triggered, ...made }) : [triggered, made.id, made.status].filter(Boolean).join('  '),
  );
  return follow ? followPayment(job, made.id, 'TERMINAL') : {};
};

/** The platform's own id for the sandbox customer that the triggers use. */
const platformCustomerId = 'payments-cli';

type Cast = Awaited<ReturnType<typeof findCast>>;

/** Finds the customer and its accounts, creating any that are missing. Returns their public ids. */
async function findCast(service: Service) {
  const { customers } = await service.execute(FindCustomer, { platformCustomerId });
  const found = customers.edges[0]?.node ?? (await newCustomer(service, platformCustomerId));
  const { id: customer, internal, dollars, euros } = found;
  const account = internal.edges[0]?.node.id;
  if (account === undefined) throw new Failure('This trigger needs USD, which the platform does not support.');
  return {
    customer,
    account,
    dollars: dollars.edges[0]?.node.id ?? (await newAccount(service, customer, 'USD')),
    euros: euros.edges[0]?.node.id ?? (await newAccount(service, customer, 'EUR')),
  };
}

/** Finds the customer, and funds its account with the amount to pay. */
async function findFundedCast({ service, amount }: Stage): Promise<Cast> {
  const cast = await findCast(service);
  // A fee may be charged on top of the sent amount.
  await fund(service, cast.account, '10.00');
  await fund(service, cast.account, amount);
  return cast;
}

async function newCustomer(service: Service, ownId: string) {
  const variables = { platformCustomerId: ownId, fullName: 'Customer Of The Command Line', key: newKey() };
  return (await service.mutate(CreateCustomer, variables)).customer;
}

/** Accounts whose numbers end in 000, so that payments to them succeed in the sandbox. */
const accountInfo = {
  USD: { usAccount: { accountNumber: '1234567000', routingNumber: '021000021', accountCategory: 'CHECKING' } },
  EUR: { iban: { iban: 'DE89370400440532013000', swiftBic: 'COBADEFF' } },
} satisfies Readonly<Record<string, ExternalAccountInfoInput>>;

async function newAccount(
  service: Service,
  customerId: string,
  currency: keyof typeof accountInfo,
  info: ExternalAccountInfoInput = accountInfo[currency],
): Promise<string> {
  const beneficiary = { individual: { fullName: 'Payee Of The Command Line' } };
  const input = { customerId, currency, accountInfo: info, beneficiary, idempotencyKey: newKey() };
  return (await service.mutate(AddPayee, { input })).accountEdge.node.id;
}

/** Simulates a USD deposit to the internal account. */
async function fund(service: Service, accountId: string, amount: string) {
  return (await service.mutate(Fund, { accountId, amount, key: newKey() })).account;
}
