interface Operations {
  readonly specSelectors: { taggedOperations(): { readonly size: number } };
}

export const replacedComponents = {
  wrapComponents: {
    /** Shows an operation's path as text instead of a link, which would be nested in the button for the operation. */
    DeepLink:
      () =>
      ({ text }: { readonly text: unknown }) =>
        text,
    /** Reports when the filter matches nothing. Swagger UI itself would say that the document has no operations. */
    operations:
      (original: unknown, { React }: { readonly React: { createElement(...given: unknown[]): unknown } }) =>
      (props: Operations) =>
        props.specSelectors.taggedOperations().size > 0
          ? React.createElement(original, props)
          : React.createElement('p', { role: 'status' }, 'No operation matches; webhooks are always listed.'),
  },
};

/** The page's landmarks other than `main`, each with its role and name. */
const parts = [
  ['.information-container', 'region', 'About'],
  ['.scheme-container', 'region', 'Server and credentials'],
  ['.filter-container', 'search', 'Operations'],
] as const;

/**
 * Adds what Swagger UI lacks for screen readers and the keyboard: landmarks, labels for inputs, and correct heading
 * levels. When a dialog closes, focus returns to the button that opened it.
 */
export function makeAccessible(root: HTMLElement): void {
  let opener: HTMLElement | null = null;
  root.addEventListener('click', ({ target }) => {
    const button = target instanceof Element && target.closest<HTMLElement>('.btn.authorize, .authorization__btn');
    if (button && !button.closest('.modal-ux')) opener = button;
  });
  const complete = () => {
    for (const [selector, role, name] of parts) {
      const part = root.querySelector(`${selector}:not([role])`);
      part?.setAttribute('role', role);
      part?.setAttribute('aria-label', name);
    }
    root.querySelector('#servers:not([aria-label])')?.setAttribute('aria-label', 'Server');
    const filter = root.querySelector('.operation-filter-input:not([aria-label])');
    filter?.setAttribute('aria-label', 'Filter');
    filter?.setAttribute('placeholder', 'Filter by any words');
    for (const heading of root.querySelectorAll('h3.opblock-tag, .models h4')) heading.ariaLevel = '2';
    // Without this, the buttons' accessible names would differ from their visible text.
    for (const button of root.querySelectorAll('.modal-btn[aria-label]')) button.removeAttribute('aria-label');
    if (!opener || root.querySelector('.modal-ux')) return;
    if (document.activeElement === document.body) opener.focus();
    opener = null;
  };
  new MutationObserver(complete).observe(root, { childList: true, subtree: true });
}
