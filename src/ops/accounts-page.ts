import { accountExamples } from '../core/account-examples.ts';
import type { AccountDetails } from '../core/account-fields.ts';
import { type AccountType, accountTypes } from '../core/account-types.ts';
import { invalidFieldsOf } from '../core/check-all.ts';
import { Refusal } from '../core/refusal.ts';
import { checkAccountInfo } from '../domain/accounts/account-details.ts';
import type { ExternalAccountType } from '../infra/database/generated/client/client.ts';

/** Makes docs/accounts.md from the declaration of the types of accounts and their examples. */
export function accountsPage(): string {
  const kinds = Object.entries(accountTypes) as [ExternalAccountType, AccountType][];
  return `# Accounts outside

This page is printed from \`src/core/account-types.ts\` and \`src/core/account-examples.ts\` (\`npm run schema\`).

An external account has one of sixteen types. REST, GraphQL and the forms for payees (\`externalAccountForms\`) are made from the same declaration, so they cannot differ.

- **What is taken** is what invoices have: spaces and dashes between the characters, small letters where they mean the same. A character that does not fit is named with its place, counted without spaces and dashes; where it looks like one that would fit, such as the letter O for the digit 0, that is asked. Nothing is guessed.
- **What is stored** is one canonical spelling. It is shown, sent to the rail, and compared: the same account in another spelling is CONFLICT, which names the account that is there. What identifies an account is its type, its number and its bank, for one owner and currency ([Decision 37](decisions.md#decision-37)).
- **Check digits** are looked at for platforms of PRODUCTION: those of ABA routing numbers, CLABE, CPF and CNPJ (with letters, too), IBANs and the national ones in them, Nigerian numbers at banks that are known by their name, bech32, bech32m, Base58Check and EIP-55; also the country of a BIC and of an IBAN, and numbers that are all zeros. The suffixes of the sandbox ([Decision 21](decisions.md#decision-21)) break them, so the sandbox takes such accounts, and the \`warnings\` of its answer say what PRODUCTION would refuse.
- **Names** reach the rail as they are, and also in the characters that it carries: SEPA the Latin set of the European Payments Council and 70 characters, ACH printable ASCII and 22. Where the two differ, the \`warnings\` of the answer say how the name is carried, before anybody pays. A name of which nothing is left is refused. What the bank says of the owner is \`beneficiaryVerificationStatus\`; where the names differ, \`statusReason\` has the two that were compared.

${kinds.map(([name, type]) => section(name, type)).join('\n')}`;
}

function section(name: ExternalAccountType, type: AccountType): string {
  const code = (names: readonly string[]) => names.map((one) => `\`${one}\``);
  const { bank = [], identifier, fields, currencies, description } = type;
  const identity = [...code(bank), code(identifier).join(' or ')].join(', ');
  const rows = Object.entries(fields).map(([field, rule]) => {
    const forms = Object.entries(rule.formBy?.forms ?? {}).map(([value, { form }]) => `${value}: ${form}`);
    const taken = forms.length > 0 ? forms.join('; ') : rule.form;
    return `| \`${field}\` | ${rule.description}${rule.optional ? ' Optional.' : ''} | ${taken} | ${rule.differIn ?? ''} |`;
  });
  const { taken, refused } = accountExamples[name];
  return `## ${name}

${description} ${currencies.join(' or ')}. ${type.beneficiary ? 'It has an owner' : 'It has no owner'}, and is identified by ${identity}.

| Field | Meaning | Taken | Spellings of the same differ in |
|---|---|---|---|
${rows.join('\n')}

| Example | Stored, or why it is refused in PRODUCTION |
|---|---|
${[...taken, ...refused].map((details) => `| ${shown(details)} | ${outcome(name, type, details)} |`).join('\n')}
`;
}

/** Shows details: long ones only at their beginning. */
function shown(details: AccountDetails): string {
  const values = Object.values(details).filter((value) => value !== null && value !== undefined);
  return values.map((value) => `\`${shortened(value).replaceAll('\n', '↵')}\``).join(', ');
}

function shortened(value: string): string {
  return value.length > 64 ? `${value.slice(0, 61)}…` : value;
}

function outcome(accountType: ExternalAccountType, { currencies }: AccountType, details: AccountDetails): string {
  try {
    return shown(checkAccountInfo({ accountType, details, currency: currencies[0] ?? '' }, 'PRODUCTION').info);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return invalidFieldsOf(error)
      .map(({ path, message }) => `\`${path.at(-1)}\`: ${message}`)
      .join('; ');
  }
}
