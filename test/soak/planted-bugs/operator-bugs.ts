import type { Bugs } from './plant.ts';

/** Bugs in what operators see, and in their commands. */
export const operatorBugs: Bugs = {
  'src/infra/database/blockers.ts': {
    'cli/doctor › "blocked" says that a commit waits for a synchronous standby, and that ending its session does not help':
      {
        "a.wait_event is not distinct from 'SyncRep'": 'false',
      },
  },
  'src/ops/doctor-server.ts': {
    'cli/doctor › %s': {
      '(backend_xmin is not null or backend_xid is not null)': '(backend_xmin is not null)',
      "else current_setting('synchronous_standby_names') end": "else '' end",
    },
  },
  'src/ops/doctor-service.ts': {
    'cli/doctor › %s': {
      "return ['fault', holder === null ? detail : `${detail}. ${holds}`];": "return ['fault', detail];",
    },
  },
  'src/ops/restored.ts': {
    'database/restore › is warned that the database is a different one until the restore is marked': {
      '  if (!yes) return refuseUnasked(database);\n': '  void yes;\n',
    },
  },
  'src/server/observe/database-figures.ts': {
    'observe/metrics › lock waits are visible whichever table is locked, and so are retained log and used transaction numbers':
      {
        '[serverFigures, tableFigures]': '[tableFigures, serverFigures]',
      },
  },
};
