import type { ContextMenuParams, MenuItemConstructorOptions } from 'electron';

type Situation = Pick<ContextMenuParams, 'isEditable' | 'selectionText' | 'editFlags' | 'dictionarySuggestions'>;

/** The menu of the right mouse button: in text fields and over selected text, else none. */
export function contextMenu(
  { isEditable, selectionText, editFlags, dictionarySuggestions }: Situation,
  replace: (suggestion: string) => void,
): MenuItemConstructorOptions[] {
  if (!isEditable) return selectionText.trim() === '' ? [] : [{ role: 'copy' }, { role: 'selectAll' }];
  const suggestions: MenuItemConstructorOptions[] = dictionarySuggestions.map((label) => ({
    label,
    click: () => replace(label),
  }));
  return [
    ...suggestions,
    ...(suggestions.length > 0 ? [{ type: 'separator' } as const] : []),
    { role: 'undo', enabled: editFlags.canUndo },
    { role: 'redo', enabled: editFlags.canRedo },
    { type: 'separator' },
    { role: 'cut', enabled: editFlags.canCut },
    { role: 'copy', enabled: editFlags.canCopy },
    { role: 'paste', enabled: editFlags.canPaste },
    { type: 'separator' },
    { role: 'selectAll', enabled: editFlags.canSelectAll },
  ];
}
