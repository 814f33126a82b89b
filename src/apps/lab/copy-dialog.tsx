import { pick, useGraphiQL } from '@graphiql/react';
import { useRef, useState } from 'react';
import { asCode, asCurl, asLink, type Sent } from './copies.ts';

/** Buttons that show the operation as an address, as a command and as a program, and copy it. */
export function CopyDialog({ authorization }: { readonly authorization: string }) {
  const { queryEditor, variableEditor, headerEditor } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'headerEditor'),
  );
  const dialog = useRef<HTMLDialogElement>(null);
  const [{ what, text }, setShown] = useState({ what: '', text: '' });
  const [isCopied, setCopied] = useState(false);
  const show = (what: string, write: (sent: Sent) => string) => {
    const written = write({
      url: new URL('graphql', location.href).href,
      query: queryEditor?.getValue() ?? '',
      variables: parse(variableEditor?.getValue()),
      authorization: String(parse(headerEditor?.getValue()).authorization ?? authorization),
    });
    setShown({ what, text: written });
    setCopied(false);
    dialog.current?.showModal();
    // A page that is not served securely may not write to the clipboard: then the text is only shown.
    navigator.clipboard?.writeText(written).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <>
      <button type="button" onClick={() => show('the link', asLink)}>
        Share
      </button>
      <button type="button" onClick={() => show('the command', asCurl)}>
        Copy as curl
      </button>
      <button type="button" onClick={() => show('the program', asCode)}>
        Copy as code
      </button>
      <dialog ref={dialog} className="lab-dialog" aria-label="The operation, to copy">
        <p role="status">{isCopied ? `Copied ${what}.` : `Copy ${what}:`}</p>
        <pre>{text}</pre>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    return (JSON.parse(text || '{}') ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
