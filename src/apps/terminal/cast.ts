import {
  AccountsOfCustomer,
  AddPayee,
  CreateCustomer,
  type ExternalAccountInfoInput,
  FindCustomer,
  Fund,
} from '../client/generated/operations.ts';
import { Failure } from './answer.ts';
import { newKey } from './command.ts';
import { type Service, succeeded } from './service.ts';

/** The sandbox customer for triggered events. Ids are public ids. */
export interface Cast {
  readonly customer: string;
  readonly account: string;
  readonly dollars: string;
  readonly euros: string;
}

/** The platform's own id for that customer. */
const platformCustomerId = 'payments-cli';

/** Finds the customer and its accounts, or creates the missing ones. */
export async function findCast(service: Service): Promise<Cast> {
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
export async function newCustomer(service: Service, ownId: string): Promise<string> {
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
export async function fund(service: Service, { account }: Cast, amount: string) {
  return succeeded((await service.execute(Fund, { accountId: account, amount, key: newKey() })).sandboxFundAccount)
    .account;
}
