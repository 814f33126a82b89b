import type { ExternalAccountType } from '../../infra/database/generated/client/client.ts';
import { type Account, trustedJson } from '../../infra/database/rows.ts';
import { type Beneficiary, ownerName } from './beneficiary.ts';

/** The words for a wallet, which has no owner. */
const wallets: { readonly [Type in ExternalAccountType]?: string } = {
  LAYER2_WALLET: 'Bitcoin wallet',
  LIGHTNING: 'Lightning wallet',
  SOLANA_WALLET: 'Solana wallet',
  TRON_WALLET: 'Tron wallet',
  POLYGON_WALLET: 'Polygon wallet',
  BASE_WALLET: 'Base wallet',
};

/** Returns the name of an account for people: who owns it, or what it is. In SQL it is account_name. */
export function displayName({ accountType, beneficiary, currency }: Account): string {
  // createExternalAccount wrote it in this form.
  const owner = ownerName(trustedJson<Beneficiary | null>(beneficiary));
  return owner ?? (accountType && wallets[accountType]) ?? `${currency} account`;
}

/**
 * Returns the last four characters of what identifies an account, for people: of a short one fewer, so that at least
 * half stays hidden. An internal account is identified by its id. In SQL it is account_number.
 */
export function maskedNumber({ kind, id, identifier }: Pick<Account, 'kind' | 'id' | 'identifier'>): string {
  return maskNumber(kind === 'INTERNAL' ? id.toUpperCase() : (identifier ?? ''));
}

/** Returns the last four characters of a number, of a short one fewer. */
export function maskNumber(number: string): string {
  const characters = [...number];
  const shown = Math.min(4, Math.floor(characters.length / 2));
  return `•••• ${characters.slice(characters.length - shown).join('')}`;
}
