import type {
  RequestTrace as RequestTraceShape,
  TracedStatement as StatementShape,
} from '../../../instruments/request-traces.ts';
import { builder } from '../builder.ts';

const TracedStatement = builder.objectRef<StatementShape>('TracedStatement').implement({
  description: 'A statement that a request has sent to the database, without its values.',
  fields: (t) => ({
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name under which it is prepared, if it has one.',
    }),
    text: t.exposeString('text', { description: 'Its SQL: the first 1,000 characters.' }),
    startMs: t.exposeFloat('startMs', { description: "When it was sent, in milliseconds after the request's begin." }),
    durationMs: t.exposeFloat('durationMs', {
      nullable: true,
      description:
        'How long its result took, in milliseconds, with the wait for others that shared its transaction; null while it runs.',
    }),
    rows: t.exposeInt('rows', {
      nullable: true,
      description: 'How many rows it returned or changed; null where that is not known.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'The SQLSTATE or the message of its failure; null where it has not failed.',
    }),
  }),
});

const RequestTrace = builder.objectRef<RequestTraceShape>('RequestTrace').implement({
  description:
    'What a request over HTTP was and did, for whoever builds on the sandbox. It is in memory, of one instance, for as long as there are not too many newer ones.',
  fields: (t) => ({
    requestId: t.exposeString('id', { description: 'Its id: the header X-Request-Id of its answer.' }),
    at: t.expose('at', { type: 'DateTime', description: "When it came, by the instance's clock." }),
    method: t.exposeString('method', { description: 'Its HTTP method.' }),
    path: t.exposeString('path', { description: 'Its path, without the query.' }),
    document: t.exposeString('document', {
      nullable: true,
      description: 'Its GraphQL document: the first 8,000 characters. Null for REST.',
    }),
    input: t.exposeString('input', {
      nullable: true,
      description:
        'Its variables, or its body in REST, as JSON: the first 4,000 characters. Secrets are hidden. Null where it has none.',
    }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The HTTP status of its answer; null while it runs, and where its client went before.',
    }),
    durationMs: t.exposeFloat('durationMs', {
      nullable: true,
      description: 'How long it took, in milliseconds; null while it runs.',
    }),
    statements: t.field({
      type: [TracedStatement],
      description: 'Its first 50 statements, in their order. Who asks is looked up apart from them, now and then.',
      resolve: ({ statements }) => statements,
    }),
    omittedStatements: t.exposeInt('omittedStatements', { description: 'How many statements came after these.' }),
    made: t.idList({
      description:
        'The ids of what its mutations or its REST command have made or changed: `node` leads on from there.',
      resolve: ({ made }) => made,
    }),
  }),
});

builder.queryField('requestTrace', (t) =>
  t.field({
    type: RequestTrace,
    authScopes: { permission: 'MANAGE' },
    nullable: true,
    description:
      'What a request of this platform was and did, by the id in the header X-Request-Id of its answer. Null where it is unknown, too long ago, or another instance has answered it; null for platforms of PRODUCTION, and where the setting INSPECT_REQUESTS is 0. Needs MANAGE: it shows what any token of the platform has sent.',
    args: {
      requestId: t.arg.string({ required: true, description: "The request's id." }),
    },
    resolve: (_root, { requestId }, { viewer, traces }) => traces?.find(viewer.platformId, requestId) ?? null,
  }),
);
