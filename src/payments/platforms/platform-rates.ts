import { ownRates, type Rate, type Rates } from '../../access/rates.ts';
import type { Database } from '../../database/database.ts';

/** Changes of a platform's own limits of rate: what is left out stays, and null means that the settings hold. */
export type RateChanges = { readonly [limit in keyof Rates]?: Rate | null };

/**
 * Changes the limits of rate of a platform's own. Instances follow within two seconds: they remember credentials so long.
 * @returns its limits now, null where those of the settings hold
 * @throws Error for an unknown platform
 */
export async function changeRates({ prisma }: Database, name: string, changes: RateChanges): Promise<Rates> {
  const { platform, apiToken, clientToken } = changes;
  const { count } = await prisma.platform.updateMany({
    where: { name },
    data: {
      ...(platform !== undefined && { rateLimit: platform?.perSecond ?? null, rateBurst: platform?.burst ?? null }),
      ...(apiToken !== undefined && {
        apiTokenRateLimit: apiToken?.perSecond ?? null,
        apiTokenRateBurst: apiToken?.burst ?? null,
      }),
      ...(clientToken !== undefined && {
        clientTokenRateLimit: clientToken?.perSecond ?? null,
        clientTokenRateBurst: clientToken?.burst ?? null,
      }),
    },
  });
  if (count === 0) throw new Error(`there is no platform named ${JSON.stringify(name)}`);
  return ownRates(await prisma.platform.findUniqueOrThrow({ where: { name } }));
}
