import fc from 'fast-check';
import type { Answer } from '../setup/gateway.ts';
import { often } from '../setup/statements.ts';
import { Choices } from './choices.ts';
import { directedDocuments, fieldsToSee, needlessExceptions } from './coverage.ts';
import { differenceOf } from './differences.ts';
import { type DrawnDocument, drawDocument } from './documents.ts';
import type { Caller } from './scene.ts';
import { seenIn } from './seen.ts';
import type { Operation, OracleWorld, RawAnswer } from './world.ts';

/** The figures of a run. */
export class Figures {
  documents = 0;
  /** The number of documents for which at least one caller received rows. */
  withRows = 0;
  /** The numbers of first responses to callers, of those with rows, and of refusals to execute the document. */
  answers = 0;
  answersWithRows = 0;
  refused = 0;
  /** All requests, including repeats. */
  requests = 0;
  /** The fields that had a value when they were compared, as `Type.field`. */
  seen = new Set<string>();
}

/** How long fast-check may spend shrinking a document that shows a difference. */
const shrinkMs = 40_000;

const numbers = fc.array(fc.nat(0x7fffffff), { minLength: 30, maxLength: 300, size: 'max' });

/**
 * Sends random documents and compares the service's responses with those of the stock execution. To repeat the
 * documents of an earlier run, set the environment variable `ORACLE_SEED` to that run's seed.
 * @throws Error for the first difference, with the seed, the shrunk document, the caller and both responses
 */
export async function runOracle(world: OracleWorld, documents: number): Promise<Figures> {
  const seed = process.env.ORACLE_SEED ? Number(process.env.ORACLE_SEED) : Date.now() & 0x7fffffff;
  const figures = new Figures();
  let failed: unknown;
  let until = Number.POSITIVE_INFINITY;
  const one = async (drawn: readonly number[]) => {
    // Once the shrinking time is over, the search for a smaller document ends.
    if (performance.now() > until) return;
    const asked = drawCase(world, new Choices(drawn));
    try {
      await check(world, asked, figures);
    } catch (error) {
      until = Math.min(until, performance.now() + shrinkMs);
      failed = error;
      throw error;
    }
  };
  try {
    await fc.assert(fc.asyncProperty(numbers, one), { numRuns: documents, seed });
  } catch (error) {
    if (!(failed instanceof Error)) throw error;
    throw new Error(`${failed.message}\nORACLE_SEED=${seed} repeats it`, { cause: failed });
  }
  await seeTheRest(world, figures);
  return figures;
}

/**
 * Requests the fields for which no random document has received a value.
 * @throws Error if any of them still has no value, or if exceptions are obsolete
 */
async function seeTheRest(world: OracleWorld, figures: Figures): Promise<void> {
  const { schema } = world;
  const missing = new Set(fieldsToSee(schema));
  const choices = new Choices(Array.from({ length: 10_000 }, (_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 5));
  const isSeen = () => {
    for (const field of figures.seen) missing.delete(field);
    return missing.size === 0;
  };
  for (const [home, material] of world.material.entries()) {
    if (isSeen()) break;
    const all = world.callers.filter(({ platform }) => platform === home);
    for (const { isPlain, ...drawn } of directedDocuments(schema, missing, choices, material)) {
      const asked = { ...drawn, callers: isPlain ? all.slice(0, 1) : all, isRepeated: false };
      const apart = new Figures();
      apart.seen = figures.seen;
      await check(world, asked, apart);
      if (isSeen()) break;
    }
  }
  const needless = needlessExceptions(schema, figures.seen);
  if (missing.size + needless.length === 0) return;
  throw new Error(
    [
      `no response contained a value for these fields: ${[...missing].join(', ') || 'none'}`,
      `these exceptions are not needed: ${needless.join(', ') || 'none'}`,
      'test/oracle/scene.ts creates the data that documents query; test/oracle/coverage.ts lists the fields without a value, and why',
    ].join('\n'),
  );
}

/** A document, and the callers who send it in turn, each with the next set of variables. */
interface Case extends DrawnDocument {
  readonly callers: readonly Caller[];
  /** Whether the document is sent often enough to go through each of the service's execution paths. */
  readonly isRepeated: boolean;
}

function drawCase(world: OracleWorld, choices: Choices): Case {
  const home = choices.oneIn(4) ? 1 : 0;
  const ofHome = world.callers.filter(({ platform }) => platform === home);
  const ofOther = world.callers.filter(({ platform }) => platform !== home);
  const callers = [choices.oneOf(ofHome), choices.oneOf(ofHome)];
  if (choices.oneIn(2)) callers.push(choices.oneOf(choices.oneIn(2) ? ofOther : ofHome));
  const isRepeated = choices.oneIn(8);
  return { ...drawDocument(world.schema, choices, world.material[home]), callers, isRepeated };
}

let checks = 0;

/** @throws Error if the service's response to a caller differs from the stock response */
async function check(world: OracleWorld, asked: Case, figures: Figures): Promise<void> {
  const { operationName, variables, callers, isRepeated } = asked;
  checks += 1;
  // The comment makes the document new to the service, so that nothing cached for an earlier one affects it.
  const query = `${asked.query}\n# ${checks}`;
  figures.documents += 1;
  const firsts: Asked[] = [];
  let hasRows = false;
  for (const [at, caller] of callers.entries()) {
    const operation = { query, operationName, variables: variables[at % variables.length] ?? {} };
    const [result, expected] = await Promise.all([world.ask(operation, caller), world.ask(operation, caller, true)]);
    const answer = result.json();
    const isRefused = isOverBudget(answer);
    const difference = isRefused ? undefined : differenceOf(expected.json(), answer);
    if (difference !== undefined) throw different(difference, caller.name, operation, expected, result);
    const seen = seenIn(world.schema, query, operationName, answer.data);
    // Errors may have made fields null, in which case the values of those fields were not compared.
    if (!isRefused && !answer.errors) for (const field of seen.fields) figures.seen.add(field);
    firsts.push({ caller, operation, answer: result });
    hasRows ||= seen.rows > 0;
    figures.answers += 1;
    figures.answersWithRows += seen.rows > 0 ? 1 : 0;
    figures.refused += answer.data === undefined ? 1 : 0;
    figures.requests += 1;
  }
  figures.withRows += hasRows ? 1 : 0;
  if (new Set(callers.map(({ platform }) => platform)).size > 1) await checkTogether(world, firsts);
  if (!isRepeated) return;

  const again = async ({ caller, operation, answer: { text } }: Asked) => {
    const answer = await world.ask(operation, caller);
    figures.requests += 1;
    if (answer.text === text) return;
    const expected = await world.ask(operation, caller, true);
    const difference = differenceOf(expected.json(), answer.json());
    if (difference === undefined) return;
    const others = firsts.map((one) => `${one.caller.name} with ${JSON.stringify(usedVariables(one.operation))}`);
    const turns = `${caller.name}, taking turns with ${others.join('; ')}`;
    throw different(`on a repeated request, ${difference}`, turns, operation, expected, answer);
  };
  for (let round = Math.ceil(often / callers.length); round > 0; round--) {
    // Rounds alternate between sequential and concurrent requests.
    if (round % 2 === 0) for (const one of firsts) await again(one);
    else await Promise.all(firsts.map(again));
  }
}

/** @throws Error if the stock execution, with all callers at once, responds differently from the service */
async function checkTogether(world: OracleWorld, firsts: readonly Asked[]): Promise<void> {
  const together = await Promise.all(firsts.map(({ operation, caller }) => world.ask(operation, caller, true)));
  for (const [at, { operation, caller, answer }] of firsts.entries()) {
    const beside = together[at];
    if (!beside || isOverBudget(beside.json())) continue;
    const unlike = differenceOf(answer.json(), beside.json());
    if (unlike !== undefined)
      throw different(`among concurrent stock reads, ${unlike}`, caller.name, operation, answer, beside);
  }
}

const isOverBudget = ({ errors }: Answer) => errors?.[0]?.extensions?.code === 'COST_LIMIT_EXCEEDED';

/** The first response to a caller. */
interface Asked {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly answer: RawAnswer;
}

function usedVariables({ query, variables = {} }: Operation): object {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => new RegExp(`\\$${name}\\b`).test(query)));
}

function different(what: string, caller: string, operation: Operation, expected: RawAnswer, answer: RawAnswer): Error {
  return new Error(
    [
      `the service's response differs from the stock response: ${what}`,
      `asked by ${caller}`,
      operation.query,
      `variables: ${JSON.stringify(usedVariables(operation))}`,
      `expected: ${expected.text}`,
      `answered: ${answer.text}`,
    ].join('\n'),
  );
}
