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
import { Fragment, useEffect } from 'react';

/** The buttons that act on the document. */
export function DocumentTools() {
  const { prettifyEditors, mergeQuery, copyQuery, introspect } = useGraphiQLActions();
  const merge = () => {
    mergeQuery();
    void prettifyEditors();
  };
  useEffect(() => {
    // GraphiQL gives its editors these shortcuts with Monaco's WinCtrl, which is the Windows key except on macOS.
    const acts: Readonly<Record<string, () => unknown>> = {
      ...{ KeyP: prettifyEditors, KeyM: merge, KeyC: copyQuery },
      KeyR: introspect,
    };
    const press = (event: KeyboardEvent) => {
      const act = acts[event.code];
      if (!act || !event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey || event.defaultPrevented) return;
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
      <ToolbarButton label={`Prettify (${KEY_MAP.prettify.key})`} onClick={prettifyEditors}>
        <PrettifyIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      <ToolbarButton label={`Merge fragments (${KEY_MAP.mergeFragments.key})`} onClick={merge}>
        <MergeIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
      <ToolbarButton label={`Copy the document (${KEY_MAP.copyQuery.key})`} onClick={copyQuery}>
        <CopyIcon className="graphiql-toolbar-icon" aria-hidden="true" />
      </ToolbarButton>
    </>
  );
}

/** Chooses the theme. GraphiQL stores it in this browser. */
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
  ['Ctrl-Space', 'Complete what is typed'],
  [formatShortcutForOS(KEY_MAP.searchInEditor.key, 'Cmd'), 'Search in the editor'],
  [formatShortcutForOS(KEY_MAP.searchInDocs.key, 'Cmd'), 'Search the schema, when it is open'],
  [KEY_MAP.refetchSchema.key, 'Load the schema again'],
  ['← → Home End', 'Open another tab, with the focus on the tabs'],
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
