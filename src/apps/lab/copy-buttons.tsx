import { pick, useGraphiQL } from '@graphiql/react';
import { useRef, useState } from 'react';
import { parseObject } from './carried.ts';
import { asCode, asCurl, asLink, type Sent } from './copies.ts';

/** Buttons that show the operation as an address, as a command and as a program, and copy it. */
export function CopyButtons({ authorization }: { readonly authorization: string }) {
  const { queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor'),
  );
  const opener = useRef<HTMLButtonElement>(null);
  const [{ what, text }, setShown] = useState({ what: '', text: '' });
  const [isCopied, setCopied] = useState(false);
  const show = (what: string, write: (sent: Sent) => string) => {
    const written = write({
      url: new URL('graphql', location.href).href,
      query: queryEditor?.getValue() ?? '',
      variables: parseObject(variableEditor?.getValue() ?? '') ?? {},
      authorization: String(parseObject(headerEditor?.getValue() ?? '')?.authorization ?? authorization),
    });
    setShown({ what, text: written });
    setCopied(false);
    // `navigator.clipboard` exists only in a secure context (HTTPS or localhost). Without it, the text is shown but not
    // copied.
    navigator.clipboard?.writeText(written).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <>
      {copies.map(({ title, what, write }) => (
        <button
          key={title}
          type="button"
          popoverTarget="copy"
          popoverTargetAction="show"
          onClick={({ currentTarget }) => {
            opener.current = currentTarget;
            show(what, write);
          }}
        >
          {title}
        </button>
      ))}
      <section
        id="copy"
        popover="auto"
        className="card"
        aria-label="The operation, to copy"
        onToggle={({ newState }) => {
          // Unless a click outside has moved the focus elsewhere.
          if (newState === 'closed' && document.activeElement === document.body) opener.current?.focus();
        }}
      >
        <p role="status">{isCopied ? `Copied ${what}.` : `Copy ${what}:`}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long operation scrolls */}
        <pre tabIndex={0}>{text}</pre>
        <button type="button" popoverTarget="copy" popoverTargetAction="hide">
          Close
        </button>
      </section>
    </>
  );
}

const copies = [
  { title: 'Share', what: 'the link', write: asLink },
  { title: 'Copy as curl', what: 'the command', write: asCurl },
  { title: 'Copy as code', what: 'the program', write: asCode },
];
