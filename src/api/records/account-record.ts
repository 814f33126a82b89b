import { accountPublicId, publicId } from '../../core/ids.ts';
import { withoutNulls } from '../../core/json.ts';
import type { Beneficiary } from '../../domain/accounts/account-details.ts';
import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import { type Account, trustedJson } from '../../infra/database/rows.ts';
import { amountRecord, frozenRecord, metadataRecord } from './fields.ts';

/** An account's type, its details by name and, for bank accounts, the owner. */
export interface AccountInfoRecord {
  readonly accountType: NonNullable<Account['accountType']>;
  readonly beneficiary?: ReturnType<typeof withoutNulls<Beneficiary>>;
  readonly [detail: string]: unknown;
}

/** Converts a row to an internal account's record. Throws UnrepresentableAmount. */
export function internalAccountRecord(row: Account) {
  const id = accountPublicId('INTERNAL', row.id);
  return {
    id,
    ...(row.customerId !== null && { customerId: publicId('Customer', row.customerId) }),
    balance: amountRecord(row.posted, row.currency, id),
    fundingPaymentInstructions: instructionRecords(row.fundingInstructions),
    ...frozenRecord(row),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Converts a row to an external account's record. The table's constraints guarantee the required columns. */
export function externalAccountRecord(row: Account) {
  if (row.status === null || row.accountType === null) throw new Error(`account ${row.id} is not an external account`);
  // createExternalAccount stores both columns in these forms.
  const info = trustedJson<Readonly<Record<string, string>>>(row.accountInfo);
  const beneficiary = trustedJson<Beneficiary | null>(row.beneficiary) ?? undefined;
  return {
    id: accountPublicId('EXTERNAL', row.id),
    status: row.status,
    currency: row.currency,
    accountInfo: { accountType: row.accountType, ...info, beneficiary: beneficiary && withoutNulls(beneficiary) },
    customerId: row.customerId === null ? null : publicId('Customer', row.customerId),
    ...(row.statusReason !== null && { statusReason: row.statusReason }),
    ...(row.platformAccountId !== null && { platformAccountId: row.platformAccountId }),
    defaultUmaDepositAccount: row.defaultUmaDepositAccount,
    beneficiaryVerificationStatus: row.beneficiaryVerificationStatus ?? undefined,
    ...(row.beneficiaryVerifiedName !== null && { beneficiaryVerifiedData: { fullName: row.beneficiaryVerifiedName } }),
    ...frozenRecord(row),
    ...metadataRecord(row),
  };
}

/** The instruction types for which the specification has a flat form, with the fields of that form. */
const flat: Readonly<Record<string, readonly string[]>> = {
  US_ACCOUNT: ['accountNumber', 'routingNumber', 'bankName'],
  LAYER2_WALLET: ['address', 'invoice'],
};

/** Converts stored payment instructions to records, which have both the flat fields and `accountOrWalletInfo`. */
export function instructionRecords(column: unknown) {
  const instructions =
    trustedJson<readonly { readonly accountType: ExternalAccountType; readonly [field: string]: string }[]>(column);
  return instructions.map((instruction) => {
    const info = withoutNulls(instruction);
    const flatFields = (flat[info.accountType] ?? []).map((name) => [name, info[name]] as const);
    return {
      accountType: info.accountType,
      ...Object.fromEntries(flatFields),
      referenceCode: info.reference,
      accountOrWalletInfo: info,
    };
  });
}
