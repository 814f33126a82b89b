import type { InputFieldMap, InputShapeFromFields, TypeParam } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { authorize, type Operation } from '../../access/operations.ts';
import type { Viewer } from '../../access/viewer.ts';
import { Refusal, refusalIn } from '../../core/refusal.ts';
import type { Context } from '../context.ts';
import { abandoned } from '../failure.ts';
import { furtherRead } from '../reading/further-read.ts';
import { builder, type SchemaConfig } from './builder.ts';
import { asUserError, isUserError, type MemberName, memberNameOf, memberTypes } from './refusals.ts';

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaConfig>;
type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

interface MutationOptions<Fields extends InputFieldMap, Success extends Replayable> {
  readonly description: string;
  /** The input's fields, but for idempotencyKey, which every input has. */
  readonly input: (t: InputBuilder) => Fields;
  /** What the success has, but for `replayed`, which every success has. */
  readonly success: {
    readonly [Name in Exclude<keyof Success, 'replayed'>]: {
      readonly type: TypeParam<Types>;
      readonly description: string;
      readonly nullable?: boolean;
    };
  };
  /** Which refusals can come; the general ones (input, key, permission, load) always can. */
  readonly refusals?: readonly MemberName[];
  readonly resolve: (
    input: InputShapeFromFields<Fields> & { readonly idempotencyKey?: string | null | undefined },
    context: Context,
    info: GraphQLResolveInfo,
  ) => Promise<Success>;
}

export interface Replayable {
  readonly replayed: boolean;
}

const general: readonly MemberName[] = [
  'InvalidInputError',
  'IdempotencyMismatchError',
  'ConflictError',
  'ForbiddenError',
  'UnavailableError',
  'OutcomeUnknownError',
];

/**
 * Adds one mutation in the one shape that all have: `name(input: NameInput!): NameResult!`, a union of its success and
 * its refusals.
 */
export function mutation<Fields extends InputFieldMap, Success extends Replayable>(
  name: Operation,
  options: MutationOptions<Fields, Success>,
): void {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1);

  const input = builder.inputType(`${typeName}Input`, {
    description: `What ${name} is asked.`,
    fields: (t) => ({
      ...options.input(t),
      idempotencyKey: t.string({
        description:
          'Any 1 to 255 printable ASCII characters without spaces. The same key with the same input has one effect and one answer, however often it is sent.',
      }),
    }),
  });

  const success = builder.objectRef<Success>(`${typeName}Success`).implement({
    description: `${name} succeeded.`,
    fields: (t) => ({
      ...mapValues(options.success, ({ type, description, nullable = false }, field) =>
        // The success has each of these fields in its type; through the loop the compiler loses which.
        t.field({ type, description, nullable, resolve: (result) => result[field] as never }),
      ),
      replayed: t.boolean({
        description: 'Whether this repeats the answer to an earlier request with the same idempotency key.',
        resolve: (result) => result.replayed,
      }),
    }),
  });

  const refusals = [...new Set([...(options.refusals ?? []), ...general])];
  const result = builder.unionType(`${typeName}Result`, {
    description: `What came of ${name}: its success, or why it was refused.`,
    types: [success, ...refusals.map((member) => memberTypes[member])],
    resolveType: (value) => (isUserError(value) ? memberNameOf(value) : `${typeName}Success`),
  });

  builder.mutationField(name, (t) =>
    t.field({
      type: result,
      description: options.description,
      args: { input: t.arg({ type: input, required: true, description: `What ${name} is asked.` }) },
      // The input has the fields that were declared for it above, which the compiler cannot follow through the generics.
      resolve: (async (_root: unknown, args: { input: unknown }, context: Context, info: GraphQLResolveInfo) => {
        // Of a document's mutations each begins when the one before has ended.
        if (context.isAbandoned()) throw abandoned();
        try {
          authorize(context.viewer, name);
          requireViewToRead(context.viewer, info);
          // The input's type is made from the very fields that `options.input` declares.
          return await options.resolve(args.input as never, context, info);
        } catch (error) {
          const refusal = refusalIn(error);
          if (refusal) return asUserError(refusal, name, args.input);
          throw error;
        }
        // Made from a table of successes and refusals: which of them it answers, the compiler cannot follow.
      }) as never,
    }),
  );
}

/**
 * Refuses a document that reads more than the mutation answers, for a viewer who may not: before the mutation takes effect,
 * since afterwards its answer would be lost.
 * @throws Refusal FORBIDDEN
 */
function requireViewToRead({ permissions }: Viewer, info: GraphQLResolveInfo): void {
  if (permissions.includes('VIEW')) return;
  const field = furtherRead(info);
  if (field !== undefined) {
    throw new Refusal('FORBIDDEN', `this token lacks the permission VIEW, which ${field} needs`);
  }
}

function mapValues<T extends object, U>(object: T, turn: (value: T[keyof T], key: keyof T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, turn(value, key as keyof T)]));
}
