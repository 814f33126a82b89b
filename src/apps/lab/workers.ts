import { readSettings } from './settings.ts';

// The editors check documents and variables in workers. Their files are beside this one.

const { workers } = readSettings();

Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) =>
      new Worker(label === 'json' || label === 'graphql' ? workers[label] : workers.editor, { type: 'module' }),
  },
});
