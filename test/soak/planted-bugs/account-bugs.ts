import type { Bugs } from './plant.ts';

/** Bugs in the identity of accounts and customers, and in fields that few documents reach. */
export const accountBugs: Bugs = {
  'test/payments/account-types.test.ts': {
    'the check digits of an IBAN are not checked': {
      file: 'src/core/account-types.ts',
      find: 'iban: ibanField(ibanFault),',
      put: 'iban: ibanField(() => undefined),',
      test: 'PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike',
    },
    'check digits are checked in the canonical spelling, which has the right EIP-55 capitals': {
      file: 'src/domain/accounts/account-details.ts',
      find: 'details[name] ?? value)',
      put: 'value)',
      test: 'the sandbox accepts well-formed details, and both APIs warn of what PRODUCTION would refuse',
    },
    'an IBAN is refused that has the word before it': {
      file: 'src/core/account-fields.ts',
      find: 'canonical: (value) => bareIban.canonical(withoutLabel(value)),',
      put: 'canonical: (value) => bareIban.canonical(value),',
      test: 'PRODUCTION accepts it as printed on invoices, and both APIs return the same canonical spelling',
    },
    'a letter among digits is a letter where numbers may have letters': {
      file: 'src/core/account-fields.ts',
      find: 'if (letter === undefined) return notZeros',
      put: 'if (letter !== "") return notZeros',
      test: 'PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike',
    },
    'a wallet of nobody is an address like any other': {
      file: 'src/core/wallet-fields.ts',
      find: 'key.every((byte) => byte === 0) ?',
      put: 'key.length === 0 ?',
      test: 'PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike',
    },
    'an invoice never expires': {
      file: 'src/domain/accounts/account-details.ts',
      find: 'return expiry && expiry <= now ?',
      put: 'return expiry && expiry <= new Date(0) ?',
      test: 'PRODUCTION refuses it naming the field and the character or check digit, in both APIs alike',
    },
    'no warning is given of a name that the rail transmits in other characters': {
      file: 'src/core/carried-text.ts',
      find: 'if (cut === name) return { text: cut };',
      put: 'if (cut !== "") return { text: cut };',
      test: "registering an account warns that %s transmits its owner's name in other characters",
    },
    'a rail gets the original name instead of the one that it transmits': {
      file: 'src/domain/accounts/beneficiary.ts',
      find: 'return name === undefined || !characters ? name : carriedName(name, characters).text;',
      put: 'return name;',
      test: 'the rail gets both the original name and the name as it transmits it',
    },
    'a Pix key is stored as it was given': {
      file: 'src/domain/accounts/account-details.ts',
      find: 'return [[name, formOf(field, details).canonical(value)]];',
      put: 'return [[name, field.canonical(value)]];',
      test: 'PRODUCTION accepts it as printed on invoices, and both APIs return the same canonical spelling',
    },
  },
  'test/payments/people.test.ts': {
    'today is the day after tomorrow': {
      file: 'src/core/checks.ts',
      find: 'const today = now.toISOString().slice(0, 10);',
      put: 'const today = new Date(now.getTime() + 172_800_000).toISOString().slice(0, 10);',
      test: 'born on %s',
    },
    'a customer is looked for before the details are checked': {
      file: 'src/domain/customers/customer-changes.ts',
      find: '    const details = input.details ?? undefined;\n',
      put: "    if (!customer) customerNotFound(at('customerId'));\n    const details = input.details ?? undefined;\n",
      test: 'the new details of a customer are validated before the customer is looked up, in both APIs',
    },
    'a country is any two capital letters': {
      file: 'src/core/countries.ts',
      find: 'if (countries.has(code)) return undefined;',
      put: 'if (/^[A-Z]{2}$/.test(code)) return undefined;',
      test: 'in %s',
    },
  },
  'test/payments/same-account.test.ts': {
    'the same number at another bank is the same account': {
      file: 'prisma/functions/commit/check_registrations.sql',
      find: 'and a.identifier = n.identifier and a.bank is not distinct from n.bank limit 1',
      put: 'and a.identifier = n.identifier limit 1',
      test: 'is one account in every spelling, and a different one at each other bank',
    },
    'a refusal names an account to a caller who may not view it': {
      file: 'src/domain/commands/plan-refusals.ts',
      find: "      return { code: 'CONFLICT', message: 'this account already exists' };",
      put: '      return undefined;',
      test: 'a caller without VIEW learns that the account exists, but not which it is',
    },
    'a narrow no-break space makes a different account': {
      file: 'src/core/account-fields.ts',
      find: 'const spaces = String.raw`\\s',
      put: 'const spaces = String.raw` ',
      test: 'five hundred spellings of fifty accounts, registered concurrently, are fifty accounts',
    },
    'the index of external accounts ignores the bank': {
      file: 'prisma/migrations',
      find: 'account_type, bank, identifier) nulls not distinct',
      put: 'account_type, identifier) nulls not distinct',
      test: 'is one account in every spelling, and a different one at each other bank',
    },
    'dashes make a different account': {
      file: 'src/core/account-fields.ts',
      find: "const bare = (value: string) => value.replace(gap, '');",
      put: "const bare = (value: string) => value.replace(/\\s/g, '');",
      test: 'is one account in every spelling, and a different one at each other bank',
    },
    'an account cannot become ACTIVE again if the same number exists at another bank': {
      file: 'prisma/functions/commit/check_accounts.sql',
      find: 'and a.bank is not distinct from v_account.bank limit 1',
      put: 'limit 1',
      test: 'reactivating an account conflicts with the same account, and not with one at another bank',
    },
  },
  'test/rails/upstream.test.ts': {
    'an account is found upstream by its number, regardless of the bank': {
      file: 'src/rails/upstream/upstream-accounts.ts',
      find: 'JSON.stringify([type, bank, identifier])',
      put: 'JSON.stringify([type, bank && null, identifier])',
      test: 'payees with one number at two banks have two accounts upstream, and each is paid at its own bank',
    },
  },
  'test/rest/receivers.test.ts': {
    'any of several customers with one platform id pays': {
      file: 'src/api/rest/endpoints/receivers.ts',
      find: 'take: 2',
      put: 'take: 1',
      test: "a platform id that several customers share needs the customer's own id to name the sender",
    },
  },
  'test/graphql/declarations.test.ts': {
    'the fees of a quote are declared to be in the currency that arrives': {
      file: 'src/api/graphql/schema/payments/quote.ts',
      find: "t.money('feesIncluded', 'sendingCurrency'",
      put: "t.money('feesIncluded', 'receivingCurrency'",
      test: 'a field shows the column, or JSON member, of its name; an amount with its currency',
    },
  },
  'test/graphql/oracle.test.ts': {
    "a field of the schema has no value in the oracle's scene": {
      file: 'test/oracle/scene.ts',
      find: "taxId: 'QQ123456C', ",
      test: '${documents} random documents, repeated by every caller, are answered as by standard execution',
    },
  },
  'test/proof/accounts.test.ts': {
    'the check digits of a CNPJ are not checked': {
      file: 'src/core/account-fields.ts',
      find: 'cnpjs.isValid(value)',
      put: 'value !== ""',
      test: 'an account with a typing error is refused, naming the field, unless its library accepts it too',
    },
    'a BIC keeps the XXX of its head office': {
      file: 'src/core/account-fields.ts',
      find: "replace(/^(.{8})XXX$/, '$1')",
      put: 'trim()',
      test: 'an account of any type, in any printed spelling, is accepted in PRODUCTION and stored canonically',
    },
  },
  'test/payments/external-accounts.test.ts': {
    'the compared names are not reported': {
      file: 'src/domain/accounts/beneficiary.ts',
      find: 'return [explanation, compared].filter',
      put: 'return [explanation].filter',
      test: 'an owner check that ends in %s reports which names were compared, in both APIs',
    },
  },
};
