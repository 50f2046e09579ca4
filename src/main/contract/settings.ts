import { z } from 'zod';

/** What is remembered between starts. Written only by the settings store; older files are migrated. */
export const settingsSchema = z.object({
  theme: z.enum(['system', 'light', 'dark']),
  sidebarOpen: z.boolean(),
  /** `builtin` or the path of the model that was loaded last; null before the first. */
  lastModel: z.string().min(1).max(4096).nullable(),
});
export type Settings = z.infer<typeof settingsSchema>;

export const defaultSettings: Settings = { theme: 'system', sidebarOpen: true, lastModel: null };
