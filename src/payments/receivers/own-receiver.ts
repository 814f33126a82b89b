import { maxAmount } from '../../core/checks.ts';
import type { Environment } from '../../database/generated/client/client.ts';
import { statement } from '../../database/statement.ts';
import type { RequiredField, UmaReceiver } from '../../rails/rail.ts';
import type { Payments } from '../command.ts';

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

const receiverStatement = statement<{ umaDomain: string; currencies: string[]; depositCurrency: string | null }>(
  'receiver_for_cluster',
  'select uma_domain, currencies, deposit_currency from find_receiver($1, $2::environment)',
);

/** Describes who receives here at a UMA address, for another cluster. Undefined where nobody does. */
export async function receiverForCluster(
  { database, cluster }: Payments,
  umaAddress: string,
  environment: Environment,
): Promise<UmaReceiver | undefined> {
  const domain = umaAddress.slice(umaAddress.indexOf('@') + 1);
  // A platform that has moved leaves rows behind.
  if (cluster?.directory.current.clusterOfDomain(domain) !== cluster?.name) return undefined;
  const [found] = await receiverStatement(database.pool, umaAddress, environment);
  return found && ownReceiver(found.umaDomain, found.currencies, found.depositCurrency);
}
