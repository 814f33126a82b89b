import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import { trustedJson } from '../../infra/database/rows.ts';
import { withoutNulls } from './fields.ts';

/** A payment instruction in both forms (decision 10): flat (specification 2.4), and `accountOrWalletInfo`. */
interface InstructionRecord {
  readonly accountType: ExternalAccountType;
  readonly accountNumber?: string;
  readonly routingNumber?: string;
  readonly bankName?: string;
  readonly referenceCode?: string;
  readonly address?: string;
  readonly invoice?: string;
  readonly accountOrWalletInfo: { readonly accountType: ExternalAccountType; readonly [field: string]: string };
}

/** The types that have a flat form in the specification, with their flat fields. */
const flat: Readonly<Record<string, readonly string[]>> = {
  US_ACCOUNT: ['accountNumber', 'routingNumber', 'bankName'],
  LAYER2_WALLET: ['address', 'invoice'],
};

/** Converts the rail's instructions, as stored in the tables, to records. */
export function instructionRecords(column: unknown): InstructionRecord[] {
  const instructions =
    trustedJson<readonly { readonly accountType: ExternalAccountType; readonly [field: string]: string }[]>(column);
  return instructions.map((instruction) => {
    const info = withoutNulls(instruction);
    const flatFields = (flat[info.accountType] ?? []).flatMap((name) =>
      info[name] === undefined ? [] : [[name, info[name]]],
    );
    return {
      accountType: info.accountType,
      ...Object.fromEntries(flatFields),
      ...(info.reference !== undefined && { referenceCode: info.reference }),
      accountOrWalletInfo: info,
    };
  });
}
