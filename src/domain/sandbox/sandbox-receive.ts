import { currencyOf, type GivenAmount, smallestUnits } from '../../core/currencies.ts';
import { invalid, pathsIn, Refusal } from '../../core/refusal.ts';
import { statement } from '../../infra/database/statement.ts';
import type { Caller } from '../access/caller.ts';
import { forCaller, visibleRow } from '../access/visible.ts';
import { announcedTransaction, receiverFields } from '../approvals/incoming.ts';
import { command, type Payments, simulationOf } from '../commands/command.ts';
import { maxFacts } from '../commands/information.ts';
import { customerNotFound, customerUuid } from '../commands/parties.ts';
import { checkUmaAddress } from '../commands/uma-addresses.ts';
import { checkScenario, type GivenScenario } from '../orders/scenario.ts';

export interface SandboxReceiveUma {
  readonly senderUmaAddress: string;
  /** The receiving customer, by UMA address or by id. If both are given, they must belong to the same customer. */
  readonly receiverUmaAddress?: string | null | undefined;
  readonly customerId?: string | null | undefined;
  readonly receivingCurrencyCode: string;
  readonly receivingCurrencyAmount: GivenAmount;
  readonly sandboxScenario?: GivenScenario | null | undefined;
  /** Additional fields that the sender requests, all mandatory. */
  readonly requestedReceiverFields?: readonly string[] | null | undefined;
}

const at = pathsIn<SandboxReceiveUma>();

const receiverStatement = forCaller(
  statement<{ customerId: string; depositAccountId: string | null; ids: string[] }>(
    'sandbox_receiver',
    `select c.id as customer_id, array(select uuid_v7() from generate_series(1, 2)) as ids,
     coalesce(
       (select a.id from account a where a.platform_id = c.platform_id and a.customer_id = c.id and a.default_uma_deposit_account
          and a.status = 'ACTIVE' and a.currency = $6),
       (select a.id from account a where a.platform_id = c.platform_id and a.customer_id = c.id and a.kind = 'INTERNAL'
          and a.currency = $6)) as deposit_account_id
   from customer c
   where ${visibleRow('customer', 'c')} and not c.is_deleted and (c.id = $4 or $4::uuid is null) and (lower(c.uma_address) = $5 or $5::text is null)`,
  ),
);

/**
 * Announces a payment from an external UMA address to a customer (sandbox only). The payment goes through the full
 * approval flow.
 * @throws Refusal FORBIDDEN, INVALID_INPUT, INVALID_UMA_ADDRESS, INVALID_AMOUNT, AMOUNT_OUT_OF_RANGE, INVALID_CURRENCY,
 *   USER_NOT_FOUND, USER_NOT_READY, IDEMPOTENCY_MISMATCH
 */
export const sandboxReceiveUma = command((payments, caller, input: SandboxReceiveUma) => ({
  operation: 'sandboxReceiveUma',
  type: 'Transaction',
  amount: { field: 'receivingCurrencyAmount', currency: async () => input.receivingCurrencyCode },
  plan: async () => {
    const simulation = simulationOf(payments, caller);
    const possible = { approval: true, step: 'PAY_REQUEST' } as const;
    const scenario = checkScenario(payments, caller, input.sandboxScenario, possible);
    const senderUmaAddress = checkUmaAddress(input.senderUmaAddress, at('senderUmaAddress'));
    const extra = extraFields(input.requestedReceiverFields ?? []);
    const { customerId, depositAccountId, currency, ids } = await readReceiver(payments, caller, input);
    const amount = smallestUnits(input.receivingCurrencyAmount, currency, at('receivingCurrencyAmount'));
    const [id, orderId] = ids;
    if (id === undefined || orderId === undefined) throw new Error('the statement did not return two ids');
    const { platformId } = caller;
    const transaction = announcedTransaction(
      {
        ...{ platformId, id, customerId, receivedAmount: amount },
        sourceUmaAddress: senderUmaAddress,
        destinationAccountId: depositAccountId,
        counterpartyInformation: { ...simulation.senderInformation(senderUmaAddress) },
        requested: [...receiverFields.filter(({ name }) => !extra.some((one) => one.name === name)), ...extra],
        receivedCurrency: input.receivingCurrencyCode,
        // By default, the pay request arrives immediately, and the payment begins as PENDING.
        lookedUpOnly: scenario?.step === 'PAY_REQUEST',
      },
      payments.approvalMs,
    );
    return {
      requireActive: { customers: [customerId], unfrozen: [depositAccountId] },
      insert: {
        transaction: [transaction],
        rail_order: [{ platformId, id: orderId, transactionId: id, kind: 'COLLECTION', scenario }],
      },
      result: id,
    };
  },
  paths: { USER_NOT_READY: at('customerId'), ACCOUNT_FROZEN: at('customerId') },
}));

async function readReceiver(payments: Payments, caller: Caller, input: SandboxReceiveUma) {
  if (input.customerId == null && input.receiverUmaAddress == null) {
    throw invalid("give the receiver's UMA address or its id", at('customerId'));
  }
  const { customerId, receiverUmaAddress } = input;
  const customer = customerId == null ? null : customerUuid(customerId, at('customerId'));
  const address = receiverUmaAddress == null ? null : checkUmaAddress(receiverUmaAddress, at('receiverUmaAddress'));
  // No account has an unknown currency, so any string is safe here.
  const currency = currencyOf(input.receivingCurrencyCode);
  const [receiver] = await receiverStatement(payments.database.pool, caller, customer, address, currency?.code ?? null);
  if (!receiver) customerNotFound(customer ? at('customerId') : at('receiverUmaAddress'));
  const { depositAccountId } = receiver;
  if (!currency || depositAccountId === null) {
    const value = input.receivingCurrencyCode;
    const message = `the receiver does not accept ${JSON.stringify(value)}`;
    throw new Refusal('INVALID_CURRENCY', message, { path: at('receivingCurrencyCode'), value });
  }
  return { ...receiver, depositAccountId, currency };
}

function extraFields(names: readonly string[]) {
  const path = at('requestedReceiverFields');
  if (names.length > maxFacts) throw invalid(`at most ${maxFacts} fields can be requested`, path);
  return [...new Set(names)].map((name) => {
    if (!/^[A-Z][A-Z_]{0,62}[A-Z]$/.test(name)) {
      throw invalid('a name must consist of capitals and underscores, such as FULL_NAME', { path, value: name });
    }
    return { name, mandatory: true };
  });
}
