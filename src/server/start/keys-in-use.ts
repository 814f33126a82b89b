import { keyId } from '../../core/secret-box.ts';
import type { Database } from '../../infra/database/database.ts';
import type { KeyInUse } from '../../infra/database/generated/client/client.ts';
import { statement } from '../../infra/database/statement.ts';
import { inTransaction, type Transaction } from '../../infra/database/transaction.ts';
import { type Config, ConfigError } from '../config.ts';

export const keySettings = ['SECRET_KEY', 'CLIENT_TOKEN_KEY'] as const;
type KeySetting = (typeof keySettings)[number];

type Keys = Pick<Config, KeySetting | `${KeySetting}_FALLBACKS`>;

/** Takes the lock ("keys" in ASCII) that makes instances starting at the same time check their keys in turn. */
const lockStatement = statement<object>('lock_keys_in_use', 'select pg_advisory_xact_lock(1801812339)');

/** Returns the ids of a setting's keys. The first key is the one that signs or encrypts. */
export function idsOfKeys(config: Keys, setting: KeySetting): string[] {
  const key = config[setting];
  return key === undefined ? [] : [key, ...config[`${setting}_FALLBACKS`]].map((one) => keyId(setting, one));
}

/** Returns the keys that instances on this database use, or have used, to sign or encrypt. */
export function listKeysInUse({ prisma }: Pick<Transaction, 'prisma'>): Promise<KeyInUse[]> {
  return prisma.keyInUse.findMany({ orderBy: [{ setting: 'asc' }, { since: 'asc' }, { keyId: 'asc' }] });
}

/** Checks that this instance has all keys in use, and records its own. Returns faults, or throws them in production. */
export async function checkKeys(database: Database, config: Keys & Pick<Config, 'NODE_ENV'>): Promise<string[]> {
  return inTransaction(database, async ({ client, prisma }) => {
    await lockStatement(client);
    const inUse = await listKeysInUse({ prisma });
    const faults = missingKeys(inUse, config);
    if (faults.length > 0 && config.NODE_ENV === 'production') throw new ConfigError(faults);
    for (const setting of keySettings) {
      const [id] = idsOfKeys(config, setting);
      const isKnown = inUse.some((key) => key.setting === setting && key.keyId === id);
      if (id !== undefined && !isKnown) await prisma.keyInUse.create({ data: { setting, keyId: id } });
    }
    return faults;
  });
}

/** Returns a message about each key in use that the settings lack. A setting without any key is ignored. */
export function missingKeys(inUse: readonly KeyInUse[], config: Keys): string[] {
  return inUse.flatMap(({ setting, keyId: id }) => {
    const own = idsOfKeys(config, setting as KeySetting);
    if (own.length === 0 || own.includes(id)) return [];
    return `${setting} has the id ${own.join(', ')}, but instances on this database use the key with the id ${id}: set that key, or add it to ${setting}_FALLBACKS. If it is no longer needed: npm run ops -- keys retire ${id}`;
  });
}
