import { DOC_EXPLORER_PLUGIN, DocExplorer, DocExplorerStore, useDocExplorer } from '@graphiql/plugin-doc-explorer';
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN, History, HistoryStore, useHistory } from '@graphiql/plugin-history';
import { GraphiQLProvider, Tooltip } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';
import { journey } from './further-steps.ts';
import { Session, type SessionProps } from './session.tsx';

/**
 * Renders GraphiQL's schema explorer. Replaces its title "Docs", which here would suggest the pages at /docs. Also
 * replaces the search field's placeholder, which shows a shortcut that phones do not have.
 */
function SchemaExplorer() {
  const [root] = useDocExplorer();
  root.name = 'Schema';
  useEffect(() => {
    document.querySelector('.graphiql-doc-explorer-search input')?.setAttribute('placeholder', 'Search');
  });
  return <DocExplorer />;
}

const schemaPlugin = { ...DOC_EXPLORER_PLUGIN, title: 'Schema', content: SchemaExplorer };

function RequestHistory() {
  return (
    <>
      <History />
      {useHistory().length === 0 && <p className="quiet">The operations that you send are listed here.</p>}
    </>
  );
}

const explorer = explorerPlugin({ showAttribution: false });

/**
 * Renders the document builder. Its inputs take the focus whenever they appear, which opens the keyboard on a phone. If
 * the user's last action was elsewhere, such as opening a tab, the focus returns there.
 */
function Explorer() {
  const builder = useRef<HTMLDivElement>(null);
  const isUsed = useRef(false);
  useEffect(() => {
    const ended = new AbortController();
    const note = ({ target, key }: Event & { readonly key?: string }) => {
      isUsed.current = key === 'Tab' || (target instanceof Node && builder.current?.contains(target) === true);
    };
    for (const type of ['pointerdown', 'keydown'])
      document.addEventListener(type, note, { capture: true, signal: ended.signal });
    return () => ended.abort();
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only passes the focus on
    <div
      ref={builder}
      onFocus={({ target, relatedTarget }) => {
        if (isUsed.current) return;
        target.blur();
        if (relatedTarget instanceof HTMLElement) relatedTarget.focus();
      }}
    >
      <explorer.content />
    </div>
  );
}

/** The plugins next to the editors: the schema explorer, the document builder, and the request history. */
const plugins = [
  schemaPlugin,
  { ...explorer, title: 'Explorer', content: Explorer },
  { ...HISTORY_PLUGIN, content: RequestHistory },
];

/** Formats a document as Prettier does. GraphiQL's call omits the GraphQL plugin's options, such as bracketSpacing. */
async function prettified(document: string): Promise<string> {
  const [{ format }, graphql] = await Promise.all([import('prettier/standalone'), import('prettier/plugins/graphql')]);
  return format(document, { parser: 'graphql', plugins: [graphql] });
}

/**
 * Removes the last document and variables, which GraphiQL stores in addition to its tabs. Because it stores the
 * document only after an edit, it might otherwise find variables without a document and open a new, empty tab.
 */
function forgetLast(): void {
  for (const key of ['query', 'variables', 'headers']) localStorage.removeItem(`graphiql:${key}`);
}

/** Renders GraphiQL with the journey in its tabs. It is loaded after the rest of the page. */
export default function Workbench(props: SessionProps) {
  useState(forgetLast);
  return (
    <GraphiQLProvider
      fetcher={props.operations.fetcher}
      onPrettifyQuery={prettified}
      plugins={plugins}
      referencePlugin={schemaPlugin}
      defaultTabs={journey.map(({ query, variables }) => ({ query, variables }))}
      schemaDescription
      inputValueDeprecation
    >
      <HistoryStore>
        <DocExplorerStore>
          <Tooltip.Provider>
            <Session {...props} />
          </Tooltip.Provider>
        </DocExplorerStore>
      </HistoryStore>
    </GraphiQLProvider>
  );
}
