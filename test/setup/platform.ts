import { createClient } from 'graphql-ws';
import { composeIBAN } from 'ibantools';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Operation } from '../../src/domain/access/operations.ts';
import { basicAuthorization } from '../../src/domain/access/tokens/credentials.ts';
import { moving, sender, tokenInput, transactionFields } from './acts.ts';
import { mutationDocument, mutationName, mutationVariables } from './documents.ts';
import type { Answer, Data } from './gateway.ts';
import { type Scene, usAccount } from './scene.ts';

/** A socket that can be terminated while connecting. The resulting error, which could crash the test, is ignored. */
class CuttableSocket extends WebSocket {
  constructor(...options: ConstructorParameters<typeof WebSocket>) {
    super(...options);
    this.on('error', () => undefined);
  }
}

type List = 'accounts' | 'apiTokens' | 'clientTokens' | 'customers' | 'fundingRequests' | 'quotes' | 'transactions';

type Getter = 'account' | 'customer' | 'node' | 'quote' | 'transaction';

let scenes = 0;
let customers = 0;

/** A test platform with one of its tokens, and methods that call a gateway as that platform. */
export class TestPlatform {
  readonly url: string;
  readonly platformId: string;
  readonly authorization: string;

  constructor(url: string, platformId: string, authorization: string) {
    this.url = url;
    this.platformId = platformId;
    this.authorization = authorization;
  }

  /** Returns the same platform, with the same token, at another instance. */
  at(url: string): TestPlatform {
    return new TestPlatform(url, this.platformId, this.authorization);
  }

  /** Sends an object as JSON, or a string unchanged, and returns the raw response. */
  post(body: object | string, headers: Readonly<Record<string, string>> = {}, path = '/graphql') {
    const textOf = (content: object) =>
      JSON.stringify(content, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { authorization: this.authorization, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : textOf(body),
    });
  }

  async send(query: string, variables?: object): Promise<Answer> {
    const response = await this.post({ query, variables }, { accept: 'application/graphql-response+json' });
    return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) };
  }

  /** Sends a document that must succeed and returns its data. */
  async ask(query: string, variables?: object): Promise<Data> {
    const { data, errors } = await this.send(query, variables);
    if (errors) throw new Error(errors.map((error) => error.message).join('; '));
    return data;
  }

  socket() {
    return createClient({
      url: `${this.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: CuttableSocket,
      connectionParams: { authorization: this.authorization },
      retryAttempts: 0,
    });
  }

  /** Reads a subscription over WebSocket, message by message. */
  async *watch(query: string, variables?: object): AsyncGenerator<Data, void> {
    const client = this.socket();
    try {
      yield* client.iterate({ query, variables: variables as Record<string, unknown> });
    } finally {
      await client.dispose();
    }
  }

  /** Runs a mutation and returns its result, with `selection` if it succeeds. `others` contains fragments. */
  async act(name: Operation, input: object, selection = '', others = ''): Promise<Data> {
    return (await this.ask(mutationDocument(name, selection, others), mutationVariables(name, input)))[name];
  }

  /** Runs a mutation that must succeed, and returns its result with `selection`. */
  async succeed(name: Operation, input: object, selection = ''): Promise<Data> {
    const result = await this.act(name, input, selection);
    if (!result.__typename.endsWith('Success')) throw new Error(`${name}: ${result.code}: ${result.message}`);
    return result;
  }

  /** Runs a mutation that returns a transaction. */
  async actOn(name: Operation, input: object): Promise<Data> {
    const shown = 'id status failureReason approvalDueAt requestedReceiverInformation { name mandatory }';
    return this.act(name, input, `transaction { ${shown} }`);
  }

  /** Pays US cents from the scene's internal account to its external one, and returns the transaction. */
  async pay({ usd, outsideUsd }: Scene, amount = 100, rest: object = {}): Promise<Data> {
    const input = moving(usd, outsideUsd, amount, rest);
    return (await this.succeed('transferOut', input, 'transaction { id status }')).transaction;
  }

  /** Transfers US cents out of or into the scene's internal account. Returns the transaction or the refusal. */
  async transfer(
    way: 'transferIn' | 'transferOut',
    { usd, outsideUsd }: Scene,
    amount: number | bigint,
    rest: object = {},
  ): Promise<Data> {
    const [from, to] = way === 'transferIn' ? [outsideUsd, usd] : [usd, outsideUsd];
    const made = await this.actOn(way, moving(from, to, amount, rest));
    return made.transaction ?? made;
  }

  /** Transfers US cents in from the scene's external account, and waits until they arrive. */
  async bringIn(scene: Scene, amount: number | bigint): Promise<void> {
    const { id } = await this.transfer('transferIn', scene, amount);
    expect(await this.ended(id)).toMatchObject({ status: 'COMPLETED' });
  }

  /** Pays US cents to the scene's external account, waits until they arrive, and returns the payment's id. */
  async payOut(scene: Scene, amount: number | bigint): Promise<string> {
    const { id } = await this.transfer('transferOut', scene, amount);
    expect(await this.ended(id)).toMatchObject({ status: 'COMPLETED' });
    return id;
  }

  /** Announces a UMA payment in US cents to a customer. Returns the payment or the refusal. */
  async announce(customerId: string, amount: number, rest: object = {}): Promise<Data> {
    const made = await this.actOn('sandboxReceiveUma', {
      ...{ senderUmaAddress: '$success.usd@sandbox.uma.money', receiver: { customerId }, currency: 'USD', amount },
      ...rest,
    });
    return made.transaction ?? made;
  }

  /** Creates a client token, and returns it with its id and its expiry. */
  async mint(input: object): Promise<Data> {
    return this.succeed('createClientToken', tokenInput(input), 'token tokenId expiresAt');
  }

  /** Creates a quote and returns it, or the refusal. */
  async quote(input: object): Promise<Data> {
    const selection =
      'quote { id status totalSendingAmount { amount } totalReceivingAmount { amount } feesIncluded { amount } transaction { id } }';
    const made = await this.act('createQuote', { lockedCurrencySide: 'SENDING', ...input }, selection);
    return made.quote ?? made;
  }

  async execute(quoteId: string, rest: object = {}): Promise<Data> {
    return this.act('executeQuote', { quoteId, ...rest }, 'quote { id status }');
  }

  /** Reads fields of the object with the given id, through the given Query field. */
  async fieldsOf(field: Getter, id: string, fields: string): Promise<Data> {
    return (await this.ask(`query ($id: ID!) { ${field}(id: $id) { ${fields} } }`, { id }))[field];
  }

  /** Reads fields of up to 100 rows that match a filter in one of the platform's lists. */
  async listed(list: List, filter: object, fields: string): Promise<Data[]> {
    const type = `${list.charAt(0).toUpperCase()}${list.slice(1, -1)}Filter`;
    const query = `query ($filter: ${type}) { ${list}(first: 100, filter: $filter) { edges { node { ${fields} } } } }`;
    return (await this.ask(query, { filter }))[list].edges.map(({ node }: Data) => node);
  }

  /** Reads the ids of the rows that match a filter in one of the platform's lists. */
  async idsIn(list: List, filter: object): Promise<string[]> {
    return (await this.listed(list, filter, 'id')).map(({ id }) => id);
  }

  /** Reads a transaction with all its details. */
  transactionOf(id: string): Promise<Data> {
    return this.fieldsOf('transaction', id, transactionFields);
  }

  /** Yields the values of a subscription to one field. */
  async *valuesOf(query: string, variables: object = {}): AsyncGenerator<Data, void, void> {
    for await (const { data, errors } of this.watch(query, variables)) {
      if (errors) throw new Error(JSON.stringify(errors));
      yield* Object.values<Data>(data);
    }
  }

  /** Returns the values of a subscription to one field, up to its end or the first value that `isLast` accepts. */
  async followed(query: string, variables: object, isLast: (value: Data) => boolean = () => false): Promise<Data[]> {
    const values: Data[] = [];
    for await (const value of this.valuesOf(query, variables)) {
      values.push(value);
      if (isLast(value)) break;
    }
    return values;
  }

  /** Returns the statuses that a transaction goes through from now on, up to the final one. */
  async statusesOf(id: string): Promise<string[]> {
    const updates = 'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { status } }';
    return (await this.followed(updates, { id })).map(({ status }) => status);
  }

  /** Waits until a transaction has the given status, even if it had another final status before. */
  async untilStatus(id: string, status: string): Promise<void> {
    const updates =
      'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }, until: FINAL) { status } }';
    await this.followed(updates, { id }, (update) => update.status === status);
  }

  /** Waits until a transaction has reached a final status, and returns it. */
  async ended(id: string): Promise<Data> {
    const updates = 'subscription ($id: ID!) { transactionUpdates(of: { transactionId: $id }) { terminal } }';
    await this.followed(updates, { id }, ({ terminal }) => terminal);
    return this.transactionOf(id);
  }

  /** Waits until one of the platform's transactions meets the given condition, and returns that transaction. */
  async seen(after: string, wants: (transaction: Data) => boolean): Promise<Data> {
    const updates =
      'subscription ($after: String) { transactionUpdates(after: $after) { transaction { id status type customer { id } } } }';
    const all = await this.followed(updates, { after }, ({ transaction }) => wants(transaction));
    return this.transactionOf(all.at(-1)?.transaction.id);
  }

  /** Returns what is stored under an idempotency key: the mutation's outcome, code and result. */
  async receiptOf(name: Operation, key: string): Promise<Data> {
    const text = `query ($operation: MutationName!, $key: String!) {
    mutationReceipt(operation: $operation, idempotencyKey: $key) { outcome code result { id } } }`;
    return (await this.ask(text, { operation: mutationName(name), key })).mutationReceipt;
  }

  /** Returns a cursor at the current end of the platform's feed. */
  async feedEnd(): Promise<string> {
    return (await this.ask('{ viewer { feedCursor } }')).viewer.feedCursor;
  }

  /** Looks up a receiver and returns the lookup, or the refusal. */
  async lookUp(umaAddress: string, rest: object = {}): Promise<Data> {
    const made = await this.act(
      'lookUpReceiver',
      { umaAddress, ...rest },
      'lookup { id umaAddress vaspName network expiresAt createdAt supportedCurrencies { currency { code name symbol decimals } estimatedExchangeRate minAmount { amount } maxAmount { amount } } requiredPayerFields { name mandatory } }',
    );
    return made.lookup ?? made;
  }

  /** Looks up a UMA address, and creates a quote from an account to it. */
  async umaQuote(from: string, umaAddress: string, rest: object = {}): Promise<Data> {
    const lookup = await this.lookUp(umaAddress);
    if (!lookup.id) throw new Error(JSON.stringify(lookup));
    return this.quote({
      source: { account: { accountId: from } },
      destination: { uma: { umaAddress, currency: 'USD' } },
      lookupId: lookup.id,
      lockedCurrencyAmount: 10_000,
      senderCustomerInfo: sender,
      ...rest,
    });
  }

  /** Returns the UMA address of a customer. */
  async umaAddressOf(customerId: string): Promise<string> {
    return (await this.fieldsOf('customer', customerId, 'umaAddress')).umaAddress;
  }

  /** Sends 100 dollars to a customer's UMA address, and waits until the incoming payment has the given status. */
  async payByUma(from: string, customerId: string, status = 'PENDING') {
    const after = await this.feedEnd();
    const made = await this.umaQuote(from, await this.umaAddressOf(customerId));
    await this.execute(made.id);
    const incoming = await this.seen(after, (one) => one.type === 'INCOMING' && one.status === status);
    return { made, incoming };
  }

  /** Creates a customer whose USD account holds `balance` cents. */
  async makeScene(balance = 1_000_000n, suffix = '000'): Promise<Scene> {
    scenes += 1;
    const number = String(1_000_000 + scenes);
    const customerId = await this.newCustomer();
    const usd = await this.internalAccount(customerId, 'USD');
    if (balance > 0n) await this.fund(usd, balance);
    return {
      customerId,
      usd,
      eur: await this.internalAccount(customerId, 'EUR'),
      outsideUsd: await this.externalAccount(customerId, 'USD', usAccount(`${number}${suffix}`)),
      outsideEur: await this.externalAccount(customerId, 'EUR', {
        iban: {
          iban: composeIBAN({ countryCode: 'DE', bban: `37040044${number}${suffix}` }),
          swiftBic: 'COBADEFF',
        },
      }),
    };
  }

  /** Creates a customer, and returns its id. */
  async newCustomer(fullName = 'Grace Hopper'): Promise<string> {
    customers += 1;
    const input = { platformCustomerId: `customer-${customers}`, details: { individual: { fullName } } };
    return (await this.succeed('createCustomer', input, 'customer { id }')).customer.id;
  }

  /** Returns the id of a customer's internal account in a currency. */
  async internalAccount(customerId: string, currency: string): Promise<string> {
    const [id] = await this.idsIn('accounts', { kind: 'INTERNAL', customerId, currency });
    return id ?? expect.fail(`no account in ${currency}`);
  }

  /** Registers an external account for a customer or for the platform itself, and returns the account's id. */
  async externalAccount(
    customerId: string | undefined,
    currency: string,
    accountInfo: object,
    rest: object = {},
  ): Promise<string> {
    const beneficiary = { individual: { fullName: 'Grace Hopper' } };
    const input = { customerId, currency, accountInfo, beneficiary, ...rest };
    return (await this.succeed('createExternalAccount', input, 'account { id }')).account.id;
  }

  /** Returns the ids of a customer's default external accounts for incoming UMA payments. */
  async defaultAccounts(customerId: string): Promise<string[]> {
    const fields = 'id ... on ExternalAccount { defaultUmaDepositAccount }';
    const accounts = await this.listed('accounts', { kind: 'EXTERNAL', customerId }, fields);
    return accounts.flatMap(({ id, defaultUmaDepositAccount }) => (defaultUmaDepositAccount ? [id] : []));
  }

  /** Credits an internal account with an amount in the currency's smallest unit. */
  async fund(accountId: string, amount: bigint): Promise<void> {
    await this.succeed('sandboxFundAccount', { accountId, amount });
  }

  /** Returns the spendable balance of an internal account, in the currency's smallest unit. */
  async balanceOf(accountId: string): Promise<bigint> {
    const { balance } = await this.fieldsOf('account', accountId, '... on InternalAccount { balance { amount } }');
    return BigInt(balance.amount);
  }

  /** Returns the id of the platform's own internal account in a currency. */
  async ownAccount(currency: string): Promise<string> {
    const [id] = await this.idsIn('accounts', { kind: 'INTERNAL', platformOwned: true, currency });
    return id ?? expect.fail(`no account in ${currency}`);
  }

  /** Creates an API token with these permissions. */
  async serverOf(...permissions: readonly string[]): Promise<Bearer> {
    const input = { name: 'made', permissions };
    const { apiToken, secret } = await this.succeed('createApiToken', input, 'secret apiToken { id clientId }');
    const { id: tokenId, clientId } = apiToken;
    return new Bearer(this, basicAuthorization({ clientId, secret }), tokenId);
  }

  async appOf(input: object): Promise<Bearer> {
    const { token, tokenId } = await this.mint(input);
    return new Bearer(this, `Bearer ${token}`, tokenId);
  }

  /** Creates a token for a paying app, bound to a customer or a payment. */
  payingApp(bound: object): Promise<Bearer> {
    return this.appOf({ permissions: ['VIEW', 'TRANSACT'], ...bound });
  }
}

/** A test platform that makes its calls with the token whose id is `tokenId`. */
export class Bearer extends TestPlatform {
  readonly tokenId: string;

  constructor({ url, platformId }: TestPlatform, authorization: string, tokenId: string) {
    super(url, platformId, authorization);
    this.tokenId = tokenId;
  }
}
