import { useEffect, useLayoutEffect } from 'react';

/** Text longer than this fills the field to its largest height anyway; measuring it would be slow. */
const longestMeasured = 20_000;

/** Makes a text field as high as its text; the style sheet sets the bound. `focus` puts the cursor at its end, once. */
export function useGrowingField(
  field: { readonly current: HTMLTextAreaElement | null },
  text: string,
  focus = false,
): void {
  useLayoutEffect(() => {
    const element = field.current;
    if (element === null) return;
    if (text.length > longestMeasured) {
      element.style.height = '100vh';
      return;
    }
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [field, text]);
  useEffect(() => {
    const element = field.current;
    if (element === null || !focus) return;
    element.focus();
    element.setSelectionRange(element.value.length, element.value.length);
  }, [field, focus]);
}
