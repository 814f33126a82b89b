import { type Fraction, parseDecimal, whole } from '../../src/core/fraction.ts';

/**
 * Reads definitions in SMT-LIB and evaluates them exactly for given numbers, so that the solver and the tests use the
 * same text. It uses the arithmetic in src/core/fraction.ts, which pricing.test.ts checks separately, but not the
 * rounding functions there, because the definitions serve to check those.
 */

/** An S-expression: an atom or a list. */
type Expression = string | readonly Expression[];

export type Value = boolean | Fraction;

interface Definition {
  readonly parameters: readonly string[];
  readonly body: Expression;
}

type Scope = ReadonlyMap<string, Value>;

/** The functions that a string of SMT-LIB defines with `define-fun`. */
export class Definitions {
  readonly #definitions = new Map<string, Definition>();

  constructor(text: string) {
    for (const [command, name, parameters, , body] of parse(text) as Expression[][]) {
      if (command !== 'define-fun' || typeof name !== 'string' || !Array.isArray(parameters) || body === undefined) {
        throw new Error(`not a definition: ${String(name)}`);
      }
      this.#definitions.set(name, { parameters: parameters.map(([parameter]) => String(parameter)), body });
    }
  }

  /** Evaluates an expression, substituting the given values for the names in it. */
  evaluate(text: string, values: Readonly<Record<string, Value>>): Value {
    const [expression] = parse(text);
    if (expression === undefined) throw new Error('there is no expression');
    return this.#value(expression, new Map(Object.entries(values)));
  }

  #value(expression: Expression, scope: Scope): Value {
    if (typeof expression === 'string') return scope.get(expression) ?? literal(expression);
    const [head, ...rest] = expression;
    if (head === 'let') return this.#let(rest, scope);
    if (head === 'ite') {
      const [condition, yes, no] = rest as [Expression, Expression, Expression];
      return this.#value(this.#value(condition, scope) === true ? yes : no, scope);
    }
    const values = rest.map((each) => this.#value(each, scope));
    const definition = this.#definitions.get(String(head));
    if (!definition) return builtIn(String(head), values);
    const bound = definition.parameters.map((name, at) => [name, values[at] ?? missing(name)] as const);
    return this.#value(definition.body, new Map(bound));
  }

  #let([bindings, body]: readonly Expression[], scope: Scope): Value {
    const inner = new Map(scope);
    for (const [name, value] of bindings as [string, Expression][]) inner.set(name, this.#value(value, scope));
    return this.#value(body ?? missing('the body of let'), inner);
  }
}

function missing(what: string): never {
  throw new Error(`${what} is missing`);
}

function parse(text: string): Expression[] {
  const stack: Expression[][] = [[]];
  for (const token of text.replaceAll(/;.*/g, '').match(/[()]|[^\s()]+/g) ?? []) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const list = stack.pop() ?? [];
      (stack.at(-1) ?? missing('an opening bracket')).push(list);
    } else stack.at(-1)?.push(token);
  }
  if (stack.length !== 1) missing('a closing bracket');
  return stack[0] ?? [];
}

function literal(atom: string): Value {
  if (atom === 'true' || atom === 'false') return atom === 'true';
  return parseDecimal(atom);
}

const logic: Readonly<Record<string, (values: readonly Value[]) => boolean>> = {
  and: (values) => values.every((value) => value === true),
  or: (values) => values.includes(true),
  not: ([value]) => value !== true,
  '=>': ([given, claim]) => given !== true || claim === true,
};

const comparisons: Readonly<Record<string, (difference: bigint) => boolean>> = {
  '=': (difference) => difference === 0n,
  distinct: (difference) => difference !== 0n,
  '<': (difference) => difference < 0n,
  '<=': (difference) => difference <= 0n,
  '>': (difference) => difference > 0n,
  '>=': (difference) => difference >= 0n,
};

const arithmetic: Readonly<Record<string, (first: Fraction, ...others: readonly Fraction[]) => Value>> = {
  '+': (first, ...others) => others.reduce((sum, other) => sum.plus(other), first),
  '-': (first, ...others) =>
    others.length === 0 ? whole(0n).minus(first) : others.reduce((rest, other) => rest.minus(other), first),
  '*': (first, ...others) => others.reduce((product, other) => product.times(other), first),
  '/': (first, second = missing('a divisor')) => first.over(second),
  div: (first, second = missing('a divisor')) => whole(floor(first.over(second))),
  to_int: (first) => whole(floor(first)),
  to_real: (first) => first,
  is_int: (first) => first.numerator % first.denominator === 0n,
};

function builtIn(name: string, values: readonly Value[]): Value {
  const [connective, comparison, operation] = [logic[name], comparisons[name], arithmetic[name]];
  if (connective) return connective(values);
  const [first = missing('an argument'), ...others] = values.map(number);
  if (comparison) return comparison(first.minus(others[0] ?? missing('an argument')).numerator);
  if (!operation) throw new Error(`${name} is not defined`);
  return operation(first, ...others);
}

function number(value: Value): Fraction {
  if (typeof value === 'boolean') throw new Error('a number was expected');
  return value;
}

/** Rounds a fraction down, independently of src/core/fraction.ts. */
function floor({ numerator, denominator }: Fraction): bigint {
  const rest = ((numerator % denominator) + denominator) % denominator;
  return (numerator - rest) / denominator;
}
