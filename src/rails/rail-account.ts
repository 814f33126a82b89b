import type { ExternalAccountType } from '../database/generated/client/client.ts';

/** An external account or wallet, as the rail sees it. */
export interface RailAccount {
  readonly type: ExternalAccountType;
  /** The identifier of the account at its bank or network: account number, IBAN, address, … */
  readonly identifier: string;
}
