import { statSync } from 'node:fs';
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
  /** The built-in modules, by the names used for them in RAILS. */
  readonly own: Readonly<Record<string, RailModule>>;
  readonly host: Omit<RailHost, 'environment'>;
}

const environments = ['SANDBOX', 'PRODUCTION'] as const;

/** Loads, validates and opens all rails in the settings, or none. @throws RailFault that names the entry */
export async function loadRails(settings: RailSettings, options: LoadOptions): Promise<LoadedRails> {
  const opened: Rail[] = [];
  const open = async (place: string, entry: RailEntry, environment: RailHost['environment']) => {
    const module = await importRail(place, entry.module, settings.directory, options.own);
    const rail = await openRail(place, module, entry, { ...options.host, environment });
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
  // A platform with no rail of its own gets one without methods, so every operation that needs a method is refused.
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
  let exported: { readonly default?: unknown };
  try {
    exported = await import(railAddress(name, directory));
  } catch (error) {
    throw new RailFault(place, `the module ${name} cannot be loaded: ${messageOf(error)}`);
  }
  return checkModule(place, name, exported.default);
}

/** Returns the specifier to import: a package name or a file URL. Also resolves folders and omitted extensions. */
export function railAddress(name: string, directory: string): string {
  if (!name.startsWith('.') && !path.isAbsolute(name)) return name;
  const file = path.resolve(directory, name);
  const endings = ['.ts', '.js', '.mjs'];
  const candidates = [
    file,
    ...endings.map((end) => file + end),
    ...endings.map((end) => path.join(file, `index${end}`)),
  ];
  const found = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  return pathToFileURL(found ?? file).href;
}

function checkModule(place: string, name: string, value: unknown): RailModule {
  const refuse = (fault: string): never => {
    throw new RailFault(place, fault);
  };
  if (typeof value !== 'object' || value === null)
    return refuse(`the module ${name} has no rail as its default export`);
  const { railPort: port, name: itsName, open } = value as Partial<Record<keyof RailModule, unknown>>;
  if (typeof port !== 'number') refuse(`the rail of ${name} does not declare its version of the port (railPort)`);
  if (port !== railPort)
    refuse(`the rail of ${name} is for version ${port} of the port; this gateway has version ${railPort}`);
  if (typeof itsName !== 'string' || itsName === '') refuse(`the rail of ${name} has no name`);
  if (typeof open !== 'function') refuse(`the rail of ${name} has no function named open`);
  // Every field has been validated.
  return value as RailModule;
}

async function openRail(place: string, module: RailModule, { settings }: RailEntry, host: RailHost): Promise<Rail> {
  try {
    return await module.open(settings, host);
  } catch (error) {
    throw new RailFault(place, `the rail ${module.name} cannot be opened: ${messageOf(error)}`);
  }
}

/** The methods of a rail that call its provider. */
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

/** Pairs of methods of which a rail must have both or neither. */
const pairs = [
  ['receiveWebhook', 'readWebhook'],
  ['deposits', 'takeDeposit'],
] as const;

const simulationParts = ['scenarioFault', 'deposit', 'approval', 'senderInformation', 'accountVerification'] as const;

/** Validates a rail: its methods, the methods that these require, and that no simulation serves PRODUCTION. */
function checkRail(place: string, rail: Rail, environment: RailHost['environment']): void {
  const refuse = (fault: string): never => {
    throw new RailFault(place, fault);
  };
  if (typeof rail !== 'object' || rail === null) refuse('its module returned no rail');
  const name = typeof rail.name === 'string' && rail.name !== '' ? rail.name : refuse('the rail has no name');
  const part = (key: string): unknown => Reflect.get(rail, key);
  const present = (key: string) => part(key) !== undefined;
  const wrong = parts.filter((key) => present(key) && typeof part(key) !== 'function');
  if (wrong.length > 0) refuse(`the rail ${name} has ${wrong.join(', ')}, which must be functions`);
  // A misspelled method would count as missing.
  const unknown = Object.keys(rail).filter((key) => typeof part(key) === 'function' && !parts.includes(key));
  if (unknown.length > 0) refuse(`the rail ${name} has members that the port does not define: ${unknown.join(', ')}`);
  if (!present('simulation') && !parts.some((key) => key !== 'close' && present(key)))
    refuse(`the rail ${name} implements no method of the port`);
  for (const [one, other] of pairs) {
    if (present(one) !== present(other)) refuse(`the rail ${name} must have both ${one} and ${other}, or neither`);
  }
  if (present('collect') && !present('giveBack')) refuse(`the rail ${name} collects money but cannot refund it`);
  if ((present('collect') || present('payOut')) && !present('expectedMs'))
    refuse(`the rail ${name} moves money but lacks expectedMs`);
  if (present('lockRate') && !(present('rate') && present('payOut')))
    refuse(`the rail ${name} locks rates but lacks rate or payOut`);
  if (rail.simulation === undefined) return;
  const missing = simulationParts.filter((part) => typeof rail.simulation?.[part] !== 'function');
  if (missing.length > 0) refuse(`the simulation of the rail ${name} lacks the functions ${missing.join(', ')}`);
  if (environment === 'PRODUCTION') refuse(`the rail ${name} is a simulation, so it cannot serve PRODUCTION platforms`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Traces each call to a rail's provider as a separate span, if spans are on. */
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
