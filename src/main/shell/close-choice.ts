export type CloseSituation = {
  readonly platform: NodeJS.Platform;
  /** Whether this desktop shows tray icons. */
  readonly trayHost: boolean;
  readonly closeToTray: boolean;
  /** The app is ending: nothing may hold the window. */
  readonly quitting: boolean;
};

/** `quit`: ask for the end of the app, which may ask the person first; the window stays until that is decided. */
export type CloseChoice = 'close' | 'quit' | 'hide' | 'minimise';

/** What the window's close button does. A window is never hidden where nothing could bring it back. */
export function closeChoice({ platform, trayHost, closeToTray, quitting }: CloseSituation): CloseChoice {
  if (quitting) return 'close';
  if (platform === 'darwin') return 'hide';
  if (!closeToTray) return 'quit';
  return trayHost ? 'hide' : 'minimise';
}
