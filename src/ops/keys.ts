import { reencryptSecrets } from '../api/webhooks/endpoints/reencrypt.ts';
import { type Answer, Failure, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { recordAct } from '../domain/access/operator-acts.ts';
import { inTransaction } from '../infra/database/transaction.ts';
import type { Config } from '../server/config.ts';
import { openConnections } from '../server/gateway.ts';
import { idsOfKeys, keySettings, listKeysInUse } from '../server/start/keys-in-use.ts';
import { actOf, operatorOf, type Said, type Tools, withDatabase } from './tools.ts';

export function addKeys(program: Program): void {
  const keys = program.command('keys').description('the keys that sign client tokens and encrypt stored secrets');
  keys
    .command('list')
    .description('show the ids of the keys that instances use, and which of them are in the settings of this machine')
    .action(withDatabase(list));
  actOf(keys.command('retire'))
    .description(
      'retire a key: first encrypts stored secrets with the current key. Afterwards remove the old key from the settings',
    )
    .argument('<id>', 'the id of the key, as shown by `keys list`')
    .option('--lost', 'the key is lost: its secrets cannot be read, and their endpoints need new secrets')
    .action(withDatabase(retire));
}

function roleOf(config: Config, keyId: string): 'in use' | 'fallback' | 'not in the settings of this machine' {
  const lists = keySettings.map((setting) => idsOfKeys(config, setting));
  if (lists.some(([first]) => first === keyId)) return 'in use';
  return lists.some((ids) => ids.includes(keyId)) ? 'fallback' : 'not in the settings of this machine';
}

async function list({ database, config }: Tools): Promise<Answer> {
  const keys = (await listKeysInUse(database)).map(({ setting, keyId, since }) => ({
    setting,
    id: keyId,
    since,
    here: roleOf(config, keyId),
  }));
  return listed(keys, 'No instance has used a key yet.');
}

async function retire(
  { database, config, webhooks }: Tools,
  id: string,
  { lost, ...said }: Said & { lost?: true },
): Promise<Answer> {
  const key = (await listKeysInUse(database)).find(({ keyId }) => keyId === id);
  if (!key) throw new Failure(`No instance has used a key with the id ${id}.`);
  const role = roleOf(config, id);
  if (role === 'in use')
    throw new Failure(`The settings of this machine still sign or encrypt with ${id}: set a new key first.`);
  const isSecret = key.setting === 'SECRET_KEY' && !lost;
  if (isSecret && (role !== 'fallback' || !config.SECRET_KEY)) {
    throw new Failure(
      `The secrets of ${id} must be encrypted again: set SECRET_KEY to the current key, and SECRET_KEY_FALLBACKS to the key with this id. If that key is lost, pass --lost.`,
    );
  }
  const endpoints = isSecret ? await reencryptSecrets(webhooks, id) : 0;
  const connections = isSecret ? await openConnections(database, config).reencrypt(id) : 0;
  await inTransaction(database, async (act) => {
    await act.prisma.keyInUse.delete({ where: { setting_keyId: { setting: key.setting, keyId: id } } });
    const before = { setting: key.setting, keyId: id, lost: lost === true };
    await recordAct(act, operatorOf('keys retire', said), { platformId: null, before });
  });
  const done = isSecret
    ? ` The secrets of ${endpoints} webhook endpoints and ${connections} rail connections are now encrypted with the current key.`
    : '';
  return {
    data: { retired: id, setting: key.setting, reencryptedEndpoints: endpoints, reencryptedConnections: connections },
    lines: [`The key ${id} is retired.${done} Remove it from ${key.setting}_FALLBACKS.`],
  };
}
