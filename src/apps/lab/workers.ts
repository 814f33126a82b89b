import { readSettings } from './settings.ts';

// The editors check documents and variables in workers, whose files are next to this one.

const { workers } = readSettings();

Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) =>
      new Worker(label === 'json' || label === 'graphql' ? workers[label] : workers.editor, { type: 'module' }),
  },
});
