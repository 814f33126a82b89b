import {
  CopyIcon,
  formatShortcutForOS,
  KEY_MAP,
  MergeIcon,
  PrettifyIcon,
  pick,
  ToolbarButton,
  useGraphiQL,
  useGraphiQLActions,
} from '@graphiql/react';
import { parse } from 'graphql';
import { Fragment, useEffect, useRef, useState } from 'react';
import { parseObject } from './carried.ts';
import { asCode, asCurl, asLink, type Sent } from './copies.ts';
import { headersOf } from './operations.ts';
import { missingIn } from './step.ts';

/** Buttons that act on the document. A popover shows what they have copied, or why they cannot act. */
export function DocumentTools({ authorization }: { readonly authorization: string }) {
  const { prettifyEditors, mergeQuery, introspect, run } = useGraphiQLActions();
  const { queryEditor, variableEditor, headerEditor, operations, operationName } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor', 'operations', 'operationName'),
  );
  const note = useRef<HTMLElement>(null);
  const opener = useRef<Element>(null);
  const [{ title, text }, setShown] = useState({ title: '', text: '' });
  const show = (title: string, text: string) => {
    setShown({ title, text });
    opener.current = document.activeElement;
    note.current?.showPopover();
  };
  const copy = ({ what, write }: Copy) => {
    const query = queryEditor?.getValue() ?? '';
    const given = variableEditor?.getValue().trim() || '{}';
    const variables = parseObject(given) ?? {};
    const headers = parseObject(headerEditor?.getValue().trim() || '{}');
    const isWhole = write === asCurl || write === asCode;
    const missing = !query.trim()
      ? 'This tab is empty: enter an operation first.'
      : write !== theDocument.write && !parseObject(given)
        ? 'The variables are not a JSON object.'
        : isWhole && (headers ? missingIn(variables) : 'The headers are not a JSON object.');
    if (missing) return show('Nothing was copied.', missing);
    const written = write({
      url: new URL('graphql', location.href).href,
      ...{ query, variables },
      operationName: operations && operations.length > 1 ? operationName : undefined,
      headers: headersOf(headers, authorization),
    });
    show(`Copy ${what}:`, written);
    // `navigator.clipboard` exists only in a secure context (HTTPS or localhost). Without it, the text is shown but not
    // copied.
    navigator.clipboard?.writeText(written).then(
      () => setShown({ title: `Copied ${what}.`, text: written }),
      () => undefined,
    );
  };
  const prettify = () => {
    try {
      parse(queryEditor?.getValue() ?? '');
    } catch (error) {
      show('The document cannot be parsed:', String(error));
    }
    void prettifyEditors();
  };
  const merge = () => {
    mergeQuery();
    void prettifyEditors();
  };
  useEffect(() => {
    // GraphiQL's editors bind these shortcuts to Monaco's WinCtrl, which is the Ctrl key only on macOS. Outside the
    // editors, Ctrl-Enter would press the button that has the focus.
    const acts: Readonly<Record<string, () => unknown>> = {
      'Shift-KeyP': prettify,
      'Shift-KeyM': merge,
      'Shift-KeyC': () => copy(theDocument),
      'Shift-KeyR': introspect,
      Enter: run,
    };
    const press = (event: KeyboardEvent) => {
      const act = acts[`${event.shiftKey ? 'Shift-' : ''}${event.code}`];
      if (!act || event.altKey || !(event.ctrlKey || (event.metaKey && act === run))) return;
      event.preventDefault();
      // Monaco's own Ctrl-Shift-M would also change what Tab does.
      event.stopPropagation();
      act();
    };
    document.addEventListener('keydown', press, { capture: true });
    return () => document.removeEventListener('keydown', press, { capture: true });
  });
  return (
    <>
      <ToolbarButton label={`Prettify (${KEY_MAP.prettify.key})`} onClick={prettify}>
        <PrettifyIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      <ToolbarButton label={`Merge fragments (${KEY_MAP.mergeFragments.key})`} onClick={merge}>
        <MergeIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      <ToolbarButton label={`Copy the document (${KEY_MAP.copyQuery.key})`} onClick={() => copy(theDocument)}>
        <CopyIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      {copies.map(({ title, ...one }) => (
        <button key={title} type="button" onClick={() => copy(one)}>
          {title}
        </button>
      ))}
      <section
        ref={note}
        id="note"
        popover="auto"
        className="card"
        aria-label="The operation"
        onToggle={({ newState }) => {
          // Returns the focus, unless a click outside has moved it elsewhere.
          if (
            newState === 'closed' &&
            document.activeElement === document.body &&
            opener.current instanceof HTMLElement
          )
            opener.current.focus();
        }}
      >
        <p role="status">{title}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long operation can be scrolled */}
        <pre tabIndex={0}>{text}</pre>
        <button type="button" popoverTarget="note" popoverTargetAction="hide">
          Close
        </button>
      </section>
    </>
  );
}

interface Copy {
  readonly what: string;
  readonly write: (sent: Sent) => string;
}

const theDocument: Copy = { what: 'the document', write: ({ query }) => query };

const copies: readonly (Copy & { readonly title: string })[] = [
  { title: 'Share', what: 'the link', write: asLink },
  { title: 'Copy as curl', what: 'the command', write: asCurl },
  { title: 'Copy as code', what: 'the program', write: asCode },
];

/** Lets the user choose the theme. GraphiQL stores it in this browser. */
export function ThemeChoice() {
  const { setTheme } = useGraphiQLActions();
  const { theme } = useGraphiQL(pick('theme'));
  // The editors' colors follow the system's theme, which may change at sunset.
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const change = () => setTheme(theme);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, [theme, setTheme]);
  return (
    <select
      aria-label="Theme"
      value={theme ?? 'system'}
      onChange={({ target: { value } }) => setTheme(value === 'light' || value === 'dark' ? value : null)}
    >
      <option value="system">System theme</option>
      <option value="light">Light theme</option>
      <option value="dark">Dark theme</option>
    </select>
  );
}

const shortcuts: readonly (readonly [keys: string, effect: string])[] = [
  [formatShortcutForOS(KEY_MAP.runQuery.key, 'Cmd'), 'Send the operation, or stop it'],
  [KEY_MAP.prettify.key, 'Prettify the document, variables and headers'],
  [KEY_MAP.mergeFragments.key, 'Merge fragments into the operation'],
  [KEY_MAP.copyQuery.key, 'Copy the document'],
  ['Ctrl-Space', 'Complete what you are typing'],
  [formatShortcutForOS(KEY_MAP.searchInEditor.key, 'Cmd'), 'Search in the editor'],
  [formatShortcutForOS(KEY_MAP.searchInDocs.key, 'Cmd'), 'Search the schema, when it is open'],
  [KEY_MAP.refetchSchema.key, 'Load the schema again'],
  ['← → Home End', 'Open another tab, when the focus is on the tabs'],
  ['Delete', 'Close a tab that you added'],
  ['Enter', 'Type in the editor that has the focus'],
  ['Ctrl-M', 'Let Tab leave the editor'],
];

/** Lists the keyboard shortcuts. */
export function Shortcuts() {
  return (
    <>
      <button type="button" popoverTarget="shortcuts">
        Shortcuts
      </button>
      <section id="shortcuts" popover="auto" className="card" aria-label="Keyboard shortcuts">
        <dl>
          {shortcuts.map(([keys, effect]) => (
            <Fragment key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{effect}</dd>
            </Fragment>
          ))}
        </dl>
      </section>
    </>
  );
}
