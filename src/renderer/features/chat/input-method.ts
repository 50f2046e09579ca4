/** Whether an input method (for Japanese, Chinese, ...) is composing: then Enter and Esc are its keys, not ours. */
export function belongsToInputMethod(event: KeyboardEvent): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- Safari ends the composition before its last Enter arrives; only this old field tells
  return event.isComposing || event.keyCode === 229;
}
