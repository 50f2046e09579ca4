export { isAppUrl } from './app-url.ts';
export { handleAppProtocol, registerAppScheme } from './app-protocol.ts';
export { DesktopShell } from './desktop-shell.ts';
export type { ElectronModules } from './electron-faces.ts';
export { en as shellWords } from './en.ts';
export { setLoginEntry } from './login-entry.ts';
export { secretCipher } from './secret-cipher.ts';
export { secureAllContents } from './security.ts';
export { hasTrayHost } from './tray-host.ts';
