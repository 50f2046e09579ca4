import type { ElectronModules } from './electron-faces.ts';

/**
 * The system's key store through Electron, asked at each use since it is there only once the app is ready.
 * @returns null where there is none that is real: on Linux without a keyring Electron seals with a password that is public.
 */
export function secretCipher({ safeStorage }: Pick<ElectronModules, 'safeStorage'>, platform: NodeJS.Platform) {
  if (!safeStorage.isEncryptionAvailable()) return null;
  if (platform === 'linux' && ['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend())) return null;
  return {
    seal: (secret: string): string => safeStorage.encryptString(secret).toString('base64'),
    open: (sealed: string): string => safeStorage.decryptString(Buffer.from(sealed, 'base64')),
  };
}
