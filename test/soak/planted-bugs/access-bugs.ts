import type { Bugs } from './plant.ts';

/** Bugs in access, tokens and what callers see. */
export const accessBugs: Bugs = {
  'src/domain/access/limits/refusal-pace.ts': {
    'access/refusal-pace › wait for at most twelve seconds, and are spread out at that limit': {
      ' - spreadMs * ((source.longest * goldenRatio) % 1)': '',
    },
    'access/refusal-pace › do not wait once the instance is stopping': {
      'this.#ended.abort();': '',
    },
  },
  'src/domain/access/operations.ts': {
    'access/client-tokens › an app cannot run server-only operations, whatever its permissions': {
      "if (caller.kind === 'CLIENT' && !('client' in operation)) {":
        "if (caller.kind === 'CLIENT' && !(name in operations)) {",
    },
    'access/grants › an app cannot add an account, and the refusal names the missing grant': {
      'if (!grants.includes(grant)) {': 'if (!grants.includes(grant) && grants.length > 2) {',
    },
    'access/expected-versions › every mutation that changes a record accepts the version that its caller has read': {
      "cancelQuote: { permission: 'TRANSACT', client: true, changes: true }":
        "cancelQuote: { permission: 'TRANSACT', client: true }",
    },
    'access/permissions › granting access to events, or reading them through an endpoint, needs VIEW on both APIs': {
      "if ('reads' in operation) requirePermission(caller, 'VIEW');": '',
    },
    'attack/matrix › over GraphQL, a token with fewer rights learns nothing about the objects that it names': {
      "requirePermission(caller, permission, ...('or' in operation ? [operation.or] : []));": '',
    },
  },
  'src/domain/access/run-idempotent.ts': {
    'access/permissions › a domain command refuses a caller without its permission, even if the API has not done so': {
      'authorize(caller, command.operation);': '',
    },
  },
  'src/domain/access/tokens/client-tokens.ts': {
    'access/client-tokens › a revoked or forged client token is treated like a missing one': {
      ' and t.revoked_at is null and': ' and',
      'algorithms: [algorithm], issuer, currentDate': 'algorithms: [algorithm], currentDate',
    },
  },
  'src/domain/access/tokens/token-records.ts': {
    'access/keys › the expiry of a token is announced once, a week ahead, by event and webhook, but not to apps': {
      ' and warned_at is null': '',
    },
  },
  'src/domain/access/tokens/revoke-tokens.ts': {
    'access/token-parents › a revoked token disables the endpoints that it or a descendant created, redirected or enabled':
      {
        "and token_id in (select id from family) and $5 and status <> 'DISABLED'":
          "and token_id in (select id from family) and not $5 and status <> 'DISABLED'",
        'for (const endpointId of endpoints) await dropPending(on, caller.platformId, endpointId);':
          'if (endpoints.length > 20) await dropPending(on, caller.platformId, id);',
      },
    'access/keys › revoking a token ends its successor': {
      'f.id in (t.created_by_id, t.replaces_id)': 't.created_by_id = f.id and t.replaces_id is null',
    },
  },
  'src/domain/access/tokens/sessions.ts': {
    'access/rights-that-end › ends when it is renewed by %s': {
      'for (const couldBegin of open.underWay) if (!(await couldBegin(viewer))) return false;': '',
    },
    'access/rights-that-end › a stream that is still opening when a lesser token renews its socket does not open': {
      'if (await couldBegin(open.viewer)) return': 'if (open.underWay.size > 0) return',
    },
  },
  'src/domain/access/tokens/token-bounds.ts': {
    'graphql/trusted-documents › creates and replaces only tokens whose documents are among its own': {
      'documents: documents.length > 0 ? [...new Set(documents)] : own,': 'documents: [...new Set(documents)],',
    },
    'access/keys › a token cannot create a token that lasts longer, or is accepted from other addresses': {
      "if (isLonger && ifLonger === 'refuse')": "if (!isLonger && ifLonger === 'shorten' && now.getTime() < 0)",
    },
  },
  'src/domain/access/visible.ts': {
    'access/same-tick › finds nothing of another customer for an app, though its platform sends the same in the same tick':
      {
        'JSON.stringify([platformId, bound])': 'JSON.stringify([platformId, bound.kind === "PAYMENT"])',
      },
    'access/client-tokens › API tokens are created, listed, used and revoked by callers who may manage': {
      ', { revokedAt: null }': '',
      "return viewer.permissions.includes('MANAGE') ? visibleToPlatform(viewer) : matchesNothing;":
        'return visibleToPlatform(viewer);',
    },
    "access/lists › the application itself finds no foreign %s, even without the database's checks": {
      'where(rules.transaction, scope);': '({ ...where(rules.transaction, scope), platformId: undefined });',
    },
    'events/audience › payer and payee each get the events of their own side of a payment only': {
      "return event.platformId === scope.platformId && maySee('event', scope, event);": {
        put: 'return event.platformId === scope.platformId;',
        also: [
          {
            file: 'src/api/graphql/schema/streams/stream.ts',
            find: 'subject: subject ?? subjectOf(viewer.bound),',
            put: 'subject,',
          },
        ],
      },
    },
    'access/client-tokens › a token of one quote shows that quote and its transaction, without names or accounts': {
      '...(field === null ? matchesNothing : equal': '...(field === null ? {} : equal',
    },
    'attack/matrix › over GraphQL, objects named by %s look as if they never existed': {
      'where(rules.customer, scope);': '({ platformId: scope.platformId });',
    },
    "access/lists › a command itself finds no foreign %s, and none of another customer, even without the database's checks":
      {
        '.platform_id = $1 and ': '.platform_id is not null and $1::uuid is not null and ',
      },
    "access/lists › the application itself finds no foreign WebhookEndpoint, even without the database's checks": {
      'return where(rules.ofPlatform, scope);':
        "return (scope.bound.kind === 'PLATFORM' ? {} : where(rules.ofPlatform, scope)) as { platformId: string };",
    },
    'access/lists › for every caller, an event is visible in a stream if and only if a list shows it': {
      'where(rules.event, scope);': '({ platformId: scope.platformId });',
      "return event.platformId === scope.platformId && maySee('event', scope, event);":
        'return event.platformId === scope.platformId;',
    },
    'payments/policies › is shown to those who may see it: an app learns nothing about the usage of others': {
      "if (bound.kind === 'PAYMENT') return { AND: [matchesNothing] };": '',
      ", ...(!permissions.includes('MANAGE') && { subjectType: { in: ['Customer', 'Platform'] } })": '',
      "if (bound.kind === 'PLATFORM') return true;\n  return subjectId": 'if (bound) return true;\n  return subjectId',
    },
  },
};
