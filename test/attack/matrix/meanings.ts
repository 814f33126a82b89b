import type { Kind } from './things.ts';

/**
 * The meanings of strings and ids in requests to both APIs, by the names of their arguments, input fields and
 * parameters. A name that is not listed here fails the matrix, so every new field must declare its meaning.
 */

const account: readonly Kind[] = ['InternalAccount', 'ExternalAccount'];
const partyOfTransaction: readonly Kind[] = [...account, 'umaAddress', 'umaPayee'];

/** The list to which a cursor belongs, by the field or input that has `after` and `before`. */
const cursors: Readonly<Record<string, readonly Kind[]>> = {
  'Query.accounts': ['cursor:Account', 'cursor:ExternalAccount'],
  'Query.apiTokens': ['cursor:ApiToken'],
  'Query.clientTokens': ['cursor:ClientToken'],
  'Query.customers': ['cursor:Customer'],
  'Query.events': ['cursor:feed'],
  'Query.quotes': ['cursor:Quote'],
  'Query.transactions': ['cursor:Transaction'],
  'Query.webhookEndpoints': ['cursor:WebhookEndpoint'],
  'Customer.accounts': ['cursor:Account'],
  'Customer.quotes': ['cursor:Quote'],
  'Customer.transactions': ['cursor:Transaction'],
  'InternalAccount.transactions': ['cursor:Transaction'],
  'ExternalAccount.transactions': ['cursor:Transaction'],
  'WebhookEndpoint.deliveries': ['cursor:WebhookDelivery'],
  FeedRangeInput: ['cursor:feed'],
};

const named: Readonly<Record<string, readonly Kind[]>> = {
  customerId: ['Customer'],
  quoteId: ['Quote'],
  transactionId: ['Transaction'],
  createdById: ['ApiToken'],
  transactionIds: ['Transaction'],
  accountId: account,
  sourceAccountId: account,
  destinationAccountId: account,
  sendingAccountId: account,
  receivingAccountId: account,
  lookupId: ['Lookup'],
  endpointId: ['WebhookEndpoint'],
  deliveryId: ['WebhookDelivery'],
  eventId: ['Event'],
  subjectId: ['Customer', 'ApiToken', 'ClientToken'],
  receiverAccountIds: account,
  platformCustomerId: ['platformCustomerId'],
  platformUserId: ['platformCustomerId'],
  platformAccountId: ['platformAccountId'],
  accountNumber: ['accountNumber'],
  senderAccountIdentifier: partyOfTransaction,
  receiverAccountIdentifier: partyOfTransaction,
  senderUmaAddress: ['umaAddress'],
  receiverUmaAddress: ['umaAddress'],
  sendingUmaAddress: ['umaAddress'],
  receivingUmaAddress: ['umaPayee', 'umaAddress'],
  umaAddress: ['umaAddress'],
  reference: ['reference'],
  url: ['url'],
  webhookEndpoint: ['url'],
  // These names are prefixed with an operation from either API, a field or an input type.
  'updateExternalAccount.accountId': ['ExternalAccount'],
  'deleteExternalAccount.accountId': ['ExternalAccount'],
  'rotateApiToken.tokenId': ['ApiToken'],
  'revokeApiToken.tokenId': ['ApiToken'],
  'revokeClientToken.tokenId': ['ClientToken'],
  'Query.account.id': account,
  'Query.customer.id': ['Customer'],
  'Query.quote.id': ['Quote'],
  'Query.transaction.id': ['Transaction'],
  'approveTransaction.transactionId': ['IncomingTransaction'],
  'rejectTransaction.transactionId': ['IncomingTransaction'],
  'sandboxSend.quoteId': ['FundedQuote'],
  'getToken.tokenId': ['ApiToken'],
  'deleteToken.tokenId': ['ApiToken'],
  'rotateToken.tokenId': ['ApiToken'],
  'getAccountStatement.accountId': ['InternalAccount'],
  'listTokens.name': ['tokenName'],
  'ApiTokenFilter.name': ['tokenName'],
  'CustomerFilter.name': ['customerName'],
  'listCustomers.name': ['customerName'],
  'listTokens.cursor': ['cursor:ApiToken'],
  'listQuotes.cursor': ['cursor:Quote'],
  'listCustomers.cursor': ['cursor:Customer'],
  'listTransactions.cursor': ['cursor:Transaction'],
  'listCustomerInternalAccounts.cursor': ['cursor:Account'],
  'listCustomerExternalAccounts.cursor': ['cursor:ExternalAccount'],
};

/** Values that belong to no platform, each with the reason. */
const publicNames: Readonly<Record<string, string>> = {
  'createCustomer.umaAddress': 'addresses are public: a taken address is refused, no matter who has it',
  'updateCustomer.umaAddress': 'as above',
  'lookUpReceiver.umaAddress': 'anybody may look up an address of any platform: payments need this',
  'umaDestination.umaAddress': 'the receiver of a lookup, which is named separately',
  'sandboxReceiveUma.senderUmaAddress': 'the sender is outside this service',
  'getReceiver.receiverUmaAddress': 'as over GraphQL',
  'getUmaReceiver.receiverUmaAddress': 'as over GraphQL',
  'createQuote.umaAddress': 'as over GraphQL',
  'InternalAccount.ledgerEntries.after': 'the number of a change, which is a valid position in the list of any account',
  'InternalAccount.ledgerEntries.before': 'as above',
  'metadata.key': 'the notes of a platform are not compared with anything',
  'updatePlatform.umaDomain': 'domains are public: a taken domain is refused, no matter who has it',
  'deleteTrustedDocument.hash': 'the hash of a text: no answer says which platform has registered it',
  'registerTrustedDocuments.id': 'as above',
  'createApiToken.documents': 'as above: a hash that only another platform has registered is unknown',
  'createClientToken.documents': 'as above',
  'createToken.documents': 'as above',
  'updateConfig.umaDomain': 'domains are public: a taken domain is refused, no matter who has it',
};

/** Strings that describe something without naming an object in the service. */
const descriptions: ReadonlySet<string> = new Set(
  `address addresses bankCode body bankName bolt12 branchCode city clabeNumber country currencies currency currencyCode description
  destinationCurrency destinations emailAddress format fullName hoursFrom hoursTo iban invoice legalName lightningAddress line1 line2 locale metadata name
  nationality operation phoneNumber pixKey postalCode providerRequiredCounterpartyCustomerFields
  providerRequiredCustomerFields reason receiverCountries receiverCustomerInfo receiverUmaAddresses receivingCurrencyCode registrationNumber
  requestedReceiverFields routingNumber senderCustomerInfo senderUserInfo sendingCurrencyCode sortCode source
  sourceCurrency state swiftBic swiftCode taxId timeZone title value vpa`.split(/\s+/),
);

export type Meaning = readonly Kind[] | 'key' | 'node' | 'nothing';

/**
 * @param owner the field, input type or operation to which the name belongs
 */
export function meaningOf(owner: string, name: string): Meaning {
  // A GraphQL input type is named after its operation, which usually exists in REST as well.
  const operation = owner.replace(
    /^(\w)(\w*)Input$/,
    (_all, first: string, rest: string) => first.toLowerCase() + rest,
  );
  const place = `${operation}.${name}`;
  if (place in publicNames) return 'nothing';
  if (place === 'Query.node.id' || place === 'Query.nodes.ids') return 'node';
  if (/^idempotency-?key$/i.test(name)) return 'key';
  if (name === 'after' || name === 'before') {
    // Every stream resumes at a position in the feed.
    const lists = owner.startsWith('Subscription.') ? (['cursor:feed'] as const) : cursors[owner];
    if (lists) return lists;
  }
  const kinds = named[place] ?? named[name];
  if (kinds) return kinds;
  if (descriptions.has(name)) return 'nothing';
  throw new Error(`test/attack/matrix/meanings.ts does not say whether ${place} can name somebody else's object`);
}
