// Who may import whom (ARCHITECTURE.md draws it). The layers of src, from left to right: an import goes only to the right. What is
// stricter inside a layer stands in `modules`.
const layers = {
  apps: [],
  ops: ['server', 'api', 'domain', 'rails', 'core', 'infra'],
  server: ['api', 'domain', 'rails', 'core', 'infra'],
  api: ['domain', 'rails', 'core', 'infra'],
  domain: ['rails', 'core', 'infra'],
  rails: ['core', 'infra'],
  core: ['infra'],
  infra: [],
};

// What all other folders of the domain may import.
const ledger = ['domain/commands', 'domain/access', 'domain/ledger', 'domain/events'];
const hooks = ['api/webhooks', 'api/webhooks/endpoints', 'api/webhooks/delivery'];
// The folders of the schema, one for each subject.
const subjects = ['customers', 'payments', 'platform', 'streams', 'values', 'webhooks'].map((subject) => `api/graphql/schema/${subject}`);
const schema = ['api/graphql/schema', 'api/graphql/reading', 'api/graphql', ...hooks];

// A module is a folder without the modules inside it. It imports itself, the modules of its layer that are named after it, and the
// layers to the right. A folder that is not named belongs to the module around it.
const modules = {
  // For apps.
  'apps/client': ['apps/client/generated'],
  'apps/client/generated': ['apps/client'],
  'apps/client/build': ['apps/client'],
  'apps/lab': ['apps/client', 'apps/client/generated'],
  'apps/console': [],
  'apps/wallet': ['apps/client', 'apps/client/generated'],
  'apps/terminal': ['apps/client', 'apps/client/generated'],
  // The form of commands, of tables and of failures is one for developers and operators.
  ops: ['apps/terminal'],
  server: ['server/start', 'server/workers', 'server/observe'],
  'server/start': ['server'],
  'server/workers': [],
  'server/observe': [],
  'api/http': ['api/pages', 'api/graphql/transports', 'api/graphql/server', 'api/graphql', 'api/rest', 'api/http/bodies', ...hooks],
  'api/pages': ['api/http/bodies'],
  'api/rest': ['api/rest/endpoints', 'api/rest/schemas', 'api/http/bodies', 'api/records', ...hooks],
  'api/rest/endpoints': ['api/rest', 'api/rest/schemas', 'api/graphql/documents', 'api/http/bodies', 'api/records', ...hooks],
  'api/rest/schemas': ['api/records', 'api/webhooks'],
  'api/graphql/transports': [...schema, 'api/graphql/server', 'api/graphql/limits', 'api/graphql/documents', 'api/http/bodies'],
  'api/graphql/server': [...subjects, ...schema, 'api/graphql/limits', 'api/graphql/documents', 'api/http/bodies', 'api/records'],
  ...Object.fromEntries(subjects.map((subject) => [subject, [...subjects, ...schema]])),
  'api/graphql/schema': ['api/graphql/reading', 'api/graphql', ...hooks],
  'api/graphql/reading': ['api/graphql/limits', 'api/graphql', ...hooks],
  'api/graphql/limits': ['api/graphql'],
  'api/graphql/documents': [],
  'api/graphql': hooks,
  'api/webhooks': ['api/webhooks/delivery', 'api/records'],
  'api/webhooks/endpoints': ['api/webhooks', 'api/webhooks/delivery'],
  'api/webhooks/delivery': ['api/webhooks', 'api/webhooks/endpoints', 'api/records'],
  'api/records': [],
  'api/http/bodies': [],
  'domain/sandbox': ['domain/accounts', 'domain/approvals', 'domain/customers', 'domain/orders', 'domain/quotes', ...ledger],
  'domain/settlement': ['domain/approvals', 'domain/orders', 'domain/quotes', 'domain/transfers', ...ledger],
  'domain/reconciliation': ['domain/orders', ...ledger],
  'domain/platforms': ['domain/customers', 'domain/accounts', 'domain/pricing', 'domain/access/tokens', ...ledger],
  'domain/providers': ['domain/customers', 'domain/orders', ...ledger],
  'domain/quotes': ['domain/accounts', 'domain/orders', 'domain/pricing', 'domain/receivers', ...ledger],
  'domain/customers': ['domain/accounts', 'domain/orders', ...ledger],
  'domain/transfers': ['domain/accounts', 'domain/approvals', 'domain/orders', ...ledger],
  'domain/receivers': ['domain/orders', 'domain/pricing', ...ledger],
  'domain/accounts': ['domain/orders', ...ledger],
  'domain/pricing': ['domain/orders', ...ledger],
  'domain/approvals': ['domain/orders', ...ledger],
  'domain/policies': ledger,
  'domain/statements': ledger,
  'domain/orders': ledger,
  'domain/commands': ['domain/access', 'domain/ledger', 'domain/events'],
  'domain/ledger': ['domain/events'],
  'domain/access/tokens': ['domain/access/limits', 'domain/access'],
  'domain/access/limits': ['domain/access'],
  'domain/access': [],
  'domain/events': [],
  // The simulation, and another service of the specified REST interface: the domain reaches both through the rail's interface.
  'rails/sandbox': ['rails', 'rails/conformance'],
  'rails/upstream': ['rails'],
  'rails/conformance': ['rails'],
  rails: [],
  core: [],
  'infra/health': [
    'infra/database/migrations',
    'infra/database/connections',
    'infra/database',
    'infra/instruments',
  ],
  'infra/database/migrations': ['infra/database/embedded', 'infra/database', 'infra/database/connections'],
  'infra/database/embedded': ['infra/database'],
  'infra/database/replicas': ['infra/database', 'infra/database/connections', 'infra/instruments'],
  'infra/database': ['infra/database/connections', 'infra/instruments'],
  'infra/database/connections': ['infra/instruments'],
  'infra/instruments': [],
  'infra/net': [],
};

/** The files of a module, in a regular expression. */
function filesOf(name) {
  const inside = Object.keys(modules).filter((other) => other.startsWith(`${name}/`));
  return `^src/${name}/${inside.map((other) => `(?!${other.slice(name.length + 1)}/)`).join('')}`;
}

const layerOf = (name) => name.split('/')[0];
/** What runs in browsers, and what makes it. */
const bundled = '^src/(apps/(lab|console|wallet)/|api/pages/build\\.ts$)';

module.exports = {
  forbidden: [
    ...Object.entries(modules).map(([name, allowed]) => ({
      name: `from-${name.replaceAll('/', '-')}`,
      severity: 'error',
      from: { path: filesOf(name) },
      to: { path: '^src/', pathNot: [...[name, ...allowed].map(filesOf), ...layers[layerOf(name)].map((layer) => `^src/${layer}/`)] },
    })),
    {
      name: 'known-modules-only',
      comment: 'This file names every folder of src that others import.',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: Object.keys(modules).map(filesOf) },
    },
    {
      name: 'simulation-behind-the-rail',
      comment: 'Only the server and the commands of operators load a rail: everything else reaches it through its interface.',
      severity: 'error',
      from: { path: '^src/(api|domain)/' },
      to: { path: '^src/rails/(sandbox|upstream|conformance)/' },
    },
    {
      name: 'apis-have-viewers',
      comment: 'A command that comes through an API runs for the viewer who sent it, never for the platform itself.',
      severity: 'error',
      from: { path: '^src/api/(graphql|rest|http)/' },
      to: { path: '^src/domain/access/platform-itself.ts' },
    },
    {
      name: 'commands-load-the-service-late',
      comment: 'The commands of developers know the service by its public API alone: only those of operators load it.',
      severity: 'error',
      from: { path: '^src/commands[.]ts$' },
      to: { path: '^src/', pathNot: '^src/apps/terminal/', dynamic: false },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'packages-of-a-production-install',
      comment: 'What src imports must be there after `npm ci --omit=dev`: a dependency of package.json.',
      severity: 'error',
      // An app brings what the client package imports: its peers are packages of development here.
      from: { path: '^src/', pathNot: [bundled, '^src/apps/client/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-optional', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'packages-of-pages',
      comment: 'What is bundled for browsers, and the bundler, may be missing where no pages are shown: optional dependencies.',
      severity: 'error',
      from: { path: bundled },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'prisma-moves-no-money',
      comment: 'Money is posted through pg, in one transaction (src/domain/ledger).',
      severity: 'error',
      from: { path: '^src/domain/ledger/' },
      to: { path: 'generated/client/client', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Its parser reads no JSX: there Biome checks the imports (biome.json).
    exclude: { path: 'src/infra/database/generated|[.](tsx|css)$' },
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    tsPreCompilationDeps: true,
  },
};
