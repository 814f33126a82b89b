import { maxAmount } from '../../core/checks.ts';
import type { RequiredField, UmaReceiver } from '../../rails/rail.ts';

/** The fields that every receiver of this installation requires of a sender. */
const payerFields: readonly RequiredField[] = [
  { name: 'FULL_NAME', mandatory: true },
  { name: 'BIRTH_DATE', mandatory: false },
  { name: 'NATIONALITY', mandatory: false },
];

/** Describes a receiver of this installation, with the currency of its default deposit account first. */
export function ownReceiver(
  umaDomain: string,
  currencies: readonly string[],
  depositCurrency: string | null,
): UmaReceiver {
  const codes = [
    ...new Set([...(depositCurrency && currencies.includes(depositCurrency) ? [depositCurrency] : []), ...currencies]),
  ];
  return {
    vaspName: umaDomain,
    currencies: codes.map((code) => ({ code, minAmount: 1n, maxAmount })),
    requiredFields: payerFields,
    information: {},
  };
}
