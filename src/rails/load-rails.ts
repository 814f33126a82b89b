import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inSpan, makesSpans } from '../infra/instruments/spans.ts';
import { type RailHost, type RailModule, railPort } from './port.ts';
import type { Rail } from './rail.ts';
import type { EnvironmentRails, RailEntry, RailSettings } from './rail-settings.ts';

export type LoadedRails = { readonly [environment in RailHost['environment']]?: Rail };

/** The error for a rail that cannot be used. The message names the rail and the reason. */
export class RailFault extends Error {
  constructor(place: string, fault: string) {
    super(`RAILS ${place}: ${fault}`);
    this.name = 'RailFault';
  }
}

export interface LoadOptions {
  /** The built-in modules, keyed by their names in RAILS. */
  readonly own: Readonly<Record<string, RailModule>>;
  readonly host: Omit<RailHost, 'environment'>;
}

const environments = ['SANDBOX', 'PRODUCTION'] as const;

/** Loads, validates and opens the rails in the settings: all or none. @throws RailFault naming the faulty entry */
export async function loadRails(settings: RailSettings, options: LoadOptions): Promise<LoadedRails> {
  const opened: Rail[] = [];
  const open = async (place: string, entry: RailEntry, environment: RailHost['environment']) => {
    const module = await importRail(place, entry.module, settings.directory, options.own);
    const openModule = async () => module.open(entry.settings, { ...options.host, environment });
    const rail = await openModule().catch(faultOf(place, `the rail ${module.name} cannot be opened`));
    opened.push(rail);
    checkRail(place, rail, environment);
    return withSpans(rail);
  };
  const loaded: Partial<Record<RailHost['environment'], Rail>> = {};
  try {
    for (const environment of environments) {
      const entries = settings[environment];
      if (entries) loaded[environment] = await openEnvironment(environment, entries, open);
    }
    return loaded;
  } catch (error) {
    await Promise.allSettled(opened.map((rail) => rail.close?.()));
    throw error;
  }
}

export async function closeRails(rails: LoadedRails): Promise<void> {
  await Promise.all(environments.map((environment) => rails[environment]?.close?.()));
}

type Open = (place: string, entry: RailEntry, environment: RailHost['environment']) => Promise<Rail>;

/** Opens the rails of an environment, and combines them into one rail that selects the right one for each platform. */
async function openEnvironment(
  environment: RailHost['environment'],
  { module, settings, platforms }: EnvironmentRails,
  open: Open,
): Promise<Rail> {
  const common = module === undefined ? undefined : await open(environment, { module, settings }, environment);
  const own = new Map<string, Rail>();
  for (const [id, entry] of Object.entries(platforms ?? {}))
    own.set(id.replace('Platform:', ''), await open(`${environment}.platforms.${id}`, entry, environment));
  if (common && own.size === 0) return common;
  // Serves platforms that have no rail of their own. If there is no common rail, operations that need one are refused.
  const others: Rail = common ?? { name: 'none' };
  return {
    name: others.name,
    forPlatform(platformId) {
      const rail = own.get(platformId) ?? others;
      return rail.forPlatform?.(platformId) ?? rail;
    },
    async close() {
      await Promise.all([others, ...own.values()].map((rail) => rail.close?.()));
    },
  };
}

async function importRail(place: string, name: string, directory: string, own: LoadOptions['own']) {
  const known = own[name];
  if (known) return known;
  const exported: { readonly default?: unknown } = await import(railAddress(name, directory)).catch(
    faultOf(place, `the module ${name} cannot be loaded`),
  );
  return checkModule(place, name, exported.default);
}

/** Returns the specifier to import: a package name or a file URL. */
export function railAddress(name: string, directory: string): string {
  const isFile = name.startsWith('.') || path.isAbsolute(name);
  return isFile ? pathToFileURL(path.resolve(directory, name)).href : name;
}

function checkModule(place: string, name: string, value: unknown): RailModule {
  const given: Partial<Record<keyof RailModule, unknown>> = Object(value);
  refuseIf(place, `the rail of ${name}`, [
    [given !== value, 'is missing: the module has no rail as its default export'],
    [typeof given.railPort !== 'number', 'does not declare its version of the port (railPort)'],
    [given.railPort !== railPort, `is for version ${given.railPort} of the port; this gateway has version ${railPort}`],
    [typeof given.name !== 'string' || given.name === '', 'has no name'],
    [typeof given.open !== 'function', 'has no function named open'],
  ]);
  // Every field has been validated.
  return value as RailModule;
}

/** @throws RailFault for the first condition that is true */
function refuseIf(place: string, what: string, faults: readonly (readonly [isFault: boolean, fault: string])[]): void {
  const [, fault] = faults.find(([isFault]) => isFault) ?? [];
  if (fault !== undefined) throw new RailFault(place, `${what} ${fault}`);
}

const faultOf = (place: string, what: string) => (error: unknown) => {
  throw new RailFault(place, `${what}: ${error instanceof Error ? error.message : error}`);
};

/** The rail methods that call the provider. */
const askingParts: readonly (keyof Rail)[] = [
  ...(['rate', 'lockRate', 'paymentInstructions', 'lookUp', 'checkAccount', 'checkIdentity'] as const),
  ...(['payOut', 'collect', 'giveBack', 'findOrder', 'deposits', 'takeDeposit'] as const),
  ...(['movements', 'balances', 'receiveWebhook', 'readWebhook', 'checkConnection'] as const),
];
const isAsking = new Set<PropertyKey>(askingParts);

const parts: readonly string[] = [
  ...askingParts,
  ...['collectionAmount', 'expectedMs', 'firstAskMs', 'forPlatform', 'close'],
];

const simulationParts = ['scenarioFault', 'deposit', 'approval', 'senderInformation'] as const;

/** Validates a rail's methods. Refuses a method that depends on a missing one, and a simulation in PRODUCTION. */
function checkRail(place: string, given: Rail, environment: RailHost['environment']): void {
  const rail: Readonly<Record<string, unknown>> & Partial<Rail> = Object(given);
  const has = (key: keyof Rail) => rail[key] !== undefined;
  const wrong = parts.filter((key) => rail[key] !== undefined && typeof rail[key] !== 'function');
  // Without this check, a misspelled optional method would go unnoticed.
  const unknown = Object.keys(rail).filter((key) => typeof rail[key] === 'function' && !parts.includes(key));
  const { simulation } = rail;
  const missing = simulation ? simulationParts.filter((part) => typeof simulation[part] !== 'function') : [];
  refuseIf(place, `the rail ${rail.name}`, [
    [typeof rail.name !== 'string' || rail.name === '', 'has no name'],
    [wrong.length > 0, `has members that must be functions: ${wrong.join(', ')}`],
    [unknown.length > 0, `has members that the port does not define: ${unknown.join(', ')}`],
    [!simulation && !parts.some((key) => key !== 'close' && rail[key]), 'implements no method of the port'],
    [has('receiveWebhook') !== has('readWebhook'), 'must have both receiveWebhook and readWebhook, or neither'],
    [has('deposits') !== has('takeDeposit'), 'must have both deposits and takeDeposit, or neither'],
    [has('collect') && !has('giveBack'), 'collects money but cannot refund it'],
    [(has('collect') || has('payOut')) && !has('expectedMs'), 'moves money but lacks expectedMs'],
    [has('lockRate') && !(has('rate') && has('payOut')), 'locks rates but lacks rate or payOut'],
    [missing.length > 0, `has a simulation that lacks the functions ${missing.join(', ')}`],
    [has('simulation') && environment === 'PRODUCTION', 'is a simulation, so it cannot serve PRODUCTION platforms'],
  ]);
}

/** Traces each call to a rail's provider as a separate span, if tracing is on. */
function withSpans(rail: Rail): Rail {
  if (!makesSpans()) return rail;
  return new Proxy(rail, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key, target);
      if (typeof part !== 'function') return part;
      const call = (given: unknown[]) => Reflect.apply(part, target, given);
      if (key === 'forPlatform') return (...given: unknown[]) => withSpans(call(given));
      if (!isAsking.has(key)) return (...given: unknown[]) => call(given);
      const options = { kind: 'client', attributes: { 'payments.rail': target.name } } as const;
      return (...given: unknown[]) => inSpan(`rail ${String(key)}`, options, async () => call(given));
    },
  });
}
