import { createRoot } from 'react-dom/client';
import './workers.ts';
import { Lab } from './lab.tsx';
import { readSettings } from './settings.ts';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import './lab.css';

const root = document.getElementById('lab');
if (root) createRoot(root).render(<Lab settings={readSettings()} />);
