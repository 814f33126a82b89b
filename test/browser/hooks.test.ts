import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { browserPath, startBrowser } from '../setup/browser.ts';

/** A component that follows a document. `window.shown` lists what it has rendered. */
const app = `
import { createElement, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { PaymentsProvider, useFollow } from './react.ts';

const service = () => {
  const streams = [];
  return { streams, follow: (options) => (streams.push(options), { done: new Promise(() => {}), stop() {} }) };
};
const shown = [];
const Shown = ({ document }) => {
  const { value } = useFollow(document, { id: '1' }, (_value, data) => data);
  shown.push(document + ': ' + value);
  return null;
};
const root = createRoot(window.document.createElement('div'));
const render = (payments, document) => {
  const page = createElement(PaymentsProvider, { payments }, createElement(Shown, { document }));
  flushSync(() => root.render(createElement(StrictMode, null, page)));
};
const [one, other] = [service(), service()];
render(one, 'A');
flushSync(() => one.streams.at(-1).onMessage('A of one'));
render(one, 'B');
flushSync(() => one.streams.at(-1).onMessage('B of one'));
render(other, 'B');
flushSync(() => other.streams.at(-1).onMessage('B of other'));
window.shown = shown;
`;

test.skipIf(browserPath === undefined)(
  'after a change of the document or the service, a hook shows no value of the stream before',
  async () => {
    const { outputFiles } = await build({
      ...{ bundle: true, write: false, format: 'esm', target: 'es2022' },
      define: { 'process.env.NODE_ENV': '"production"' },
      stdin: { contents: app, resolveDir: 'src/apps/client', loader: 'ts' },
    });
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.addScriptTag({ type: 'module', content: outputFiles[0]?.text ?? '' });
    await page.waitForFunction('window.shown');
    const shown = ['A: undefined', 'A: A of one', 'B: undefined', 'B: B of one', 'B: undefined', 'B: B of other'];
    expect(await page.evaluate('window.shown')).toEqual(shown);
  },
);
