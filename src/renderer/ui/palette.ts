const tokens = ['ink', 'soft', 'faint', 'line', 'card', 'accent', 'accent-bg', 'moon', 'moon-bg', 'teal'] as const;

/** Tokens of `styles/tokens.css` as colours that a canvas understands. */
export type Palette = Readonly<Record<(typeof tokens)[number], string>>;

/** A custom property is text (`light-dark(…)`) until a property uses it; so each is asked for as a colour. */
export function readPalette(element: HTMLElement): Palette {
  const before = element.style.color;
  const computed = getComputedStyle(element);
  const entries = tokens.map((token) => {
    element.style.color = `var(--${token})`;
    return [token, computed.color] as const;
  });
  element.style.color = before;
  return Object.fromEntries(entries) as Palette;
}
