import { z } from 'zod';

/** Where the window was last, in screen pixels, and how large its page is drawn. */
export const windowStateSchema = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int().positive(),
  height: z.number().int().positive(),
  maximized: z.boolean(),
  /** Electron's zoom level: 0 is 100 %, each step 20 % more. */
  zoomLevel: z.number().min(-8).max(9),
});
export type WindowState = z.infer<typeof windowStateSchema>;

/** What is remembered between starts. Written only by the settings store; older files are migrated. */
export const settingsSchema = z.object({
  theme: z.enum(['system', 'light', 'dark']),
  sidebarOpen: z.boolean(),
  /** `builtin` or the path of the model that was loaded last; null before the first. */
  lastModel: z.string().min(1).max(4096).nullable(),
  /** Name of the graphics device that was chosen; null: the best one. */
  gpuDevice: z.string().min(1).max(200).nullable(),
  /** Closing the window keeps Dormouse in the tray; off: it ends. macOS always keeps it. */
  closeToTray: z.boolean(),
  /** Whether the notice about the above was shown. */
  trayNoticeShown: z.boolean(),
  /** Keys that show or hide the window from anywhere, as Electron writes them (`CommandOrControl+Shift+D`); null: none. */
  globalShortcut: z.string().min(1).max(100).nullable(),
  /** Start in the tray when the person logs in; null: never chosen, so that the system's own list is left alone. */
  startAtLogin: z.boolean().nullable(),
  /** Whether programs are answered; the command line may say otherwise for one run. */
  serverOn: z.boolean(),
  /** null: what the flag says. */
  serverHost: z.string().min(1).max(253).nullable(),
  serverPort: z.number().int().min(0).max(65535).nullable(),
  /** null before the first window. */
  window: windowStateSchema.nullable(),
});
export type Settings = z.infer<typeof settingsSchema>;

export const defaultSettings: Settings = {
  theme: 'system',
  sidebarOpen: true,
  lastModel: null,
  gpuDevice: null,
  closeToTray: true,
  trayNoticeShown: false,
  globalShortcut: null,
  startAtLogin: null,
  serverOn: true,
  serverHost: null,
  serverPort: null,
  window: null,
};
