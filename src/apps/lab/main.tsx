import { createRoot } from 'react-dom/client';
import { takeLinked } from './copies.ts';
import { Lab } from './lab.tsx';
import { readSettings } from './settings.ts';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import '../pages.css';
import './lab.css';

const settings = readSettings();
// The editors check documents and variables in workers, whose files are next to this one.
Object.assign(globalThis, {
  MonacoEnvironment: {
    getWorker: (_id: string, label: string) =>
      new Worker(settings.workers[label === 'json' || label === 'graphql' ? label : 'editor'], { type: 'module' }),
  },
});

const linked = takeLinked();
// Opening a link to the lab in a browser tab that already shows it changes only the fragment.
addEventListener('hashchange', () => location.reload());

const root = document.getElementById('lab');
if (root) createRoot(root).render(<Lab {...{ settings, linked }} />);
